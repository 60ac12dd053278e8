//! What the length of the step does to a row without noise: drift, residual and error of the step along recordings.

use nalgebra::{DMatrix, DVector};
use ndarray::{Array1, Array2, s};

use super::regressions::Measured;
use crate::Result;

/// Samples along which the drift is looked at: the first ones of every path.
const MOST: usize = 50_000;
/// Samples of each path at least.
const FEWEST: usize = 50;
/// Mean square of what a step leaves over that of a smooth row, below which the row is smooth: 1 at most, 6 if rough.
const SMOOTH: f64 = 2.0;

/// Means along the recordings: variance of a row by `Gamma`, what a step leaves of one without noise, squared steps over
/// their length.
pub(super) struct LeftOver {
    pub gamma: f64,
    pub by_step: f64,
    pub moved: f64,
}

/// The beginning of each path, and its steps.
fn stretches(measured: &Measured<'_, '_>) -> impl Iterator<Item = (Array2<f64>, Array1<f64>)> {
    let most = (MOST / measured.paths.len()).max(FEWEST);
    measured.paths.iter().map(move |path| {
        let samples = most.min(path.len());
        (path.x.slice(s![..samples, ..]).to_owned(), (0..samples - 1).map(|n| path.dt(n)).collect())
    })
}

/// `f[n+2] - 2 f[n+1] + f[n]`.
fn second_difference(f: &Array1<f64>) -> Array1<f64> {
    f.windows(3).into_iter().map(|w| w[2] - 2.0 * w[1] + w[0]).collect()
}

/// Mean of the finite values, zero if there is none.
fn mean_there(values: &[f64]) -> f64 {
    let there = || values.iter().filter(|value| value.is_finite());
    let count = there().count();
    if count == 0 { 0.0 } else { there().sum::<f64>() / count as f64 }
}

/// Mean variance of a row, what the trapezoid leaves of a row without noise, and all that it moves.
///
/// `h mean((f[n+2] - 2 f[n+1] + f[n])^2) / 24`: where noise of other rows moves the drift `f` of the row as a Brownian
/// motion, its integral over a step misses the trapezoid by a variance of `h^3 / 12` times that of the motion; a smooth
/// drift is missed by a twelfth of the second difference, which is less.
pub(super) fn left_over(
    measured: &Measured<'_, '_>,
    row: usize,
    drift: &Array1<f64>,
    gamma: &Array1<f64>,
) -> Result<LeftOver> {
    let (mut sizes, mut left, mut moved) = (Vec::new(), Vec::new(), Vec::new());
    for (x, h) in stretches(measured) {
        let f = measured.drift.program.evaluate(x.view(), measured.control)?.dot(drift);
        let bend = second_difference(&f);
        left.extend(bend.iter().zip(h.windows(2)).map(|(b, h)| b * b * 0.5 * (h[1] + h[0]) / 24.0));
        sizes.extend(measured.gamma.program.evaluate(x.view(), measured.control)?.dot(gamma));
        let column = x.column(row);
        moved.extend(column.windows(2).into_iter().zip(&h).map(|(x, h)| (x[1] - x[0]).powi(2) / h));
    }
    Ok(LeftOver { gamma: mean_there(&sizes), by_step: mean_there(&left), moved: mean_there(&moved) })
}

/// Terms `(n, K)` along the recordings, what the trapezoid leaves of a row, and the error of the step `(n,)`.
pub(super) struct Along {
    terms: Array2<f64>,
    residual: Vec<f64>,
    error: Vec<f64>,
}

impl Along {
    /// Of a row with the drift `(K,)`.
    pub(super) fn new(measured: &Measured<'_, '_>, row: usize, drift: &Array1<f64>) -> Result<Self> {
        let k = drift.len();
        let (mut terms, mut residual, mut error) = (Vec::new(), Vec::new(), Vec::new());
        for (x, h) in stretches(measured) {
            let values = measured.drift.program.evaluate(x.view(), measured.control)?;
            let f = values.dot(drift);
            let bend = second_difference(&f);
            for n in 1..f.len().saturating_sub(1) {
                let left = (x[[n + 1, row]] - x[[n, row]]) / h[n] - 0.5 * (f[n + 1] + f[n]);
                let missed = bend[n - 1] / 12.0;
                let line = values.row(n);
                if left.is_finite() && missed.is_finite() && line.iter().all(|value| value.is_finite()) {
                    terms.extend(line);
                    residual.push(left);
                    error.push(missed);
                }
            }
        }
        let terms = Array2::from_shape_vec((error.len(), k), terms).expect("a row for each error");
        Ok(Self { terms, residual, error })
    }

    /// Whether no more is left over of the row than the trapezoid misses of a smooth one.
    pub(super) fn is_smooth(&self) -> bool {
        !self.error.is_empty() && mean_square(&self.residual) <= SMOOTH * mean_square(&self.error)
    }

    /// Root mean square of each term.
    pub(super) fn sizes(&self) -> Vec<f64> {
        self.terms.columns().into_iter().map(|c| (c.dot(&c) / c.len() as f64).sqrt()).collect()
    }

    /// Root mean square of the error of the step.
    pub(super) fn error_size(&self) -> f64 {
        mean_square(&self.error).sqrt()
    }

    /// The regression of the error of the step on some terms, among all of them.
    pub(super) fn error_by_terms(&self, inside: &[usize]) -> Array1<f64> {
        let mut found = Array1::zeros(self.terms.ncols());
        if inside.is_empty() || self.error.is_empty() {
            return found;
        }
        let table = DMatrix::from_fn(self.error.len(), inside.len(), |n, k| self.terms[[n, inside[k]]]);
        let svd = table.svd(true, true);
        let least = f64::EPSILON * self.error.len().max(inside.len()) as f64 * svd.singular_values.max();
        if let Ok(solved) = svd.solve(&DVector::from_column_slice(&self.error), least) {
            inside.iter().zip(&solved).for_each(|(&k, &value)| found[k] = value);
        }
        found
    }
}

fn mean_square(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>() / values.len() as f64
}
