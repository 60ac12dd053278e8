//! What is reported of a posterior: coefficients given a model, and independent draws from an enumerated one.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use nalgebra::{Cholesky, DMatrix, DVector};
use ndarray::{Array1, Array2};

use super::chains::Chain;
use super::enumerate::log_model_prior;
use super::evidence::ScaledRegression;
use super::gibbs::ChainWork;
use super::gibbs::RANGE;
use super::slab::SlabPosterior;
use super::spectrum::Spectrum;
use crate::control::Control;
use crate::noise::Draws;
use crate::{Error, Result};

/// Nodes of the slab quadrature that weigh less than this add nothing to a mean or covariance.
const NEGLIGIBLE: f64 = 1e-15;

/// One model, its coefficients with noise variance and slab variance integrated out; columns and units of the caller.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelPosterior {
    /// `log p(y, model)`, the prior of the model included, target and columns in scaled coordinates.
    pub log_mass: f64,
    /// Mean `(K,)`, zero outside the model.
    pub mean: Array1<f64>,
    /// Covariance `(K, K)`, zero outside the model.
    pub cov: Array2<f64>,
}

/// Mean and covariance of the coefficients given the model with these usable columns.
///
/// Given v they are Student's t with `nu = 2 a_s + n` degrees of freedom, mean `mu` and covariance
/// `(2 b_s + E) / (nu - 2) S`; v is integrated by quadrature. With `nu <= 2` the covariance is infinite.
///
/// # Errors
/// [`Error::Numerical`] if the Gram matrix of the model is not positive semidefinite.
pub fn model_posterior(regression: &ScaledRegression, members: &[usize]) -> Result<ModelPosterior> {
    let spectrum = Spectrum::new(regression, members);
    let slab = SlabPosterior::new(&spectrum)?;
    let (r, k) = (members.len(), regression.n_columns());
    let nodes = slab.v.iter().copied().zip(slab.weight.iter().copied());
    let (mean, cov) =
        spectrum.mixed(nodes.filter(|(_, weight)| *weight > NEGLIGIBLE), 2.0 * regression.power() - 2.0)?;
    let mut posterior = ModelPosterior {
        log_mass: log_model_prior(regression, r) + slab.log_integral,
        mean: Array1::zeros(k),
        cov: Array2::zeros((k, k)),
    };
    for (i, &row) in members.iter().enumerate() {
        let (at, unit) = (regression.original(row), regression.raw(row));
        posterior.mean[at] = mean[i] * unit;
        for (j, &column) in members.iter().enumerate() {
            posterior.cov[[at, regression.original(column)]] = cov[(i, j)] * unit * regression.raw(column);
        }
    }
    Ok(posterior)
}

/// Independent draws from the enumerated posterior, in the shape of a [`Chain`].
///
/// Model by its mass, then v on the nodes of the model's quadrature, then s2 and theta, then the inclusion rate.
///
/// # Errors
/// [`Error::Argument`] if there is not one mass per model, [`Error::Interrupted`], [`Error::Numerical`].
pub fn exact_draws(
    regression: &ScaledRegression,
    log_mass: &[f64],
    n_draws: usize,
    draws: &mut impl Draws,
    control: &Control,
) -> Result<Chain> {
    let (usable, k) = (regression.n_usable(), regression.n_columns());
    if log_mass.len() != 1 << usable {
        let allowed = format!("one mass for each of {} models", 1 << usable);
        return Err(Error::argument("log_mass.size", log_mass.len(), allowed));
    }
    let Masses { cumulative, total, pip } = Masses::new(log_mass, usable);
    let mut chain = Chain {
        samples: Array2::zeros((n_draws, k)),
        included: Array2::default((n_draws, k)),
        inclusion: Array2::zeros((n_draws, k)),
        noise_var: Array1::zeros(n_draws),
        slab_var: Array1::zeros(n_draws),
        p0: Array1::zeros(n_draws),
        work: ChainWork::default(),
    };
    let mut known: HashMap<usize, (Vec<usize>, SlabPosterior)> = HashMap::new();
    let prior = regression.prior();
    for draw in 0..n_draws {
        control.check()?;
        let model = pick(&cumulative, draws.uniform() * total);
        if let Entry::Vacant(place) = known.entry(model) {
            let members: Vec<usize> = (0..usable).filter(|column| model >> column & 1 == 1).collect();
            let mut slab = SlabPosterior::new(&Spectrum::new(regression, &members))?;
            let mut sum = 0.0;
            for weight in &mut slab.weight {
                sum += *weight;
                *weight = sum;
            }
            place.insert((members, slab));
        }
        let (members, slab) = &known[&model];
        let v = slab.v[pick(&slab.weight, draws.uniform())];
        let given = Given::new(regression, members, v)?;
        let s2 = (0.5 * given.energy / draws.gamma(regression.power())).clamp(RANGE.0, RANGE.1);
        let noise =
            DVector::from_iterator(members.len(), (0..members.len()).map(|_| s2.sqrt() * draws.normal()));
        let theta = given.solve_upper(&(&given.z + noise));
        for (column, probability) in pip.iter().enumerate() {
            chain.inclusion[[draw, regression.original(column)]] = *probability;
        }
        for (&member, theta) in members.iter().zip(&theta) {
            chain.samples[[draw, regression.original(member)]] = theta * regression.raw(member);
            chain.included[[draw, regression.original(member)]] = true;
        }
        chain.noise_var[draw] = s2 * regression.target_scale().powi(2);
        chain.slab_var[draw] = v;
        chain.p0[draw] =
            draws.beta(prior.a_p + members.len() as f64, prior.b_p + (usable - members.len()) as f64);
        control.advance(1);
    }
    Ok(chain)
}

/// The masses of all models in units of the largest: their running sums, their sum, and the PIP of each column.
struct Masses {
    cumulative: Vec<f64>,
    total: f64,
    pip: Vec<f64>,
}

impl Masses {
    fn new(log_mass: &[f64], usable: usize) -> Self {
        let largest = log_mass.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut total = 0.0;
        let running = |mass: &f64| {
            total += (mass - largest).exp();
            total
        };
        let cumulative = log_mass.iter().map(running).collect();
        let mut pip = vec![0.0; usable];
        for (model, mass) in log_mass.iter().enumerate() {
            let mass = (mass - largest).exp() / total;
            (0..usable).filter(|column| model >> column & 1 == 1).for_each(|column| pip[column] += mass);
        }
        Self { cumulative, total, pip }
    }
}

/// First index whose cumulative weight exceeds `level`.
fn pick(cumulative: &[f64], level: f64) -> usize {
    cumulative.partition_point(|&sum| sum <= level).min(cumulative.len() - 1)
}

/// Factor of one model at one slab variance.
struct Given {
    factor: Cholesky<f64, nalgebra::Dyn>,
    z: DVector<f64>,
    energy: f64,
}

impl Given {
    fn new(regression: &ScaledRegression, members: &[usize], v: f64) -> Result<Self> {
        let r = members.len();
        let mut system = DMatrix::from_fn(r, r, |i, j| regression.gram_row(members[i])[members[j]]);
        for i in 0..r {
            system[(i, i)] += 1.0 / v;
        }
        let refuse =
            || Error::Numerical("the Gram matrix of a model is not positive semidefinite".to_owned());
        let factor = Cholesky::new(system).ok_or_else(refuse)?;
        let moment = DVector::from_fn(r, |i, _| regression.moment()[members[i]]);
        let z = factor.l_dirty().solve_lower_triangular(&moment).ok_or_else(refuse)?;
        let energy = 2.0 * regression.prior().b_s + (regression.yy() - z.norm_squared()).max(0.0);
        Ok(Self { factor, z, energy })
    }

    /// `L^-T x`.
    fn solve_upper(&self, x: &DVector<f64>) -> DVector<f64> {
        self.factor.l_dirty().tr_solve_lower_triangular(x).unwrap_or_else(|| x.clone())
    }
}

#[cfg(test)]
mod tests;
