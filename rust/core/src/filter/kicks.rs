//! Steps of unknown size: a normal law of the state for each mode, weighed by the readings.
//!
//! Between two samples every mode is predicted once; with each of the sizes `v_k` its covariance is `Phi P Phi^T + v_k Q`.
//! All are given the reading, weigh `w pi_k N(r; 0, S)`, and those that lead to one mode are put together, normal of the
//! mean and covariance that they have. What is known of a size goes along with the modes for `LAG` steps.

mod modes;
mod scores;

use ndarray::Array2;

use super::affine::Affine;
use super::phases::Phases;
use super::predict::Predictor;
use super::small::{multiply, multiply_transposed};
use super::square::with_size;
use super::state_space::{MAX_STATES, StateSpace};
use super::tails::LOG_2PI;
use super::visitor::{Step, Update, Visitor};
use super::weighing::Weighing;
use crate::Result;
use crate::control::Control;
use crate::path::Path;
use modes::Modes;

/// Steps after which no reading changes what is known of a size.
const LAG: usize = 12;

/// What is known of a step: its mean size, and the probability of a jump.
type Known = [f64; 2];

/// Of a step of size one.
const ONE: Known = [1.0, 0.0];

/// What the readings of a path tell of the sizes of its steps.
#[derive(Debug)]
pub struct Weighed {
    /// Log density of each sample given those before (n).
    pub gained: Vec<f64>,
    /// Normal scores of the readings (n x q), NaN where missing and at the first sample; nothing unless asked for.
    pub scores: Vec<f64>,
    /// Of the step to each sample (n); nothing unless asked for.
    pub known: Vec<Known>,
}

impl Weighed {
    /// The log-likelihood; minus infinity where the filter left the finite range.
    pub fn total(&self) -> f64 {
        let total: f64 = self.gained.iter().sum();
        if total.is_finite() { total } else { f64::NEG_INFINITY }
    }

    /// The size that each step is given (n).
    pub fn sizes(&self) -> Vec<f64> {
        self.known.iter().map(|known| known[0]).collect()
    }

    /// What is known as an array `(n, 2)`.
    pub fn table(&self) -> Array2<f64> {
        Array2::from_shape_fn((self.known.len(), 2), |(n, k)| self.known[n][k])
    }
}

/// What is asked of a path beside its likelihood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    Likelihood,
    Scores,
    Sizes,
}

/// Follows a path by a law for each mode.
///
/// # Errors
/// [`crate::Error::Interrupted`].
pub fn weighed(model: &StateSpace<'_>, path: &Path<'_>, asked: Asked, control: &Control) -> Result<Weighed> {
    let mut lanes = Lanes::new(model, *path, asked);
    for n in 0..path.len() {
        if n % 64 == 0 {
            control.check()?;
        }
        lanes.advance(n);
    }
    control.advance(path.len() as u64);
    Ok(lanes.finish())
}

/// The covariance that a step added to each mode (modes x m x m).
struct Spreads {
    m: usize,
    values: Vec<f64>,
}

impl Visitor for Spreads {
    fn predicted(&mut self, lane: usize, step: &Step<'_>) {
        let (m, mm) = (self.m, self.m * self.m);
        let own = &mut self.values[lane * mm..(lane + 1) * mm];
        let (mut half, mut moved) = ([0.0; MAX_STATES * MAX_STATES], [0.0; MAX_STATES * MAX_STATES]);
        multiply(step.transition.phi(), own, &mut half, m, m, m);
        multiply_transposed(&half, step.transition.phi(), &mut moved, m, m, m);
        for ((own, moved), spread) in own.iter_mut().zip(moved).zip(step.spread) {
            *own = moved + spread;
        }
    }

    fn updated(&mut self, _: usize, _: &Update<'_>) {}
}

struct Lanes<'a, 'p> {
    model: &'a StateSpace<'a>,
    path: Path<'p>,
    asked: Asked,
    modes: Modes,
    predictor: Predictor<'a>,
    spreads: Spreads,
    observation: Vec<f64>,
    /// Of each mode.
    mean: Vec<f64>,
    cov: Vec<f64>,
    log_weight: Vec<f64>,
    known: Vec<[Known; LAG]>,
    /// Of each mode and size.
    means: Vec<f64>,
    covs: Vec<f64>,
    joint: Vec<f64>,
    whites: Vec<f64>,
    lows: Vec<f64>,
    /// Of the modes they lead to, for the time of putting them together.
    totals: Vec<f64>,
    next: Next,
    work: Weighing,
    lost: Vec<f64>,
    found: Weighed,
}

/// Modes while they are put together.
struct Next {
    mean: Vec<f64>,
    cov: Vec<f64>,
    known: Vec<[Known; LAG]>,
}

impl Next {
    fn clear(&mut self) {
        self.mean.fill(0.0);
        self.cov.fill(0.0);
        self.known.fill([[0.0; 2]; LAG]);
    }
}

impl<'a, 'p> Lanes<'a, 'p> {
    fn new(model: &'a StateSpace<'a>, path: Path<'p>, asked: Asked) -> Self {
        let (m, q, modes) = (model.m(), model.q(), Modes::of(&model.kicks));
        let (h, k) = (modes.count, modes.sizes.len());
        let mut predictor = Predictor::with(model, Affine::of(model), Phases::one(h));
        predictor.settles = false;
        let repeated = |values: Vec<f64>| values.repeat(h);
        let mut log_weight = vec![f64::NEG_INFINITY; h];
        log_weight[0] = 0.0;
        let scores = if asked == Asked::Scores { vec![f64::NAN; path.len() * q] } else { Vec::new() };
        let known = if asked == Asked::Sizes { vec![ONE; path.len()] } else { Vec::new() };
        Self {
            model,
            path,
            asked,
            predictor,
            spreads: Spreads { m, values: vec![0.0; h * m * m] },
            observation: model.observation.iter().copied().collect(),
            mean: repeated(model.mean0.to_vec()),
            cov: repeated(model.cov0.iter().copied().collect()),
            log_weight,
            known: vec![[ONE; LAG]; h],
            means: vec![0.0; h * k * m],
            covs: vec![0.0; h * k * m * m],
            joint: vec![0.0; h * k],
            whites: vec![0.0; h * k * q],
            lows: vec![0.0; h * k * q],
            totals: vec![0.0; h],
            next: Next { mean: vec![0.0; h * m], cov: vec![0.0; h * m * m], known: vec![[ONE; LAG]; h] },
            work: Weighing::new(m, q),
            lost: vec![0.0; q],
            found: Weighed { gained: Vec::with_capacity(path.len()), scores, known },
            modes,
        }
    }

    fn advance(&mut self, n: usize) {
        self.spreads.values.fill(0.0);
        if n > 0 {
            let gap = self.path.dt(n - 1);
            let pieces = (gap / self.model.max_step - 1e-9).ceil().max(1.0);
            let h = vec![gap / pieces; self.modes.count];
            for _ in 0..pieces as usize {
                self.predictor.run(n, &h, None, (&mut self.mean, &mut self.cov), &mut self.spreads);
            }
        }
        self.read_sample(n);
        for mode in 0..self.modes.count {
            for size in 0..self.modes.sizes.len() {
                self.weigh(n, mode, size);
            }
        }
        let most = self.joint.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let total: f64 = self.joint.iter().map(|joint| (joint - most).exp()).sum();
        let gained = most + total.ln();
        self.found.gained.push(gained);
        if n > 0 && self.asked == Asked::Scores {
            self.score(n);
        }
        self.collapse(gained, n > 0);
        if self.asked == Asked::Sizes && n + 1 >= LAG {
            self.found.known[n + 1 - LAG] = self.told(LAG - 1);
        }
    }

    fn finish(mut self) -> Weighed {
        let n = self.path.len();
        for lag in 0..(LAG - 1).min(self.found.known.len()) {
            self.found.known[n - 1 - lag] = self.told(lag);
        }
        if let Some(first) = self.found.known.first_mut() {
            *first = ONE;
        }
        self.found
    }

    /// What is seen of sample `n`, and the factors of its noise.
    fn read_sample(&mut self, n: usize) {
        let (m, q) = (self.model.m(), self.model.q());
        let (y, w) = (self.path.x.row(n), &mut self.work);
        w.masked.copy_from_slice(&self.observation);
        for c in 0..q {
            w.seen[c] = !y[c].is_nan();
            if !w.seen[c] {
                w.masked[c * m..(c + 1) * m].fill(0.0);
            }
        }
        for (column, &channel) in self.model.scaled.iter().enumerate() {
            w.scale[channel] = y[q + self.model.given.len() + column];
        }
    }

    /// Mean, covariance and log weight of a mode after a step of a size and the reading.
    fn weigh(&mut self, n: usize, mode: usize, size: usize) {
        let (m, q, mm, model) = (self.model.m(), self.model.q(), self.model.m().pow(2), self.model);
        let index = mode * self.modes.sizes.len() + size;
        let mean = &mut self.means[index * m..(index + 1) * m];
        let cov = &mut self.covs[index * mm..(index + 1) * mm];
        let prior = self.log_weight[mode] + self.modes.shares[size];
        self.joint[index] = f64::NEG_INFINITY;
        if prior == f64::NEG_INFINITY {
            return;
        }
        mean.copy_from_slice(&self.mean[mode * m..(mode + 1) * m]);
        let more = self.modes.sizes[size] - 1.0;
        let own = self.cov[mode * mm..(mode + 1) * mm].iter().zip(&self.spreads.values[mode * mm..]);
        cov.iter_mut().zip(own).for_each(|(cov, (own, spread))| *cov = own + more * spread);
        let y = self.path.x.row(n);
        for (column, &state) in model.given.iter().enumerate() {
            mean[state] = y[q + column];
            for other in 0..m {
                cov[state * m + other] = 0.0;
                cov[other * m + state] = 0.0;
            }
        }
        let w = &mut self.work;
        let done = with_size!(m, {
            let done = if q == 1 { w.gain_of_one::<N>(cov, model.noise[0]) } else { w.gain::<N>(cov, model) };
            w.close::<N>(cov, model, &self.lost);
            done
        });
        let mut seen = 0.0;
        for c in 0..q {
            let row = &w.masked[c * m..(c + 1) * m];
            w.r[c] = 0.0;
            if w.seen[c] {
                seen += 1.0;
                w.r[c] = y[c] - row.iter().zip(&*mean).map(|(a, b)| a * b).sum::<f64>();
            }
        }
        multiply(&w.inverse, &w.r, &mut w.white, q, q, 1);
        for i in 0..m {
            mean[i] += (0..q).map(|c| w.gain[i * q + c] * w.r[c]).sum::<f64>();
        }
        let squares: f64 = w.white.iter().map(|value| value * value).sum();
        let density = -(0.5 * squares + w.log_det + 0.5 * LOG_2PI * seen);
        // a wide law that has left the range of the model's terms is no rival of the others
        self.joint[index] = if done && density.is_finite() { prior + density } else { f64::NEG_INFINITY };
        self.whites[index * q..(index + 1) * q].copy_from_slice(&w.white);
        (0..q).for_each(|c| self.lows[index * q + c] = w.low[c * q + c]);
    }

    /// The normal scores of the channels, each given those before it.
    fn score(&mut self, n: usize) {
        let (q, k) = (self.model.q(), self.modes.sizes.len());
        let mut log_weight: Vec<f64> =
            (0..self.joint.len()).map(|c| self.log_weight[c / k] + self.modes.shares[c % k]).collect();
        for a in (0..q).filter(|&a| self.work.seen[a]) {
            let most = log_weight.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let weight: Vec<f64> = log_weight.iter().map(|weight| (weight - most).exp()).collect();
            let total: f64 = weight.iter().sum();
            let (mut upper, mut lower) = (0.0, 0.0);
            for (c, weight) in weight.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
                upper += weight / total * scores::above(self.whites[c * q + a]);
                lower += weight / total * scores::above(-self.whites[c * q + a]);
            }
            self.found.scores[n * q + a] = scores::score(upper, lower);
            for (c, weight) in log_weight.iter_mut().enumerate().filter(|(_, weight)| weight.is_finite()) {
                let white = self.whites[c * q + a];
                *weight -= 0.5 * white * white + self.lows[c * q + a].ln();
            }
        }
    }

    /// Puts those together that lead to one mode; a mode that nothing leads to is where all of them are.
    fn collapse(&mut self, gained: f64, stepped: bool) {
        let k = self.modes.sizes.len();
        self.joint.iter_mut().for_each(|joint| *joint = (*joint - gained).exp());
        let own = |modes: &Modes, c: usize| if stepped { modes.after[c] } else { c / k };
        self.totals.fill(0.0);
        for (c, &weight) in self.joint.iter().enumerate() {
            self.totals[own(&self.modes, c)] += weight;
        }
        self.next.clear();
        for c in 0..self.joint.len() {
            let mode = own(&self.modes, c);
            self.add_mean(c, mode, self.totals[mode]);
        }
        for c in 0..self.joint.len() {
            let mode = own(&self.modes, c);
            self.add_rest(c, mode, self.totals[mode], stepped);
        }
        for mode in 0..self.modes.count {
            if self.totals[mode] != 0.0 {
                continue;
            }
            let total = self.joint.iter().sum();
            (0..self.joint.len()).for_each(|c| self.add_mean(c, mode, total));
            (0..self.joint.len()).for_each(|c| self.add_rest(c, mode, total, stepped));
        }
        self.mean.copy_from_slice(&self.next.mean);
        self.cov.copy_from_slice(&self.next.cov);
        if stepped {
            std::mem::swap(&mut self.known, &mut self.next.known);
        }
        self.log_weight.iter_mut().zip(&self.totals).for_each(|(weight, total)| *weight = total.ln());
    }

    fn add_mean(&mut self, c: usize, mode: usize, total: f64) {
        let (m, weight) = (self.model.m(), self.joint[c]);
        if weight != 0.0 {
            let mean = &mut self.next.mean[mode * m..(mode + 1) * m];
            let own = &self.means[c * m..(c + 1) * m];
            mean.iter_mut().zip(own).for_each(|(mean, own)| *mean += weight / total * own);
        }
    }

    /// Covariance, and what is known of the last sizes, once the mean is there.
    fn add_rest(&mut self, c: usize, mode: usize, total: f64, stepped: bool) {
        let (m, mm, weight) = (self.model.m(), self.model.m().pow(2), self.joint[c]);
        if weight == 0.0 {
            return;
        }
        let (mean, cov) = (&self.next.mean[mode * m..], &mut self.next.cov[mode * mm..(mode + 1) * mm]);
        let share = weight / total;
        for i in 0..m {
            let apart = share * (self.means[c * m + i] - mean[i]);
            for j in 0..m {
                cov[i * m + j] +=
                    share * self.covs[c * mm + i * m + j] + apart * (self.means[c * m + j] - mean[j]);
            }
        }
        if stepped && self.asked == Asked::Sizes {
            let k = self.modes.sizes.len();
            let (before, size, known) = (&self.known[c / k], c % k, &mut self.next.known[mode]);
            known[0][0] += share * self.modes.sizes[size];
            known[0][1] += share * self.modes.wide[size];
            for (known, before) in known[1..].iter_mut().zip(before) {
                known[0] += share * before[0];
                known[1] += share * before[1];
            }
        }
    }

    /// What all modes know of the step so many samples before.
    fn told(&self, lag: usize) -> Known {
        let mut found = [0.0; 2];
        for (known, weight) in self.known.iter().zip(&self.log_weight) {
            found[0] += weight.exp() * known[lag][0];
            found[1] += weight.exp() * known[lag][1];
        }
        found
    }
}
