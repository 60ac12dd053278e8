//! The hyperparameters of the spike-and-slab hierarchy.

use super::special::ln_rising;
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
    /// Probability of the model without columns; `None` leaves it to the inclusion rate.
    pub empty: Option<f64>,
}

/// What a double can count with: beyond, draws of a shape are all 0 or infinite, and squares of a scale overflow.
const SHAPES: (f64, f64) = (1e-12, 1e12);
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
            empty: None,
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
        if let Some(empty) = self.empty.filter(|empty| !(*empty > 0.0 && *empty < 1.0)) {
            return Err(Error::argument("empty", empty, "None, or a number between 0 and 1, both excluded"));
        }
        Ok(())
    }

    /// Log probability of one model of `r` out of `k` columns, inclusion rate integrated out.
    pub fn log_model(&self, r: usize, k: usize) -> f64 {
        let free = ln_rising(self.a_p, r) + ln_rising(self.b_p, k - r) - ln_rising(self.a_p + self.b_p, k);
        match self.empty.filter(|_| k > 0) {
            None => free,
            Some(empty) if r == 0 => empty.ln(),
            Some(empty) => free + (-empty).ln_1p() - (-self.log_none(k).exp_m1()).ln(),
        }
    }

    /// What the odds of the empty model among `k` columns are multiplied by, whatever the inclusion rate: its logarithm.
    pub fn log_favour(&self, k: usize) -> f64 {
        let none = self.log_none(k);
        self.empty
            .filter(|_| k > 0)
            .map_or(0.0, |empty| empty.ln() - (-empty).ln_1p() - none + (-none.exp_m1()).ln())
    }

    /// Log probability that none of `k` columns is in, by the inclusion rate alone.
    fn log_none(&self, k: usize) -> f64 {
        -(0..k).map(|j| (self.a_p / (self.b_p + j as f64)).ln_1p()).sum::<f64>()
    }
}
