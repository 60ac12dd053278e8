//! Normal scores of readings under a sum of normal laws.

use std::f64::consts::{PI, SQRT_2};

/// Smallest probability of a tail that has a normal score.
const LEAST: f64 = 1e-300;

/// Newton steps to a normal score.
const TURNS: usize = 8;

/// The number that a normal law has where a sum of laws has the probabilities `upper` above and `lower` below.
pub fn score(upper: f64, lower: f64) -> f64 {
    if upper < lower { beyond(upper) } else { -beyond(lower) }
}

/// The probability that a normal law has above a number.
pub fn above(z: f64) -> f64 {
    0.5 * libm::erfc(z / SQRT_2)
}

/// The number beyond which a normal law has a probability of at most a half, from Hastings' approximation.
fn beyond(tail: f64) -> f64 {
    let tail = tail.clamp(LEAST, 0.5);
    let t = (-2.0 * tail.ln()).sqrt();
    let above_line = 2.515_517 + t * (0.802_853 + 0.010_328 * t);
    let mut z = t - above_line / (1.0 + t * (1.432_788 + t * (0.189_269 + 0.001_308 * t)));
    for _ in 0..TURNS {
        let mass = above(z);
        z += mass * (mass / tail).ln() * (2.0 * PI).sqrt() * (0.5 * z * z).exp();
    }
    z
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_has_its_probability() {
        for z in [-30.0, -3.0, -0.1, 0.0, 0.5, 1.96, 8.0, 35.0] {
            let found = score(above(z), above(-z));
            assert!((found - z).abs() < 1e-9 * (1.0 + z.abs()), "{found}, not {z}");
        }
    }
}
