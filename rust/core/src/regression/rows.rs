//! The rows of a regression: instrument, regressor, target and weight of the steps of one block, and their products.

use nalgebra::{DMatrix, DVector};

use super::block::{Combined, STEPS, StepBlock, Stretch, Values};
use super::sums::Sums;
use super::targets::{Regression, StepScheme, Target, Weights, step_targets, step_weights};
use crate::path::Path;

/// Instrument, regressor, target and weight of the usable steps of one block, one array per term.
pub(crate) struct StepRows<'r, 'a, 'd> {
    regression: &'r Regression<'a>,
    dt_mean: f64,
    pub block: StepBlock<'d>,
    library: Values<'a>,
    drift: Option<Combined<'a>>,
    gamma: Option<Combined<'a>>,
    usable: Vec<usize>,
    left: Vec<f64>,
    mid: Vec<f64>,
    weighted: Vec<f64>,
    y: Vec<f64>,
    w: Vec<f64>,
}

impl<'r, 'a, 'd> StepRows<'r, 'a, 'd> {
    pub fn new(regression: &'r Regression<'a>, paths: &[Path<'d>], dt_mean: f64) -> Self {
        let k = regression.program.n_outputs();
        let drift = match regression.target {
            Target::Diffusion { drift, .. } => drift.map(Combined::new),
            Target::Drift(_) => None,
        };
        let gamma = match regression.weights {
            Weights::Variance { gamma, .. } => Some(Combined::new(gamma)),
            _ => None,
        };
        Self {
            regression,
            dt_mean,
            block: StepBlock::new(paths[0]),
            library: Values::new(regression.program),
            drift,
            gamma,
            usable: Vec::with_capacity(STEPS),
            left: vec![0.0; k * STEPS],
            mid: vec![0.0; k * STEPS],
            weighted: vec![0.0; k * STEPS],
            y: vec![0.0; STEPS],
            w: vec![0.0; STEPS],
        }
    }

    pub fn load(&mut self, paths: &[Path<'d>], stretch: Stretch) {
        self.block.load(paths, stretch);
        self.library.evaluate(&self.block);
        let steps = stretch.steps;
        let fitted = self.drift.as_mut().map(|drift| {
            drift.evaluate(&self.block);
            [drift.row(0), drift.row(1)]
        });
        step_targets(
            &self.block,
            fitted,
            &self.regression.target,
            self.regression.scheme,
            &mut self.y[..steps],
        );
        let mut predicted: Vec<&[f64]> = Vec::new();
        if let Some(gamma) = self.gamma.as_mut() {
            gamma.evaluate(&self.block);
            predicted.extend((0..gamma.n_rows()).map(|q| gamma.row(q)));
        }
        let weights = &self.regression.weights;
        step_weights(
            &self.block,
            &predicted,
            self.dt_mean,
            &self.regression.target,
            weights,
            &mut self.w[..steps],
        );
        self.usable.clear();
        self.usable.extend((0..steps).filter(|&n| self.block.seen(n) && self.block.seen(n + 1)));
        self.gather();
    }

    /// Copies the usable steps side by side.
    fn gather(&mut self) {
        for (p, &n) in self.usable.iter().enumerate() {
            (self.y[p], self.w[p]) = (self.y[n], self.w[n]);
        }
        let all = self.usable.len() == self.block.steps;
        for k in 0..self.library.n_terms() {
            let u = self.library.term(k);
            let left = &mut self.left[k * STEPS..][..self.usable.len()];
            let mid = &mut self.mid[k * STEPS..][..self.usable.len()];
            if all {
                left.copy_from_slice(&u[..left.len()]);
                for n in 0..mid.len() {
                    mid[n] = 0.5 * (u[n] + u[n + 1]);
                }
            } else {
                for (p, &n) in self.usable.iter().enumerate() {
                    left[p] = u[n];
                    mid[p] = 0.5 * (u[n] + u[n + 1]);
                }
            }
        }
    }

    /// Empties the rows, to be filled by [`StepRows::accumulate`].
    pub fn clear(&mut self) {
        self.usable.clear();
        for buffer in [&mut self.left, &mut self.mid, &mut self.y, &mut self.w] {
            buffer.fill(0.0);
        }
    }

    /// Adds the rows of one path, step by step.
    pub fn accumulate(&mut self, one: &StepRows<'_, '_, '_>, count: &mut [f64]) {
        for (p, &n) in one.usable.iter().enumerate() {
            self.y[n] += one.y[p];
            self.w[n] += one.w[p];
            count[n] += 1.0;
        }
        for k in 0..self.library.n_terms() {
            for (p, &n) in one.usable.iter().enumerate() {
                self.left[k * STEPS + n] += one.left[k * STEPS + p];
                self.mid[k * STEPS + n] += one.mid[k * STEPS + p];
            }
        }
    }

    /// Turns sums over `count` paths into means and drops the steps that no path has.
    pub fn divide(&mut self, count: &[f64]) {
        self.usable.extend((0..STEPS).filter(|&n| count[n] > 0.0));
        for (p, &n) in self.usable.iter().enumerate() {
            (self.y[p], self.w[p]) = (self.y[n] / count[n], self.w[n] / count[n]);
            for k in 0..self.library.n_terms() {
                self.left[k * STEPS + p] = self.left[k * STEPS + n] / count[n];
                self.mid[k * STEPS + p] = self.mid[k * STEPS + n] / count[n];
            }
        }
    }

    pub fn add_products(&mut self, sums: &mut Sums) {
        let n = self.usable.len();
        let regressor = match self.regression.scheme {
            StepScheme::Euler => &self.left,
            StepScheme::Trapezoid => &self.mid,
        };
        let (y, w) = (&self.y[..n], &self.w[..n]);
        sums.n += n as u64;
        sums.total += y.iter().sum::<f64>();
        sums.s += w.iter().zip(y).map(|(w, y)| w * y * y).sum::<f64>();
        weigh(&self.left, w, &mut self.weighted);
        add_product(&self.weighted, &self.left, n, &mut sums.omega);
        add_product(&self.weighted, regressor, n, &mut sums.cross);
        add_dots(&self.weighted, y, &mut sums.c);
        weigh(regressor, w, &mut self.weighted);
        add_product(&self.weighted, regressor, n, &mut sums.inner);
        add_dots(&self.weighted, y, &mut sums.d);
    }
}

fn weigh(terms: &[f64], w: &[f64], out: &mut [f64]) {
    for (terms, out) in terms.chunks_exact(STEPS).zip(out.chunks_exact_mut(STEPS)) {
        for ((out, u), w) in out.iter_mut().zip(terms).zip(w) {
            *out = w * u;
        }
    }
}

fn add_dots(terms: &[f64], y: &[f64], out: &mut DVector<f64>) {
    for (terms, out) in terms.chunks_exact(STEPS).zip(out.iter_mut()) {
        *out += terms.iter().zip(y).map(|(u, y)| u * y).sum::<f64>();
    }
}

/// `out += a b^T` for two sets of `K` rows of `n <= STEPS` values.
fn add_product(a: &[f64], b: &[f64], n: usize, out: &mut DMatrix<f64>) {
    let k = out.nrows();
    assert!(n <= STEPS && a.len() == k * STEPS && b.len() == k * STEPS);
    let (row, column) = (STEPS as isize, 1);
    // SAFETY: both factors hold k rows of STEPS values of which the first n are read, `out` is k x k, column-major.
    unsafe {
        matrixmultiply::dgemm(
            k,
            n,
            k,
            1.0,
            a.as_ptr(),
            row,
            column,
            b.as_ptr(),
            column,
            row,
            1.0,
            out.as_mut_ptr(),
            1,
            k as isize,
        );
    }
}
