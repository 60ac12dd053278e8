//! Special functions that the standard library lacks, and the logarithm of a product.

/// Logarithm of the gamma function for `x > 0`, to about 1e-15 relative or absolute, whichever is larger.
///
/// Shifts the argument above 10 by the recurrence and adds seven terms of Stirling's series.
pub fn ln_gamma(x: f64) -> f64 {
    let (mut x, mut shift) = (x, 1.0);
    while x < 10.0 {
        shift *= x;
        x += 1.0;
    }
    const SERIES: [f64; 7] = [
        1.0 / 12.0,
        -1.0 / 360.0,
        1.0 / 1260.0,
        -1.0 / 1680.0,
        1.0 / 1188.0,
        -691.0 / 360_360.0,
        1.0 / 156.0,
    ];
    let inverse_square = 1.0 / (x * x);
    let tail = SERIES.iter().rev().fold(0.0, |sum, term| sum * inverse_square + term) / x;
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + tail - shift.ln()
}

/// Logarithm of the rising factorial `x (x + 1) ... (x + n - 1)`.
pub fn ln_rising(x: f64, n: usize) -> f64 {
    (0..n).map(|i| (x + i as f64).ln()).sum()
}

/// The logarithm of a product of positive numbers: one logarithm of many, as far as their product is a number.
#[derive(Debug, Clone, Copy)]
pub struct LogProduct {
    log: f64,
    product: f64,
}

impl LogProduct {
    /// Of no factor.
    pub fn new() -> Self {
        Self { log: 0.0, product: 1.0 }
    }

    /// One factor more, itself between 1e-150 and 1e150.
    #[inline]
    pub fn push(&mut self, factor: f64) {
        self.product *= factor;
        if !(self.product > 1e-150 && self.product < 1e150) {
            self.log += self.product.ln();
            self.product = 1.0;
        }
    }

    /// The logarithm.
    pub fn log(self) -> f64 {
        self.log + self.product.ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_beyond_the_range_have_a_logarithm() {
        let mut product = LogProduct::new();
        let factors = (1..400).map(|i| if i < 200 { 1e100 } else { 1e-90 } * f64::from(i));
        let wanted: f64 = factors.clone().map(f64::ln).sum();
        factors.for_each(|factor| product.push(factor));
        assert!((product.log() / wanted - 1.0).abs() < 1e-13);
    }

    #[test]
    fn ln_gamma_knows_factorials_and_the_half() {
        let mut factorial = 1.0_f64;
        for n in 1..25 {
            assert!((ln_gamma(n as f64) - factorial.ln()).abs() < 1e-13 * factorial.ln().max(1.0));
            factorial *= n as f64;
        }
        assert!((ln_gamma(0.5) - 0.5 * std::f64::consts::PI.ln()).abs() < 1e-14);
        // Gamma(x) is about 1 / x near zero.
        assert!((ln_gamma(1e-4) - (1e4_f64.ln() - 0.577_215_664_9e-4)).abs() < 1e-8);
    }
}
