//! What is regressed: the target of each step and its weight.
//!
//! A drift target is the increment over the step, `(X_i[n+1] - X_i[n]) / dt`, whose noise has variance
//! `Gamma_ii / dt`. A diffusion target is the product of two residual increments, `e_i e_j / dt`, whose noise has
//! variance `Gamma_ii Gamma_jj + Gamma_ij^2`.

use ndarray::ArrayView1;

use super::block::{Fitted, StepBlock};
use crate::path::Path;
use crate::program::Program;
use crate::{Error, Result};

/// Where regressors and the fitted drift of a step are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepScheme {
    /// At the start of the step; bias of order `dt`.
    Euler,
    /// The mean of both ends, with the start as instrument; bias of order `dt^2`.
    Trapezoid,
}

/// What is regressed.
#[derive(Clone, Copy)]
pub enum Target<'a> {
    /// The increments of one state, over `dt`.
    Drift(usize),
    /// The products of the residual increments of two states, over `dt`.
    Diffusion {
        /// The two states.
        pair: (usize, usize),
        /// Their fitted drifts, two rows; `None` leaves the increments raw.
        drift: Option<Fitted<'a>>,
    },
}

/// Weights of the steps; none looks at anything after the start of its step.
#[derive(Clone, Copy)]
pub enum Weights<'a> {
    /// All steps count alike.
    Unit,
    /// One weight per step of each path.
    Given(&'a [ArrayView1<'a, f64>]),
    /// The inverse of a predicted noise variance.
    Variance {
        /// `Gamma_ii` for a drift target; `Gamma_ii, Gamma_jj, Gamma_ij` for a diffusion target.
        gamma: Fitted<'a>,
        /// Lower bounds of the variances, one or two.
        floors: [f64; 2],
    },
}

/// How paths are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ensemble {
    /// Every step of every path is one row of the regression.
    Pool,
    /// Target and library are averaged over the paths at each time, then regressed.
    Mean,
}

/// One regression over recorded paths.
#[derive(Clone, Copy)]
pub struct Regression<'a> {
    /// The candidate terms.
    pub program: &'a Program,
    /// Their names, for messages.
    pub names: &'a [String],
    /// What is regressed on them.
    pub target: Target<'a>,
    /// Where the regressors are taken.
    pub scheme: StepScheme,
    /// Weights of the steps.
    pub weights: Weights<'a>,
    /// How paths are joined.
    pub ensemble: Ensemble,
    /// Whether products of terms with terms are summed; without them those sums are zero.
    pub squares: bool,
    /// Targets in the place of those of the increments, one per step of each path.
    pub given: Option<&'a [ArrayView1<'a, f64>]>,
}

impl Regression<'_> {
    /// Checks that the shapes fit each other and these paths.
    ///
    /// # Errors
    /// [`Error::Argument`] for shapes that do not fit, [`Error::Data`] where there is no step.
    pub(super) fn check(&self, paths: &[Path<'_>]) -> Result<()> {
        let n_inputs = self.program.n_inputs();
        if paths.iter().any(|p| p.x.ncols() != n_inputs) {
            return Err(Error::argument(
                "paths",
                "another number of columns",
                format!("{n_inputs} columns each"),
            ));
        }
        if paths.iter().all(|p| p.n_steps() == 0) {
            return Err(Error::Data("the paths have no step".into()));
        }
        let (highest, rows) = match self.target {
            Target::Drift(row) => (row, 1),
            Target::Diffusion { pair, drift } => {
                drift.map_or(Ok(()), |fitted| fitted.check("drift.coef", 2))?;
                (pair.0.max(pair.1), 3)
            }
        };
        if highest >= n_inputs {
            return Err(Error::argument("row", highest, format!("a number below {n_inputs}")));
        }
        self.given.map_or(Ok(()), |given| one_per_step("target.given", given, paths))?;
        match self.weights {
            Weights::Variance { gamma, .. } => gamma.check("weights.coef", rows),
            Weights::Given(given) => one_per_step("weights", given, paths),
            Weights::Unit => Ok(()),
        }
    }
}

/// Checks that there is a number for each step of each path.
fn one_per_step(name: &'static str, given: &[ArrayView1<'_, f64>], paths: &[Path<'_>]) -> Result<()> {
    let fits = given.len() == paths.len() && given.iter().zip(paths).all(|(w, p)| w.len() == p.n_steps());
    if fits {
        Ok(())
    } else {
        Err(Error::argument(name, "of another shape", "one array of n_steps numbers per path"))
    }
}

/// Noise variance of a diffusion target, each variance held above its floor; a covariance larger than the two
/// variances allow is cut to what they allow.
pub fn product_variance(gamma: [f64; 3], floors: [f64; 2]) -> f64 {
    let [ii, jj, ij] = gamma;
    let both = ii.max(floors[0]) * jj.max(floors[1]);
    both + (ij * ij).min(both)
}

/// Targets of the steps of a block into `y`.
pub(crate) fn step_targets(
    block: &StepBlock<'_>,
    fitted: Option<[&[f64]; 2]>,
    target: &Target<'_>,
    scheme: StepScheme,
    y: &mut [f64],
) {
    match *target {
        Target::Drift(row) => {
            let x = block.input(row);
            let moved = y.iter_mut().zip(x.iter().zip(&x[1..]));
            if let Some(dt) = block.even() {
                moved.for_each(|(y, (from, to))| *y = (to - from) / dt);
            } else {
                moved.enumerate().for_each(|(n, (y, (from, to)))| *y = (to - from) / block.dt(n));
            }
        }
        Target::Diffusion { pair: (i, j), .. } => {
            let (xi, xj) = (block.input(i), block.input(j));
            let drift = |f: &[f64], n: usize| match scheme {
                StepScheme::Euler => f[n],
                StepScheme::Trapezoid => (f[n] + f[n + 1]) / 2.0,
            };
            for (n, y) in y.iter_mut().enumerate() {
                let dt = block.dt(n);
                let (mut ei, mut ej) = (xi[n + 1] - xi[n], xj[n + 1] - xj[n]);
                if let Some([fi, fj]) = fitted {
                    ei -= dt * drift(fi, n);
                    ej -= dt * drift(fj, n);
                }
                *y = ei * ej / dt;
            }
        }
    }
}

/// Weights of the steps of a block into `w`; `gamma` holds the predicted covariances at the samples.
pub(crate) fn step_weights(
    block: &StepBlock<'_>,
    gamma: &[&[f64]],
    dt_mean: f64,
    target: &Target<'_>,
    weights: &Weights<'_>,
    w: &mut [f64],
) {
    match weights {
        Weights::Unit => w.fill(1.0),
        Weights::Given(given) => {
            let all = given[block.path];
            for (n, w) in w.iter_mut().enumerate() {
                *w = all[block.start + n];
            }
        }
        Weights::Variance { floors, .. } => {
            for (n, w) in w.iter_mut().enumerate() {
                let variance = match *gamma {
                    [ii] => ii[n].max(floors[0]),
                    [ii, jj, ij] => product_variance([ii[n], jj[n], ij[n]], *floors),
                    _ => unreachable!("checked: one row or three"),
                };
                *w = 1.0 / variance;
            }
        }
    }
    if let Target::Drift(_) = target {
        if let Some(dt) = block.even() {
            let length = dt / dt_mean;
            w.iter_mut().for_each(|w| *w *= length);
        } else {
            w.iter_mut().enumerate().for_each(|(n, w)| *w *= block.dt(n) / dt_mean);
        }
    }
}
