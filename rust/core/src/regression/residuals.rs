//! What a fit leaves over: standardised residuals of the drift, and the predicted covariance on the data.

use nalgebra::{DMatrix, SymmetricEigen};
use rayon::prelude::*;

use super::block::{Combined, Fitted, STEPS, StepBlock, Stretch, stretches};
use crate::control::Control;
use crate::path::Path;
use crate::vectorised::{fused, vectorised};
use crate::{Error, Result};

/// A matrix counts as indefinite when its smallest eigenvalue is below minus this share of its trace.
const INDEFINITE_TOLERANCE: f64 = 1e-9;

/// Sums over the standardised residuals of one row.
#[derive(Debug, Clone, PartialEq)]
pub struct ResidualSums {
    /// Number of steps that touch no missing sample.
    pub n: u64,
    /// Sums of `z, z^2, z^3, z^4`.
    pub powers: [f64; 4],
    /// Sums of `z[n] z[n + l]` for `l = 1, 2, ...`.
    pub lagged: Vec<f64>,
    /// Number of those products.
    pub pairs: Vec<f64>,
    /// Largest `|z|`.
    pub largest: f64,
    /// Path of the largest.
    pub path: usize,
    /// Step of the largest.
    pub step: usize,
    /// The residuals of all steps of all paths, NaN where a step touches a missing sample.
    pub z: Vec<f64>,
}

/// Sums over `z = e / sqrt(Gamma dt)`, `e` the increment less the mean of the drift at both ends of the step.
///
/// # Errors
/// [`Error::Argument`] for shapes that do not fit, [`Error::Interrupted`].
pub fn residual_sums(
    paths: &[Path<'_>],
    row: usize,
    drift: Fitted<'_>,
    variance: Fitted<'_>,
    floor: f64,
    lags: usize,
    control: &Control,
) -> Result<ResidualSums> {
    drift.check("drift.coef", 1)?;
    variance.check("variance.coef", 1)?;
    if paths.iter().any(|p| row >= p.x.ncols()) {
        return Err(Error::argument("row", row, "the number of a state"));
    }
    let parts: Vec<ResidualSums> = (0..paths.len())
        .into_par_iter()
        .map(|path| {
            control.check()?;
            Ok(of_path(standardised(paths, path, row, drift, variance, floor), path, lags))
        })
        .collect::<Result<_>>()?;
    Ok(parts.into_iter().fold(of_path(Vec::new(), 0, lags), |mut total, part| {
        total.n += part.n;
        (0..4).for_each(|p| total.powers[p] += part.powers[p]);
        (0..lags).for_each(|l| total.lagged[l] += part.lagged[l]);
        (0..lags).for_each(|l| total.pairs[l] += part.pairs[l]);
        if part.largest > total.largest {
            (total.largest, total.path, total.step) = (part.largest, part.path, part.step);
        }
        if total.z.is_empty() {
            total.z = part.z;
        } else {
            total.z.extend(part.z);
        }
        total
    }))
}

/// Standardised residuals of one path; NaN where a step touches a missing sample.
fn standardised(
    paths: &[Path<'_>],
    path: usize,
    row: usize,
    drift: Fitted<'_>,
    variance: Fitted<'_>,
    floor: f64,
) -> Vec<f64> {
    let mut block = StepBlock::new(paths[path]);
    let (mut drift, mut variance) = (Combined::new(drift), Combined::new(variance));
    let steps = paths[path].n_steps();
    let mut z = Vec::with_capacity(steps);
    for start in (0..steps).step_by(STEPS) {
        block.load(paths, Stretch { path, start, steps: STEPS.min(steps - start) });
        drift.evaluate(&block);
        variance.evaluate(&block);
        let (x, f, gamma) = (block.input(row), drift.row(0), variance.row(0));
        z.extend((0..block.steps).map(|n| {
            if !(block.seen(n) && block.seen(n + 1)) {
                return f64::NAN;
            }
            let dt = block.dt(n);
            (x[n + 1] - x[n] - dt * (f[n] + f[n + 1]) / 2.0) / (gamma[n].max(floor) * dt).sqrt()
        }));
    }
    z
}

/// Residuals whose products with those of all lags stay in the first-level cache.
const NEAR: usize = 1024;

fn of_path(z: Vec<f64>, path: usize, lags: usize) -> ResidualSums {
    let missing = z.iter().filter(|z| z.is_nan()).count();
    let known: Vec<f64> = z.iter().map(|z| if z.is_nan() { 0.0 } else { *z }).collect();
    let mut sums = ResidualSums {
        n: (z.len() - missing) as u64,
        powers: [0.0; 4],
        lagged: vec![0.0; lags],
        pairs: (1..=lags).map(|l| z.len().saturating_sub(l) as f64).collect(),
        largest: 0.0,
        path,
        step: 0,
        z: Vec::new(),
    };
    for start in (0..known.len()).step_by(NEAR) {
        let here = &known[start..known.len().min(start + NEAR)];
        let found = power_sums(here);
        (0..4).for_each(|p| sums.powers[p] += found[p]);
        let largest = here.iter().fold(0.0_f64, |most, z| most.max(z.abs()));
        if largest > sums.largest {
            let step = here.iter().position(|z| z.abs() == largest);
            (sums.largest, sums.step) = (largest, start + step.unwrap_or(0));
        }
        for (l, sum) in sums.lagged.iter_mut().enumerate() {
            let later = known.get(start + l + 1..).unwrap_or(&[]);
            let many = here.len().min(later.len());
            *sum += product_sum(&here[..many], &later[..many]);
        }
    }
    if missing > 0 {
        for (l, pairs) in sums.pairs.iter_mut().enumerate() {
            let later = z.iter().skip(l + 1);
            *pairs = z.iter().zip(later).filter(|(a, b)| !a.is_nan() && !b.is_nan()).count() as f64;
        }
    }
    sums.z = z;
    sums
}

/// Sums that are kept side by side, as many as fill two vectors.
const LANES: usize = 8;

vectorised! {
    /// Sums of the first to the fourth powers.
    pub fn power_sums(z: &[f64]) -> [f64; 4] {
        let mut sums = [[0.0; LANES]; 4];
        let chunks = z.chunks_exact(LANES);
        let mut last = [0.0; LANES];
        last[..chunks.remainder().len()].copy_from_slice(chunks.remainder());
        for chunk in chunks.chain(std::iter::once(&last[..])) {
            for lane in 0..LANES {
                let (z, square) = (chunk[lane], chunk[lane] * chunk[lane]);
                sums[0][lane] += z;
                sums[1][lane] += square;
                sums[2][lane] = fused::<FMA>(square, z, sums[2][lane]);
                sums[3][lane] = fused::<FMA>(square, square, sums[3][lane]);
            }
        }
        sums.map(|lanes| lanes.iter().sum())
    }

    /// Sum of the products of two series of one length.
    pub fn product_sum(a: &[f64], b: &[f64]) -> f64 {
        let mut sums = [0.0; LANES];
        let (left, right) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
        let rest: f64 = left.remainder().iter().zip(right.remainder()).map(|(a, b)| a * b).sum();
        for (a, b) in left.zip(right) {
            for lane in 0..LANES {
                sums[lane] = fused::<FMA>(a[lane], b[lane], sums[lane]);
            }
        }
        rest + sums.iter().sum::<f64>()
    }
}

/// A predicted covariance matrix looked at on every sample.
#[derive(Debug, Clone, PartialEq)]
pub struct Survey {
    /// Number of samples without a gap.
    pub n: u64,
    /// Mean of each predicted entry.
    pub mean: Vec<f64>,
    /// Smallest value of each predicted entry.
    pub low: Vec<f64>,
    /// Samples with a variance below its floor, per noisy row.
    pub below: Vec<u64>,
    /// Samples whose matrix has a negative eigenvalue.
    pub indefinite: u64,
    /// The most negative eigenvalue.
    pub worst: f64,
    /// Path of the worst.
    pub path: usize,
    /// Sample of the worst.
    pub sample: usize,
}

/// Mean, smallest value and sign of the predicted covariance matrix over all samples without a gap.
///
/// `pairs` says which entry each row of `gamma` is, counted within the noisy rows, of which there are as many as `floors`;
/// every diagonal entry must be among them.
///
/// # Errors
/// [`Error::Argument`] for shapes that do not fit, [`Error::Interrupted`].
pub fn survey(
    paths: &[Path<'_>],
    gamma: Fitted<'_>,
    pairs: &[(usize, usize)],
    floors: &[f64],
    control: &Control,
) -> Result<Survey> {
    gamma.check("gamma.coef", pairs.len())?;
    let r = floors.len();
    let diagonal = diagonal(pairs, r)?;
    let all: Vec<Stretch> = stretches(paths).collect();
    let one = |stretch: Stretch, block: &mut StepBlock<'_>, values: &mut Combined<'_>| {
        let mut part = empty(pairs.len(), r);
        let last = stretch.start + stretch.steps == paths[stretch.path].n_steps();
        values.evaluate(block);
        let count = stretch.steps + usize::from(last);
        let seen: Vec<usize> = (0..count).filter(|&n| block.seen(n)).collect();
        part.n = seen.len() as u64;
        for q in 0..pairs.len() {
            let row = &values.row(q)[..count];
            // of a whole stretch without a list of its samples, which is twice as fast
            let (sum, low) = if seen.len() == count {
                (row.iter().sum(), row.iter().fold(f64::INFINITY, |low, &value| low.min(value)))
            } else {
                let there = || seen.iter().map(|&n| row[n]);
                (there().sum(), there().fold(f64::INFINITY, f64::min))
            };
            (part.mean[q], part.low[q]) = (sum, low);
        }
        for (i, &q) in diagonal.iter().enumerate().filter(|&(i, &q)| part.low[q] < floors[i]) {
            part.below[i] = seen.iter().filter(|&&n| values.row(q)[n] < floors[i]).count() as u64;
        }
        if pairs.len() == r && part.low.iter().all(|&low| low >= 0.0) {
            return part;
        }
        for n in seen {
            let trace: f64 = diagonal.iter().map(|&q| values.row(q)[n].abs()).sum();
            let smallest = smallest_eigenvalue(pairs, r, |q| values.row(q)[n]);
            if smallest < -INDEFINITE_TOLERANCE * trace {
                part.indefinite += 1;
                if smallest < part.worst {
                    (part.worst, part.path, part.sample) = (smallest, stretch.path, stretch.start + n);
                }
            }
        }
        part
    };
    let parts: Vec<Survey> = all
        .par_chunks(32)
        .map(|job| {
            control.check()?;
            let (mut block, mut values) = (StepBlock::new(paths[0]), Combined::new(gamma));
            let mut total = empty(pairs.len(), r);
            for &stretch in job {
                block.load(paths, stretch);
                merge(&mut total, &one(stretch, &mut block, &mut values));
            }
            Ok(total)
        })
        .collect::<Result<_>>()?;
    let mut total = empty(pairs.len(), r);
    parts.iter().for_each(|part| merge(&mut total, part));
    let n = total.n.max(1) as f64;
    total.mean.iter_mut().for_each(|mean| *mean /= n);
    Ok(total)
}

/// Which of the pairs is each diagonal entry of r rows.
fn diagonal(pairs: &[(usize, usize)], r: usize) -> Result<Vec<usize>> {
    let place = |i: usize| pairs.iter().position(|&pair| pair == (i, i));
    let wrong = |allowed: String| Error::argument("pairs", format!("{pairs:?}"), allowed);
    let found: Option<Vec<usize>> = (0..r).map(place).collect();
    if found.is_some() && pairs.iter().any(|&(i, j)| i.max(j) >= r) {
        return Err(wrong(format!("numbers below {r}")));
    }
    found.ok_or_else(|| wrong("every diagonal entry among them".to_owned()))
}

fn empty(entries: usize, r: usize) -> Survey {
    Survey {
        n: 0,
        mean: vec![0.0; entries],
        low: vec![f64::INFINITY; entries],
        below: vec![0; r],
        indefinite: 0,
        worst: 0.0,
        path: 0,
        sample: 0,
    }
}

fn merge(total: &mut Survey, part: &Survey) {
    total.n += part.n;
    total.indefinite += part.indefinite;
    total.mean.iter_mut().zip(&part.mean).for_each(|(a, b)| *a += b);
    total.low.iter_mut().zip(&part.low).for_each(|(a, b)| *a = a.min(*b));
    total.below.iter_mut().zip(&part.below).for_each(|(a, b)| *a += b);
    if part.worst < total.worst {
        (total.worst, total.path, total.sample) = (part.worst, part.path, part.sample);
    }
}

fn smallest_eigenvalue(pairs: &[(usize, usize)], r: usize, entry: impl Fn(usize) -> f64) -> f64 {
    if pairs.len() == r {
        return (0..r).map(entry).fold(f64::INFINITY, f64::min);
    }
    if r == 2 {
        let of =
            |i, j| (0..pairs.len()).find(|&q| pairs[q] == (i, j) || pairs[q] == (j, i)).map_or(0.0, &entry);
        let (one, two, mixed) = (of(0, 0), of(1, 1), of(0, 1));
        return (one + two) / 2.0 - ((one - two) / 2.0).hypot(mixed);
    }
    let mut matrix = DMatrix::zeros(r, r);
    for (q, &(i, j)) in pairs.iter().enumerate() {
        matrix[(i, j)] = entry(q);
        matrix[(j, i)] = entry(q);
    }
    SymmetricEigen::new(matrix).eigenvalues.min()
}
