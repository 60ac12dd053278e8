//! The log evidence against its definition.

use ndarray::{Array1, Array2};

use super::*;
use crate::noise::{Draws, Purpose, Stream};

const N: usize = 30;

/// Normal columns, the last nearly the sum of the first two, and a target of the first two with noise.
fn data(k: usize, seed: u64) -> (Array2<f64>, Array1<f64>) {
    let mut draws = Stream::new(seed, Purpose::Path, 0);
    let mut x = Array2::from_shape_simple_fn((N, k), || draws.normal());
    for row in 0..N {
        x[[row, k - 1]] = x[[row, 0]] + x[[row, 1 % k]] + 0.1 * x[[row, k - 1]];
    }
    let y = (0..N).map(|row| x[[row, 0]] - 0.5 * x[[row, 1 % k]] + draws.normal()).collect();
    (x, y)
}

pub(crate) fn regression(k: usize, prior: Prior) -> ScaledRegression {
    let (x, y) = data(k, 3);
    ScaledRegression::new(x.t().dot(&x).view(), x.t().dot(&y).view(), y.dot(&y), N as f64, prior).unwrap()
}

fn raw_prior() -> Prior {
    Prior { a_s: 1.5, b_s: 0.7, standardize: false, ..Prior::default() }
}

/// Trapezoid rule; the integrands here vanish at both ends, so it converges exponentially.
fn integral(low: f64, high: f64, steps: usize, f: impl Fn(f64) -> f64) -> f64 {
    let h = (high - low) / steps as f64;
    (0..=steps).map(|i| f(low + i as f64 * h)).sum::<f64>() * h
}

#[test]
fn evidence_is_the_integral_over_coefficient_and_noise_variance() {
    let prior = raw_prior();
    let (x, y) = data(1, 3);
    let regression = regression(1, prior);
    let v = 0.8;
    let log_s2_prior = |s2: f64| {
        prior.a_s * prior.b_s.ln() - ln_gamma(prior.a_s) - (prior.a_s + 1.0) * s2.ln() - prior.b_s / s2
    };
    let normal = |square: f64, variance: f64| {
        -0.5 * (2.0 * std::f64::consts::PI * variance).ln() - 0.5 * square / variance
    };
    let direct = integral(-6.0, 6.0, 600, |log_s2| {
        let s2 = log_s2.exp();
        integral(-12.0, 12.0, 2400, |theta| {
            let likelihood: f64 = (0..N).map(|i| normal((y[i] - x[[i, 0]] * theta).powi(2), s2)).sum();
            (likelihood + normal(theta * theta, s2 * v) + log_s2_prior(s2) + log_s2).exp()
        })
    });
    let closed = regression.log_evidence(&[0], v).unwrap();
    assert!((closed - direct.ln()).abs() < 1e-8, "{closed} against {}", direct.ln());
}

#[test]
fn evidence_is_joint_over_posterior_at_any_point() {
    // log p(y) = log p(y | theta, s2) + log p(theta | s2) + log p(s2) - log p(theta | s2, y) - log p(s2 | y).
    let prior = raw_prior();
    let (x, y) = data(2, 3);
    let regression = regression(2, prior);
    let (v, s2, theta) = (1.7_f64, 0.6_f64, [0.4, -0.9]);
    let two_pi = 2.0 * std::f64::consts::PI;
    let gram = x.t().dot(&x);
    let moment = x.t().dot(&y);
    let (a, b, c) = (gram[[0, 0]] + 1.0 / v, gram[[0, 1]], gram[[1, 1]] + 1.0 / v);
    let det = a * c - b * b;
    let mu = [(c * moment[0] - b * moment[1]) / det, (a * moment[1] - b * moment[0]) / det];
    let energy = prior.b_s + 0.5 * (y.dot(&y) - moment[0] * mu[0] - moment[1] * mu[1]);
    let inverse_gamma =
        |shape: f64, scale: f64| shape * scale.ln() - ln_gamma(shape) - (shape + 1.0) * s2.ln() - scale / s2;
    let residual: f64 = (0..N).map(|i| (y[i] - x[[i, 0]] * theta[0] - x[[i, 1]] * theta[1]).powi(2)).sum();
    let likelihood = -0.5 * N as f64 * (two_pi * s2).ln() - 0.5 * residual / s2;
    let square = theta[0] * theta[0] + theta[1] * theta[1];
    let slab = -(two_pi * s2 * v).ln() - 0.5 * square / (s2 * v);
    let (d0, d1) = (theta[0] - mu[0], theta[1] - mu[1]);
    let form = a * d0 * d0 + 2.0 * b * d0 * d1 + c * d1 * d1;
    let coefficients = -(two_pi * s2).ln() + 0.5 * det.ln() - 0.5 * form / s2;
    let direct = likelihood + slab + inverse_gamma(prior.a_s, prior.b_s)
        - coefficients
        - inverse_gamma(prior.a_s + 0.5 * N as f64, energy);
    let closed = regression.log_evidence(&[0, 1], v).unwrap();
    assert!((closed - direct).abs() < 1e-10, "{closed} against {direct}");
}
