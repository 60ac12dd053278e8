//! The filter itself: a batch of paths advances one sample together, each step shown to a visitor.

use super::predict::Predictor;
use super::small::multiply;
use super::square::with_size;
use super::state_space::StateSpace;
use super::tails::{LOG_2PI, Reading};
use super::turns::Turns;
use super::visitor::{Update, Visitor};
use super::weighing::Weighing;
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
    /// Means and covariances about which the next step of each path is linearised, where those are not the filter's.
    course: Option<(Vec<f64>, Vec<f64>)>,
    loglik: Vec<f64>,
    observation: Vec<f64>,
    /// The maps of the state after samples, by rows.
    maps: Vec<Vec<f64>>,
    /// What is read otherwise than normal noise.
    reading: Reading,
    turns: Turns,
    noise: Vec<f64>,
    /// The last update of each path and phase.
    work: Vec<Weighing>,
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
        let predictor = Predictor::new(model, paths);
        Self {
            model,
            paths,
            course: model.along.then(|| (mean.clone(), cov.clone())),
            mean,
            cov,
            loglik: vec![0.0; lanes],
            observation: model.observation.iter().copied().collect(),
            maps: model.resets.iter().map(|map| map.iter().copied().collect()).collect(),
            reading: Reading::new(&model.tails, q),
            turns: Turns::new(model, lanes, predictor.phases.slots()),
            noise: model.noise.to_vec(),
            work: vec![Weighing::new(m, q); predictor.phases.slots()],
            predictor,
        }
    }

    /// The same with steps of some sizes of each path, if there are any.
    pub fn sized(model: &'a StateSpace<'a>, paths: &'a [Path<'p>], sizes: Vec<Vec<f64>>) -> Self {
        let mut engine = Self::new(model, paths);
        engine.predictor.settles &= sizes.is_empty();
        engine.predictor.sizes = sizes;
        engine
    }

    /// Where what is particular to a path and a phase of it is kept: so many places.
    pub fn slots(&self) -> usize {
        self.predictor.phases.slots()
    }

    /// Samples of the longest path.
    pub fn length(&self) -> usize {
        self.paths.iter().map(Path::len).max().unwrap_or(0)
    }

    /// Log-likelihood of each path so far; minus infinity where the filter left the finite range.
    pub fn loglik(&self) -> Vec<f64> {
        self.loglik.iter().map(|&value| if value.is_finite() { value } else { f64::NEG_INFINITY }).collect()
    }

    /// What is added to readings that wrap, see [`Turns`].
    pub fn turned(&self) -> &[f64] {
        self.turns.added()
    }

    /// Takes that from another filter of the same paths.
    pub fn follow(&mut self, turned: &[f64]) {
        self.turns.follow(turned);
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
                    self.predictor.unsettle(n, lane);
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
            self.take_course(n, piece);
            let about = self.course.as_ref().map(|(mean, cov)| (&mean[..], &cov[..]));
            let now = (&mut self.mean[..], &mut self.cov[..]);
            self.predictor.run(n, &h[..self.paths.len()], about, now, visitor);
        }
    }

    /// Where the next piece of the step to sample `n` is linearised: the first about what the paths say of its start, later
    /// ones, of whose starts they say nothing, about the filter's own law.
    fn take_course(&mut self, n: usize, piece: usize) {
        let (m, own) = (self.model.m(), self.model.course());
        let Some((mean, cov)) = &mut self.course else { return };
        if piece > 0 {
            mean.copy_from_slice(&self.mean);
            cov.copy_from_slice(&self.cov);
            return;
        }
        for (lane, path) in self.paths.iter().enumerate().filter(|(_, path)| n < path.len()) {
            let from = path.x.row(n - 1);
            let mut values = from.iter().skip(from.len() - own).copied();
            mean[lane * m..(lane + 1) * m].fill_with(|| values.next().unwrap_or(f64::NAN));
            for i in 0..m {
                for (j, value) in (0..=i).zip(&mut values) {
                    cov[(lane * m + i) * m + j] = value;
                    cov[(lane * m + j) * m + i] = value;
                }
            }
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
    fn mask(&mut self, n: usize, lane: usize, slot: usize) {
        let (m, q) = (self.model.m(), self.model.q());
        let w = &mut self.work[slot];
        w.masked.copy_from_slice(&self.observation);
        for (c, y) in self.paths[lane].x.row(n).iter().take(q).enumerate() {
            w.seen[c] = !y.is_nan();
            if !w.seen[c] {
                w.masked[c * m..(c + 1) * m].fill(0.0);
            }
        }
    }

    /// The turns of what is seen of sample `n`.
    fn turn(&mut self, n: usize, lane: usize, slot: usize) {
        let (m, y, w) = (self.model.m(), self.paths[lane].x.row(n), &self.work[slot]);
        let mean = &self.mean[lane * m..(lane + 1) * m];
        for c in (0..self.model.q()).filter(|&c| w.seen[c]) {
            let ahead: f64 = w.masked[c * m..(c + 1) * m].iter().zip(mean).map(|(a, b)| a * b).sum();
            self.turns.turn((lane, slot), c, y[c] - ahead);
        }
    }

    /// Whether something is missing at sample `n`, or it has other factors of the noise, or other resets, than the one
    /// a period before.
    fn changes(&self, n: usize, lane: usize) -> bool {
        let x = &self.paths[lane].x;
        let (q, period) = (self.model.q(), self.predictor.phases.periods[lane]);
        let missing = |c: usize| {
            let none = x[[n, c]].is_nan();
            if period == 1 { none } else { n < period || none != x[[n - period, c]].is_nan() }
        };
        let first = q + self.model.given.len();
        let last = x.ncols() - self.model.course();
        (0..q).any(missing)
            || n >= period && (first..last).any(|column| x[[n, column]] != x[[n - period, column]])
    }

    /// The factors of the noise variances at sample `n`, and what becomes of the state after it.
    fn read_sample(&mut self, n: usize, lane: usize, slot: usize) {
        let (m, first) = (self.model.m(), self.model.q() + self.model.given.len());
        let (y, w) = (self.paths[lane].x.row(n), &mut self.work[slot]);
        if !self.reading.is_normal() {
            w.scale.fill(1.0);
        }
        for (column, &channel) in self.model.scaled.iter().enumerate() {
            w.scale[channel] = y[first + column];
        }
        w.resets = false;
        for (column, next) in self.maps.iter().enumerate() {
            if y[first + self.model.scaled.len() + column] != 0.0 {
                if w.resets {
                    let before = w.reset.clone();
                    multiply(next, &before, &mut w.reset, m, m, m);
                } else {
                    w.reset.copy_from_slice(next);
                }
                w.resets = true;
            }
        }
    }

    /// Where noise has tails, the factors of its variances at sample `n` by which normal noise leads as far.
    fn believe(&mut self, n: usize, lane: usize, slot: usize) {
        if self.reading.is_normal() {
            return;
        }
        let (m, y, w) = (self.model.m(), self.paths[lane].x.row(n), &mut self.work[slot]);
        self.reading.read(
            |c| y[c] + self.turns.of(lane, c),
            (&w.seen, &w.masked),
            (&self.noise, &mut w.scale),
            (&self.mean[lane * m..(lane + 1) * m], &self.cov[lane * m * m..(lane + 1) * m * m]),
        );
    }

    /// The gain of what is seen, and the covariance after it; gain and what it closes lead past a reset.
    fn weigh(&mut self, lane: usize, slot: usize) {
        let m = self.model.m();
        let (model, lost) = (self.model, &self.reading.lost);
        let cov = &mut self.cov[lane * m * m..(lane + 1) * m * m];
        let w = &mut self.work[slot];
        let done = with_size!(m, {
            let done = if model.q() == 1 {
                w.gain_of_one::<N>(cov, model.noise[0])
            } else {
                w.gain::<N>(cov, model)
            };
            w.close::<N>(cov, model, lost);
            done
        });
        if !done {
            self.loglik[lane] = f64::NAN;
        }
    }

    fn update(&mut self, n: usize, lane: usize, visitor: &mut impl Visitor) {
        let (m, q) = (self.model.m(), self.model.q());
        let y = self.paths[lane].x.row(n);
        let (slot, period) = (self.predictor.phases.slot(lane, n), self.predictor.phases.periods[lane]);
        let mut steady = self.predictor.steady(lane);
        if self.changes(n, lane) {
            let ahead = self.predictor.unsettle(n, lane);
            if steady {
                self.cov[lane * m * m..(lane + 1) * m * m].copy_from_slice(ahead);
                steady = false;
            }
        }
        if steady {
            if period > 1 {
                self.cov[lane * m * m..(lane + 1) * m * m].copy_from_slice(&self.work[slot].after);
            }
        } else {
            self.read_sample(n, lane, slot);
            self.give(n, lane);
            self.mask(n, lane, slot);
            if !self.turns.is_empty() {
                self.turns.doubt(slot, &self.work[slot].masked, &self.cov[lane * m * m..(lane + 1) * m * m]);
            }
        }
        if !self.turns.is_empty() {
            self.turn(n, lane, slot);
        }
        if !steady {
            self.believe(n, lane, slot);
            self.weigh(lane, slot);
        }
        let w = &mut self.work[slot];
        let mean = &mut self.mean[lane * m..(lane + 1) * m];
        let mut n_seen = 0.0;
        for c in 0..q {
            let row = &w.masked[c * m..(c + 1) * m];
            w.r[c] = 0.0;
            if w.seen[c] {
                n_seen += 1.0;
                w.r[c] = y[c] - row.iter().zip(&*mean).map(|(a, b)| a * b).sum::<f64>();
                w.r[c] += self.turns.of(lane, c);
            }
        }
        multiply(&w.inverse, &w.r, &mut w.white, q, q, 1);
        let squares: f64 = w.white.iter().map(|value| value * value).sum();
        let gained = self.reading.beside - (0.5 * squares + w.log_det + 0.5 * LOG_2PI * n_seen);
        self.loglik[lane] += gained;
        let gain = if w.resets { &w.unreset_gain } else { &w.gain };
        for i in 0..m {
            mean[i] += (0..q).map(|c| gain[i * q + c] * w.r[c]).sum::<f64>();
        }
        if w.resets {
            w.unreset_mean.copy_from_slice(mean);
            multiply(&w.reset, &w.unreset_mean, mean, m, m, 1);
        }
        let update = Update {
            n,
            slot,
            period,
            seen: &w.seen,
            scale: &w.scale,
            observation: &w.masked,
            r: &w.r,
            s: &w.s,
            inverse: &w.inverse,
            white: &w.white,
            gain: &w.gain,
            closed: &w.closed,
            mean,
            cov: &self.cov[lane * m * m..(lane + 1) * m * m],
            unreset: w.resets.then_some((&w.unreset_mean, &w.unreset_cov, &w.reset)),
            gained,
            steady,
        };
        visitor.updated(lane, &update);
    }
}
