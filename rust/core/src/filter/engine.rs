//! The filter itself: a batch of paths advances one sample together, each step shown to a visitor.

use super::predict::Predictor;
use super::small::{cholesky, invert_lower, multiply, multiply_transposed};
use super::square::{read, sandwich, with_size, write};
use super::state_space::StateSpace;
use super::tails::{LOG_2PI, Reading};
use super::visitor::{Update, Visitor};
use crate::Result;
use crate::control::Control;
use crate::path::Path;

/// Paths that advance together: one run of the terms serves them all. Two groups of eight lanes keep the vector units busy
/// where lanes are at gaps or ends of their paths; more would take the terms and sensitivities of a batch out of the
/// cache, and leave fewer batches for the threads. It is no setting: another number is another order of the sums, and so
/// other last bits.
pub(super) const BATCH: usize = 16;

/// The paths of a batch and where their filter stands.
pub struct Engine<'a, 'p> {
    model: &'a StateSpace<'a>,
    paths: &'a [Path<'p>],
    predictor: Predictor<'a>,
    mean: Vec<f64>,
    cov: Vec<f64>,
    loglik: Vec<f64>,
    observation: Vec<f64>,
    seen: Vec<bool>,
    /// Factors of the noise variances at the sample.
    scale: Vec<f64>,
    /// What becomes of the state after it (m x m).
    reset: Vec<f64>,
    resets: bool,
    /// What is read otherwise than normal noise.
    reading: Reading,
    noise: Vec<f64>,
    /// The last update of each path.
    work: Vec<UpdateWork>,
}

#[derive(Clone)]
struct UpdateWork {
    masked: Vec<f64>,
    ph: Vec<f64>,
    s: Vec<f64>,
    low: Vec<f64>,
    inverse: Vec<f64>,
    half: Vec<f64>,
    r: Vec<f64>,
    white: Vec<f64>,
    gain: Vec<f64>,
    closed: Vec<f64>,
    log_det: f64,
    /// Gain, mean and covariance before a reset.
    unreset_gain: Vec<f64>,
    unreset_mean: Vec<f64>,
    unreset_cov: Vec<f64>,
}

impl UpdateWork {
    fn new(m: usize, q: usize) -> Self {
        let zeros = |n| vec![0.0; n];
        Self {
            masked: zeros(q * m),
            ph: zeros(m * q),
            s: zeros(q * q),
            low: zeros(q * q),
            inverse: zeros(q * q),
            half: zeros(m * q),
            r: zeros(q),
            white: zeros(q),
            gain: zeros(m * q),
            closed: zeros(m * m),
            log_det: 0.0,
            unreset_gain: zeros(m * q),
            unreset_mean: zeros(m),
            unreset_cov: zeros(m * m),
        }
    }
}

impl<'a, 'p> Engine<'a, 'p> {
    /// A filter that stands before the first sample of up to [`BATCH`] paths.
    pub fn new(model: &'a StateSpace<'a>, paths: &'a [Path<'p>]) -> Self {
        let (m, q, lanes) = (model.m(), model.q(), paths.len());
        let mut mean = Vec::with_capacity(lanes * m);
        let mut cov = Vec::with_capacity(lanes * m * m);
        for _ in 0..lanes {
            mean.extend(model.mean0.iter());
            cov.extend(model.cov0.iter());
        }
        Self {
            model,
            paths,
            predictor: Predictor::new(model, lanes),
            mean,
            cov,
            loglik: vec![0.0; lanes],
            observation: model.observation.iter().copied().collect(),
            seen: vec![false; q],
            scale: vec![1.0; q],
            reset: vec![0.0; m * m],
            resets: false,
            reading: Reading::new(&model.tails, q),
            noise: model.noise.to_vec(),
            work: vec![UpdateWork::new(m, q); lanes],
        }
    }

    /// Samples of the longest path.
    pub fn length(&self) -> usize {
        self.paths.iter().map(Path::len).max().unwrap_or(0)
    }

    /// Log-likelihood of each path so far; minus infinity where the filter left the finite range.
    pub fn loglik(&self) -> Vec<f64> {
        self.loglik.iter().map(|&value| if value.is_finite() { value } else { f64::NEG_INFINITY }).collect()
    }

    /// Filters all samples.
    ///
    /// # Errors
    /// [`crate::Error::Interrupted`].
    pub fn run(&mut self, visitor: &mut impl Visitor, control: &Control) -> Result<()> {
        for n in 0..self.length() {
            if n % 64 == 0 {
                control.check()?;
            }
            self.advance(n, visitor);
        }
        control.advance(self.paths.iter().map(|path| path.len() as u64).sum());
        Ok(())
    }

    /// Brings all paths that have a sample `n` to it; samples come in order.
    pub fn advance(&mut self, n: usize, visitor: &mut impl Visitor) {
        if n > 0 {
            self.predict(n, visitor);
        }
        for lane in 0..self.paths.len() {
            if n < self.paths[lane].len() {
                self.update(n, lane, visitor);
            }
        }
    }

    fn predict(&mut self, n: usize, visitor: &mut impl Visitor) {
        let mut pieces = [0usize; BATCH];
        let mut h = [0.0; BATCH];
        for (lane, path) in self.paths.iter().enumerate() {
            if n < path.len() {
                let gap = path.dt(n - 1);
                pieces[lane] = ((gap / self.model.max_step - 1e-9).ceil().max(1.0)) as usize;
                h[lane] = gap / pieces[lane] as f64;
                if pieces[lane] > 1 {
                    self.predictor.unsettle(lane);
                }
            }
        }
        let most = pieces.iter().copied().max().unwrap_or(0);
        for piece in 0..most {
            for lane in 0..self.paths.len() {
                if piece >= pieces[lane] {
                    h[lane] = 0.0;
                }
            }
            self.predictor.run(n, &h[..self.paths.len()], &mut self.mean, &mut self.cov, visitor);
        }
    }

    /// Puts the states that are given at sample `n` where they are, without doubt.
    fn give(&mut self, n: usize, lane: usize) {
        let (m, q) = (self.model.m(), self.model.q());
        let y = self.paths[lane].x.row(n);
        let mean = &mut self.mean[lane * m..(lane + 1) * m];
        let cov = &mut self.cov[lane * m * m..(lane + 1) * m * m];
        for (column, &state) in self.model.given.iter().enumerate() {
            mean[state] = y[q + column];
            for other in 0..m {
                cov[state * m + other] = 0.0;
                cov[other * m + state] = 0.0;
            }
        }
    }

    /// What of sample `n` is seen, and the rows of the observation of that.
    fn mask(&mut self, n: usize, lane: usize) {
        let (m, q) = (self.model.m(), self.model.q());
        let w = &mut self.work[lane];
        w.masked.copy_from_slice(&self.observation);
        for (c, y) in self.paths[lane].x.row(n).iter().take(q).enumerate() {
            self.seen[c] = !y.is_nan();
            if !self.seen[c] {
                w.masked[c * m..(c + 1) * m].fill(0.0);
            }
        }
    }

    /// Whether sample `n` has other factors of the noise, or other resets, than the one before.
    fn turns(&self, n: usize, lane: usize) -> bool {
        let x = &self.paths[lane].x;
        let first = self.model.q() + self.model.given.len();
        n > 0 && (first..x.ncols()).any(|column| x[[n, column]] != x[[n - 1, column]])
    }

    /// The factors of the noise variances at sample `n`, and what becomes of the state after it.
    fn read_sample(&mut self, n: usize, lane: usize) {
        let (m, first) = (self.model.m(), self.model.q() + self.model.given.len());
        let y = self.paths[lane].x.row(n);
        if !self.reading.is_normal() {
            self.scale.fill(1.0);
        }
        for (column, &channel) in self.model.scaled.iter().enumerate() {
            self.scale[channel] = y[first + column];
        }
        self.resets = false;
        for (column, reset) in self.model.resets.iter().enumerate() {
            if y[first + self.model.scaled.len() + column] != 0.0 {
                if !self.resets {
                    self.reset.fill(0.0);
                    (0..m).for_each(|i| self.reset[i * (m + 1)] = 1.0);
                }
                let (before, next) = (self.reset.clone(), reset.as_standard_layout());
                let next = next.as_slice().expect("standard layout");
                multiply(next, &before, &mut self.reset, m, m, m);
                self.resets = true;
            }
        }
    }

    /// Where noise has tails, the factors of its variances at sample `n` by which normal noise leads as far.
    fn believe(&mut self, n: usize, lane: usize) {
        if self.reading.is_normal() {
            return;
        }
        let (m, y) = (self.model.m(), self.paths[lane].x.row(n));
        self.reading.read(
            |c| y[c],
            (&self.seen, &self.work[lane].masked),
            (&self.noise, &mut self.scale),
            (&self.mean[lane * m..(lane + 1) * m], &self.cov[lane * m * m..(lane + 1) * m * m]),
        );
    }

    /// The gain of what is seen, and the covariance after it; gain and what it closes lead past a reset.
    fn weigh(&mut self, lane: usize) {
        let (m, q) = (self.model.m(), self.model.q());
        let w = &mut self.work[lane];
        let cov = &mut self.cov[lane * m * m..(lane + 1) * m * m];
        multiply_transposed(cov, &w.masked, &mut w.ph, m, m, q);
        multiply(&w.masked, &w.ph, &mut w.s, q, m, q);
        for c in 0..q {
            w.s[c * q + c] += if self.seen[c] { self.model.noise[c] * self.scale[c] } else { 1.0 };
        }
        for (a, b, shared) in self.model.covariances(&self.seen, &self.scale) {
            w.s[a * q + b] += shared;
            w.s[b * q + a] += shared;
        }
        if !cholesky(&w.s, &mut w.low, q) {
            self.loglik[lane] = f64::NAN;
            w.low.fill(f64::NAN);
        }
        invert_lower(&w.low, &mut w.inverse, q);
        multiply_transposed(&w.ph, &w.inverse, &mut w.half, m, q, q);
        multiply(&w.half, &w.inverse, &mut w.gain, m, q, q);
        multiply(&w.gain, &w.masked, &mut w.closed, m, q, m);
        for (index, value) in w.closed.iter_mut().enumerate() {
            *value = f64::from(u8::from(index / m == index % m)) - *value;
        }
        w.log_det = (0..q).map(|c| w.low[c * q + c].ln()).sum();
        // Joseph form: the covariance stays positive whatever the rounding of the gain.
        with_size!(m, {
            let mut next = sandwich::<N>(&read(&w.closed), &read(cov));
            for c in (0..q).filter(|&c| self.seen[c]) {
                let noise = self.model.noise[c] * self.scale[c] + self.reading.lost[c];
                for i in 0..N {
                    let pulled = w.gain[i * q + c] * noise;
                    for j in 0..N {
                        next[i][j] += pulled * w.gain[j * q + c];
                    }
                }
            }
            for (a, b, shared) in self.model.covariances(&self.seen, &self.scale) {
                for i in 0..N {
                    for j in 0..N {
                        let turned = w.gain[i * q + b] * w.gain[j * q + a];
                        next[i][j] += shared * (w.gain[i * q + a] * w.gain[j * q + b] + turned);
                    }
                }
            }
            write(&next, cov);
            if self.resets {
                w.unreset_cov.copy_from_slice(cov);
                write(&sandwich(&read::<N>(&self.reset), &next), cov);
            }
        });
        if self.resets {
            let closed = w.closed.clone();
            w.unreset_gain.copy_from_slice(&w.gain);
            multiply(&self.reset, &w.unreset_gain, &mut w.gain, m, m, q);
            multiply(&self.reset, &closed, &mut w.closed, m, m, m);
        }
    }

    fn update(&mut self, n: usize, lane: usize, visitor: &mut impl Visitor) {
        let (m, q) = (self.model.m(), self.model.q());
        let y = self.paths[lane].x.row(n);
        let mut steady = self.predictor.steady(lane);
        if y.iter().take(q).any(|y| y.is_nan()) || self.turns(n, lane) {
            let ahead = self.predictor.unsettle(lane);
            if steady {
                self.cov[lane * m * m..(lane + 1) * m * m].copy_from_slice(ahead);
                steady = false;
            }
        }
        self.read_sample(n, lane);
        if steady {
            self.seen.fill(true);
        } else {
            self.give(n, lane);
            self.mask(n, lane);
            self.believe(n, lane);
            self.weigh(lane);
        }
        let w = &mut self.work[lane];
        let mean = &mut self.mean[lane * m..(lane + 1) * m];
        let mut n_seen = 0.0;
        for c in 0..q {
            let row = &w.masked[c * m..(c + 1) * m];
            w.r[c] = 0.0;
            if self.seen[c] {
                n_seen += 1.0;
                w.r[c] = y[c] - row.iter().zip(&*mean).map(|(a, b)| a * b).sum::<f64>();
            }
        }
        multiply(&w.inverse, &w.r, &mut w.white, q, q, 1);
        let squares: f64 = w.white.iter().map(|value| value * value).sum();
        let gained = self.reading.beside - (0.5 * squares + w.log_det + 0.5 * LOG_2PI * n_seen);
        self.loglik[lane] += gained;
        let gain = if self.resets { &w.unreset_gain } else { &w.gain };
        for i in 0..m {
            mean[i] += (0..q).map(|c| gain[i * q + c] * w.r[c]).sum::<f64>();
        }
        if self.resets {
            w.unreset_mean.copy_from_slice(mean);
            multiply(&self.reset, &w.unreset_mean, mean, m, m, 1);
        }
        let update = Update {
            n,
            seen: &self.seen,
            scale: &self.scale,
            observation: &w.masked,
            r: &w.r,
            s: &w.s,
            inverse: &w.inverse,
            white: &w.white,
            gain: &w.gain,
            closed: &w.closed,
            mean,
            cov: &self.cov[lane * m * m..(lane + 1) * m * m],
            unreset: self.resets.then_some((&w.unreset_mean, &w.unreset_cov, &self.reset)),
            gained,
            steady,
        };
        visitor.updated(lane, &update);
    }
}
