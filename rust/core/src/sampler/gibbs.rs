//! One chain of the sampler: sweeps over the model, its coefficients and its hyperparameters.
//!
//! Order of a sweep: Z_1..Z_K with theta and s2 integrated out, exchanges and pairs likewise (pairs draw v as well), then
//! s2, theta, v, p0, each given all that came before. In any other order (the published code redraws v before theta) the posterior is not stationary.

use super::evidence::ScaledRegression;
use super::factor::Factor;
use super::kernels;
use super::pairs::{Pairs, Place};
use crate::noise::Draws;

/// Where variances and inclusion rates are kept. A draw of a small shape may round to 0, or one of two to 1, and what is
/// computed from such a draw is no number; no posterior with mass on numbers comes near these ends.
pub(super) const RANGE: (f64, f64) = (1e-250, 1e250);
const RATES: (f64, f64) = (1e-300, 1.0 - f64::EPSILON / 2.0);

/// How much work a chain has done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ChainWork {
    /// Sweeps.
    pub sweeps: u64,
    /// Single flips that changed the model.
    pub flips: u64,
    /// Exchange moves tried.
    pub exchanges_tried: u64,
    /// Exchange moves that changed the model.
    pub exchanges: u64,
    /// Pair moves that changed the model.
    pub pairs: u64,
    /// Rows of the factor that were computed.
    pub rows: u64,
}

/// A chain: the sampled model with its factor, and the draws of everything else.
#[derive(Debug, Clone)]
pub struct Gibbs<'a> {
    regression: &'a ScaledRegression,
    factor: Factor<'a>,
    pairs: Pairs<'a>,
    members: Vec<usize>,
    exchanges: usize,
    v: f64,
    p0: f64,
    s2: f64,
    theta: Vec<f64>,
    uniforms: Vec<f64>,
    probability: Vec<f64>,
    inclusion: Vec<f64>,
    work: ChainWork,
}

impl<'a> Gibbs<'a> {
    /// A chain that starts from these columns, with the prior's starting values, making so many exchange and pair moves a sweep.
    pub fn new(regression: &'a ScaledRegression, start: &[usize], exchanges: usize) -> Self {
        let prior = regression.prior();
        Self::resume(regression, start, prior.slab_start, prior.p0_start, exchanges)
    }

    /// A chain that goes on from a model, a slab variance and an inclusion rate; theta and s2 are drawn given these.
    pub fn resume(
        regression: &'a ScaledRegression,
        members: &[usize],
        v: f64,
        p0: f64,
        exchanges: usize,
    ) -> Self {
        let (k, stride) = (regression.n_usable(), regression.stride());
        let mut factor = Factor::new(regression, v);
        for &column in members {
            factor.insert(column);
        }
        Self {
            regression,
            factor,
            pairs: Pairs::new(regression),
            members: Vec::with_capacity(k),
            exchanges,
            v,
            p0,
            s2: f64::NAN,
            theta: vec![0.0; k],
            uniforms: vec![0.0; stride],
            probability: vec![0.0; stride],
            inclusion: vec![0.0; k],
            work: ChainWork::default(),
        }
    }

    /// One sweep.
    pub fn sweep(&mut self, draws: &mut impl Draws) {
        self.flip_all(draws);
        for _ in 0..self.exchanges {
            self.exchange(draws);
            self.pair(draws);
        }
        self.draw_parameters(draws);
        self.work.sweeps += 1;
        self.work.rows = self.factor.rows_computed();
    }

    /// Columns of the model, in the order of [`Self::theta`].
    pub fn members(&self) -> &[usize] {
        self.factor.members()
    }

    /// Coefficients of the members.
    pub fn theta(&self) -> &[f64] {
        &self.theta[..self.members().len()]
    }

    /// `p(Z_k = 1 | rest)` of each column as the last sweep met it; its average is the Rao-Blackwell PIP.
    pub fn inclusion(&self) -> &[f64] {
        &self.inclusion
    }

    /// Noise variance, slab variance and inclusion rate.
    pub fn parameters(&self) -> (f64, f64, f64) {
        (self.s2, self.v, self.p0)
    }

    /// Work done so far.
    pub fn work(&self) -> ChainWork {
        self.work
    }

    /// Z_1..Z_K in turn. Most sweeps change nothing, so the probabilities of all columns are computed at once, and again
    /// only after a flip.
    fn flip_all(&mut self, draws: &mut impl Draws) {
        let (k, odds) = (self.inclusion.len(), (1.0 - self.p0) / self.p0);
        draws.fill_uniform(&mut self.uniforms[..k]);
        // The padding counts as inside, and this keeps it there.
        self.uniforms[k..].fill(-1.0);
        let mut next = 0;
        loop {
            self.inclusion_from(next, odds);
            let flip =
                kernels::first_flip(&self.uniforms, &self.probability, self.factor.outside(), next).min(k);
            let settled = next..k.min(flip + 1);
            self.inclusion[settled.clone()].copy_from_slice(&self.probability[settled]);
            if flip == k {
                return;
            }
            if self.factor.contains(flip) {
                self.factor.remove(flip);
            } else {
                self.factor.insert(flip);
            }
            self.work.flips += 1;
            next = flip + 1;
        }
    }

    /// `p(Z_k = 1 | all others)` of each column from number `next` on; of the empty model the prior may say more.
    fn inclusion_from(&mut self, next: usize, odds: f64) {
        let favoured = odds * self.pairs.log_favour().exp();
        match *self.factor.members() {
            [] => self.factor.inclusion(favoured, next, &mut self.probability),
            [only] => {
                self.factor.inclusion(odds, next, &mut self.probability);
                if only >= next && self.pairs.log_favour() != 0.0 {
                    self.probability[only] = self.factor.keep_probability(0, favoured);
                }
            }
            _ => self.factor.inclusion(odds, next, &mut self.probability),
        }
    }

    /// Puts one column or two in or out together with the slab variance, see [`Pairs`].
    fn pair(&mut self, draws: &mut impl Draws) {
        if self.inclusion.is_empty() {
            return;
        }
        let (a, b) = self.pairs.choose(draws);
        self.members.clear();
        self.members.extend(self.factor.members().iter().copied().filter(|&k| k != a && k != b));
        for (number, column) in [a, b].into_iter().enumerate() {
            if !self.factor.contains(column) && (number == 0 || a != b) {
                self.members.push(column);
            }
        }
        let now =
            Place { v: self.v, p0: self.p0, log_det: self.factor.log_det(), energy: self.factor.energy() };
        let Some(v) = self.pairs.step(self.factor.members(), &self.members, now, draws) else {
            return;
        };
        for (number, column) in [a, b].into_iter().enumerate() {
            if number == 1 && a == b {
                break;
            }
            if self.factor.contains(column) {
                self.factor.remove(column);
            } else {
                self.factor.insert(column);
            }
        }
        self.v = v;
        self.factor.set_slab(v);
        self.work.pairs += 1;
    }

    /// Takes a random member out and puts a column in its place, drawn from the conditional over all that could stand
    /// there, the member itself among them. A Gibbs step on the place, so nothing is ever rejected.
    fn exchange(&mut self, draws: &mut impl Draws) {
        let (r, k) = (self.members().len(), self.inclusion.len());
        if r == 0 || r == k {
            return;
        }
        let place = ((draws.uniform() * r as f64) as usize).min(r - 1);
        let member = self.members()[place];
        let chosen = self.factor.exchange_draw(place, draws.uniform());
        self.work.exchanges_tried += 1;
        if chosen != member {
            self.factor.remove(member);
            self.factor.insert(chosen);
            self.work.exchanges += 1;
        }
    }

    /// s2, theta, v and p0 given the model.
    fn draw_parameters(&mut self, draws: &mut impl Draws) {
        let prior = self.regression.prior();
        let (k, r) = (self.inclusion.len(), self.members().len());
        let shape = self.regression.power();
        self.s2 = (0.5 * self.factor.energy() / draws.gamma(shape)).clamp(RANGE.0, RANGE.1);
        let sd = self.s2.sqrt();
        // The uniforms of this sweep are used up: their place serves for the normals.
        let noise = &mut self.uniforms[..r];
        for value in noise.iter_mut() {
            *value = sd * draws.normal();
        }
        self.factor.coefficients(noise, &mut self.theta);
        let square: f64 = self.theta[..r].iter().map(|theta| theta * theta).sum();
        let slab = (prior.b_v + 0.5 * square / self.s2) / draws.gamma(prior.a_v + 0.5 * r as f64);
        self.v = slab.clamp(RANGE.0, RANGE.1);
        let rate = draws.beta(prior.a_p + r as f64, prior.b_p + (k - r) as f64);
        self.p0 = rate.clamp(RATES.0, RATES.1);
        self.factor.set_slab(self.v);
    }
}
