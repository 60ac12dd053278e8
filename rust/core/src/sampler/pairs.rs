//! The move that puts one column or two in or out of the model, and the slab variance with them.
//!
//! Where columns nearly coincide their coefficients are large together, and neither comes in at the slab variance that
//! the other one alone calls for. A Metropolis step: the columns are toggled, a slab variance is proposed for the new
//! model from `IG(a_v + r/2, b_v + t.t / (2 s))`, with `t` its least-squares coefficients and `s` their noise variance,
//! theta and s2 being integrated out. Which columns are toggled hangs on the Gram matrix alone, so the proposal of a
//! model is symmetric, and that of the slab is weighed by its density.
//!
//! Most proposals are far from being accepted. What a model is without a slab bounds its evidence with any: where even
//! the bound is too low, the evidence is not computed, and nothing else changes.

use super::evidence::ScaledRegression;
use super::proposals::{Known, Proposal, Triangle};
use super::special::ln_gamma;
use crate::noise::Draws;

/// What rounding may take from a bound, in units of the evidence's power.
const ROUNDING: f64 = 1e-9;

/// Where a chain is: slab variance, inclusion rate, and of its factor log determinant and energy.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    pub v: f64,
    pub p0: f64,
    pub log_det: f64,
    pub energy: f64,
}

/// Pairs to toggle and the storage of small factors; nothing is allocated after the start.
#[derive(Debug, Clone)]
pub struct Pairs<'a> {
    regression: &'a ScaledRegression,
    /// For column `a`, running sums over `b` of the squared cosine of the two: `(K, K)`.
    partners: Vec<f64>,
    /// `ln Gamma(a_v + r/2)` of each size of model.
    ln_gamma: Vec<f64>,
    triangle: Triangle,
    log_favour: f64,
    known: Known,
}

impl<'a> Pairs<'a> {
    /// Tables for one regression.
    pub fn new(regression: &'a ScaledRegression) -> Self {
        let (k, prior) = (regression.n_usable(), regression.prior());
        let mut partners = vec![0.0; k * k];
        for a in 0..k {
            let mut sum = 0.0;
            for b in 0..k {
                let size = regression.diagonal()[a] * regression.diagonal()[b];
                sum += if a == b { 1.0 } else { regression.gram_row(a)[b].powi(2) / size };
                partners[a * k + b] = sum;
            }
        }
        Self {
            regression,
            partners,
            ln_gamma: (0..=k).map(|r| ln_gamma(prior.a_v + 0.5 * r as f64)).collect(),
            triangle: Triangle::new(k),
            log_favour: prior.log_favour(k),
            known: Known::new(k),
        }
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

    /// The slab variance that goes with `proposed`, if that is accepted in place of `members` at `now`.
    pub fn step(
        &mut self,
        members: &[usize],
        proposed: &[usize],
        now: Place,
        draws: &mut impl Draws,
    ) -> Option<f64> {
        let (here, there) = (self.proposal(members)?, self.proposal(proposed)?);
        let drawn = draws.gamma(there.shape);
        let log_uniform = draws.uniform().ln();
        let new = there.scale / drawn;
        if !(new > 0.0 && new.is_finite()) {
            return None;
        }
        let (prior, power) = (self.regression.prior(), self.regression.power());
        let (log_now, log_new) = (now.v.ln(), there.log_scale - drawn.ln());
        let size = |members: &[usize]| members.len() as f64;
        let favour = |members: &[usize]| if members.is_empty() { self.log_favour } else { 0.0 };
        let gamma = |members: &[usize]| self.ln_gamma[members.len()];
        // Everything but the evidence of the new model: the old one's, both model priors, the priors of `log v`, and
        // the densities from which it is proposed, there and back.
        let rest = 0.5 * (size(members) * log_now + now.log_det)
            + power * (0.5 * now.energy).ln()
            + (size(proposed) - size(members)) * (now.p0 / (1.0 - now.p0)).ln()
            + favour(proposed)
            - favour(members)
            - prior.a_v * (log_new - log_now)
            - prior.b_v * (1.0 / new - 1.0 / now.v)
            - (there.shape * (there.log_scale - log_new) - gamma(proposed) - drawn)
            + (here.shape * (here.log_scale - log_now) - gamma(members) - here.scale / now.v);
        if log_uniform > rest + there.most_evidence(size(proposed) * log_new) + ROUNDING * (1.0 + power) {
            return None;
        }
        let factored = self.triangle.factor(self.regression, proposed, 1.0 / new)?;
        let evidence =
            -0.5 * (size(proposed) * log_new + factored.log_det) - power * (0.5 * factored.energy).ln();
        (log_uniform < rest + evidence).then_some(new)
    }

    /// Where the slab variance of a model is proposed; `None` where its columns are dependent.
    fn proposal(&mut self, members: &[usize]) -> Option<Proposal> {
        let Self { regression, triangle, known, .. } = self;
        known.of(members, || triangle.proposal(regression, members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::{Purpose, Stream};
    use crate::sampler::evidence::tests::regression;
    use crate::sampler::prior::Prior;

    /// The same move from the definitions alone.
    fn plain(
        regression: &ScaledRegression,
        members: &[usize],
        proposed: &[usize],
        (v, p0): (f64, f64),
        draws: &mut impl Draws,
    ) -> Option<f64> {
        let (prior, mut triangle) = (*regression.prior(), Triangle::new(regression.n_usable()));
        let (here, there) =
            (triangle.proposal(regression, members)?, triangle.proposal(regression, proposed)?);
        let log_density =
            |shape: f64, scale: f64, v: f64| shape * (scale.ln() - v.ln()) - ln_gamma(shape) - scale / v;
        let new = there.scale / draws.gamma(there.shape);
        let uniform = draws.uniform();
        let log_joint = |members: &[usize], v: f64| {
            regression.log_evidence(members, v).unwrap()
                + members.len() as f64 * (p0.ln() - (-p0).ln_1p())
                + if members.is_empty() { prior.log_favour(regression.n_usable()) } else { 0.0 }
                + log_density(prior.a_v, prior.b_v, v)
        };
        let ratio =
            log_joint(proposed, new) - log_density(there.shape, there.scale, new) - log_joint(members, v)
                + log_density(here.shape, here.scale, v);
        (uniform.ln() < ratio).then_some(new)
    }

    #[test]
    fn steps_are_those_of_the_definitions() {
        let regression = regression(6, Prior::default());
        let mut pairs = Pairs::new(&regression);
        let mut triangle = Triangle::new(6);
        let mut accepted = 0;
        for seed in 0..4000_u64 {
            let mut draws = Stream::new(seed, Purpose::Chain, 0);
            let members: Vec<usize> = (0..6).filter(|_| draws.uniform() < 0.4).collect();
            let (v, p0) = (2.0 * draws.gamma(1.0), 0.05 + 0.9 * draws.uniform());
            let (a, b) = pairs.choose(&mut draws);
            let proposed: Vec<usize> =
                (0..6).filter(|k| members.contains(k) != (*k == a || *k == b)).collect();
            let factored = triangle.factor(&regression, &members, 1.0 / v).unwrap();
            let now = Place { v, p0, log_det: factored.log_det, energy: factored.energy };
            let mut same = draws.clone();
            let found = pairs.step(&members, &proposed, now, &mut draws);
            let wanted = plain(&regression, &members, &proposed, (v, p0), &mut same);
            assert_eq!(found, wanted, "seed {seed}");
            accepted += usize::from(found.is_some());
        }
        assert!((400..3600).contains(&accepted), "{accepted}");
    }

    #[test]
    fn no_slab_has_more_evidence_than_the_bound() {
        let regression = regression(6, Prior::default());
        let mut triangle = Triangle::new(6);
        for members in [vec![], vec![2], vec![0, 1], vec![5, 3, 1, 0]] {
            let proposal = triangle.proposal(&regression, &members).unwrap();
            for power in -12..12 {
                let v = 10_f64.powi(power);
                let most = proposal.most_evidence(members.len() as f64 * v.ln());
                let evidence = regression.log_evidence(&members, v).unwrap() - regression.log_constant();
                assert!(evidence <= most + 1e-9, "{members:?} {v}: {evidence} {most}");
                assert!(power < 6 || evidence > most - 1e-3, "{members:?} {v}: {evidence} {most}");
            }
        }
    }
}
