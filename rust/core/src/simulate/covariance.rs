//! A root of a covariance matrix at one state: its Cholesky factor, or what its positive eigenvalues leave of one that is
//! none.

use nalgebra::DMatrix;

/// A pivot of this share of its diagonal entry counts as zero.
const PIVOT: f64 = 1e-12;

/// Writes a matrix `b` `(m, m)` with `b b^T = gamma` in rows to `root`; `gamma` is the lower triangle in rows.
///
/// Where a pivot counts as zero so does its column, since a covariance may be semidefinite. A matrix with an eigenvalue
/// below zero is no covariance: `b` is then the symmetric root of the nearest one, whose negative eigenvalues are zero.
pub fn root_of_covariance(gamma: &[f64], m: usize, root: &mut [f64]) {
    if !gamma.iter().all(|entry| entry.is_finite()) {
        root.fill(f64::NAN);
    } else if !cholesky(gamma, m, root) {
        let full = DMatrix::from_fn(m, m, |i, j| entry(gamma, i.max(j), i.min(j)));
        let found = full.symmetric_eigen();
        for i in 0..m {
            for j in 0..m {
                root[i * m + j] = (0..m)
                    .map(|k| {
                        let size = found.eigenvalues[k].max(0.0).sqrt();
                        found.eigenvectors[(i, k)] * size * found.eigenvectors[(j, k)]
                    })
                    .sum();
            }
        }
    }
}

fn entry(gamma: &[f64], i: usize, j: usize) -> f64 {
    gamma[i * (i + 1) / 2 + j]
}

/// The lower factor, or false where there is none.
fn cholesky(gamma: &[f64], m: usize, root: &mut [f64]) -> bool {
    root.fill(0.0);
    for j in 0..m {
        let size = entry(gamma, j, j).abs();
        let product =
            |root: &[f64], i: usize| -> f64 { (0..j).map(|l| root[i * m + l] * root[j * m + l]).sum() };
        let pivot = entry(gamma, j, j) - product(root, j);
        let counts = pivot > PIVOT * size;
        if pivot < -PIVOT * size {
            return false;
        }
        if counts {
            root[j * m + j] = pivot.sqrt();
        }
        for i in j + 1..m {
            let rest = entry(gamma, i, j) - product(root, i);
            if counts {
                root[i * m + j] = rest / root[j * m + j];
            } else if rest * rest > PIVOT * size * entry(gamma, i, i).abs() {
                return false;
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(gamma: &[f64], m: usize) -> Vec<f64> {
        let mut root = vec![0.0; m * m];
        root_of_covariance(gamma, m, &mut root);
        (0..m * m).map(|e| (0..m).map(|l| root[e / m * m + l] * root[e % m * m + l]).sum()).collect()
    }

    fn near(found: &[f64], wanted: &[f64]) {
        let apart = found.iter().zip(wanted).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(apart < 1e-12, "{found:?}, not {wanted:?}");
    }

    #[test]
    fn a_covariance_is_factored_even_where_it_is_singular() {
        near(&square(&[4.0, 2.0, 3.0], 2), &[4.0, 2.0, 2.0, 3.0]);
        near(&square(&[1.0, 2.0, 4.0], 2), &[1.0, 2.0, 2.0, 4.0]);
        near(&square(&[0.0, 0.0, 3.0], 2), &[0.0, 0.0, 0.0, 3.0]);
        near(&square(&[0.0, 0.0, 0.0], 2), &[0.0; 4]);
    }

    #[test]
    fn what_is_no_covariance_loses_its_negative_eigenvalues() {
        // Eigenvalues 3 and -1, along (1, 1) and (1, -1).
        near(&square(&[1.0, 2.0, 1.0], 2), &[1.5; 4]);
        near(&square(&[-4.0], 1), &[0.0]);
        near(&square(&[0.0, 1.0, 0.0], 2), &[0.5; 4]);
    }

    #[test]
    fn what_is_no_number_stays_none() {
        assert!(square(&[f64::NAN, 0.0, 1.0], 2).iter().all(|value| value.is_nan()));
    }
}
