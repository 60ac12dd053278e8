//! From the moments of a regression to the posterior of an equation: chains or all models, the model that is shown.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use ndarray::{Array1, Array2, concatenate, s};

use super::columns::{aliases, notes, sound, subset, without};
use super::settings::{Discover, Sampler};
use crate::control::Control;
use crate::noise::{Purpose, Stream};
use crate::regression::Moments;
use crate::sampler::{
    Chain, ChainSettings, MAX_COLUMNS, ModelPosterior, Prior, ScaledRegression, enumerate, exact_draws,
    model_posterior, run_chains,
};
use crate::{Error, Result};

/// The sampler "auto" enumerates up to so many models, and more where the sweeps of the chains are more than
/// [`SWEEPS_PER_MODEL`] a model.
const AUTO_MODELS: usize = 4096;
/// Sweeps of chains that cost as much as one model.
const SWEEPS_PER_MODEL: usize = 2;
/// The median model is held against so many of the most visited ones.
const RIVALS: usize = 20;
/// The threshold at which the median model is held against its rivals.
const MEDIAN: f64 = 0.5;
/// So many of the most probable models are averaged over.
const AVERAGED: usize = 20;
/// Spread of an inclusion probability between chains that is called a disagreement.
const DISAGREEMENT: f64 = 0.1;
/// Terms that the sentence on a disagreement names.
const MOST_NAMED: usize = 5;
/// Exchange moves per sweep.
const EXCHANGES: usize = 1;
/// Chains of the rounds that only choose terms.
const ROUND_CHAINS: usize = 2;
/// Their draws.
const ROUND_SAMPLES: usize = 400;
/// Their draws before those.
const ROUND_BURN: usize = 200;
/// What the seeds of two streams of one discovery differ by: a prime, so that small seeds do not meet.
const APART: u64 = 7919;

/// How the posterior of one equation is sampled.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sampling {
    sampler: Sampler,
    chains: ChainSettings,
    threshold: f64,
    seed: u64,
}

impl Sampling {
    /// Of equation number `index`: full chains at the end, short ones while terms are chosen.
    pub(super) fn of(asked: &Discover, index: usize, full: bool) -> Self {
        let [n_chains, n_samples, n_burn] = if full || asked.sampler == Sampler::Exact {
            [asked.n_chains, asked.n_samples, asked.n_burn]
        } else {
            [ROUND_CHAINS, ROUND_SAMPLES, ROUND_BURN]
        };
        let seed = asked.seed.wrapping_add(APART.wrapping_mul(index as u64)) % (1 << 63);
        let chains = ChainSettings { n_chains, n_samples, n_burn, thin: 1, exchanges: EXCHANGES };
        Self { sampler: asked.sampler, chains, threshold: asked.threshold, seed }
    }

    /// Whether all models of so many columns are looked at.
    fn enumerates(&self, n_columns: usize) -> bool {
        let sweeps = self.chains.n_chains * (self.chains.n_samples + self.chains.n_burn);
        match self.sampler {
            Sampler::Exact => true,
            Sampler::Gibbs => false,
            Sampler::Auto => {
                n_columns <= MAX_COLUMNS && 1 << n_columns <= AUTO_MODELS.max(sweeps / SWEEPS_PER_MODEL)
            }
        }
    }
}

/// The posterior over which of K terms are in an equation, and with what coefficients.
#[derive(Debug, Clone)]
pub(super) struct Posterior {
    /// Inclusion probabilities, `(K,)` as all that follows.
    pub pip: Array1<f64>,
    /// The model that is shown.
    pub selected: Vec<bool>,
    /// Coefficients given this model, zero elsewhere.
    pub mean: Array1<f64>,
    /// Their covariance.
    pub cov: Array2<f64>,
    /// Draws of the coefficients of all models `(n, K)`.
    pub draws: Array2<f64>,
    /// The most probable models with their share of the probability, the first ones first.
    pub models: Vec<(Vec<bool>, f64)>,
    /// Degrees of freedom of the coefficients' distribution.
    pub degrees: f64,
    /// Columns that stand for others, which were not tried.
    pub aliases: Vec<(usize, Vec<usize>)>,
    /// What a reader should know.
    pub warnings: Vec<String>,
    /// Whether all models were looked at.
    pub exact: bool,
    keep: Vec<usize>,
    regression: ScaledRegression,
}

impl Posterior {
    /// Standard deviations given the model that is shown.
    pub(super) fn sd(&self) -> Array1<f64> {
        self.cov.diag().mapv(|variance| variance.max(0.0).sqrt())
    }

    /// Mean and standard deviation of the coefficients over the most probable models, by their masses.
    pub(super) fn averaged(&self) -> Result<(Array1<f64>, Array1<f64>)> {
        let k = self.pip.len();
        let (mut mean, mut square, mut total) = (Array1::<f64>::zeros(k), Array1::<f64>::zeros(k), 0.0);
        for (model, mass) in self.models.iter().take(AVERAGED) {
            let members = self.regression.usable(&self.kept(model))?;
            let found = model_posterior(&self.regression, &members)?;
            for (place, &column) in self.keep.iter().enumerate() {
                let centre = found.mean[place];
                mean[column] += mass * centre;
                square[column] += mass * (found.cov[[place, place]] + centre * centre);
            }
            total += mass;
        }
        mean /= total;
        let sd = square / total - &mean * &mean;
        Ok((mean, sd.mapv(|variance| variance.max(0.0).sqrt())))
    }

    /// Of flags of all terms those of the columns that were tried.
    fn kept(&self, model: &[bool]) -> Vec<bool> {
        self.keep.iter().map(|&column| model[column]).collect()
    }
}

/// What chains or all models say of the columns that were tried.
struct Drawn {
    pip: Vec<f64>,
    draws: Array2<f64>,
    /// The most probable models as flags of the columns, with their share.
    models: Vec<(Vec<bool>, f64)>,
    notes: Vec<String>,
}

/// The posterior of a regression on columns of these names without those `excluded`.
///
/// # Errors
/// [`Error::Argument`] for more than 20 columns with [`Sampler::Exact`], [`Error::Numerical`] where the arithmetic
/// overflows, [`Error::Interrupted`].
pub(super) fn sample(
    moments: &Moments,
    names: &[String],
    prior: Prior,
    sampling: &Sampling,
    excluded: &[usize],
    control: &Control,
) -> Result<Posterior> {
    let left = without(moments, excluded);
    let (mut keep, aliases) = aliases(&left.gram);
    keep.retain(|column| !excluded.contains(column));
    let reduced = sound(subset(&left, &keep));
    let regression =
        ScaledRegression::new(reduced.gram.view(), reduced.moment.view(), reduced.yy, reduced.n, prior)?;
    let exact = sampling.enumerates(regression.n_usable());
    let tried: Vec<&str> = keep.iter().map(|&k| names[k].as_str()).collect();
    let drawn = if exact {
        of_all_models(&regression, sampling, control)?
    } else {
        of_chains(&regression, sampling, &tried, control)?
    };
    let (chosen, mean, cov) = select(&regression, &drawn, sampling.threshold)?;
    let degrees = 2.0 * prior.a_s + reduced.n;
    if !mean.iter().chain(&drawn.draws).all(|value| value.is_finite())
        || (degrees > 2.0 && !cov.iter().all(|value| value.is_finite()))
    {
        return Err(Error::Numerical(
            "coefficients of the posterior leave the range of floating point: bring the states to units in which they are \
             nearer to one, or choose a less extreme prior"
                .into(),
        ));
    }
    let k = names.len();
    let mut found = Posterior {
        pip: Array1::zeros(k),
        selected: widened(&chosen, &keep, k),
        mean: Array1::zeros(k),
        cov: Array2::zeros((k, k)),
        draws: Array2::zeros((drawn.draws.nrows(), k)),
        models: drawn.models.iter().map(|(model, mass)| (widened(model, &keep, k), *mass)).collect(),
        degrees,
        warnings: notes(&reduced.gram, &keep, &aliases, names),
        aliases,
        exact,
        keep,
        regression,
    };
    found.warnings.extend(drawn.notes);
    for (i, &row) in found.keep.iter().enumerate() {
        found.pip[row] = drawn.pip[i];
        found.mean[row] = mean[i];
        found.draws.column_mut(row).assign(&drawn.draws.column(i));
        for (j, &column) in found.keep.iter().enumerate() {
            found.cov[[row, column]] = cov[[i, j]];
        }
    }
    Ok(found)
}

/// Flags of the columns that were tried, put among all `k`.
fn widened(model: &[bool], keep: &[usize], k: usize) -> Vec<bool> {
    let mut wide = vec![false; k];
    keep.iter().zip(model).for_each(|(&column, &inside)| wide[column] = inside);
    wide
}

/// All models, and as many draws from them as chains would give.
fn of_all_models(regression: &ScaledRegression, sampling: &Sampling, control: &Control) -> Result<Drawn> {
    let log_mass = enumerate(regression, control)?;
    let mut stream = Stream::new(sampling.seed, Purpose::Chain, 0);
    let n_draws = sampling.chains.n_chains * sampling.chains.n_samples;
    let chain = exact_draws(regression, &log_mass, n_draws, &mut stream, control)?;
    let highest = log_mass.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mass: Vec<f64> = log_mass.iter().map(|l| (l - highest).exp()).collect();
    let total: f64 = mass.iter().sum();
    let flags = |model: usize| {
        let mut flags = vec![false; regression.n_columns()];
        (0..regression.n_usable()).for_each(|k| flags[regression.original(k)] = model >> k & 1 == 1);
        flags
    };
    let mut pip = vec![0.0; regression.n_columns()];
    for (model, mass) in mass.iter().enumerate() {
        for k in (0..regression.n_usable()).filter(|k| model >> k & 1 == 1) {
            pip[regression.original(k)] += mass;
        }
    }
    pip.iter_mut().for_each(|p| *p = (*p / total).min(1.0));
    let mut order: Vec<usize> = (0..mass.len()).collect();
    order.sort_by(|&a, &b| mass[b].total_cmp(&mass[a]));
    let models = order.iter().take(RIVALS).map(|&model| (flags(model), mass[model] / total)).collect();
    Ok(Drawn { pip, draws: chain.samples, models, notes: Vec::new() })
}

/// Several chains from different starts.
fn of_chains(
    regression: &ScaledRegression,
    sampling: &Sampling,
    names: &[&str],
    control: &Control,
) -> Result<Drawn> {
    let chains = run_chains(regression, &sampling.chains, sampling.seed, control)?;
    let by_chain: Vec<Vec<f64>> = chains
        .iter()
        .map(|chain| chain.inclusion.columns().into_iter().map(|c| c.sum() / c.len() as f64).collect())
        .collect();
    let pip = (0..names.len())
        .map(|k| by_chain.iter().map(|chain| chain[k]).sum::<f64>() / chains.len() as f64)
        .collect();
    let views: Vec<_> = chains.iter().map(|chain| chain.samples.view()).collect();
    let draws =
        concatenate(ndarray::Axis(0), &views).expect("chains of one regression have the same columns");
    Ok(Drawn { pip, draws, models: visited(&chains), notes: disagreement(&by_chain, names) })
}

/// The models that most draws are of, with their share; in their order where they tie.
fn visited(chains: &[Chain]) -> Vec<(Vec<bool>, f64)> {
    let mut counts = BTreeMap::<Vec<bool>, usize>::new();
    for row in chains.iter().flat_map(|chain| chain.included.rows()) {
        *counts.entry(row.to_vec()).or_default() += 1;
    }
    let n: usize = counts.values().sum();
    let mut models: Vec<(Vec<bool>, usize)> = counts.into_iter().collect();
    models.sort_by_key(|&(_, count)| Reverse(count));
    models.into_iter().take(RIVALS).map(|(model, count)| (model, count as f64 / n as f64)).collect()
}

/// A sentence if the chains tell different stories.
fn disagreement(by_chain: &[Vec<f64>], names: &[&str]) -> Vec<String> {
    let told: Vec<String> = (0..names.len())
        .filter_map(|k| {
            let (low, high) = by_chain
                .iter()
                .fold((f64::INFINITY, 0.0_f64), |(low, high), chain| (low.min(chain[k]), high.max(chain[k])));
            (high - low > DISAGREEMENT).then(|| format!("{} ({low:.2} to {high:.2})", names[k]))
        })
        .take(MOST_NAMED)
        .collect();
    if told.is_empty() {
        return Vec::new();
    }
    vec![format!("the chains disagree on the inclusion of {}: take more samples", told.join(", "))]
}

/// The columns of the model that is shown, and mean and covariance of their coefficients.
///
/// That of the terms more probable than the threshold; where this is the median model (a threshold of one half), the most
/// probable model in its place if it is another: the median model may be one that hardly any draw visits.
fn select(
    regression: &ScaledRegression,
    drawn: &Drawn,
    threshold: f64,
) -> Result<(Vec<bool>, Array1<f64>, Array2<f64>)> {
    let median: Vec<bool> = drawn.pip.iter().map(|&p| p > threshold).collect();
    let rivals = drawn.models.iter().filter(|_| threshold == MEDIAN).map(|(model, _)| model);
    let mut best: Option<(Vec<bool>, ModelPosterior)> = None;
    for model in std::iter::once(&median).chain(rivals) {
        let found = model_posterior(regression, &regression.usable(model)?)?;
        if best.as_ref().is_none_or(|(_, other)| found.log_mass > other.log_mass) {
            best = Some((model.clone(), found));
        }
    }
    let (model, found) = best.expect("the median model at least");
    Ok((model, found.mean, found.cov))
}

/// Quantile of values in order, between neighbours by their distance.
pub(super) fn quantile(values: &[f64], p: f64) -> f64 {
    let place = p * (values.len() - 1) as f64;
    let low = place.floor() as usize;
    let high = (low + 1).min(values.len() - 1);
    values[low] + (values[high] - values[low]) * (place - low as f64)
}

/// Central intervals of each column of draws.
pub(super) fn drawn_intervals(draws: &Array2<f64>, probability: f64) -> Vec<(f64, f64)> {
    let of_column = |k: usize| {
        let mut values = draws.slice(s![.., k]).to_vec();
        values.sort_by(f64::total_cmp);
        (quantile(&values, 0.5 * (1.0 - probability)), quantile(&values, 0.5 * (1.0 + probability)))
    };
    (0..draws.ncols()).map(of_column).collect()
}
