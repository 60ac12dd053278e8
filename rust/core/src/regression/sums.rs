//! The additive sums of a regression: those of two data sets add to those of both.

use std::ops::AddAssign;

use nalgebra::{DMatrix, DVector};

/// `Om = w L L^T, A = w L Lt^T, B = w Lt Lt^T, c = w L y, d = w Lt y, s = w y^2`, summed over `n` steps.
///
/// `L` is the instrument, the library at the start of a step; `Lt` the regressor. Sums of two data sets add to those of
/// both.
#[derive(Debug, Clone, PartialEq)]
pub struct Sums {
    /// Instruments with instruments.
    pub omega: DMatrix<f64>,
    /// Instruments (rows) with regressors (columns).
    pub cross: DMatrix<f64>,
    /// Regressors with regressors.
    pub inner: DMatrix<f64>,
    /// Instruments with the target.
    pub c: DVector<f64>,
    /// Regressors with the target.
    pub d: DVector<f64>,
    /// Target with itself.
    pub s: f64,
    /// Sum of the targets, without weights.
    pub total: f64,
    /// Number of steps.
    pub n: u64,
}

impl Sums {
    /// Sums over no step of a library of `k` terms.
    pub fn zeros(k: usize) -> Self {
        let (square, line) = (DMatrix::zeros(k, k), DVector::zeros(k));
        Self {
            omega: square.clone(),
            cross: square.clone(),
            inner: square,
            c: line.clone(),
            d: line,
            s: 0.0,
            total: 0.0,
            n: 0,
        }
    }

    /// Whether the products of the library and the target stayed in the finite range.
    pub(super) fn is_finite(&self) -> bool {
        self.s.is_finite()
            && [&self.omega, &self.cross, &self.inner].iter().all(|m| m.iter().all(|v| v.is_finite()))
            && self.d.iter().all(|v| v.is_finite())
    }
}

impl AddAssign<&Self> for Sums {
    fn add_assign(&mut self, other: &Self) {
        self.omega += &other.omega;
        self.cross += &other.cross;
        self.inner += &other.inner;
        self.c += &other.c;
        self.d += &other.d;
        self.s += other.s;
        self.total += other.total;
        self.n += other.n;
    }
}
