//! Strong Taylor 1.5, weak order 2, for additive, scalar or diagonal noise: Milstein and:
//!
//! ```text
//! 1/2 L0 a_k h^2 + sum_j [ Lj a_k dZ_j + L0 b_kj (dW_j h - dZ_j) + 1/2 Lj Lj b_kj (dW_j^2 / 3 - h) dW_j ]
//! ```
//!
//! Source: Kloeden & Platen, Numerical Solution of Stochastic Differential Equations (1992), (10.4.5), (10.4.10).

use super::coefficients::{Coefficients, Increments};
use crate::program::Id;

pub(super) fn correct(c: &mut Coefficients, increments: &Increments, step: Vec<Id>) -> Vec<Id> {
    let Increments { h, dw, dz } = increments;
    let half_square = c.graph.constant(0.5 * h * h);
    let (h, half) = (c.graph.constant(*h), c.graph.constant(0.5));
    let third = c.graph.constant(1.0 / 3.0);
    let mut next = step;
    for k in 0..c.n_states() {
        let mut terms = vec![(c.along_drift(c.drift[k]), half_square)];
        for j in 0..c.n_noise() {
            let b = c.diffusion[k][j];
            terms.push((c.along_noise(j, c.drift[k]), dz[j]));

            let whole = c.graph.multiply(dw[j], h);
            terms.push((c.along_drift(b), c.graph.subtract(whole, dz[j])));

            let square = c.graph.multiply(dw[j], dw[j]);
            let square = c.graph.multiply(third, square);
            let excess = c.graph.subtract(square, h);
            let cubic = c.graph.multiply(excess, dw[j]);
            let slope = c.along_noise(j, b);
            terms.push((c.along_noise(j, slope), c.graph.multiply(half, cubic)));
        }
        for (coefficient, integral) in terms {
            let term = c.graph.multiply(coefficient, integral);
            next[k] = c.graph.add(next[k], term);
        }
    }
    next
}
