//! Euler-Maruyama, strong order 1/2 and weak order 1, for any noise:
//!
//! ```text
//! x_k + a_k h + sum_j b_kj dW_j
//! ```
//!
//! Source: Kloeden & Platen, Numerical Solution of Stochastic Differential Equations (1992), (10.2.4).

use super::coefficients::{Coefficients, Increments};
use crate::program::Id;

pub(super) fn step(c: &mut Coefficients, increments: &Increments, start: Vec<Id>) -> Vec<Id> {
    let h = c.graph.constant(increments.h);
    let mut next = start;
    for k in 0..c.n_states() {
        let change = c.graph.multiply(c.drift[k], h);
        next[k] = c.graph.add(next[k], change);
        for j in 0..increments.dw.len() {
            let kick = c.graph.multiply(c.diffusion[k][j], increments.dw[j]);
            next[k] = c.graph.add(next[k], kick);
        }
    }
    next
}
