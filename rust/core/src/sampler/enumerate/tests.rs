//! Enumerated masses against models taken one by one.

use ndarray::{Array1, Array2};

use super::super::posterior::model_posterior;
use super::super::prior::Prior;
use super::*;
use crate::noise::{Draws, Purpose, Stream};

fn regression(k: usize, noise: f64, prior: Prior) -> ScaledRegression {
    let mut draws = Stream::new(8, Purpose::Path, k as u64);
    let n = 120;
    let mut x = Array2::from_shape_simple_fn((n, k), || draws.normal());
    for row in 0..n {
        x[[row, k - 1]] = x[[row, 0]] + 0.1 * x[[row, k - 1]];
    }
    let y: Array1<f64> =
        (0..n).map(|row| 0.4 * x[[row, 0]] - 0.3 * x[[row, 1]] + noise * draws.normal()).collect();
    ScaledRegression::new(x.t().dot(&x).view(), x.t().dot(&y).view(), y.dot(&y), n as f64, prior).unwrap()
}

#[test]
fn each_mass_is_prior_times_integrated_evidence() {
    let narrow = Prior { a_v: 40.0, b_v: 3.0, ..Prior::default() };
    let cases = [(1.0, Prior::default()), (1e-6, Prior::default()), (1.0, narrow)];
    for (noise, prior) in cases {
        let regression = regression(7, noise, prior);
        let masses = enumerate(&regression, &Control::default()).unwrap();
        for model in [0_usize, 1, 3, 0b100_0001, 0b111_1111] {
            let members: Vec<usize> = (0..7).filter(|k| model >> k & 1 == 1).collect();
            // Far wider and finer than the code's own grid.
            let terms: Vec<f64> = (0..20_000)
                .map(|i| -20.0 + 0.005 * f64::from(i))
                .map(|u| log_prior(&prior, u) + regression.log_evidence(&members, u.exp()).unwrap())
                .collect();
            let largest = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = terms.iter().map(|term| (term - largest).exp()).sum();
            let expected = largest + (sum * 0.005).ln() + log_model_prior(&regression, members.len());
            let found = masses[model];
            assert!((found - expected).abs() < 1e-8, "model {model:b}: {found} against {expected}");
            // What is left of a target that is nearly explained differs by the rounding of the target itself.
            let single = model_posterior(&regression, &members).unwrap().log_mass;
            assert!((single - expected).abs() < 1e-7, "model {model:b}: {single} against {expected}");
        }
        let total: f64 = (0..=7).map(|r| choose(7, r) * log_model_prior(&regression, r).exp()).sum();
        assert!((total - 1.0).abs() < 1e-12);
    }
}

/// With a shape beyond all samples the slab variance is `b_v / a_v`, and the grid is as wide as what is left of it.
#[test]
fn a_huge_shape_takes_no_more_nodes() {
    for a_v in [1e3, 1e5, 1e8, 1e12] {
        let prior = Prior { a_v, b_v: a_v, ..Prior::default() };
        let regression = regression(7, 1.0, prior);
        let probes: Vec<Vec<usize>> = (0..7).map(|column| vec![column]).collect();
        let nodes = Grid::for_models(&regression, &probes, 7).unwrap().nodes().len();
        assert!((20..600).contains(&nodes), "{nodes} nodes for a shape of {a_v:e}");
        if a_v < 1e12 {
            let masses = enumerate(&regression, &Control::default()).unwrap();
            for model in [1_usize, 3, 0b100_0001, 0b111_1111] {
                let members: Vec<usize> = (0..7).filter(|k| model >> k & 1 == 1).collect();
                let expected = log_model_prior(&regression, members.len())
                    + regression.log_evidence(&members, 1.0).unwrap();
                let (found, allowed) = (masses[model], 50.0 / a_v + 1e-15 * 100.0 * a_v);
                assert!(
                    (found - expected).abs() < allowed,
                    "shape {a_v:e}, model {model:b}: {found} {expected}"
                );
            }
        }
    }
}

fn choose(n: usize, r: usize) -> f64 {
    (0..r).map(|i| (n - i) as f64 / (i + 1) as f64).product()
}
