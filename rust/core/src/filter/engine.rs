//! The filter itself: a batch of paths advances one sample together, each step shown to a visitor.

use super::predict::Predictor;
use super::small::{cholesky, invert_lower, multiply, multiply_transposed, symmetrise};
use super::state_space::StateSpace;
use crate::Result;
use crate::control::Control;
use crate::path::Path;

/// Paths that advance together.
pub const LANES: usize = 16;

const LOG_2PI: f64 = 1.837_877_066_409_345_3;

/// One prediction of one path, as the sensitivities need it.
#[derive(Debug)]
pub struct Step<'a> {
    /// Sample that the prediction leads to.
    pub n: usize,
    /// Length of the step.
    pub h: f64,
    /// Expected term values, lane by lane: term `k` of this path is at `k * width + lane`.
    pub terms: &'a [f64],
    /// Rates of change of the terms along the drift, in the same places.
    pub rates: &'a [f64],
    /// Curvatures of the terms along the drift, in the same places: a term is `terms + s rates + s^2 bends`.
    pub bends: &'a [f64],
    /// Lanes of a row of `terms`.
    pub width: usize,
    /// Transition (m x m).
    pub phi: &'a [f64],
    /// Jacobian of the drift (m x m).
    pub jacobian: &'a [f64],
    /// Times within the step at which Gamma was looked up.
    pub nodes: &'a [Node],
    /// Transition from each node to the end (nodes x m x m).
    pub onward: &'a [f64],
    /// Covariance that the step added (m x m).
    pub spread: &'a [f64],
    /// Predicted mean (m).
    pub mean: &'a [f64],
    /// Predicted covariance (m x m).
    pub cov: &'a [f64],
}

/// A time within a step: since its start, and its weight in an integral over the step.
#[derive(Debug, Clone, Copy, Default)]
pub struct Node {
    /// Time since the start.
    pub s: f64,
    /// Weight.
    pub weight: f64,
}

impl Step<'_> {
    /// Term `k` at time `s` after the start.
    pub fn value(&self, k: usize, s: f64) -> f64 {
        let at = k * self.width;
        self.terms[at] + s * (self.rates[at] + s * self.bends[at])
    }
}

/// One observation of one path. Missing channels have zero rows in `observation` and `r`, and unit variance.
#[derive(Debug)]
pub struct Update<'a> {
    /// Sample.
    pub n: usize,
    /// Whether each channel was seen (q).
    pub seen: &'a [bool],
    /// `observation` with the rows of missing channels zero (q x m).
    pub observation: &'a [f64],
    /// Innovation (q).
    pub r: &'a [f64],
    /// Its covariance (q x q).
    pub s: &'a [f64],
    /// Inverse of the Cholesky factor of `s` (q x q).
    pub inverse: &'a [f64],
    /// `inverse r`.
    pub white: &'a [f64],
    /// Kalman gain (m x q).
    pub gain: &'a [f64],
    /// `I - gain observation` (m x m).
    pub closed: &'a [f64],
    /// Updated mean (m).
    pub mean: &'a [f64],
    /// Updated covariance (m x m).
    pub cov: &'a [f64],
}

/// What looks on while paths are filtered.
pub trait Visitor {
    /// After a prediction of the path in `lane`.
    fn predicted(&mut self, lane: usize, step: &Step<'_>);
    /// After an observation of the path in `lane`.
    fn updated(&mut self, lane: usize, update: &Update<'_>);
}

/// A visitor that ignores what it sees.
pub struct Nobody;

impl Visitor for Nobody {
    fn predicted(&mut self, _: usize, _: &Step<'_>) {}
    fn updated(&mut self, _: usize, _: &Update<'_>) {}
}

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
    /// Working memory of one update.
    work: Work,
}

#[derive(Default)]
struct Work {
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
    product: Vec<f64>,
    next: Vec<f64>,
}

impl Work {
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
            product: zeros(m * m),
            next: zeros(m * m),
        }
    }
}

impl<'a, 'p> Engine<'a, 'p> {
    /// A filter that stands before the first sample of up to [`LANES`] paths.
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
            work: Work::new(m, q),
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
        let mut pieces = [0usize; LANES];
        let mut h = [0.0; LANES];
        for (lane, path) in self.paths.iter().enumerate() {
            if n < path.len() {
                let gap = path.dt(n - 1);
                pieces[lane] = ((gap / self.model.max_step - 1e-9).ceil().max(1.0)) as usize;
                h[lane] = gap / pieces[lane] as f64;
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

    fn update(&mut self, n: usize, lane: usize, visitor: &mut impl Visitor) {
        let (m, q) = (self.model.m(), self.model.q());
        let w = &mut self.work;
        let mean = &mut self.mean[lane * m..(lane + 1) * m];
        let cov = &mut self.cov[lane * m * m..(lane + 1) * m * m];
        let y = self.paths[lane].x.row(n);
        w.masked.copy_from_slice(&self.observation);
        let mut n_seen = 0.0;
        for c in 0..q {
            self.seen[c] = !y[c].is_nan();
            let row = &mut w.masked[c * m..(c + 1) * m];
            if self.seen[c] {
                n_seen += 1.0;
                w.r[c] = y[c] - row.iter().zip(&*mean).map(|(a, b)| a * b).sum::<f64>();
            } else {
                row.fill(0.0);
                w.r[c] = 0.0;
            }
        }
        multiply_transposed(cov, &w.masked, &mut w.ph, m, m, q);
        multiply(&w.masked, &w.ph, &mut w.s, q, m, q);
        for c in 0..q {
            w.s[c * q + c] += if self.seen[c] { self.model.noise[c] } else { 1.0 };
        }
        if !cholesky(&w.s, &mut w.low, q) {
            self.loglik[lane] = f64::NAN;
            w.low.fill(f64::NAN);
        }
        invert_lower(&w.low, &mut w.inverse, q);
        multiply(&w.inverse, &w.r, &mut w.white, q, q, 1);
        multiply_transposed(&w.ph, &w.inverse, &mut w.half, m, q, q);
        multiply(&w.half, &w.inverse, &mut w.gain, m, q, q);
        multiply(&w.gain, &w.masked, &mut w.closed, m, q, m);
        for (index, value) in w.closed.iter_mut().enumerate() {
            *value = f64::from(u8::from(index / m == index % m)) - *value;
        }
        let log_det: f64 = (0..q).map(|c| w.low[c * q + c].ln()).sum();
        let squares: f64 = w.white.iter().map(|value| value * value).sum();
        self.loglik[lane] -= 0.5 * squares + log_det + 0.5 * LOG_2PI * n_seen;
        for i in 0..m {
            mean[i] += (0..q).map(|c| w.gain[i * q + c] * w.r[c]).sum::<f64>();
        }
        // Joseph form: the covariance stays positive whatever the rounding of the gain.
        multiply(&w.closed, cov, &mut w.product, m, m, m);
        multiply_transposed(&w.product, &w.closed, &mut w.next, m, m, m);
        for c in 0..q {
            if self.seen[c] {
                let noise = self.model.noise[c];
                for i in 0..m {
                    for j in 0..m {
                        w.next[i * m + j] += w.gain[i * q + c] * noise * w.gain[j * q + c];
                    }
                }
            }
        }
        symmetrise(&mut w.next, m);
        cov.copy_from_slice(&w.next);
        let update = Update {
            n,
            seen: &self.seen,
            observation: &w.masked,
            r: &w.r,
            s: &w.s,
            inverse: &w.inverse,
            white: &w.white,
            gain: &w.gain,
            closed: &w.closed,
            mean,
            cov,
        };
        visitor.updated(lane, &update);
    }
}
