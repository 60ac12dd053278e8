//! What a filter shows of each prediction and each observation, to whoever looks on.

/// One prediction of one path, as the sensitivities need it.
#[derive(Debug)]
pub struct Step<'a> {
    /// Sample that the prediction leads to.
    pub n: usize,
    /// Length of the step.
    pub h: f64,
    /// Expected term values, lane by lane: term `k` of this path is at `k * width + lane`.
    pub terms: &'a [f64],
    /// Rates of change of the terms along the drift, in the same places.
    pub rates: &'a [f64],
    /// Curvatures of the terms along the drift, in the same places: a term is `terms + s rates + s^2 bends`.
    pub bends: &'a [f64],
    /// Lanes of a row of `terms`.
    pub width: usize,
    /// Transition (m x m).
    pub phi: &'a [f64],
    /// Jacobian of the drift (m x m).
    pub jacobian: &'a [f64],
    /// Times within the step at which Gamma was looked up.
    pub nodes: &'a [QuadratureNode],
    /// Transition from each node to the end (nodes x m x m).
    pub onward: &'a [f64],
    /// Covariance that the step added (m x m).
    pub spread: &'a [f64],
    /// Predicted mean (m).
    pub mean: &'a [f64],
    /// Predicted covariance (m x m).
    pub cov: &'a [f64],
}

/// A time within a step: since its start, and its weight in an integral over the step.
#[derive(Debug, Clone, Copy, Default)]
pub struct QuadratureNode {
    /// Time since the start.
    pub s: f64,
    /// Weight.
    pub weight: f64,
}

impl Step<'_> {
    /// Term `k` at time `s` after the start.
    pub fn value(&self, k: usize, s: f64) -> f64 {
        let at = k * self.width;
        self.terms[at] + s * (self.rates[at] + s * self.bends[at])
    }
}

/// One observation of one path. Missing channels have zero rows in `observation` and `r`, and unit variance.
#[derive(Debug)]
pub struct Update<'a> {
    /// Sample.
    pub n: usize,
    /// Whether each channel was seen (q).
    pub seen: &'a [bool],
    /// `observation` with the rows of missing channels zero (q x m).
    pub observation: &'a [f64],
    /// Innovation (q).
    pub r: &'a [f64],
    /// Its covariance (q x q).
    pub s: &'a [f64],
    /// Inverse of the Cholesky factor of `s` (q x q).
    pub inverse: &'a [f64],
    /// `inverse r`.
    pub white: &'a [f64],
    /// Kalman gain (m x q).
    pub gain: &'a [f64],
    /// `I - gain observation` (m x m).
    pub closed: &'a [f64],
    /// Updated mean (m).
    pub mean: &'a [f64],
    /// Updated covariance (m x m).
    pub cov: &'a [f64],
}

/// What looks on while paths are filtered.
pub trait Visitor {
    /// After a prediction of the path in `lane`.
    fn predicted(&mut self, lane: usize, step: &Step<'_>);
    /// After an observation of the path in `lane`.
    fn updated(&mut self, lane: usize, update: &Update<'_>);
}

/// A visitor that ignores what it sees.
pub struct Nobody;

impl Visitor for Nobody {
    fn predicted(&mut self, _: usize, _: &Step<'_>) {}
    fn updated(&mut self, _: usize, _: &Update<'_>) {}
}
