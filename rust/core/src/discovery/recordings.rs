//! Whether recordings can be regressed on: shapes, times, finite samples, states that move.

use crate::path::{Path, Times};
use crate::{Error, Result};

/// Samples of which a state that never changes is told.
const FEWEST: usize = 4;

/// Checks recordings of these states.
///
/// # Errors
/// [`Error::Argument`] for a step that is not positive, [`Error::Data`] for everything else.
pub(super) fn check(paths: &[Path<'_>], states: &[String]) -> Result<()> {
    if paths.is_empty() {
        return Err(Error::Data("there is no recording: at least one is needed".into()));
    }
    for (i, path) in paths.iter().enumerate() {
        if path.x.ncols() != states.len() {
            return Err(Error::Data(format!(
                "recording {i} has {} columns: the library has {} states ({})",
                path.x.ncols(),
                states.len(),
                states.join(", ")
            )));
        }
        if path.len() < 2 {
            return Err(Error::Data(format!(
                "recording {i} has {} samples: at least 2 are needed; rows are times and columns are states",
                path.len()
            )));
        }
        check_times(i, path)?;
        if let Some(((n, column), value)) = path.x.indexed_iter().find(|(_, x)| x.is_infinite()) {
            let value = value.to_string().to_lowercase();
            return Err(Error::Data(format!(
                "recording {i}, sample {n}, {} = {value}: samples are finite, or NaN where one is missing",
                states[column]
            )));
        }
    }
    states.iter().enumerate().try_for_each(|(column, name)| check_moves(paths, column, name))
}

fn check_times(i: usize, path: &Path<'_>) -> Result<()> {
    match path.times {
        Times::Even(dt) if dt > 0.0 && dt.is_finite() => Ok(()),
        Times::Even(dt) => Err(Error::argument("dt", dt, "a positive, finite number")),
        Times::Stamps(t) if t.len() != path.len() => Err(Error::Data(format!(
            "recording {i} has {} samples and {} stamps: one stamp per sample",
            path.len(),
            t.len()
        ))),
        Times::Stamps(t) => {
            let rises = |n: &usize| t[*n].is_finite() && t[n + 1].is_finite() && t[n + 1] > t[*n];
            match (0..t.len() - 1).find(|n| !rises(n)) {
                None => Ok(()),
                Some(n) => Err(Error::Data(format!(
                    "recording {i}, stamp {} = {} after {}: stamps are finite and strictly increasing",
                    n + 1,
                    t[n + 1],
                    t[n]
                ))),
            }
        }
    }
}

fn check_moves(paths: &[Path<'_>], column: usize, name: &str) -> Result<()> {
    let (mut moved, mut many, mut shown) = (0.0_f64, 0, f64::NAN);
    for path in paths {
        let there = || path.x.column(column).into_iter().copied().filter(|x| x.is_finite());
        let (low, high) = (there().fold(f64::INFINITY, f64::min), there().fold(f64::NEG_INFINITY, f64::max));
        moved = moved.max(high - low);
        many = many.max(there().count());
        shown = if shown.is_nan() && low.is_finite() { low } else { shown };
    }
    if many == 0 {
        return Err(Error::Data(format!("{name} has no sample but NaN: leave that state out")));
    }
    if many >= FEWEST && moved == 0.0 {
        return Err(Error::Data(format!(
            "{name} never changes, it is {shown} throughout: a constant shows nothing of a motion; leave the column out"
        )));
    }
    Ok(())
}
