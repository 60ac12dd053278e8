//! The maintained factor against the log evidence factored anew.

use super::super::evidence::tests::regression;
use super::super::prior::Prior;
use super::*;
use crate::noise::{Draws, Purpose, Stream};

impl Factor<'_> {
    /// `log evidence + (a_s + n/2) log 2` without [`ScaledRegression::log_constant`].
    pub fn log_evidence(&self) -> f64 {
        let r = self.members.len();
        let log_det: f64 = (0..r).map(|p| -2.0 * self.inverse[p * self.width() + p].ln()).sum();
        0.5 * (r as f64 * self.inverse_v.ln() - log_det) - self.regression.power() * self.energy.ln()
    }

    /// The probabilities behind [`Self::exchange_draw`]: of the member, and of all columns outside the model (padded).
    fn exchange_probabilities(&mut self, place: usize) -> (f64, Vec<f64>) {
        let (_, own, others) = self.exchange_candidates(place);
        let own = self.exchange_weights(own, others.largest_share);
        let sum = own + self.group_sums.iter().sum::<f64>();
        (own / sum, self.weights.iter().map(|weight| weight / sum).collect())
    }
}

#[test]
fn maintained_factor_knows_the_evidence_of_every_neighbour() {
    let regression = regression(9, Prior::default());
    let mut draws = Stream::new(5, Purpose::Chain, 0);
    let mut factor = Factor::new(&regression, 2.0);
    let mut probability = vec![0.0; regression.stride()];
    let (odds, mut v) = (3.0_f64, 2.0);
    for step in 0..300 {
        let k = (draws.uniform() * 9.0) as usize;
        if factor.contains(k) {
            factor.remove(k);
        } else {
            factor.insert(k);
        }
        if step % 7 == 0 {
            v = (2.0 * draws.normal()).exp();
            factor.set_slab(v);
        }
        let evidence = |members: &[usize]| regression.log_evidence(members, v).unwrap();
        let members = factor.members().to_vec();
        let shift = regression.log_constant() + regression.power() * 2.0_f64.ln();
        assert!((factor.log_evidence() + shift - evidence(&members)).abs() < 1e-9);
        factor.inclusion(odds, 0, &mut probability);
        for k in 0..9 {
            let without: Vec<usize> = members.iter().copied().filter(|&member| member != k).collect();
            let with: Vec<usize> = without.iter().copied().chain([k]).collect();
            let expected = 1.0 / (1.0 + odds * (evidence(&without) - evidence(&with)).exp());
            let found = match members.iter().position(|&member| member == k) {
                Some(place) => factor.keep_probability(place, odds),
                None => probability[k],
            };
            assert!((found - expected).abs() < 1e-9, "column {k}: {found} against {expected}");
        }
        for (place, &member) in members.iter().enumerate() {
            let others: Vec<usize> = members.iter().copied().filter(|&other| other != member).collect();
            let with = |k: usize| evidence(&others.iter().copied().chain([k]).collect::<Vec<_>>());
            let (own, outside) = factor.exchange_probabilities(place);
            let unit = with(member) - own.ln();
            for k in (0..9).filter(|k| !members.contains(k)) {
                let ratio = outside[k] / (with(k) - unit).exp();
                assert!((ratio - 1.0).abs() < 1e-8, "exchange {member} for {k}: {ratio}");
            }
            assert!(members.iter().all(|&member| outside[member] == 0.0));
            // The shortcut by the bound and the drawn column agree with the probabilities.
            let mut level = own;
            assert_eq!(factor.exchange_draw(place, own * (1.0 - 1e-9)), member);
            for k in (0..9).filter(|k| !members.contains(k) && outside[*k] > 1e-6) {
                let before: f64 = own + outside[..k].iter().sum::<f64>();
                level = before + 0.5 * outside[k];
                assert_eq!(factor.exchange_draw(place, level), k);
            }
            assert!(level < 1.0);
        }
    }
}
