//! Models whose terms are all affine and whose Gamma is constant, and when the covariance of their filter stands still.
//!
//! No program runs while such a model is filtered. On even steps without gaps the covariance converges, and with it gain
//! and sensitivities; from then on a sample costs what its mean costs.

use super::state_space::StateSpace;

/// Change of a covariance in a step, beside its variances, at which it has nearly converged.
const CLOSE: f64 = 1e-13;

/// Share of the steps until then after which it has converged: what is left falls from `CLOSE` by its power of this.
const AGAIN: f64 = 0.25;

/// `u = offsets + slopes x`, `dx = (force + a x) dt + g dB`, `g g^T = gamma`.
#[derive(Debug)]
pub struct Affine {
    /// `(K,)` and `(K, m)`.
    pub offsets: Vec<f64>,
    /// See `offsets`.
    pub slopes: Vec<f64>,
    /// `(m,)` and `(m, m)`.
    pub force: Vec<f64>,
    /// See `force`.
    pub a: Vec<f64>,
    /// `(m, m)`
    pub gamma: Vec<f64>,
}

impl Affine {
    /// The form of a model, if it has this one.
    pub fn of(model: &StateSpace<'_>) -> Option<Self> {
        if !model.second_order || !model.kinks.is_empty() || !model.given.is_empty() {
            return None;
        }
        let (m, forms) = (model.m(), model.program.affine().into_iter().collect::<Option<Vec<_>>>()?);
        let offsets: Vec<f64> = forms.iter().map(|form| form[0]).collect();
        let slopes: Vec<f64> = forms.iter().flat_map(|form| form[1..].iter().copied()).collect();
        let (mut force, mut a) = (vec![0.0; m], vec![0.0; m * m]);
        for ((i, k), &c) in model.drift.indexed_iter() {
            force[i] += c * offsets[k];
            (0..m).for_each(|j| a[i * m + j] += c * slopes[k * m + j]);
        }
        let mut elements = vec![0.0; model.pairs.len()];
        for ((pair, k), &c) in model.gamma.indexed_iter().filter(|(_, c)| **c != 0.0) {
            if slopes[k * m..][..m].iter().any(|&slope| slope != 0.0) {
                return None;
            }
            elements[pair] += c * offsets[k];
        }
        let mut gamma = vec![0.0; m * m];
        model.positive_gamma(&elements, &mut gamma);
        Some(Self { offsets, slopes, force, a, gamma })
    }

    /// Whether a term is a number.
    pub fn is_constant(&self, k: usize) -> bool {
        let m = self.force.len();
        self.slopes[k * m..][..m].iter().all(|&slope| slope == 0.0)
    }
}

/// Whether something that converges step by step has converged: once it is close, it is given a quarter of the steps
/// until then again, which takes what is left far below rounding.
#[derive(Debug, Clone, Copy)]
pub struct Convergence {
    steps: usize,
    end: Option<usize>,
}

impl Convergence {
    /// Before the first step.
    pub const fn new() -> Self {
        Self { steps: 0, end: None }
    }

    /// Counts a step, after which the thing was `close` or not; whether it has converged.
    pub fn step(&mut self, close: bool) -> bool {
        self.steps += 1;
        if close && self.end.is_none() {
            self.end = Some(self.steps + (AGAIN * self.steps as f64).ceil() as usize);
        }
        self.end.is_some_and(|end| self.steps >= end)
    }
}

/// Whether a symmetric matrix (m x m) has changed by less than rounding shows, beside its diagonal.
pub fn close(before: &[f64], after: &[f64], m: usize) -> bool {
    (0..m * m).all(|index| {
        let size = (after[index / m * (m + 1)] * after[index % m * (m + 1)]).abs().sqrt();
        (after[index] - before[index]).abs() <= CLOSE * size
    })
}

/// The same of wide symmetric matrices (m x m x c), each column of them.
pub fn close_columns(before: &[f64], after: &[f64], m: usize, c: usize) -> bool {
    (0..m * m).all(|index| {
        let row = |index: usize| &after[index * c..(index + 1) * c];
        let (left, right) = (row(index / m * (m + 1)), row(index % m * (m + 1)));
        let sizes = left.iter().zip(right).map(|(a, b)| (a * b).abs().sqrt());
        let changes =
            row(index).iter().zip(&before[index * c..]).map(|(after, before)| (after - before).abs());
        changes.zip(sizes).all(|(change, size)| change <= CLOSE * size)
    })
}
