//! One regression in the coordinates of the prior, and the log evidence of its models given the slab variance.

use nalgebra::{Cholesky, DMatrix, DVector};
use ndarray::{ArrayView1, ArrayView2};

use super::lanes::padded;
use super::prior::Prior;
use super::special::ln_gamma;
use crate::{Error, Result};

/// Moments `(gram, moment, yy, n)` scaled as the prior wants them, without the columns that are zero.
///
/// With `standardize` column `k` is divided by `sqrt(gram_kk / n)` and the target by `sqrt(yy / n)`, so that both have
/// unit root mean square. All sampling happens here; [`ScaledRegression::raw`] leads back to the caller's units.
#[derive(Debug, Clone)]
pub struct ScaledRegression {
    n_columns: usize,
    kept: Vec<usize>,
    stride: usize,
    gram: Vec<f64>,
    diagonal: Vec<f64>,
    moment: Vec<f64>,
    yy: f64,
    n: f64,
    column_scale: Vec<f64>,
    target_scale: f64,
    prior: Prior,
}

impl ScaledRegression {
    /// Checks and scales the moments; `gram` is `(K, K)`, `moment` is `(K,)`.
    ///
    /// # Errors
    /// [`Error::Argument`] for shapes that do not fit, values that are not finite, `n <= 0`, `yy < 0`, a bad prior.
    pub fn new(
        gram: ArrayView2<f64>,
        moment: ArrayView1<f64>,
        yy: f64,
        n: f64,
        prior: Prior,
    ) -> Result<Self> {
        let n_columns = moment.len();
        if gram.dim() != (n_columns, n_columns) {
            let allowed = format!("({n_columns}, {n_columns}), as moment has {n_columns} entries");
            return Err(Error::argument("gram.shape", format!("{:?}", gram.dim()), allowed));
        }
        let not_finite = |value: &&f64| !value.is_finite();
        for (name, found) in
            [("gram", gram.iter().find(not_finite)), ("moment", moment.iter().find(not_finite))]
        {
            if let Some(value) = found {
                return Err(Error::argument(name, value.to_string().to_lowercase(), "finite numbers"));
            }
        }
        if !(n > 0.0 && n.is_finite()) {
            return Err(Error::argument("n", n, "a positive, finite number"));
        }
        if !(yy >= 0.0 && yy.is_finite()) {
            return Err(Error::argument("yy", yy, "a finite number, zero or positive"));
        }
        prior.check()?;
        let kept: Vec<usize> = (0..n_columns).filter(|&k| gram[[k, k]] > 0.0).collect();
        let scale = |square: f64| if prior.standardize && square > 0.0 { (square / n).sqrt() } else { 1.0 };
        let column_scale: Vec<f64> = kept.iter().map(|&k| scale(gram[[k, k]])).collect();
        let target_scale = scale(yy);
        let stride = padded(kept.len());
        let mut scaled = vec![0.0; kept.len() * stride];
        let (mut diagonal, mut scaled_moment) = (vec![0.0; stride], vec![0.0; stride]);
        for (i, &row) in kept.iter().enumerate() {
            for (j, &column) in kept.iter().enumerate() {
                scaled[i * stride + j] = gram[[row, column]] / (column_scale[i] * column_scale[j]);
            }
            diagonal[i] = scaled[i * stride + i];
            scaled_moment[i] = moment[row] / (column_scale[i] * target_scale);
        }
        Ok(Self {
            n_columns,
            kept,
            stride,
            gram: scaled,
            diagonal,
            moment: scaled_moment,
            yy: yy / (target_scale * target_scale),
            n,
            column_scale,
            target_scale,
            prior,
        })
    }

    /// Number of columns that can be in a model.
    pub fn n_usable(&self) -> usize {
        self.kept.len()
    }

    /// Number of columns as the caller has them.
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// The caller's index of usable column `k`.
    pub fn original(&self, k: usize) -> usize {
        self.kept[k]
    }

    /// Usable columns among those that the caller marks.
    ///
    /// # Errors
    /// [`Error::Argument`] if `included` has another length than there are columns.
    pub fn usable(&self, included: &[bool]) -> Result<Vec<usize>> {
        if included.len() != self.n_columns {
            let allowed = format!("one flag for each of {} columns", self.n_columns);
            return Err(Error::argument("included.size", included.len(), allowed));
        }
        Ok((0..self.kept.len()).filter(|&k| included[self.kept[k]]).collect())
    }

    /// What a scaled coefficient of usable column `k` has to be multiplied by to be in the caller's units.
    pub fn raw(&self, k: usize) -> f64 {
        self.target_scale / self.column_scale[k]
    }

    /// What a scaled standard deviation of the noise has to be multiplied by.
    pub fn target_scale(&self) -> f64 {
        self.target_scale
    }

    /// Length of a row of the scaled Gram matrix: [`Self::n_usable`] padded with zeros.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// The scaled Gram matrix, one padded row after the other.
    pub fn gram(&self) -> &[f64] {
        &self.gram
    }

    /// Padded row `k` of the scaled Gram matrix.
    pub fn gram_row(&self, k: usize) -> &[f64] {
        &self.gram[k * self.stride..(k + 1) * self.stride]
    }

    /// Padded diagonal of the scaled Gram matrix.
    pub fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    /// Padded scaled moment.
    pub fn moment(&self) -> &[f64] {
        &self.moment
    }

    /// Scaled sum of squares of the target.
    pub fn yy(&self) -> f64 {
        self.yy
    }

    /// Number of samples.
    pub fn n(&self) -> f64 {
        self.n
    }

    /// The hyperparameters.
    pub fn prior(&self) -> &Prior {
        &self.prior
    }

    /// Shape of the noise variance given the data, `a_s + n/2`.
    pub fn power(&self) -> f64 {
        self.prior.a_s + 0.5 * self.n
    }

    /// The part of the log evidence that no model and no slab variance changes.
    pub fn log_constant(&self) -> f64 {
        let Prior { a_s, b_s, .. } = self.prior;
        let two_pi = 2.0 * std::f64::consts::PI;
        -0.5 * self.n * two_pi.ln() + a_s * b_s.ln() - ln_gamma(a_s) + ln_gamma(self.power())
    }

    /// Log evidence of the model with these usable columns given the slab variance `v`, theta and s2 integrated out:
    /// `const - r/2 log v - 1/2 log det(G_rr + I/v) - (a_s + n/2) log(b_s + (yy - b_r.mu)/2)`.
    ///
    /// In the scaled coordinates; factored anew, so this is the definition the maintained factor is tested against.
    ///
    /// # Errors
    /// [`Error::Numerical`] if `G_rr + I/v` is not positive definite.
    pub fn log_evidence(&self, members: &[usize], v: f64) -> Result<f64> {
        let r = members.len();
        let mut system = DMatrix::from_fn(r, r, |i, j| self.gram_row(members[i])[members[j]]);
        for i in 0..r {
            system[(i, i)] += 1.0 / v;
        }
        let factor = Cholesky::new(system).ok_or_else(|| {
            Error::Numerical("the Gram matrix of a model is not positive semidefinite".to_owned())
        })?;
        let moment = DVector::from_fn(r, |i, _| self.moment[members[i]]);
        let z = factor.l_dirty().solve_lower_triangular(&moment).map_or(0.0, |z| z.norm_squared());
        let log_det: f64 = (0..r).map(|i| 2.0 * factor.l_dirty()[(i, i)].ln()).sum();
        let energy = self.prior.b_s + 0.5 * (self.yy - z).max(0.0);
        Ok(self.log_constant() - 0.5 * (r as f64 * v.ln() + log_det) - self.power() * energy.ln())
    }
}

#[cfg(test)]
pub(super) mod tests;
