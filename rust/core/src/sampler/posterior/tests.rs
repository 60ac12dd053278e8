//! Coefficients given a model against their integrals, and draws against masses.

use super::super::enumerate::enumerate;
use super::super::evidence::tests::regression;
use super::super::prior::Prior;
use super::super::slab::log_prior;
use super::*;
use crate::noise::{Purpose, Stream};

#[test]
fn one_coefficient_is_integrated_over_the_slab() {
    let prior = Prior { a_s: 1.5, b_s: 0.7, standardize: false, ..Prior::default() };
    let regression = regression(1, prior);
    let (g, b) = (regression.gram()[0], regression.moment()[0]);
    let nu = 2.0 * regression.power();
    // Sums over a fine grid of u = log v, far wider than where the integrand matters.
    let (mut mass, mut mean, mut second) = (0.0, 0.0, 0.0);
    let shift = regression.log_evidence(&[0], 1.0).unwrap();
    for u in (0..40_000).map(|i| -20.0 + 0.002 * f64::from(i)) {
        let v = u.exp();
        let weight = (log_prior(&prior, u) + regression.log_evidence(&[0], v).unwrap() - shift).exp();
        let s = 1.0 / (g + 1.0 / v);
        let mu = s * b;
        let energy = 2.0 * prior.b_s + regression.yy() - b * mu;
        mass += weight;
        mean += weight * mu;
        second += weight * (mu * mu + energy / (nu - 2.0) * s);
    }
    let (mean, second) = (mean / mass, second / mass);
    let found = model_posterior(&regression, &[0]).unwrap();
    assert!((found.mean[0] - mean).abs() < 1e-9);
    assert!((found.cov[[0, 0]] - (second - mean * mean)).abs() < 1e-9);
    let log_mass = log_model_prior(&regression, 1) + shift + (mass * 0.002).ln();
    assert!((found.log_mass - log_mass).abs() < 1e-9);
}

#[test]
fn a_model_without_columns_has_no_coefficients() {
    let regression = regression(3, Prior::default());
    let found = model_posterior(&regression, &[]).unwrap();
    assert!(found.mean.iter().chain(&found.cov).all(|&value| value == 0.0));
    assert!(found.log_mass.is_finite());
}

#[test]
fn draws_visit_models_by_their_mass() {
    let regression = regression(3, Prior::default());
    let (control, n) = (Control::default(), 20_000);
    let log_mass = enumerate(&regression, &control).unwrap();
    let mut draws = Stream::new(3, Purpose::Chain, 0);
    let chain = exact_draws(&regression, &log_mass, n, &mut draws, &control).unwrap();
    let largest = log_mass.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let total: f64 = log_mass.iter().map(|mass| (mass - largest).exp()).sum();
    for k in 0..3 {
        let holds = |model: &usize| model >> k & 1 == 1;
        let pip: f64 = (0..8).filter(holds).map(|model| (log_mass[model] - largest).exp() / total).sum();
        let share = chain.included.column(k).iter().filter(|&&included| included).count() as f64 / n as f64;
        // Five standard deviations of a share.
        assert!(
            (share - pip).abs() < 5.0 * (pip * (1.0 - pip) / n as f64).sqrt() + 1e-12,
            "{k}: {share}, {pip}"
        );
        assert!(chain.inclusion.column(k).iter().all(|value| (value - pip).abs() < 1e-12));
    }
    for (row, included) in chain.samples.rows().into_iter().zip(chain.included.rows()) {
        assert!(row.iter().zip(included).all(|(theta, &included)| (*theta != 0.0) == included));
    }
    assert!(exact_draws(&regression, &log_mass[1..], n, &mut draws, &control).is_err());
}
