//! The hyperparameters of the spike-and-slab hierarchy.

use crate::{Error, Result};

/// Hyperparameters of `theta_r ~ N(0, s2 v I)`, `v ~ IG(a_v, b_v)`, `Z_k ~ Bern(p0)`, `p0 ~ Beta(a_p, b_p)`,
/// `s2 ~ IG(a_s, b_s)`, and where a chain starts.
///
/// Source: Tripura & Chakraborty, section 2.2; the paper prints `a_s = b_s = 1e4`, a slip for `1e-4`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prior {
    /// First shape of the beta prior of the inclusion rate.
    pub a_p: f64,
    /// Second shape of the beta prior of the inclusion rate.
    pub b_p: f64,
    /// Shape of the inverse gamma prior of the slab variance.
    pub a_v: f64,
    /// Scale of the inverse gamma prior of the slab variance.
    pub b_v: f64,
    /// Shape of the inverse gamma prior of the noise variance.
    pub a_s: f64,
    /// Scale of the inverse gamma prior of the noise variance.
    pub b_s: f64,
    /// Slab variance at the start of a chain.
    pub slab_start: f64,
    /// Inclusion rate at the start of a chain.
    pub p0_start: f64,
    /// Scale columns and target to unit (weighted) RMS before the slab is applied.
    pub standardize: bool,
}

/// What a double can count with: beyond, draws of a shape are all 0 or infinite, and squares of a scale overflow.
const SHAPES: (f64, f64) = (1e-12, 1e6);
const SCALES: (f64, f64) = (1e-100, 1e100);

impl Default for Prior {
    fn default() -> Self {
        Self {
            a_p: 0.1,
            b_p: 1.0,
            a_v: 0.5,
            b_v: 0.5,
            a_s: 1e-4,
            b_s: 1e-4,
            slab_start: 10.0,
            p0_start: 0.1,
            standardize: true,
        }
    }
}

impl Prior {
    /// Checks that every shape and scale is one that doubles can count with and that `0 < p0_start < 1`.
    ///
    /// # Errors
    /// [`Error::Argument`] names the first field that is not.
    pub fn check(&self) -> Result<()> {
        let shapes = [("a_p", self.a_p), ("b_p", self.b_p), ("a_v", self.a_v), ("a_s", self.a_s)];
        let scales = [("b_v", self.b_v), ("b_s", self.b_s), ("slab_start", self.slab_start)];
        for (values, (low, high)) in [(&shapes[..], SHAPES), (&scales[..], SCALES)] {
            for &(name, value) in values {
                if !(low..=high).contains(&value) {
                    let allowed = format!("a positive, finite number from {low:e} to {high:e}");
                    return Err(Error::argument(name, value, allowed));
                }
            }
        }
        if !(self.p0_start > 0.0 && self.p0_start < 1.0) {
            return Err(Error::argument(
                "p0_start",
                self.p0_start,
                "a number between 0 and 1, both excluded",
            ));
        }
        Ok(())
    }
}
