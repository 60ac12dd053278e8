//! Exponentials and their integrals, beside series and fine steps.

use super::super::small::{axpy, multiply, multiply_transposed};
use super::*;

/// A damped oscillator of 2 rad per unit of time.
const A: [f64; 4] = [0.0, 1.0, -4.0, -0.5];

/// `exp(A t)` from the closed form.
fn exact(t: f64) -> [f64; 4] {
    let (c, w) = (0.25, (4.0_f64 - 0.0625).sqrt());
    let (e, co, si) = ((-c * t).exp(), (w * t).cos(), (w * t).sin() / w);
    [e * (co + c * si), e * si, -4.0 * e * si, e * (co - c * si)]
}

#[test]
fn the_exponential_is_that_of_the_closed_form() {
    for h in [1e-6, 0.1, 1.0, 30.0] {
        let mut found = Transition::new(2);
        found.set(&A, h, true);
        let version = found.version();
        for (found, exact) in found.phi().iter().zip(exact(h)) {
            assert!((found - exact).abs() < 1e-13, "{h}: {found} {exact}");
        }
        for (node, place) in PLACES.iter().enumerate() {
            for (found, exact) in found.onward(node).iter().zip(exact(h * (1.0 - place))) {
                assert!((found - exact).abs() < 1e-13);
            }
        }
        found.set(&A, h, true);
        assert_eq!(found.version(), version);
        let mut few = Transition::new(2);
        few.set(&A, h, false);
        assert_eq!((few.phi(), few.lead(), few.onward(1)), (found.phi(), found.lead(), found.onward(1)));
    }
}

#[test]
fn integrals_of_noise_spread_by_the_cube_of_the_step() {
    let (h, gamma) = (0.3, [0.0, 0.0, 0.0, 2.0]);
    for stiffness in [0.0, 1e-18, 1e-12, 1e-8] {
        let mut found = Transition::new(2);
        found.set(&[0.0, 1.0, -stiffness, 0.0], h, true);
        let exact = [2.0 * h * h * h / 3.0, h * h, h * h, 2.0 * h];
        let mut spread = [0.0; 4];
        found.spread(&gamma, &mut spread);
        for (found, exact) in spread.iter().zip(exact) {
            assert!((found - exact).abs() < (1e-15 + stiffness) * exact, "{stiffness}: {found} {exact}");
        }
        assert!((found.lead()[1] - h * h / 2.0).abs() < 1e-15 + stiffness);
    }
}

#[test]
fn integrals_are_those_of_a_fine_sum() {
    let (h, n) = (2.3, 20_000);
    let (gamma, c) = ([0.5, 0.2, 0.2, 1.0], [0.3, -0.7]);
    let (mut lead, mut spread, mut curve) = ([0.0; 4], [0.0; 4], [0.0; 2]);
    for k in 0..n {
        let s = (k as f64 + 0.5) * h / n as f64;
        let (phi, onward) = (exact(s), exact(h - s));
        let (mut half, mut whole, mut bent) = ([0.0; 4], [0.0; 4], [0.0; 2]);
        multiply(&phi, &gamma, &mut half, 2, 2, 2);
        multiply_transposed(&half, &phi, &mut whole, 2, 2, 2);
        multiply(&onward, &c, &mut bent, 2, 2, 1);
        axpy(h / n as f64, &phi, &mut lead);
        axpy(h / n as f64, &whole, &mut spread);
        axpy(s * s * h / n as f64, &bent, &mut curve);
    }
    let mut found = Transition::new(2);
    found.set(&A, h, true);
    let (mut spread_found, curve_found) = ([0.0; 4], found.curve(&c));
    found.spread(&gamma, &mut spread_found);
    let pairs = found.lead().iter().zip(&lead);
    let pairs = pairs.chain(spread_found.iter().zip(&spread));
    for (found, exact) in pairs.chain(curve_found.iter().zip(&curve)) {
        assert!((found - exact).abs() < 1e-7, "{found} {exact}");
    }
}

/// All matrices of a step of three states, the last of which is driven so; `drives` is its hold on the first.
fn all(b: [f64; 2], drives: f64, h: f64, gamma: &[f64]) -> Vec<f64> {
    let mut found = Transition::new(3);
    found.set(&[0.0, 1.0, drives, -4.0, -0.5, 0.0, b[0], b[1], 0.0], h, true);
    assert_eq!(found.passive, drives == 0.0);
    let (mut spread, mut moved, mut onward) = ([0.0; 9], [0.0; 9], [0.0; 9]);
    found.spread(gamma, &mut spread);
    found.carry(gamma, &mut moved);
    found.carry_onward(1, gamma, &mut onward);
    let mut all = [found.phi(), found.lead(), &spread, &moved, &onward].concat();
    (0..3).for_each(|node| all.extend([found.onward(node), found.lead_to(node)].concat()));
    all
}

#[test]
fn a_state_that_drives_nothing_is_carried_beside_the_others() {
    let gammas =
        [[0.5, 0.2, 0.0, 0.2, 1.0, 0.0, 0.0, 0.0, 0.3], [0.5, 0.2, 0.1, 0.2, 1.0, -0.2, 0.1, -0.2, 0.3]];
    for (h, b) in [(0.01, [1.0, 0.0]), (0.1, [0.0, 0.0]), (2.3, [0.3, -0.7]), (2.3, [0.0, 0.0])] {
        for gamma in gammas {
            // the whole matrices are taken where the state drives another, however little
            let pairs = all(b, 0.0, h, &gamma).into_iter().zip(all(b, 1e-200, h, &gamma));
            for (found, wanted) in pairs {
                assert!(
                    (found - wanted).abs() < 1e-13 * wanted.abs().max(1.0),
                    "{h} {b:?}: {found} {wanted}"
                );
            }
        }
    }
}
