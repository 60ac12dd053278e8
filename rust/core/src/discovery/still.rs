//! Rows without noise: which they are, fitted as such, without terms like the error of the step.

use super::along::{Along, left_over};
use super::posterior::Posterior;
use super::regressions::Measured;
use super::rounds::{Fit, drift_posterior, fit};
use crate::Result;
use crate::regression::StepScheme;

/// Variance of a row over what the step leaves of one without noise, under which it is reported as deterministic.
const QUIET: f64 = 2.0;
/// Share of the squared increments that a row without noise may leave over.
const GIVEN_RESIDUAL: f64 = 0.05;
/// Times that the terms of a row are looked at for slight ones.
const MOST_TRIMS: usize = 20;
/// A term that moves a row without noise by less than so many errors of the step is no more than these bring in.
const SLIGHT: f64 = 15.0;
/// Inclusion probability below which a term is not looked at.
const RARE: f64 = 0.01;

/// The fit without the noise of rows that show none beyond the error of the step, and sentences that say so.
///
/// Where there are such rows all is fitted again, as it is when they are said beforehand to have none. Terms of rows
/// without noise that are no larger than what the error of the step brings in are taken out.
pub(super) fn settle(
    measured: &mut Measured<'_, '_>,
    mut found: Fit,
    names: &[String],
) -> Result<(Fit, Vec<String>)> {
    if measured.asked.scheme != StepScheme::Trapezoid {
        return Ok((found, Vec::new()));
    }
    let mut quiet = Vec::new();
    for (q, &row) in measured.rows.iter().enumerate() {
        let Some(place) = measured.pairs.iter().position(|&pair| pair == (row, row)) else { continue };
        let (drift, gamma) = (&found.drift[q].mean, &found.diffusion[place].mean);
        if gamma.iter().all(|&value| value == 0.0) && !Along::new(measured, row, drift)?.is_smooth() {
            continue;
        }
        let left = left_over(measured, row, drift, gamma)?;
        let ratio = if left.by_step > 0.0 { left.gamma / left.by_step } else { f64::INFINITY };
        if ratio < QUIET && left.gamma < GIVEN_RESIDUAL * left.moved {
            quiet.push(row);
        }
    }
    let mut sentences = Vec::new();
    if !quiet.is_empty() {
        measured.pairs.retain(|(i, j)| !quiet.contains(i) && !quiet.contains(j));
        found = fit(measured)?;
        sentences.push(format!(
            "{} no noise that can be seen at this step: what the drift leaves over is the error of the step, and the row is \
             reported as deterministic; without_noise says so beforehand",
            listed(&quiet, names, ["has", "have"])
        ));
    }
    let (mut trimmed, mut count) = (Vec::new(), 0);
    for (q, &row) in measured.rows.iter().enumerate().filter(|(_, row)| !measured.is_noisy(**row)) {
        let mut gone = Vec::new();
        for _ in 0..MOST_TRIMS {
            let slight = slight_terms(measured, row, &found.drift[q])?;
            if slight.is_empty() {
                break;
            }
            gone.extend(slight);
            found.drift[q] = drift_posterior(measured, q, &found.drift_moments[q], true, &gone)?;
        }
        if !gone.is_empty() {
            trimmed.push(row);
            count += gone.len();
        }
        add_step_error(measured, row, &mut found.drift[q])?;
    }
    if !trimmed.is_empty() {
        sentences.push(format!(
            "{} left out {count} terms as small as what the error of the step brings in",
            listed(&trimmed, names, ["has", "have"])
        ));
    }
    Ok((found, sentences))
}

/// Terms of a row without noise that are as small as what the error of the step brings in.
///
/// The trapezoid misses a smooth drift by a twelfth of its second difference. That error is itself a function of the
/// states, so that a library holds terms which follow it, small and beyond doubt. None where more is left over than the
/// error of the step, and where all terms are as small.
fn slight_terms(measured: &Measured<'_, '_>, row: usize, found: &Posterior) -> Result<Vec<usize>> {
    let along = Along::new(measured, row, &found.mean)?;
    if !along.is_smooth() {
        return Ok(Vec::new());
    }
    let least = SLIGHT * along.error_size();
    let small: Vec<usize> = along
        .sizes()
        .into_iter()
        .enumerate()
        .filter(|&(k, size)| {
            let typical = if found.selected[k] {
                found.mean[k]
            } else {
                let draws = found.draws.column(k);
                draws.sum() / draws.iter().filter(|&&value| value != 0.0).count().max(1) as f64
            };
            typical.abs() * size < least && found.pip[k] > RARE
        })
        .map(|(k, _)| k)
        .collect();
    let left = (0..found.selected.len()).any(|k| found.selected[k] && !small.contains(&k));
    Ok(if left { small } else { Vec::new() })
}

/// Counts in the covariance what the error of the step does to the coefficients: no noise that more samples average out.
fn add_step_error(measured: &Measured<'_, '_>, row: usize, found: &mut Posterior) -> Result<()> {
    let inside: Vec<usize> = (0..found.selected.len()).filter(|&k| found.selected[k]).collect();
    let moved = Along::new(measured, row, &found.mean)?.error_by_terms(&inside);
    for &i in &inside {
        for &j in &inside {
            found.cov[[i, j]] += moved[i] * moved[j];
        }
    }
    Ok(())
}

/// `x has`, `x and y have`.
fn listed(rows: &[usize], names: &[String], [one, many]: [&str; 2]) -> String {
    let named: Vec<&str> = rows.iter().map(|&row| names[row].as_str()).collect();
    match named.split_last() {
        Some((last, [])) => format!("{last} {one}"),
        Some((last, others)) => format!("{} and {last} {many}", others.join(", ")),
        None => String::new(),
    }
}
