//! The move that puts one column or two in or out of the model, and the slab variance with them.
//!
//! Where columns nearly coincide their coefficients are large together, and neither comes in at the slab variance that
//! the other one alone calls for. A Metropolis step: the columns are toggled, a slab variance is proposed for the new
//! model from `IG(a_v + r/2, b_v + t.t / (2 s))`, with `t` its least-squares coefficients and `s` their noise variance,
//! theta and s2 being integrated out. Which columns are toggled hangs on the Gram matrix alone, so the proposal of a
//! model is symmetric, and that of the slab is weighed by its density.

use super::evidence::ScaledRegression;
use super::special::ln_gamma;
use crate::noise::Draws;

/// Pairs to toggle and the storage of small factors; nothing is allocated after the start.
#[derive(Debug, Clone)]
pub struct Pairs<'a> {
    regression: &'a ScaledRegression,
    /// For column `a`, running sums over `b` of the squared cosine of the two: `(K, K)`.
    partners: Vec<f64>,
    lower: Vec<f64>,
    z: Vec<f64>,
    log_favour: f64,
    /// What no slab variance changes of its log prior.
    of_prior: f64,
    known: Known,
}

/// An inverse gamma law that the slab variance of a model is proposed from.
#[derive(Debug, Clone, Copy)]
struct Proposal {
    shape: f64,
    scale: f64,
    log_scale: f64,
    ln_gamma: f64,
}

impl Proposal {
    fn new(shape: f64, scale: f64) -> Self {
        Self { shape, scale, log_scale: scale.ln(), ln_gamma: ln_gamma(shape) }
    }

    /// Log density of `log v`.
    fn log_density(&self, slab: Slab) -> f64 {
        self.shape * (self.log_scale - slab.log) - self.ln_gamma - self.scale * slab.inverse
    }
}

/// A slab variance, its logarithm and its inverse, each computed once.
#[derive(Debug, Clone, Copy)]
struct Slab {
    v: f64,
    log: f64,
    inverse: f64,
}

impl Slab {
    fn new(v: f64) -> Self {
        let log = v.ln();
        Self { v, log, inverse: (-log).exp() }
    }
}

/// Proposals of a model, and of those that are one column away from it, as far as they were asked for: most sweeps leave
/// the model as it is.
#[derive(Debug, Clone)]
struct Known {
    members: Vec<usize>,
    own: Option<Option<Proposal>>,
    toggled: Vec<Option<Option<Proposal>>>,
}

impl Known {
    /// Forgets what is of another model.
    fn is_of(&mut self, members: &[usize]) {
        if self.members != members {
            self.members.clear();
            self.members.extend_from_slice(members);
            self.own = None;
            self.toggled.fill(None);
        }
    }
}

impl<'a> Pairs<'a> {
    /// Tables for one regression.
    pub fn new(regression: &'a ScaledRegression) -> Self {
        let k = regression.n_usable();
        let mut partners = vec![0.0; k * k];
        for a in 0..k {
            let mut sum = 0.0;
            for b in 0..k {
                let size = regression.diagonal()[a] * regression.diagonal()[b];
                sum += if a == b { 1.0 } else { regression.gram_row(a)[b].powi(2) / size };
                partners[a * k + b] = sum;
            }
        }
        let log_favour = regression.prior().log_favour(k);
        // Of no model: nothing is known.
        let known = Known { members: vec![usize::MAX], own: None, toggled: vec![None; k] };
        let prior = regression.prior();
        let of_prior = prior.a_v * prior.b_v.ln() - ln_gamma(prior.a_v);
        Self { regression, partners, lower: vec![0.0; k * k], z: vec![0.0; k], log_favour, of_prior, known }
    }

    /// Log weight of the empty model beside what the inclusion rate says.
    pub fn log_favour(&self) -> f64 {
        self.log_favour
    }

    /// The columns to toggle: one with itself, or two, the likelier the nearer they are to each other.
    pub fn choose(&self, draws: &mut impl Draws) -> (usize, usize) {
        let k = self.regression.n_usable();
        let a = ((draws.uniform() * k as f64) as usize).min(k - 1);
        let sums = &self.partners[a * k..(a + 1) * k];
        let level = draws.uniform() * sums[k - 1];
        (a, sums.partition_point(|&sum| sum <= level).min(k - 1))
    }

    /// The slab variance that goes with `proposed`, the model with `toggled`, if that is accepted in place of `members` at
    /// `v`.
    pub fn step(
        &mut self,
        members: &[usize],
        proposed: &[usize],
        toggled: (usize, usize),
        (v, p0): (f64, f64),
        draws: &mut impl Draws,
    ) -> Option<f64> {
        let (here, there) = self.proposals(members, proposed, toggled)?;
        let new = there.scale / draws.gamma(there.shape);
        let uniform = draws.uniform();
        let (log_odds, other, now) = (p0.ln() - (-p0).ln_1p(), Slab::new(new), Slab::new(v));
        let log_ratio = self.log_joint(proposed, other, log_odds)?
            - there.log_density(other)
            - self.log_joint(members, now, log_odds)?
            + here.log_density(now);
        (uniform.ln() < log_ratio).then_some(new)
    }

    /// The proposals of both models, taken from those that are known where one column is toggled.
    fn proposals(
        &mut self,
        members: &[usize],
        proposed: &[usize],
        (a, b): (usize, usize),
    ) -> Option<(Proposal, Proposal)> {
        self.known.is_of(members);
        let here = match self.known.own {
            Some(known) => known,
            None => {
                let found = self.proposal(members);
                *self.known.own.insert(found)
            }
        }?;
        if a != b {
            return Some((here, self.proposal(proposed)?));
        }
        let there = match self.known.toggled[a] {
            Some(known) => known,
            None => {
                let found = self.proposal(proposed);
                *self.known.toggled[a].insert(found)
            }
        }?;
        Some((here, there))
    }

    /// Where the slab variance of a model is proposed; `None` where its columns are dependent.
    fn proposal(&mut self, members: &[usize]) -> Option<Proposal> {
        let (prior, r) = (*self.regression.prior(), members.len());
        let (_, energy) = self.factor(members, 0.0)?;
        let mut square = 0.0;
        for row in (0..r).rev() {
            let mut value = self.z[row];
            for later in row + 1..r {
                value -= self.lower[later * r + row] * self.z[later];
            }
            value /= self.lower[row * r + row];
            self.z[row] = value;
            square += value * value;
        }
        let noise = energy / (2.0 * self.regression.power());
        Some(Proposal::new(prior.a_v + 0.5 * r as f64, prior.b_v + 0.5 * square / noise))
    }

    /// Log of model prior, slab prior (of `log v`) and evidence, up to what no model changes.
    fn log_joint(&mut self, members: &[usize], slab: Slab, log_odds: f64) -> Option<f64> {
        let r = members.len();
        let (log_det, energy) = self.factor(members, 1.0 / slab.v)?;
        let evidence = -0.5 * (r as f64 * slab.log + log_det) - self.regression.power() * (0.5 * energy).ln();
        let odds = r as f64 * log_odds;
        let favour = if r == 0 { self.log_favour } else { 0.0 };
        let prior = self.regression.prior();
        // Of the density of `log v` under its inverse gamma law.
        let slab_prior = self.of_prior - prior.a_v * slab.log - prior.b_v * slab.inverse;
        Some(evidence + odds + favour + slab_prior)
    }

    /// Factors `G_rr + ridge I` into `lower`, `L z = b_r`; log determinant and `2 b_s + yy - z.z`.
    fn factor(&mut self, members: &[usize], ridge: f64) -> Option<(f64, f64)> {
        let r = members.len();
        let (mut log_det, mut energy) = (0.0, self.regression.yy());
        for (i, &member) in members.iter().enumerate() {
            let gram = self.regression.gram_row(member);
            let mut residual = self.regression.moment()[member];
            for j in 0..=i {
                let mut w = gram[members[j]] + if i == j { ridge } else { 0.0 };
                for c in 0..j {
                    w -= self.lower[i * r + c] * self.lower[j * r + c];
                }
                if i == j {
                    if w.is_nan() || w <= 0.0 {
                        return None;
                    }
                    self.lower[i * r + i] = w.sqrt();
                    log_det += w.ln();
                } else {
                    self.lower[i * r + j] = w / self.lower[j * r + j];
                    residual -= self.lower[i * r + j] * self.z[j];
                }
            }
            self.z[i] = residual / self.lower[i * r + i];
            energy -= self.z[i] * self.z[i];
        }
        Some((log_det, 2.0 * self.regression.prior().b_s + energy.max(0.0)))
    }
}
