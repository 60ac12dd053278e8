//! What a filter shows of each prediction and each observation, to whoever looks on.

use super::transition::Transition;

/// One prediction of one path, as the sensitivities need it.
#[derive(Debug)]
pub struct Step<'a> {
    /// Sample that the prediction leads to.
    pub n: usize,
    /// Where what is particular to the phase of this sample is kept, see [`super::phases`].
    pub slot: usize,
    /// How many samples before this one the last of the same phase was.
    pub period: usize,
    /// Expected term values, lane by lane: term `k` of this path is at `k * width + lane`.
    pub terms: &'a [f64],
    /// Their gradients: the derivative of term `k` by state `j` in the place of term `k m + j`.
    pub gradient: &'a [f64],
    /// What the way of the drift adds to the terms beyond their gradients, over `s^2`, in the same places as the terms.
    pub bends: &'a [f64],
    /// Lanes of a row of `terms`.
    pub width: usize,
    /// The drift at the start (m).
    pub field: &'a [f64],
    /// Where the linear drift leads by each node (nodes x m), for visitors that look at terms.
    pub ways: &'a [f64],
    /// Transition, its integrals and its nodes.
    pub transition: &'a Transition,
    /// Covariance that the step added (m x m).
    pub spread: &'a [f64],
    /// Factor of the covariance of its noise.
    pub size: f64,
    /// Predicted mean (m).
    pub mean: &'a [f64],
    /// Predicted covariance (m x m).
    pub cov: &'a [f64],
    /// Whether transition, spread and covariance are those of the last step of this path and phase. There are no `ways`
    /// then.
    pub steady: bool,
}

impl Step<'_> {
    /// How much term `k` has changed by a node of the step.
    pub fn change(&self, k: usize, node: usize) -> f64 {
        let (m, s) = (self.transition.m(), self.transition.nodes()[node].s);
        let way = &self.ways[node * m..(node + 1) * m];
        let straight: f64 =
            way.iter().enumerate().map(|(j, way)| self.gradient[(k * m + j) * self.width] * way).sum();
        straight + s * s * self.bends[k * self.width]
    }
}

/// One observation of one path. Missing channels have zero rows in `observation` and `r`, and unit variance.
#[derive(Debug)]
pub struct Update<'a> {
    /// Sample.
    pub n: usize,
    /// See [`Step::slot`] and [`Step::period`].
    pub slot: usize,
    /// See `slot`.
    pub period: usize,
    /// Whether each channel was seen (q).
    pub seen: &'a [bool],
    /// Factors of the noise variances (q).
    pub scale: &'a [f64],
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
    /// Kalman gain (m x q); where the state is reset after the sample, `reset gain`.
    pub gain: &'a [f64],
    /// `I - gain observation` (m x m), or `reset (I - gain observation)`.
    pub closed: &'a [f64],
    /// Updated mean (m), after a reset.
    pub mean: &'a [f64],
    /// Its covariance (m x m).
    pub cov: &'a [f64],
    /// Where the state is reset after the sample: mean and covariance before that, and the reset (m x m).
    pub unreset: Option<(&'a [f64], &'a [f64], &'a [f64])>,
    /// Log density of the sample given those before it.
    pub gained: f64,
    /// Whether covariance, gain and what goes with them are those of the last sample of this path and phase.
    pub steady: bool,
}

/// What looks on while paths are filtered.
pub trait Visitor {
    /// Whether it looks at terms and ways.
    const TERMS: bool = false;
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
