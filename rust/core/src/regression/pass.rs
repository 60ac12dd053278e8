//! Additive sums of a regression over the steps of all paths, held in one pass over blocks of samples.
//!
//! No array of N x K is ever held. Blocks are grouped into jobs whose sums are added in a fixed order, so the bits of
//! the result do not depend on the number of threads.

use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::block::{STEPS, StepBlock, Stretch, Values, mean_step, stretches};
use super::rows::StepRows;
use super::sums::{Products, RunningSum, Sums};
use super::targets::{Ensemble, Regression};
use crate::control::Control;
use crate::path::Path;
use crate::program::Extended;
use crate::{Error, Result};

/// Blocks that one job adds up.
const JOB: usize = 32;
/// Jobs whose sums are held at once.
const WAVE: usize = 32;

/// From so many steps on distinct products are looked for: it takes a few milliseconds.
const LONG: usize = 1 << 16;
/// Of more terms they are not looked for, whose number of pairs grows with the square.
const MANY: usize = 128;

impl<'a> Regression<'a> {
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
            Ensemble::Pool => {
                let squares = self.distinct(paths);
                self.pooled(paths, squares, control)?.sums(self.scheme, squares)
            }
            // Means of products are no products of means.
            Ensemble::Mean => self.averaged(paths, control)?.sums(self.scheme, None),
        };
        if sums.is_finite() { Ok(sums) } else { Err(self.blame(paths)) }
    }

    /// The distinct products of the library, where recordings are long enough to make up for finding them.
    fn distinct(&self, paths: &[Path<'_>]) -> Option<&'a Extended> {
        let n_steps: usize = paths.iter().map(Path::n_steps).sum();
        let worth = self.squares && n_steps >= LONG && self.program.n_outputs() <= MANY;
        if worth { self.program.squares() } else { None }
    }

    /// The products of the steps of all paths; those of terms with terms by `squares`, where that is given.
    pub(super) fn pooled(
        &self,
        paths: &[Path<'_>],
        squares: Option<&'a Extended>,
        control: &Control,
    ) -> Result<Products> {
        let dt_mean = mean_step(paths);
        let all: Vec<Stretch> = stretches(paths).collect();
        let (k, n_distinct) =
            (self.program.n_outputs(), squares.map_or(0, |extended| extended.squares.n_distinct));
        let mut total = RunningSum::zeros(k, n_distinct);
        let some = all.len().div_ceil(JOB).min(WAVE);
        let mut parts = vec![Products::zeros(k, n_distinct); some];
        // jobs are given out one by one, so that a thread waits for another by one job at most; rooms are used again
        let rooms: Mutex<Vec<StepRows<'_, '_, '_>>> = Mutex::default();
        for wave in all.chunks(JOB * WAVE) {
            let jobs = wave.par_chunks(JOB).zip(&mut parts).with_max_len(1);
            jobs.try_for_each(|(job, sums)| {
                control.check()?;
                let room = rooms.lock().unwrap_or_else(PoisonError::into_inner).pop();
                let mut rows = room.unwrap_or_else(|| StepRows::new(self, squares, paths, dt_mean));
                sums.clear();
                for &stretch in job {
                    rows.load(paths, stretch);
                    rows.add_products(sums);
                }
                rooms.lock().unwrap_or_else(PoisonError::into_inner).push(rows);
                control.advance(job.iter().map(|s| s.steps as u64).sum());
                Ok(())
            })?;
            total.add_all(&mut parts[..wave.len().div_ceil(JOB)]);
        }
        Ok(total.finish())
    }

    fn averaged(&self, paths: &[Path<'_>], control: &Control) -> Result<Products> {
        let dt_mean = mean_step(paths);
        let longest = paths.iter().map(Path::n_steps).max().unwrap_or(0);
        let starts: Vec<usize> = (0..longest).step_by(STEPS).collect();
        let mut parts: Vec<Products> = starts
            .par_iter()
            .map_init(
                || [0, 1].map(|_| StepRows::new(self, None, paths, dt_mean)),
                |[mean, rows], &start| {
                    mean.clear();
                    let mut count = [0.0; STEPS];
                    for (path, p) in paths.iter().enumerate().filter(|(_, p)| p.n_steps() > start) {
                        control.check()?;
                        rows.load(paths, Stretch { path, start, steps: STEPS.min(p.n_steps() - start) });
                        mean.accumulate(rows, &mut count);
                        control.advance(rows.block.steps as u64);
                    }
                    mean.divide(&count);
                    let mut sums = Products::zeros(self.program.n_outputs(), 0);
                    mean.add_products(&mut sums);
                    Ok(sums)
                },
            )
            .collect::<Result<_>>()?;
        let mut total = RunningSum::zeros(self.program.n_outputs(), 0);
        total.add_all(&mut parts);
        Ok(total.finish())
    }

    /// The error that names the first term that is not finite on a sample without a gap.
    fn blame(&self, paths: &[Path<'_>]) -> Error {
        let mut block = StepBlock::new(paths[0]);
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
