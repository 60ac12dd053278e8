//! Gaussian expectations, in closed form, of the terms whose derivative jumps.

use std::f64::consts::{PI, SQRT_2};

/// Which kind of jump.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// `sgn(x_j)`
    Sign,
    /// `|x_j|`
    Absolute,
    /// `x_i |x_j|`
    Product,
}

/// A term of the program with a kink.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kink {
    /// Output of the program.
    pub term: usize,
    /// Its shape.
    pub shape: Shape,
    /// State outside the bars (equal to `j` where there is none).
    pub i: usize,
    /// State inside the bars or the sign.
    pub j: usize,
}

impl Kink {
    /// Expectation over `N(x, cov)` and its gradient by `x`, which is written to `slope`.
    ///
    /// With `z = M_j / sd_j`: `E sgn = erf(z / sqrt 2)`, `E|x_j| = M_j E sgn + 2 sd phi(z)`,
    /// `E x_i|x_j| = M_i E|x_j| + P_ij E sgn`.
    pub fn expectation(&self, x: &[f64], cov: &[f64], slope: &mut [f64]) -> f64 {
        let m = x.len();
        let (mean, var) = (x[self.j], cov[self.j * m + self.j].max(0.0));
        let sd = var.sqrt();
        let (sign, density, slope_of_sign) = if sd > 0.0 {
            let z = (mean / sd).clamp(-40.0, 40.0);
            let density = (-0.5 * z * z).exp() / (2.0 * PI).sqrt();
            (libm::erf(z / SQRT_2), density, 2.0 * density / sd)
        } else {
            (if mean == 0.0 { mean } else { mean.signum() }, 0.0, 0.0)
        };
        let size = mean * sign + 2.0 * sd * density;
        slope.fill(0.0);
        match self.shape {
            Shape::Sign => {
                slope[self.j] = slope_of_sign;
                sign
            }
            Shape::Absolute => {
                slope[self.j] = sign;
                size
            }
            Shape::Product => {
                let cross = cov[self.i * m + self.j];
                slope[self.i] += size;
                slope[self.j] += x[self.i] * sign + cross * slope_of_sign;
                x[self.i] * size + cross * sign
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expectations_match_quadrature_and_their_slopes_match_differences() {
        let (x, cov): ([f64; 2], [f64; 4]) = ([0.3, -0.2], [0.5, 0.2, 0.2, 0.4]);
        let low: [f64; 2] = [cov[0].sqrt(), cov[1] / cov[0].sqrt()];
        let rest = (cov[3] - low[1] * low[1]).sqrt();
        type Term = fn(f64, f64) -> f64;
        let terms: [(Shape, Term); 3] = [
            (Shape::Sign, |_, b| b.signum()),
            (Shape::Absolute, |_, b| b.abs()),
            (Shape::Product, |a, b| a * b.abs()),
        ];
        for (shape, function) in terms {
            let kink = Kink { term: 0, shape, i: if shape == Shape::Product { 0 } else { 1 }, j: 1 };
            let (mut sum, step) = (0.0, 0.02);
            for a in -400..=400 {
                for b in -400..=400 {
                    let (u, v) = (f64::from(a) * step, f64::from(b) * step);
                    let weight = (-0.5 * (u * u + v * v)).exp() / (2.0 * PI) * step * step;
                    sum += weight * function(x[0] + low[0] * u, x[1] + low[1] * u + rest * v);
                }
            }
            let (mut slope, mut unused) = ([0.0; 2], [0.0; 2]);
            let value = kink.expectation(&x, &cov, &mut slope);
            assert!((value - sum).abs() < 2e-3, "{shape:?}: {value} {sum}");
            for i in 0..2 {
                let mut at = |shift: f64| {
                    let mut moved = x;
                    moved[i] += shift;
                    kink.expectation(&moved, &cov, &mut unused)
                };
                let difference = (at(1e-6) - at(-1e-6)) / 2e-6;
                assert!((slope[i] - difference).abs() < 1e-7);
            }
        }
    }
}
