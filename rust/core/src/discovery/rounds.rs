//! The weight rounds: drift, diffusion of what is left, and both again with weights, until the terms stay the same.
//!
//! Round 0 regresses the drift and then the diffusion without weights. Every later round weighs the drift by
//! `1 / Gamma_ii` and the diffusion by `1 / (Gamma_ii Gamma_jj + Gamma_ij^2)` of the round before, until the selected
//! terms stay the same and no coefficient moves by more than a tenth of its standard deviation.

use ndarray::{Array1, Axis, s};

use super::posterior::{Posterior, Sampling, quantile, sample};
use super::regressions::{Measured, Row, Variance};
use crate::Result;
use crate::regression::{Moments, StepScheme};

/// The weights of a diffusion entry are those of this quantile for all samples whose predicted variance is below it.
const FLOOR_QUANTILE: f64 = 0.2;
/// Samples from which that quantile is read, spread evenly over the data.
const QUANTILE_SAMPLES: usize = 20_000;
/// Movement of a coefficient between rounds, in standard errors, that counts as none.
const STABLE_SHIFT: f64 = 0.1;

/// The equations of the last round, the moments they come from, and how the rounds went.
pub(super) struct Fit {
    /// By row of [`Measured::rows`].
    pub drift: Vec<Posterior>,
    /// By entry of [`Measured::pairs`].
    pub diffusion: Vec<Posterior>,
    /// Rounds with weights.
    pub rounds: usize,
    /// A sentence where they did not settle.
    pub unstable: Option<String>,
    /// Moments of the drifts in the last round.
    pub drift_moments: Vec<Moments>,
    diffusion_moments: Vec<Moments>,
    /// Smallest variances that weigh the drift, by state.
    floors: Vec<f64>,
    /// Those that weigh the diffusion.
    diffusion_floors: Vec<f64>,
}

/// Runs the rounds, then the full chains on the moments of the last one.
pub(super) fn fit(measured: &mut Measured<'_, '_>) -> Result<Fit> {
    let weighted = measured.asked.weighted && !measured.pairs.is_empty();
    let mut last = round(measured, None, !weighted)?;
    if !weighted {
        return Ok(last);
    }
    for number in 1..=measured.asked.max_rounds {
        let mut next = round(measured, Some(&last), false)?;
        let (same, shift) = movement(&last, &next);
        next.rounds = number;
        let stable = same && shift < STABLE_SHIFT;
        next.unstable = (!stable).then(|| unstable(number, same, shift));
        last = next;
        if stable {
            break;
        }
    }
    let shift = measured.rows.len();
    for (q, moments) in last.drift_moments.iter().enumerate() {
        last.drift[q] = drift_posterior(measured, q, moments, true, &[])?;
    }
    for (q, moments) in last.diffusion_moments.iter().enumerate() {
        last.diffusion[q] = diffusion_posterior(measured, shift + q, moments, true)?;
    }
    Ok(last)
}

/// The posterior of drift row number `q` without the terms `excluded`.
pub(super) fn drift_posterior(
    measured: &Measured<'_, '_>,
    q: usize,
    moments: &Moments,
    full: bool,
    excluded: &[usize],
) -> Result<Posterior> {
    let prior = measured.asked.prior_of_drift(measured.slab_scale(measured.rows[q]));
    let sampling = Sampling::of(measured.asked, q, full);
    sample(moments, &measured.drift.terms, prior, &sampling, excluded, measured.control)
}

fn diffusion_posterior(
    measured: &Measured<'_, '_>,
    index: usize,
    moments: &Moments,
    full: bool,
) -> Result<Posterior> {
    let sampling = Sampling::of(measured.asked, index, full);
    sample(moments, &measured.gamma.terms, measured.asked.prior, &sampling, &[], measured.control)
}

/// Regresses every drift row, then every entry of the covariance, weighted by the model of the round before.
fn round(measured: &mut Measured<'_, '_>, former: Option<&Fit>, full: bool) -> Result<Fit> {
    let (rows, pairs) = (measured.rows.clone(), measured.pairs.clone());
    let n_states = measured.paths[0].x.ncols();
    let (mut drift, mut drift_moments) = (Vec::new(), Vec::new());
    for (q, &row) in rows.iter().enumerate() {
        let weights = former.and_then(|fit| drift_weights(measured, fit, row));
        let (moments, _) = measured.regress(Row::Drift(row), weights.as_ref())?;
        drift.push(drift_posterior(measured, q, &moments, full, &[])?);
        drift_moments.push(moments);
    }
    let raw = measured.asked.scheme == StepScheme::Euler && !measured.asked.weighted;
    // Of all models, not of the one that is shown: a term that it lacks is no part of Gamma.
    let mut averaged = vec![Array1::zeros(0); n_states];
    for (q, &row) in rows.iter().enumerate() {
        if measured.is_noisy(row) && !raw {
            averaged[row] = drift[q].averaged()?.0;
        }
    }
    let (mut diffusion, mut diffusion_moments) = (Vec::new(), Vec::new());
    let mut floors = former.map_or_else(|| vec![0.0; n_states], |fit| fit.floors.clone());
    for (q, &(i, j)) in pairs.iter().enumerate() {
        let both = (!raw).then(|| ndarray::stack![Axis(0), averaged[i], averaged[j]]);
        let weights = former.map(|fit| product_weights(measured, fit, (i, j)));
        let row = Row::Gamma((i, j), both.as_ref().map(|both| both.view()));
        let (moments, mean) = measured.regress(row, weights.as_ref())?;
        diffusion.push(diffusion_posterior(measured, rows.len() + q, &moments, full)?);
        diffusion_moments.push(moments);
        if former.is_none() && i == j {
            floors[i] = measured.asked.weight_floor * mean;
        }
    }
    let diffusion_floors = low_variance(measured, &diffusion, &floors)?;
    Ok(Fit {
        drift,
        diffusion,
        rounds: 0,
        unstable: None,
        drift_moments,
        diffusion_moments,
        floors,
        diffusion_floors,
    })
}

/// The quantile of each predicted variance on the data, by state, or the floor where that is larger.
fn low_variance(measured: &Measured<'_, '_>, diffusion: &[Posterior], floors: &[f64]) -> Result<Vec<f64>> {
    let mut found = floors.to_vec();
    if diffusion.is_empty() {
        return Ok(found);
    }
    let total: usize = measured.paths.iter().map(|path| path.len()).sum();
    let stride = (total / QUANTILE_SAMPLES).max(1);
    let mut values: Vec<Vec<f64>> = vec![Vec::new(); measured.pairs.len()];
    for (number, path) in measured.paths.iter().enumerate() {
        if number % stride >= path.len() {
            continue;
        }
        let some = path.x.slice(s![number % stride..;stride, ..]).to_owned();
        let terms = measured.gamma.program.evaluate(some.view(), measured.control)?;
        for (q, _) in measured.pairs.iter().enumerate().filter(|(_, (i, j))| i == j) {
            let predicted = terms.dot(&diffusion[q].mean);
            let seen = predicted.iter().zip(some.rows()).filter(|(_, row)| !row.iter().any(|x| x.is_nan()));
            values[q].extend(seen.map(|(value, _)| value));
        }
    }
    for (values, &(i, j)) in values.iter_mut().zip(&measured.pairs) {
        if i == j && !values.is_empty() {
            values.sort_by(f64::total_cmp);
            found[i] = found[i].max(quantile(values, FLOOR_QUANTILE));
        }
    }
    Ok(found)
}

/// Weights of a drift row from the model of the round before.
fn drift_weights(measured: &Measured<'_, '_>, former: &Fit, row: usize) -> Option<Variance> {
    let entry = entry(measured, former, (row, row))?;
    Some(Variance { coef: entry.mean.clone().insert_axis(Axis(0)), floors: [former.floors[row], 0.0] })
}

/// Weights of an entry of the diffusion from the model of the round before.
fn product_weights(measured: &Measured<'_, '_>, former: &Fit, (i, j): (usize, usize)) -> Variance {
    let mean = |pair| &entry(measured, former, pair).expect("sought with both of its rows").mean;
    Variance {
        coef: ndarray::stack![Axis(0), *mean((i, i)), *mean((j, j)), *mean((i, j))],
        floors: [former.diffusion_floors[i], former.diffusion_floors[j]],
    }
}

fn entry<'f>(measured: &Measured<'_, '_>, fit: &'f Fit, pair: (usize, usize)) -> Option<&'f Posterior> {
    measured.pairs.iter().position(|&other| other == pair).map(|q| &fit.diffusion[q])
}

/// Whether the selected terms are those of the round before, and the largest shift in standard deviations.
fn movement(former: &Fit, fit: &Fit) -> (bool, f64) {
    let (mut same, mut shift) = (true, 0.0_f64);
    let before = former.drift.iter().chain(&former.diffusion);
    for (before, now) in before.zip(fit.drift.iter().chain(&fit.diffusion)) {
        if before.selected != now.selected {
            same = false;
            continue;
        }
        let sd = now.sd();
        for k in (0..sd.len()).filter(|&k| now.selected[k]) {
            shift = shift.max((now.mean[k] - before.mean[k]).abs() / sd[k].max(1e-300));
        }
    }
    (same, shift)
}

fn unstable(rounds: usize, same: bool, shift: f64) -> String {
    let what = if same {
        format!("a coefficient still moved by {shift:.2} standard deviations")
    } else {
        "the selected terms still changed".to_owned()
    };
    format!(
        "after {rounds} weight rounds {what}: the terms of the last round are reported; look at libraries with fewer terms \
         that resemble each other"
    )
}
