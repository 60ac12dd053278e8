//! Milstein, strong order 1 and weak order 1, for commutative noise: Euler-Maruyama and:
//!
//! ```text
//! 1/2 sum_j Lj b_kj (dW_j^2 - h) + sum_{i<j} Li b_kj dW_i dW_j
//! ```
//!
//! Source: Kloeden & Platen, Numerical Solution of Stochastic Differential Equations (1992), (10.3.3), (10.3.16).

use super::coefficients::{Coefficients, Increments};
use crate::program::Id;

pub(super) fn correct(c: &mut Coefficients, increments: &Increments, step: Vec<Id>) -> Vec<Id> {
    let Increments { h, dw, .. } = increments;
    let (h, half) = (c.graph.constant(*h), c.graph.constant(0.5));
    let mut next = step;
    for k in 0..c.n_states() {
        for j in 0..c.n_noise() {
            for i in 0..=j {
                let slope = c.along_noise(i, c.diffusion[k][j]);
                let mut integral = c.graph.multiply(dw[i], dw[j]);
                if i == j {
                    let excess = c.graph.subtract(integral, h);
                    integral = c.graph.multiply(half, excess);
                }
                let term = c.graph.multiply(slope, integral);
                next[k] = c.graph.add(next[k], term);
            }
        }
    }
    next
}
