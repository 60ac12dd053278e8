//! One model by the eigenvalues of its Gram matrix: its evidence at any slab variance costs its size, no factor.

use nalgebra::{DMatrix, DVector, SymmetricEigen};

use super::evidence::ScaledRegression;
use super::prior::Prior;
use crate::{Error, Result};

/// Eigenvalues of a Gram matrix below this share of the largest, with a minus sign, are no rounding.
const ROUNDING: f64 = 1e-10;

/// `G_rr = U diag(e) U^T` and `z = U^T b_r`: the ridge of every slab variance is diagonal here.
pub struct Spectrum<'a> {
    regression: &'a ScaledRegression,
    values: DVector<f64>,
    vectors: DMatrix<f64>,
    z: DVector<f64>,
}

impl<'a> Spectrum<'a> {
    /// Decomposes the model with these usable columns. A direction that is negative by rounding alone is one without data.
    pub fn new(regression: &'a ScaledRegression, members: &[usize]) -> Self {
        let r = members.len();
        let gram = DMatrix::from_fn(r, r, |i, j| regression.gram_row(members[i])[members[j]]);
        let moment = DVector::from_fn(r, |i, _| regression.moment()[members[i]]);
        let (mut values, vectors) = if r == 0 {
            (DVector::zeros(0), gram)
        } else {
            let SymmetricEigen { eigenvalues, eigenvectors } = SymmetricEigen::new(gram);
            (eigenvalues, eigenvectors)
        };
        let mut z = vectors.tr_mul(&moment);
        let floor = -ROUNDING * values.iter().copied().fold(0.0, f64::max);
        for (value, z) in values.iter_mut().zip(z.iter_mut()) {
            if *value < 0.0 && *value >= floor {
                (*value, *z) = (0.0, 0.0);
            }
        }
        Self { regression, values, vectors, z }
    }

    /// Number of columns of the model.
    pub fn size(&self) -> usize {
        self.values.len()
    }

    /// The hyperparameters.
    pub fn prior(&self) -> &Prior {
        self.regression.prior()
    }

    /// `e + 1/v`, all of them positive.
    fn ridge(&self, v: f64) -> Result<DVector<f64>> {
        let ridge = self.values.add_scalar(1.0 / v);
        if ridge.iter().all(|value| *value > 0.0) {
            Ok(ridge)
        } else {
            Err(Error::Numerical("the Gram matrix of a model is not positive semidefinite".to_owned()))
        }
    }

    /// What no coefficient explains of the target, twice the scale of the noise's prior added.
    fn energy(&self, ridge: &DVector<f64>) -> f64 {
        let explained: f64 = self.z.iter().zip(ridge).map(|(z, ridge)| z * z / ridge).sum();
        2.0 * self.prior().b_s + (self.regression.yy() - explained).max(0.0)
    }

    /// As [`ScaledRegression::log_evidence`].
    ///
    /// # Errors
    /// [`Error::Numerical`] if `G_rr + I/v` is not positive definite.
    pub fn log_evidence(&self, v: f64) -> Result<f64> {
        let ridge = self.ridge(v)?;
        let log_det: f64 = ridge.iter().map(|value| value.ln()).sum();
        let halves = self.values.len() as f64 * v.ln() + log_det;
        let energy = 0.5 * self.energy(&ridge);
        Ok(self.regression.log_constant() - 0.5 * halves - self.regression.power() * energy.ln())
    }

    /// Mean and covariance of the coefficients, mixed over slab variances with these weights: given `v` they have mean
    /// `(G_rr + I/v)^-1 b_r` and covariance `energy / degrees (G_rr + I/v)^-1`, infinite without degrees of freedom.
    ///
    /// # Errors
    /// As [`Spectrum::log_evidence`].
    pub(super) fn mixed(
        &self,
        nodes: impl Iterator<Item = (f64, f64)>,
        degrees: f64,
    ) -> Result<(DVector<f64>, DMatrix<f64>)> {
        let r = self.values.len();
        let (mut mean, mut second) = (DVector::zeros(r), DMatrix::zeros(r, r));
        for (v, weight) in nodes {
            let ridge = self.ridge(v)?;
            let spread = if degrees > 0.0 { self.energy(&ridge) / degrees } else { f64::INFINITY };
            let mu = self.z.component_div(&ridge);
            for i in 0..r {
                second[(i, i)] += weight * spread / ridge[i];
            }
            second.ger(weight, &mu, &mu, 1.0);
            mean.axpy(weight, &mu, 1.0);
        }
        let cov = second - &mean * mean.transpose();
        Ok((&self.vectors * mean, &self.vectors * cov * self.vectors.transpose()))
    }
}

#[cfg(test)]
mod tests;
