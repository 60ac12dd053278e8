//! The time over which a recorded state forgets: the unit in which the slab of its drift is measured.

use crate::path::Path;

/// Values that follow each other in what is taken of more.
const STRETCH: usize = 1 << 16;
/// Values whose products at a lag are looked at: the lag at which they fall to 1/e needs no more.
const MOST: usize = 1 << 19;

/// The correlation time of a state, and the mean step.
///
/// The smaller of `min(2 Var(x) / Gamma, T)`, with the mean squared increment per time as `Gamma` and the longest path as
/// `T`, and of the time in which the autocorrelation falls to 1/e.
pub(super) fn recorded_correlation(paths: &[Path<'_>], column: usize) -> (f64, f64) {
    let (mut squares, mut spans, mut steps, mut duration) = (0.0, 0.0, 0_usize, 0.0_f64);
    for path in paths {
        let x = path.x.column(column);
        for n in 0..path.n_steps() {
            let moved = x[n + 1] - x[n];
            if moved.is_finite() {
                squares += moved * moved;
                spans += path.dt(n);
                steps += 1;
            }
        }
        if path.n_steps() > 0 {
            duration = duration.max(path.span());
        }
    }
    if steps == 0 {
        return (1.0, 1.0);
    }
    let step = spans / steps as f64;
    let (mean, variance) = mean_and_variance(paths, column);
    let gamma = squares / spans;
    let covered = if gamma > 0.0 { (2.0 * variance / gamma).min(duration) } else { duration };
    let found = covered.min(efolding_lag(paths, column, mean, variance) as f64 * step);
    if found > 0.0 { (found, step) } else { (step, step) }
}

/// Of all values of a state that are there.
fn mean_and_variance(paths: &[Path<'_>], column: usize) -> (f64, f64) {
    let values = || paths.iter().flat_map(|path| path.x.column(column)).filter(|x| !x.is_nan());
    let count = values().count() as f64;
    let mean = values().sum::<f64>() / count;
    (mean, values().map(|x| (x - mean).powi(2)).sum::<f64>() / count)
}

/// Steps in which the autocorrelation falls to 1/e, at most the longest path.
///
/// Lags are doubled until one is beyond, and the last doubling is halved. Of more than [`MOST`] values the products are
/// those of pieces at even distances.
fn efolding_lag(paths: &[Path<'_>], column: usize, mean: f64, variance: f64) -> usize {
    let total: usize = paths.iter().map(Path::len).sum();
    let stride = STRETCH * (total / MOST).max(1);
    let beyond = |lag: usize| {
        let (mut sum, mut count) = (0.0, 0_usize);
        for path in paths.iter().filter(|path| path.len() > lag) {
            let x = path.x.column(column);
            let whole = x.len() - lag;
            for start in (0..whole).step_by(stride) {
                for n in start..(start + STRETCH).min(whole) {
                    let product = (x[n + lag] - mean) * (x[n] - mean);
                    if product.is_finite() {
                        sum += product;
                        count += 1;
                    }
                }
            }
        }
        count > 0 && sum / (count as f64) < (-1.0_f64).exp() * variance
    };
    let longest = paths.iter().map(Path::n_steps).max().unwrap_or(0);
    let (mut low, mut high) = (0, 1);
    while high < longest && !beyond(high) {
        (low, high) = (high, 2 * high);
    }
    high = high.min(longest);
    while high - low > 1 {
        let middle = low.midpoint(high);
        (low, high) = if beyond(middle) { (low, middle) } else { (middle, high) };
    }
    high
}
