//! Smoothed states (Rauch-Tung-Striebel): the filter's steps of a batch kept, then run backwards.

use ndarray::{Array2, Array3};

use super::affine::{Convergence, close};
use super::small::{factor_semidefinite, multiply, multiply_transposed, solve_semidefinite, symmetrise};
use super::state_space::MAX_STATES;
use super::visitor::{Step, Update, Visitor};

const MM: usize = MAX_STATES * MAX_STATES;

/// Matrices (m x m) of the samples of a path; one that stands still is kept once.
struct Kept {
    size: usize,
    places: Vec<usize>,
    values: Vec<f64>,
}

impl Kept {
    /// For states `m`, the first sample's unless it is given being a unit matrix.
    fn new(m: usize, given: bool) -> Self {
        let mut kept = Self { size: m * m, places: Vec::new(), values: Vec::new() };
        if !given {
            kept.values = (0..m * m).map(|index| f64::from(u8::from(index / m == index % m))).collect();
            kept.places.push(0);
        }
        kept
    }

    /// That of sample `n`, whether or not it had one; it is the same as that so many samples before, if it is.
    fn put(&mut self, n: usize, value: &[f64], same: Option<usize>) {
        match self.places.get(n) {
            Some(&place) => self.values[place..place + self.size].copy_from_slice(value),
            None => match same {
                Some(period) if n >= period => self.places.push(self.places[n - period]),
                _ => {
                    self.places.push(self.values.len());
                    self.values.extend_from_slice(value);
                }
            },
        }
    }

    fn at(&self, n: usize) -> &[f64] {
        &self.values[self.places[n]..][..self.size]
    }

    /// Whether samples `n` and `n + 1` share one.
    fn stands(&self, n: usize) -> bool {
        self.places[n] == self.places[n + 1]
    }
}

/// What the filter found along one path.
struct Trace {
    mean: Vec<f64>,
    ahead: Vec<f64>,
    cov: Kept,
    spread: Kept,
    phi: Kept,
}

/// Keeps the filter's means, covariances and transitions.
pub struct Smoother {
    m: usize,
    traces: Vec<Trace>,
}

impl Smoother {
    /// For paths of these lengths.
    pub fn new(m: usize, lengths: impl Iterator<Item = usize>) -> Self {
        let trace = |n: usize| Trace {
            mean: vec![0.0; n * m],
            ahead: vec![0.0; n * m],
            cov: Kept::new(m, true),
            spread: Kept::new(m, false),
            phi: Kept::new(m, false),
        };
        Self { m, traces: lengths.map(trace).collect() }
    }

    /// Smoothed means `(n, m)` and covariances `(n, m, m)` of every path.
    pub fn finish(self) -> Vec<(Array2<f64>, Array3<f64>)> {
        let m = self.m;
        self.traces.into_iter().map(|trace| backward(trace, m)).collect()
    }
}

fn backward(trace: Trace, m: usize) -> (Array2<f64>, Array3<f64>) {
    let Trace { mut mean, ahead, cov: before, spread, phi } = trace;
    let mm = m * m;
    let n = mean.len() / m;
    let mut cov = vec![0.0; n * mm];
    if n > 0 {
        cov[(n - 1) * mm..].copy_from_slice(before.at(n - 1));
    }
    let (mut low, mut rest, mut back) = ([0.0; MM], [0.0; MM], [0.0; MM]);
    let (mut gain, mut gap, mut product) = ([0.0; MM], [0.0; MM], [0.0; MM]);
    let (mut convergence, mut converged) = (Convergence::new(), false);
    for t in (0..n.saturating_sub(1)).rev() {
        // where all three stand still the gain is that of the step behind, and the smoothed covariance converges
        let still = t + 2 < n && spread.stands(t + 1) && phi.stands(t + 1) && before.stands(t);
        if !still {
            factor_semidefinite(spread.at(t + 1), &mut low, &mut rest, m);
            // back = (P-)^-1 Phi P, the transpose of the smoother's gain
            multiply(phi.at(t + 1), before.at(t), &mut back, m, m, m);
            solve_semidefinite(&low, &mut back, m, m);
            for (i, j) in (0..mm).map(|index| (index / m, index % m)) {
                gain[i * m + j] = back[j * m + i];
            }
            (convergence, converged) = (Convergence::new(), false);
        }
        for i in 0..m {
            let gain = &gain[i * m..(i + 1) * m];
            let lacks =
                mean[(t + 1) * m..].iter().zip(&ahead[(t + 1) * m..]).map(|(mean, ahead)| mean - ahead);
            mean[t * m + i] += gain.iter().zip(lacks).map(|(gain, lacks)| gain * lacks).sum::<f64>();
        }
        let (now, behind) = cov[t * mm..].split_at_mut(mm);
        let behind = &behind[..mm];
        if converged {
            now.copy_from_slice(behind);
            continue;
        }
        gap.iter_mut().zip(behind).zip(spread.at(t + 1)).for_each(|((gap, cov), spread)| *gap = cov - spread);
        multiply(&gain, &gap, &mut product, m, m, m);
        multiply_transposed(&product, &gain, now, m, m, m);
        symmetrise(now, m);
        now.iter_mut().zip(before.at(t)).for_each(|(now, before)| *now += before);
        converged = still && convergence.step(close(behind, now, m));
    }
    let means = Array2::from_shape_vec((n, m), mean).expect("n x m values");
    let covs = Array3::from_shape_vec((n, m, m), cov).expect("n x m x m values");
    (means, covs)
}

impl Visitor for Smoother {
    fn predicted(&mut self, lane: usize, step: &Step<'_>) {
        let (m, n, same) = (self.m, step.n, step.steady.then_some(step.period));
        let trace = &mut self.traces[lane];
        if trace.phi.places.len() > n {
            // after a reset, or another piece of the step
            let mut product = [0.0; MM];
            multiply(step.transition.phi(), trace.phi.at(n), &mut product, m, m, m);
            trace.phi.put(n, &product[..m * m], None);
        } else {
            trace.phi.put(n, step.transition.phi(), same);
        }
        trace.ahead[n * m..(n + 1) * m].copy_from_slice(step.mean);
        trace.spread.put(n, step.cov, same);
    }

    fn updated(&mut self, lane: usize, update: &Update<'_>) {
        let (m, n) = (self.m, update.n);
        let trace = &mut self.traces[lane];
        let (mean, cov) = match update.unreset {
            Some((mean, cov, reset)) => {
                // the way to the next sample starts with the reset
                trace.phi.put(n + 1, reset, None);
                (mean, cov)
            }
            None => (update.mean, update.cov),
        };
        trace.mean[n * m..(n + 1) * m].copy_from_slice(mean);
        trace.cov.put(n, cov, update.steady.then_some(update.period));
    }
}
