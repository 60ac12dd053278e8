//! Additive sums of a regression over the steps of all paths, held in one pass over blocks of samples.
//!
//! No array of N x K is ever held. Blocks are grouped into jobs whose sums are added in a fixed order, so the bits of
//! the result do not depend on the number of threads.

use std::ops::AddAssign;

use nalgebra::{DMatrix, DVector};
use rayon::prelude::*;

use crate::control::Control;
use crate::path::Path;
use crate::program::Program;
use crate::regression::block::{Block, STEPS, Stretch, Values, mean_step, stretches};

use crate::regression::targets::{Scheme, Target, Weights};
use crate::{Error, Result};

use super::rows::Rows;

/// Blocks that one job adds up.
const JOB: usize = 32;
/// Jobs whose sums are held at once.
const WAVE: usize = 32;

/// `Om = w L L^T, A = w L Lt^T, B = w Lt Lt^T, c = w L y, d = w Lt y, s = w y^2`, summed over `n` steps.
///
/// `L` is the instrument, the library at the start of a step; `Lt` the regressor. Sums of two data sets add to those of
/// both.
#[derive(Debug, Clone, PartialEq)]
pub struct Sums {
    /// Instruments with instruments.
    pub omega: DMatrix<f64>,
    /// Instruments (rows) with regressors (columns).
    pub cross: DMatrix<f64>,
    /// Regressors with regressors.
    pub inner: DMatrix<f64>,
    /// Instruments with the target.
    pub c: DVector<f64>,
    /// Regressors with the target.
    pub d: DVector<f64>,
    /// Target with itself.
    pub s: f64,
    /// Sum of the targets, without weights.
    pub total: f64,
    /// Number of steps.
    pub n: u64,
}

impl Sums {
    /// Sums over no step of a library of `k` terms.
    pub fn zeros(k: usize) -> Self {
        let (square, line) = (DMatrix::zeros(k, k), DVector::zeros(k));
        Self {
            omega: square.clone(),
            cross: square.clone(),
            inner: square,
            c: line.clone(),
            d: line,
            s: 0.0,
            total: 0.0,
            n: 0,
        }
    }

    fn is_finite(&self) -> bool {
        self.s.is_finite()
            && [&self.omega, &self.cross, &self.inner].iter().all(|m| m.iter().all(|v| v.is_finite()))
            && self.d.iter().all(|v| v.is_finite())
    }
}

impl AddAssign<&Self> for Sums {
    fn add_assign(&mut self, other: &Self) {
        self.omega += &other.omega;
        self.cross += &other.cross;
        self.inner += &other.inner;
        self.c += &other.c;
        self.d += &other.d;
        self.s += other.s;
        self.total += other.total;
        self.n += other.n;
    }
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
    pub scheme: Scheme,
    /// Weights of the steps.
    pub weights: Weights<'a>,
    /// How paths are joined.
    pub ensemble: Ensemble,
}

impl Regression<'_> {
    fn check(&self, paths: &[Path<'_>]) -> Result<()> {
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
        match self.weights {
            Weights::Variance { gamma, .. } => gamma.check("weights.coef", rows),
            Weights::Given(given) => {
                let fits = given.len() == paths.len()
                    && given.iter().zip(paths).all(|(w, p)| w.len() == p.n_steps());
                if fits {
                    Ok(())
                } else {
                    Err(Error::argument(
                        "weights",
                        "of another shape",
                        "one array of n_steps weights per path",
                    ))
                }
            }
            Weights::Unit => Ok(()),
        }
    }

    /// Sums over all steps that touch no missing sample.
    ///
    /// Progress is counted in steps.
    ///
    /// # Errors
    /// [`Error::Argument`] for shapes that do not fit, [`Error::Data`] for a term that is not finite on the data,
    /// [`Error::Interrupted`].
    pub fn sums(&self, paths: &[Path<'_>], control: &Control) -> Result<Sums> {
        self.check(paths)?;
        let sums = match self.ensemble {
            Ensemble::Pool => self.pooled(paths, control)?,
            Ensemble::Mean => self.averaged(paths, control)?,
        };
        if sums.is_finite() { Ok(sums) } else { Err(self.blame(paths)) }
    }

    fn pooled(&self, paths: &[Path<'_>], control: &Control) -> Result<Sums> {
        let dt_mean = mean_step(paths);
        let all: Vec<Stretch> = stretches(paths).collect();
        let mut total = Sums::zeros(self.program.n_outputs());
        for wave in all.chunks(JOB * WAVE) {
            let parts: Vec<Sums> = wave
                .par_chunks(JOB)
                .map_init(
                    || Rows::new(self, paths, dt_mean),
                    |rows, job| {
                        control.check()?;
                        let mut sums = Sums::zeros(self.program.n_outputs());
                        for &stretch in job {
                            rows.load(paths, stretch);
                            rows.add_products(&mut sums);
                        }
                        control.advance(job.iter().map(|s| s.steps as u64).sum());
                        Ok(sums)
                    },
                )
                .collect::<Result<_>>()?;
            parts.iter().for_each(|part| total += part);
        }
        Ok(total)
    }

    fn averaged(&self, paths: &[Path<'_>], control: &Control) -> Result<Sums> {
        let dt_mean = mean_step(paths);
        let longest = paths.iter().map(Path::n_steps).max().unwrap_or(0);
        let starts: Vec<usize> = (0..longest).step_by(STEPS).collect();
        let parts: Vec<Sums> = starts
            .par_iter()
            .map_init(
                || (Rows::new(self, paths, dt_mean), Rows::new(self, paths, dt_mean)),
                |(mean, rows), &start| {
                    mean.clear();
                    let mut count = [0.0; STEPS];
                    for (path, p) in paths.iter().enumerate().filter(|(_, p)| p.n_steps() > start) {
                        control.check()?;
                        rows.load(paths, Stretch { path, start, steps: STEPS.min(p.n_steps() - start) });
                        mean.accumulate(rows, &mut count);
                        control.advance(rows.block.steps as u64);
                    }
                    mean.divide(&count);
                    let mut sums = Sums::zeros(self.program.n_outputs());
                    mean.add_products(&mut sums);
                    Ok(sums)
                },
            )
            .collect::<Result<_>>()?;
        let mut total = Sums::zeros(self.program.n_outputs());
        parts.iter().for_each(|part| total += part);
        Ok(total)
    }

    /// The error that names the first term that is not finite on a sample without a gap.
    fn blame(&self, paths: &[Path<'_>]) -> Error {
        let mut block = Block::new(paths[0]);
        let mut values = Values::new(self.program);
        for stretch in stretches(paths) {
            block.load(paths, stretch);
            values.evaluate(&block);
            for n in (0..block.samples()).filter(|&n| block.seen(n)) {
                for k in 0..values.n_terms() {
                    if !values.term(k)[n].is_finite() {
                        return Error::Data(format!(
                            "term '{}' is {} at path {}, sample {}; a term must be finite on every sample",
                            self.names[k],
                            if values.term(k)[n].is_nan() { "not a number" } else { "infinite" },
                            stretch.path,
                            stretch.start + n
                        ));
                    }
                }
            }
        }
        Error::Numerical("the sums of the regression overflow; use smaller units or a lower degree".into())
    }
}
