//! Products of a small matrix with a wide one, whose columns are the sensitivities to all candidates.

use crate::vectorised::{fused, vectorised};

/// Wide matrices have a multiple of this many columns.
const LANES: usize = 4;

/// The number of columns that a wide matrix of `columns` has with its padding.
pub const fn padded(columns: usize) -> usize {
    columns.div_ceil(LANES) * LANES
}

/// `R` rows from `i` and `W` columns from `start` of `out = a d`.
#[inline(always)]
fn tile<const R: usize, const W: usize, const FMA: bool>(
    a: &[f64],
    d: &[f64],
    out: &mut [f64],
    (m, c): (usize, usize),
    (i, start): (usize, usize),
) {
    let mut sums = [[0.0; W]; R];
    for (j, row) in d.chunks_exact(c).enumerate().take(m) {
        let row: &[f64; W] = row[start..].first_chunk().expect("columns come in full lanes");
        for r in 0..R {
            let factor = a[(i + r) * m + j];
            for l in 0..W {
                sums[r][l] = fused::<FMA>(factor, row[l], sums[r][l]);
            }
        }
    }
    for r in 0..R {
        out[(i + r) * c + start..][..W].copy_from_slice(&sums[r]);
    }
}

/// All rows of `W` columns.
#[inline(always)]
fn strip<const W: usize, const FMA: bool>(
    a: &[f64],
    d: &[f64],
    out: &mut [f64],
    (n, m, c): (usize, usize, usize),
    start: usize,
) {
    let mut i = 0;
    while i + 4 <= n {
        tile::<4, W, FMA>(a, d, out, (m, c), (i, start));
        i += 4;
    }
    while i + 2 <= n {
        tile::<2, W, FMA>(a, d, out, (m, c), (i, start));
        i += 2;
    }
    if i < n {
        tile::<1, W, FMA>(a, d, out, (m, c), (i, start));
    }
}

vectorised! {
    /// `out = a d` for `a` (n x m) and `d` (m x c), `c` as [`padded`].
    pub fn multiply_wide(a: &[f64], d: &[f64], out: &mut [f64], n: usize, m: usize, c: usize) {
        let mut start = 0;
        while start + 8 <= c {
            strip::<8, FMA>(a, d, out, (n, m, c), start);
            start += 8;
        }
        if start < c {
            strip::<4, FMA>(a, d, out, (n, m, c), start);
        }
    }

    /// `y += a x`
    pub fn add_scaled(a: f64, x: &[f64], y: &mut [f64]) {
        for (y, &x) in y.iter_mut().zip(x) {
            *y = fused::<FMA>(a, x, *y);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filter::small::multiply;

    #[test]
    fn wide_products_are_products() {
        for (n, m, columns) in [(1, 1, 1), (2, 3, 4), (7, 5, 12), (5, 2, 17), (9, 20, 32)] {
            let c = padded(columns);
            let a: Vec<f64> = (0..n * m).map(|i| (i as f64 * 0.7).sin()).collect();
            let d: Vec<f64> = (0..m * c).map(|i| (i as f64 * 0.3).cos()).collect();
            let (mut found, mut wanted) = (vec![f64::NAN; n * c], vec![0.0; n * c]);
            multiply_wide(&a, &d, &mut found, n, m, c);
            multiply(&a, &d, &mut wanted, n, m, c);
            for (found, wanted) in found.iter().zip(&wanted) {
                assert!((found - wanted).abs() < 1e-13, "{n} {m} {c}");
            }
        }
    }
}
