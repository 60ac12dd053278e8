//! Linear algebra on small row-major matrices in slices, without allocation.

/// `out = a b` for `a` (n x k) and `b` (k x m).
pub fn multiply(a: &[f64], b: &[f64], out: &mut [f64], n: usize, k: usize, m: usize) {
    for i in 0..n {
        for j in 0..m {
            let mut sum = 0.0;
            for l in 0..k {
                sum += a[i * k + l] * b[l * m + j];
            }
            out[i * m + j] = sum;
        }
    }
}

/// `out = a b^T` for `a` (n x k) and `b` (m x k).
pub fn multiply_transposed(a: &[f64], b: &[f64], out: &mut [f64], n: usize, k: usize, m: usize) {
    for i in 0..n {
        for j in 0..m {
            let mut sum = 0.0;
            for l in 0..k {
                sum += a[i * k + l] * b[j * k + l];
            }
            out[i * m + j] = sum;
        }
    }
}

/// Replaces a square matrix by the mean of itself and its transpose.
pub fn symmetrise(a: &mut [f64], m: usize) {
    for i in 0..m {
        for j in 0..i {
            let mean = 0.5 * (a[i * m + j] + a[j * m + i]);
            a[i * m + j] = mean;
            a[j * m + i] = mean;
        }
    }
}

/// Lower Cholesky factor of a positive semidefinite matrix; a vanishing pivot gives a zero column. `rest` is scratch.
pub fn factor_semidefinite(a: &[f64], low: &mut [f64], rest: &mut [f64], m: usize) {
    rest[..m * m].copy_from_slice(&a[..m * m]);
    low[..m * m].fill(0.0);
    for j in 0..m {
        let pivot = rest[j * m + j];
        if pivot > 1e-14 * a[j * m + j] {
            let root = pivot.sqrt();
            for i in j..m {
                low[i * m + j] = rest[i * m + j] / root;
            }
            for i in j..m {
                for l in j..m {
                    rest[i * m + l] -= low[i * m + j] * low[l * m + j];
                }
            }
        }
    }
}

/// Lower Cholesky factor of a positive definite matrix; false if it is not one.
pub fn cholesky(a: &[f64], low: &mut [f64], q: usize) -> bool {
    low[..q * q].fill(0.0);
    for j in 0..q {
        let mut pivot = a[j * q + j];
        for l in 0..j {
            pivot -= low[j * q + l] * low[j * q + l];
        }
        if !(pivot > 0.0 && pivot.is_finite()) {
            return false;
        }
        let root = pivot.sqrt();
        low[j * q + j] = root;
        for i in j + 1..q {
            let mut value = a[i * q + j];
            for l in 0..j {
                value -= low[i * q + l] * low[j * q + l];
            }
            low[i * q + j] = value / root;
        }
    }
    true
}

/// Inverse of a lower triangular matrix.
pub fn invert_lower(low: &[f64], inverse: &mut [f64], q: usize) {
    inverse[..q * q].fill(0.0);
    for j in 0..q {
        inverse[j * q + j] = 1.0 / low[j * q + j];
        for i in j + 1..q {
            let mut sum = 0.0;
            for l in j..i {
                sum -= low[i * q + l] * inverse[l * q + j];
            }
            inverse[i * q + j] = sum / low[i * q + i];
        }
    }
}

/// Solves `low low^T x = b` in place for `b` (m x k), leaving out the directions of zero pivots.
pub fn solve_semidefinite(low: &[f64], b: &mut [f64], m: usize, k: usize) {
    for i in 0..m {
        for j in 0..i {
            for c in 0..k {
                b[i * k + c] -= low[i * m + j] * b[j * k + c];
            }
        }
        divide(&mut b[i * k..(i + 1) * k], low[i * m + i]);
    }
    for i in (0..m).rev() {
        for j in i + 1..m {
            for c in 0..k {
                b[i * k + c] -= low[j * m + i] * b[j * k + c];
            }
        }
        divide(&mut b[i * k..(i + 1) * k], low[i * m + i]);
    }
}

fn divide(row: &mut [f64], pivot: f64) {
    if pivot > 0.0 {
        row.iter_mut().for_each(|value| *value /= pivot);
    } else {
        row.fill(0.0);
    }
}

/// `y += a x`.
#[inline]
pub fn axpy(a: f64, x: &[f64], y: &mut [f64]) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y += a * x;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_semidefinite_matrix_is_factored_and_solved() {
        // rank two: the last column is the sum of the first two
        let low = [2.0, 0.0, 0.0, 1.0, 3.0, 0.0, 3.0, 3.0, 0.0];
        let mut a = [0.0; 9];
        multiply_transposed(&low, &low, &mut a, 3, 3, 3);
        let (mut found, mut rest, mut back) = ([0.0; 9], [0.0; 9], [0.0; 9]);
        factor_semidefinite(&a, &mut found, &mut rest, 3);
        multiply_transposed(&found, &found, &mut back, 3, 3, 3);
        for (x, y) in back.iter().zip(&a) {
            assert!((x - y).abs() < 1e-12);
        }
        let mut b = a;
        solve_semidefinite(&found, &mut b, 3, 3);
        let mut again = [0.0; 9];
        multiply(&a, &b, &mut again, 3, 3, 3);
        for (x, y) in again.iter().zip(&a) {
            assert!((x - y).abs() < 1e-10);
        }
    }

    #[test]
    fn the_inverse_of_a_lower_triangle() {
        let a = [4.0, 2.0, 1.0, 2.0, 5.0, 3.0, 1.0, 3.0, 6.0];
        let (mut low, mut inverse, mut product) = ([0.0; 9], [0.0; 9], [0.0; 9]);
        assert!(cholesky(&a, &mut low, 3));
        invert_lower(&low, &mut inverse, 3);
        multiply(&low, &inverse, &mut product, 3, 3, 3);
        for i in 0..3 {
            for j in 0..3 {
                assert!((product[i * 3 + j] - f64::from(u8::from(i == j))).abs() < 1e-14);
            }
        }
        assert!(!cholesky(&[1.0, 2.0, 2.0, 1.0], &mut low, 2));
    }
}
