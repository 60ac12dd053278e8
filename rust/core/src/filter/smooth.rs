//! Smoothed states (Rauch-Tung-Striebel): the filter's steps of a batch kept, then run backwards.

use ndarray::{Array2, Array3};

use super::small::{factor_semidefinite, multiply, multiply_transposed, solve_semidefinite, symmetrise};
use super::state_space::MAX_STATES;
use super::visitor::{Step, Update, Visitor};

const MM: usize = MAX_STATES * MAX_STATES;

/// What the filter found along one path.
struct Trace {
    mean: Vec<f64>,
    cov: Vec<f64>,
    ahead: Vec<f64>,
    spread: Vec<f64>,
    phi: Vec<f64>,
}

/// Keeps the filter's means, covariances and transitions.
pub struct Smoother {
    m: usize,
    traces: Vec<Trace>,
}

impl Smoother {
    /// For paths of these lengths.
    pub fn new(m: usize, lengths: impl Iterator<Item = usize>) -> Self {
        let trace = |n: usize| {
            let mut phi = vec![0.0; n * m * m];
            for index in 0..n * m {
                phi[index / m * m * m + index % m * (m + 1)] = 1.0;
            }
            Trace {
                mean: vec![0.0; n * m],
                cov: vec![0.0; n * m * m],
                ahead: vec![0.0; n * m],
                spread: vec![0.0; n * m * m],
                phi,
            }
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
    let Trace { mut mean, mut cov, ahead, spread, phi } = trace;
    let mm = m * m;
    let n = mean.len() / m;
    let (mut low, mut rest, mut back) = ([0.0; MM], [0.0; MM], [0.0; MM]);
    let (mut gap, mut product, mut change) = ([0.0; MM], [0.0; MM], [0.0; MM]);
    let mut before = [0.0; MM];
    for t in (0..n.saturating_sub(1)).rev() {
        let at = |t: usize| t * mm..(t + 1) * mm;
        // where all three stand still, and the gain with them, it is that of the step behind
        let still = t + 2 < n
            && spread[at(t + 1)] == spread[at(t + 2)]
            && phi[at(t + 1)] == phi[at(t + 2)]
            && cov[at(t)] == before[..mm];
        if !still {
            factor_semidefinite(&spread[at(t + 1)], &mut low, &mut rest, m);
            // back = (P-)^-1 Phi P, the transpose of the smoother's gain
            multiply(&phi[at(t + 1)], &cov[at(t)], &mut back, m, m, m);
            solve_semidefinite(&low, &mut back, m, m);
        }
        before[..mm].copy_from_slice(&cov[at(t)]);
        for i in 0..m {
            let pull: f64 =
                (0..m).map(|j| back[j * m + i] * (mean[(t + 1) * m + j] - ahead[(t + 1) * m + j])).sum();
            mean[t * m + i] += pull;
        }
        for index in 0..mm {
            gap[index] = cov[(t + 1) * mm + index] - spread[(t + 1) * mm + index];
        }
        let mut gain = [0.0; MM];
        for i in 0..m {
            for j in 0..m {
                gain[i * m + j] = back[j * m + i];
            }
        }
        multiply(&gain, &gap, &mut product, m, m, m);
        multiply_transposed(&product, &gain, &mut change, m, m, m);
        symmetrise(&mut change, m);
        cov[t * mm..(t + 1) * mm].iter_mut().zip(&change).for_each(|(cov, change)| *cov += change);
    }
    let means = Array2::from_shape_vec((n, m), mean).expect("n x m values");
    let covs = Array3::from_shape_vec((n, m, m), cov).expect("n x m x m values");
    (means, covs)
}

impl Visitor for Smoother {
    fn predicted(&mut self, lane: usize, step: &Step<'_>) {
        let (m, n) = (self.m, step.n);
        let mm = m * m;
        let trace = &mut self.traces[lane];
        let mut product = [0.0; MM];
        multiply(step.transition.phi(), &trace.phi[n * mm..(n + 1) * mm], &mut product, m, m, m);
        trace.phi[n * mm..(n + 1) * mm].copy_from_slice(&product[..mm]);
        trace.ahead[n * m..(n + 1) * m].copy_from_slice(step.mean);
        trace.spread[n * mm..(n + 1) * mm].copy_from_slice(step.cov);
    }

    fn updated(&mut self, lane: usize, update: &Update<'_>) {
        let (m, n) = (self.m, update.n);
        let trace = &mut self.traces[lane];
        let (mean, cov) = match update.unreset {
            Some((mean, cov, reset)) => {
                // the way to the next sample starts with the reset
                if let Some(phi) = trace.phi.get_mut((n + 1) * m * m..(n + 2) * m * m) {
                    phi.copy_from_slice(reset);
                }
                (mean, cov)
            }
            None => (update.mean, update.cov),
        };
        trace.mean[n * m..(n + 1) * m].copy_from_slice(mean);
        trace.cov[n * m * m..(n + 1) * m * m].copy_from_slice(cov);
    }
}
