//! The greedy search that the first chain starts from.

use super::evidence::ScaledRegression;
use super::factor::Factor;

/// Greedy search in the posterior at the prior's starting values: insert the column of the highest inclusion
/// probability while that exceeds one half, then remove the least probable member while that is below one half.
/// The columns come in their own order.
pub fn greedy_start(regression: &ScaledRegression) -> Vec<usize> {
    let prior = regression.prior();
    let odds = (1.0 - prior.p0_start) / prior.p0_start;
    let mut factor = Factor::new(regression, prior.slab_start);
    let mut probability = vec![0.0; regression.stride()];
    while factor.members().len() < regression.n_usable() {
        factor.inclusion(odds, 0, &mut probability);
        // Probabilities of many samples round to one; the first of columns that gain the same comes in.
        let outside = (0..regression.n_usable()).rev().filter(|&k| !factor.contains(k));
        match outside.max_by(|&a, &b| factor.gain_of(a).total_cmp(&factor.gain_of(b))) {
            Some(best) if probability[best] > 0.5 => factor.insert(best),
            _ => break,
        }
    }
    while !factor.members().is_empty() {
        let loss: Vec<f64> = (0..factor.members().len()).map(|place| factor.loss_of(place)).collect();
        let worst = (0..loss.len()).min_by(|&a, &b| loss[a].total_cmp(&loss[b])).unwrap_or(0);
        if factor.keep_probability(worst, odds) >= 0.5 {
            break;
        }
        factor.remove(factor.members()[worst]);
    }
    let mut found = factor.members().to_vec();
    found.sort_unstable();
    found
}

#[cfg(test)]
mod tests {
    use super::super::evidence::tests::regression;
    use super::super::prior::Prior;
    use super::*;

    #[test]
    fn the_start_is_a_model_that_no_single_flip_makes_better() {
        let regression = regression(6, Prior::default());
        let (v, odds) = (regression.prior().slab_start, {
            let p0 = regression.prior().p0_start;
            (1.0 - p0) / p0
        });
        let start = greedy_start(&regression);
        let score = |members: &[usize]| {
            regression.log_evidence(members, v).unwrap() - members.len() as f64 * odds.ln()
        };
        for &member in &start {
            let without: Vec<usize> = start.iter().copied().filter(|&other| other != member).collect();
            assert!(score(&without) < score(&start), "{member} may leave {start:?}");
        }
        for column in (0..6).filter(|column| !start.contains(column)) {
            assert!(
                score(&[start.as_slice(), &[column]].concat()) < score(&start),
                "{column} joins {start:?}"
            );
        }
        assert!(!start.is_empty());
    }
}
