//! From additive sums to the moments that the sampler is given: projection on the instruments.

use nalgebra::{DMatrix, DVector, SymmetricEigen};
use ndarray::{Array1, Array2};

use super::sums::Sums;

/// Directions of the scaled instruments with less than this share of the largest eigenvalue are dropped.
pub(crate) const RANK_TOLERANCE: f64 = 1e-13;

/// `yy - 2 b.theta + theta.G.theta` is the residual sum of squares of `theta`; `n` steps stand behind it.
#[derive(Debug, Clone, PartialEq)]
pub struct Moments {
    /// `G`, K x K.
    pub gram: Array2<f64>,
    /// `b`, K.
    pub moment: Array1<f64>,
    /// Sum of squares of the target.
    pub yy: f64,
    /// Number of steps.
    pub n: f64,
}

/// Eigenvalues and vectors of a Gram matrix scaled to unit diagonal, without the directions that the data do not excite.
struct Scaled {
    scale: DVector<f64>,
    values: Vec<f64>,
    vectors: DMatrix<f64>,
}

impl Scaled {
    fn new(gram: &DMatrix<f64>) -> Self {
        if gram.is_empty() {
            return Self { scale: DVector::zeros(0), values: Vec::new(), vectors: DMatrix::zeros(0, 0) };
        }
        let scale = gram.diagonal().map(|g| if g > 0.0 { 1.0 / g.sqrt() } else { 0.0 });
        let scaled = DMatrix::from_fn(gram.nrows(), gram.ncols(), |i, j| gram[(i, j)] * scale[i] * scale[j]);
        let eigen = SymmetricEigen::new(scaled);
        let largest = eigen.eigenvalues.iter().copied().fold(0.0, f64::max);
        let keep: Vec<usize> =
            (0..scale.len()).filter(|&k| eigen.eigenvalues[k] > RANK_TOLERANCE * largest).collect();
        Self {
            scale,
            values: keep.iter().map(|&k| eigen.eigenvalues[k]).collect(),
            vectors: eigen.eigenvectors.select_columns(&keep),
        }
    }

    /// `diag(e)^-1/2 V^T D` applied to the columns of `m`, with `D` the scale.
    fn whiten(&self, m: &DMatrix<f64>) -> DMatrix<f64> {
        let mut scaled = m.clone();
        for (mut row, s) in scaled.row_iter_mut().zip(self.scale.iter()) {
            row *= *s;
        }
        let mut white = self.vectors.tr_mul(&scaled);
        for (mut row, e) in white.row_iter_mut().zip(&self.values) {
            row /= e.sqrt();
        }
        white
    }

    /// Least-squares solution of `gram theta = b`.
    fn solve(&self, b: &DVector<f64>) -> DVector<f64> {
        let white = self.whiten(&DMatrix::from_column_slice(b.len(), 1, b.as_slice()));
        let mut part = white.column(0).into_owned();
        for (p, e) in part.iter_mut().zip(&self.values) {
            *p /= e.sqrt();
        }
        (&self.vectors * part).component_mul(&self.scale)
    }
}

/// Projects the regression on its instruments.
///
/// With `Om` scaled to unit diagonal and `Om = V diag(e) V^T`, `e > 1e-13 max(e)` kept:
/// `Q = diag(e)^-1/2 V^T A`, `q = diag(e)^-1/2 V^T c`, `G = Q^T Q`, `b = Q^T q`; `yy` is chosen such that the minimum of
/// the quadratic equals `s - 2 d.th + th.B.th` at the least-squares `th`.
pub fn project(sums: &Sums) -> Moments {
    let instruments = Scaled::new(&square(&sums.omega));
    let q_matrix = instruments.whiten(&square(&sums.cross));
    let q_vector = instruments.whiten(&DMatrix::from_iterator(sums.c.len(), 1, sums.c.iter().copied()));
    let gram = q_matrix.tr_mul(&q_matrix);
    let moment = q_matrix.tr_mul(&q_vector).column(0).into_owned();
    let theta = Scaled::new(&gram).solve(&moment);
    let explained: f64 = sums.d.iter().zip(&theta).map(|(d, theta)| d * theta).sum();
    let residual = sums.s - 2.0 * explained + theta.dot(&(square(&sums.inner) * &theta));
    let yy = residual.max(0.0) + moment.dot(&theta);
    Moments {
        gram: Array2::from_shape_fn(sums.omega.dim(), |(i, j)| gram[(i, j)]),
        moment: moment.iter().copied().collect(),
        yy,
        n: sums.n as f64,
    }
}

/// The matrix as the decompositions take it.
fn square(m: &Array2<f64>) -> DMatrix<f64> {
    DMatrix::from_fn(m.nrows(), m.ncols(), |i, j| m[[i, j]])
}
