//! Quadrature over the slab variance: nodes of the trapezoid rule in `u = log v`.
//!
//! The integrand `p(u) p(y | model, v)` is analytic and falls off at both ends, on the left like `exp(-b_v / v)`, on the
//! right like `v^-(a_v + r/2)`, so equal steps converge exponentially once the step resolves its width.

use super::evidence::ScaledRegression;
use super::prior::Prior;
use super::special::ln_gamma;
use super::spectrum::Spectrum;
use crate::Result;

/// The integrand is left out where its logarithm is this far below the largest: 4e-18.
const NEGLIGIBLE: f64 = 40.0;

/// Step of the first scan for the interval that matters.
const SCAN: f64 = 0.5;

/// By how much the step of a scan is divided for the next.
const FINER: f64 = 16.0;

/// A scan may have steps of so many of the grid's; where a shape of the prior is huge, it is repeated on what matters.
const COARSE: f64 = 8.0;

/// Log density of `u = log v` under `v ~ IG(a_v, b_v)`.
pub fn log_prior(prior: &Prior, u: f64) -> f64 {
    let Prior { a_v, b_v, .. } = *prior;
    a_v * b_v.ln() - ln_gamma(a_v) - a_v * u - b_v * (-u).exp()
}

/// Equal steps in `log v`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grid {
    /// First node.
    pub low: f64,
    /// Last node, at most.
    pub high: f64,
    /// Distance of the nodes.
    pub step: f64,
}

impl Grid {
    /// The nodes.
    pub fn nodes(&self) -> Vec<f64> {
        let n = ((self.high - self.low) / self.step).ceil() as usize + 1;
        (0..n).map(|i| self.low + i as f64 * self.step).collect()
    }

    /// The grid for one model: where its integrand matters, with steps that resolve it.
    ///
    /// # Errors
    /// As [`Spectrum::log_evidence`].
    pub fn for_model(spectrum: &Spectrum<'_>) -> Result<Self> {
        let prior = spectrum.prior();
        let (first, last) = scanned(prior, spectrum.size());
        let (mut scan, step) = (SCAN, step(prior, spectrum.size()));
        let (mut low, mut high) = mattering(spectrum, first, last, scan)?;
        while scan > COARSE * step {
            scan /= FINER;
            (low, high) = mattering(spectrum, low, high, scan)?;
        }
        Ok(Self { low, high, step })
    }

    /// A grid that serves all of these models, with steps that resolve the largest of all, of `size` columns.
    ///
    /// # Errors
    /// As [`Spectrum::log_evidence`].
    pub fn for_models(regression: &ScaledRegression, models: &[Vec<usize>], size: usize) -> Result<Self> {
        let prior = regression.prior();
        let (low, _) = scanned(prior, size);
        let step = step(prior, size);
        let mut grid = Self { low, high: low + (COARSE * step).min(1.0), step };
        for members in models {
            grid.high = grid.high.max(Self::for_model(&Spectrum::new(regression, members))?.high);
        }
        Ok(grid)
    }
}

/// The interval outside of which the integrand is negligible, by steps of `scan` from `first` to `last`.
fn mattering(spectrum: &Spectrum<'_>, first: f64, last: f64, scan: f64) -> Result<(f64, f64)> {
    let mut values = Vec::new();
    let mut u = first;
    while u <= last {
        values.push(log_prior(spectrum.prior(), u) + spectrum.log_evidence(u.exp())?);
        u += scan;
    }
    let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let matters = |value: &f64| *value > largest - NEGLIGIBLE;
    let low = values.iter().position(matters).unwrap_or(0) as f64;
    let high = values.iter().rposition(matters).unwrap_or(0) as f64;
    Ok((first + scan * (low - 1.0), first + scan * (high + 1.0)))
}

/// Step that leaves an error below 1e-10: the narrowest integrand is that of an inverse gamma of shape `a_v + size/2`.
fn step(prior: &Prior, size: usize) -> f64 {
    (0.7 / (prior.a_v + 0.5 * size as f64).sqrt()).min(0.25)
}

/// Interval outside of which no model of this size has mass. On the left the prior alone forbids, even against the
/// strongest pull `v^-size/2`; on the right the prior and the dimension leave less than e^-45 beyond a signal of e^60.
fn scanned(prior: &Prior, size: usize) -> (f64, f64) {
    let shape = prior.a_v + 0.5 * size as f64;
    let height = |u: f64| shape * u + prior.b_v * (-u).exp();
    let mode = (prior.b_v / shape).ln();
    let (mut low, stride) = (mode, (COARSE * step(prior, size)).min(0.25));
    while height(low) < height(mode) + NEGLIGIBLE {
        low -= stride;
    }
    (low, mode + 60.0 + 45.0 / (prior.a_v + 0.5))
}

/// The posterior of the slab variance given a model, on the nodes of its grid.
#[derive(Debug, Clone)]
pub struct SlabPosterior {
    /// Log of the integral `int p(v) p(y | model, v) dv`.
    pub log_integral: f64,
    /// Nodes, as slab variances.
    pub v: Vec<f64>,
    /// Probability of each node.
    pub weight: Vec<f64>,
}

impl SlabPosterior {
    /// Integrates the slab variance out of the evidence of a model.
    ///
    /// The empty model does not depend on the slab: one node at the prior's start, which no coefficient uses.
    ///
    /// # Errors
    /// As [`Spectrum::log_evidence`].
    pub fn new(spectrum: &Spectrum<'_>) -> Result<Self> {
        let prior = spectrum.prior();
        if spectrum.size() == 0 {
            let log_integral = spectrum.log_evidence(1.0)?;
            return Ok(Self { log_integral, v: vec![prior.slab_start], weight: vec![1.0] });
        }
        let grid = Grid::for_model(spectrum)?;
        let v: Vec<f64> = grid.nodes().into_iter().map(f64::exp).collect();
        let terms = v
            .iter()
            .map(|&v| Ok(log_prior(prior, v.ln()) + spectrum.log_evidence(v)?))
            .collect::<Result<Vec<f64>>>()?;
        let largest = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut weight: Vec<f64> = terms.iter().map(|term| (term - largest).exp()).collect();
        let sum: f64 = weight.iter().sum();
        for weight in &mut weight {
            *weight /= sum;
        }
        Ok(Self { log_integral: largest + (sum * grid.step).ln(), v, weight })
    }
}
