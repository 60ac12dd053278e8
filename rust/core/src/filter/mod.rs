//! The extended Kalman filter and what its innovations carry: likelihood, regression moments, information, states.
//!
//! Paths run in small batches; batches run in parallel and are summed in their order, so results are the same for
//! any number of threads.

mod affine;
mod drift_moments;
mod engine;
mod information;
mod innovations;
mod kicks;
mod kink;
mod noise_moments;
mod phases;
mod predict;
mod small;
mod smooth;
mod square;
mod standing;
mod state_space;
mod tails;
mod transition;
mod turns;
mod visitor;
mod weighing;
mod whitened;
mod wide;

use ndarray::{Array2, Array3};
use rayon::prelude::*;

use crate::control::Control;
use crate::path::Path;
use crate::{Error, Result};

use drift_moments::DriftMoments;
use engine::{BATCH, Engine};
use innovations::{Densities, Innovations};
use kicks::{Asked, Weighed, weighed};
use noise_moments::NoiseMoments;
use smooth::Smoother;
use visitor::Nobody;
use whitened::WhitenedRows;

pub use information::Parameter;
pub use kink::{Kink, Shape};
pub use state_space::{MAX_STATES, StateSpace};
pub use whitened::FilterSums;

/// How many paths of a recording of so many are a batch. Few paths are spread over the threads, in a way that does not
/// depend on how many threads there are.
pub fn batch_of(paths: usize) -> usize {
    BATCH.min(paths.div_ceil(8).max(1))
}

/// Runs `work` on every batch of paths in parallel; results in the order of the batches.
fn batches<'p, T: Send>(
    paths: &[Path<'p>],
    work: impl Fn(&[Path<'p>]) -> Result<T> + Sync + Send,
) -> Result<Vec<T>> {
    batches_of(batch_of(paths.len()), paths, work)
}

/// The same with batches of so many paths.
fn batches_of<'p, T: Send>(
    size: usize,
    paths: &[Path<'p>],
    work: impl Fn(&[Path<'p>]) -> Result<T> + Sync + Send,
) -> Result<Vec<T>> {
    paths.par_chunks(size).map(work).collect()
}

fn check_batch(batch: Option<usize>, paths: &[Path<'_>]) -> Result<usize> {
    match batch.unwrap_or_else(|| batch_of(paths.len())) {
        size @ 1..=BATCH => Ok(size),
        size => Err(Error::argument("batch", size, format!("1 to {BATCH} paths"))),
    }
}

fn merged(parts: Vec<(WhitenedRows, Vec<f64>)>, columns: usize) -> (FilterSums, Vec<f64>) {
    let (mut total, mut loglik) = (WhitenedRows::new(columns), Vec::new());
    for (rows, values) in parts {
        total.merge(rows);
        loglik.extend(values);
    }
    (total.finish(), loglik)
}

/// What the readings of each path tell of the sizes of its steps.
fn all_weighed(
    model: &StateSpace<'_>,
    paths: &[Path<'_>],
    asked: Asked,
    control: &Control,
) -> Result<Vec<Weighed>> {
    paths.par_iter().map(|path| weighed(model, path, asked, control)).collect()
}

/// The sizes that the steps of each path are given, and the log-likelihoods; nothing where steps are normal.
fn sizes_of(
    model: &StateSpace<'_>,
    paths: &[Path<'_>],
    control: &Control,
) -> Result<(Vec<Vec<f64>>, Vec<f64>)> {
    if model.kicks.is_empty() {
        return Ok((Vec::new(), Vec::new()));
    }
    let found = all_weighed(model, paths, Asked::Sizes, control)?;
    Ok((found.iter().map(Weighed::sizes).collect(), found.iter().map(Weighed::total).collect()))
}

/// Of the step to each sample of each path its mean size, and the probability of a jump `(n, 2)`.
///
/// # Errors
/// [`Error::Argument`] if a shape does not fit or steps have no law, [`Error::Interrupted`].
pub fn kicks(model: &StateSpace<'_>, paths: &[Path<'_>], control: &Control) -> Result<Vec<Array2<f64>>> {
    model.check(paths)?;
    if model.kicks.is_empty() {
        return Err(Error::argument("kicks", "nothing", "a law"));
    }
    Ok(all_weighed(model, paths, Asked::Sizes, control)?.iter().map(Weighed::table).collect())
}

/// Log-likelihood of each path; minus infinity where the filter leaves the finite range.
///
/// # Errors
/// [`Error::Argument`] if a shape does not fit, [`Error::Interrupted`].
pub fn loglik(model: &StateSpace<'_>, paths: &[Path<'_>], control: &Control) -> Result<Vec<f64>> {
    model.check(paths)?;
    if !model.kicks.is_empty() {
        let found = all_weighed(model, paths, Asked::Likelihood, control)?;
        return Ok(found.iter().map(Weighed::total).collect());
    }
    let parts = batches(paths, |batch| {
        let mut engine = Engine::new(model, batch);
        engine.run(&mut Nobody, control)?;
        Ok(engine.loglik())
    })?;
    Ok(parts.concat())
}

/// Moments of the joint regression of the drift coefficients `columns` (row, term), and the log-likelihoods.
///
/// Batches of `batch` paths, unless given those of [`batch_of`], are summed each by itself and then in their order: sums
/// of a part of a recording that are added to those of its other parts have the bits of the whole where each part is a
/// batch of the whole.
///
/// # Errors
/// [`Error::Argument`] if a shape does not fit, [`Error::Interrupted`].
pub fn drift_moments(
    model: &StateSpace<'_>,
    paths: &[Path<'_>],
    columns: &[(usize, usize)],
    batch: Option<usize>,
    control: &Control,
) -> Result<(FilterSums, Vec<f64>)> {
    model.check(paths)?;
    let size = check_batch(batch, paths)?;
    check_columns(columns, model.drift.dim())?;
    let parts = batches_of(size, paths, |batch| {
        let (sizes, loglik) = sizes_of(model, batch, control)?;
        let mut engine = Engine::sized(model, batch, sizes);
        let mut moments = DriftMoments::new(model, columns, (batch.len(), engine.slots()));
        engine.run(&mut moments, control)?;
        Ok((moments.rows, if loglik.is_empty() { engine.loglik() } else { loglik }))
    })?;
    Ok(merged(parts, columns.len()))
}

/// Moments of the regression of the Gamma coefficients `columns` (pair, term), then of all noise variances and the
/// covariances of the noises of `shared` channels, and the log-likelihoods; `batch` as of
/// [`drift_moments()`].
///
/// # Errors
/// [`Error::Argument`] if a shape does not fit, [`Error::Interrupted`].
pub fn noise_moments(
    model: &StateSpace<'_>,
    paths: &[Path<'_>],
    columns: &[(usize, usize)],
    batch: Option<usize>,
    control: &Control,
) -> Result<(FilterSums, Vec<f64>)> {
    model.check(paths)?;
    let size = check_batch(batch, paths)?;
    check_columns(columns, model.gamma.dim())?;
    let parts = batches_of(size, paths, |batch| {
        let (sizes, loglik) = sizes_of(model, batch, control)?;
        let mut engine = Engine::sized(model, batch, sizes);
        let mut moments = NoiseMoments::new(model, columns, (batch.len(), engine.slots()));
        engine.run(&mut moments, control)?;
        Ok((moments.finish(), if loglik.is_empty() { engine.loglik() } else { loglik }))
    })?;
    Ok(merged(parts, columns.len() + model.noise.len()))
}

/// Gradient (`moment`) and Fisher information (`gram`) of the log-likelihood by central differences over the
/// parameters with their steps, and the log-likelihoods; `batch` as of [`drift_moments()`].
///
/// # Errors
/// [`Error::Argument`] if a shape does not fit or a step is not positive, [`Error::Interrupted`].
pub fn information(
    model: &StateSpace<'_>,
    paths: &[Path<'_>],
    parameters: &[(Parameter, f64)],
    batch: Option<usize>,
    control: &Control,
) -> Result<(FilterSums, Vec<f64>)> {
    model.check(paths)?;
    let size = check_batch(batch, paths)?;
    if let Some((parameter, step)) = parameters.iter().find(|(_, step)| !(*step > 0.0 && step.is_finite())) {
        return Err(Error::argument(
            "steps",
            format!("{step} for {parameter:?}"),
            "positive, finite numbers",
        ));
    }
    let models = information::changed(model, parameters)?;
    let steps: Vec<f64> = parameters.iter().map(|(_, step)| *step).collect();
    let parts =
        batches_of(size, paths, |batch| information::information_rows(&models, &steps, batch, control))?;
    Ok(merged(parts, parameters.len()))
}

/// Whitened innovations `(n, q)` of every path; NaN where a channel is missing and at the first sample.
///
/// # Errors
/// [`Error::Argument`] if a shape does not fit, [`Error::Interrupted`].
pub fn innovations(
    model: &StateSpace<'_>,
    paths: &[Path<'_>],
    control: &Control,
) -> Result<Vec<Array2<f64>>> {
    model.check(paths)?;
    if !model.kicks.is_empty() {
        let found = all_weighed(model, paths, Asked::Scores, control)?;
        let shaped = |one: Weighed| Array2::from_shape_vec((one.gained.len(), model.q()), one.scores);
        return Ok(found.into_iter().map(|one| shaped(one).expect("n x q scores")).collect());
    }
    let parts = batches(paths, |batch| {
        let mut engine = Engine::new(model, batch);
        let mut kept = Innovations::new(model.q(), batch.iter().map(Path::len));
        engine.run(&mut kept, control)?;
        Ok(kept.finish())
    })?;
    Ok(parts.into_iter().flatten().collect())
}

/// Log density of every sample given those before it; NaN where nothing was seen and at the first sample.
///
/// # Errors
/// [`Error::Argument`] if a shape does not fit, [`Error::Interrupted`].
pub fn densities(model: &StateSpace<'_>, paths: &[Path<'_>], control: &Control) -> Result<Vec<Vec<f64>>> {
    model.check(paths)?;
    if !model.kicks.is_empty() {
        let found = all_weighed(model, paths, Asked::Likelihood, control)?;
        let there = |path: &Path<'_>, n: usize| {
            n > 0 && path.x.row(n).iter().take(model.q()).any(|value| !value.is_nan())
        };
        let own = |(one, path): (Weighed, &Path<'_>)| {
            let each = one.gained.into_iter().enumerate();
            each.map(|(n, gained)| if there(path, n) { gained } else { f64::NAN }).collect()
        };
        return Ok(found.into_iter().zip(paths).map(own).collect());
    }
    let parts = batches(paths, |batch| {
        let mut engine = Engine::new(model, batch);
        let mut kept = Densities::new(batch.iter().map(Path::len));
        engine.run(&mut kept, control)?;
        Ok(kept.finish())
    })?;
    Ok(parts.into_iter().flatten().collect())
}

/// Smoothed means `(n, m)` and covariances `(n, m, m)` of every path.
///
/// # Errors
/// [`Error::Argument`] if a shape does not fit, [`Error::Interrupted`].
pub fn smooth(
    model: &StateSpace<'_>,
    paths: &[Path<'_>],
    control: &Control,
) -> Result<Vec<(Array2<f64>, Array3<f64>)>> {
    model.check(paths)?;
    let parts = batches(paths, |batch| {
        let (sizes, _) = sizes_of(model, batch, control)?;
        let mut engine = Engine::sized(model, batch, sizes);
        let mut smoother = Smoother::new(model.m(), batch.iter().map(Path::len));
        engine.run(&mut smoother, control)?;
        Ok(smoother.finish())
    })?;
    Ok(parts.into_iter().flatten().collect())
}

fn check_columns(columns: &[(usize, usize)], (rows, terms): (usize, usize)) -> Result<()> {
    match columns.iter().find(|(i, k)| *i >= rows || *k >= terms) {
        Some(column) => {
            Err(Error::argument("columns", format!("{column:?}"), format!("pairs below ({rows}, {terms})")))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
