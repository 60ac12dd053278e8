//! One recorded path as the moments and the filter see it: a view of its samples and of its time stamps.

use ndarray::{ArrayView1, ArrayView2};

/// The time stamps of a path.
#[derive(Debug, Clone, Copy)]
pub enum Times<'a> {
    /// Equal steps of this length.
    Even(f64),
    /// One stamp per sample, strictly increasing.
    Stamps(ArrayView1<'a, f64>),
}

/// A borrowed path: samples `(n_times, n_states)` and their times. NaN marks a missing value.
#[derive(Debug, Clone, Copy)]
pub struct Path<'a> {
    /// Samples, one row per time.
    pub x: ArrayView2<'a, f64>,
    /// Times of the rows.
    pub times: Times<'a>,
}

impl<'a> Path<'a> {
    /// Samples `(n_times, n_states)` at equal steps `dt`.
    pub fn even(x: ArrayView2<'a, f64>, dt: f64) -> Self {
        Self { x, times: Times::Even(dt) }
    }

    /// Samples `(n_times, n_states)` at the times `t`.
    pub fn stamped(x: ArrayView2<'a, f64>, t: ArrayView1<'a, f64>) -> Self {
        Self { x, times: Times::Stamps(t) }
    }
}

impl Path<'_> {
    /// Number of samples.
    pub fn len(&self) -> usize {
        self.x.nrows()
    }

    /// Whether the path has no sample.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of steps between samples.
    pub fn n_steps(&self) -> usize {
        self.len().saturating_sub(1)
    }

    /// Time from the first sample to the last.
    pub fn span(&self) -> f64 {
        match self.times {
            Times::Even(dt) => dt * self.n_steps() as f64,
            Times::Stamps(t) => t[t.len() - 1] - t[0],
        }
    }

    /// The size of the latest time, or of the first where that is larger; even steps start from zero.
    pub fn latest(&self) -> f64 {
        match self.times {
            Times::Even(_) => self.span(),
            Times::Stamps(t) => t[0].abs().max(t[t.len() - 1].abs()),
        }
    }

    /// Length of the step that leaves sample `n`.
    pub fn dt(&self, n: usize) -> f64 {
        match self.times {
            Times::Even(dt) => dt,
            Times::Stamps(t) => t[n + 1] - t[n],
        }
    }
}
