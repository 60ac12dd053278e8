//! Tiles of dot products: rows of terms that are read where they are, and registers that run along the steps.

use std::ops::Range;

use super::block::STEPS;

/// Steps are padded to a multiple of this many with zeros.
pub(super) const GROUP: usize = 8;
/// Values from one row to the next: the steps, one sample more, and room for a whole group.
pub(super) const STRIDE: usize = STEPS + GROUP;

/// Rows that are read where they are: `STRIDE` values from one to the next.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) k: usize,
    values: &'a [f64],
}

impl<'a> View<'a> {
    /// `k` rows in `values`, whose steps have a whole number of groups: nothing behind them is read.
    pub fn new(k: usize, values: &'a [f64]) -> Self {
        Self { k, values }
    }

    /// Row of term `k`.
    pub fn row(self, k: usize) -> &'a [f64] {
        let from = &self.values[k * STRIDE..];
        &from[..from.len().min(STRIDE)]
    }
}

/// Columns whose rows are read again and again before the next ones: 25 kB, which first-level caches hold.
const BAND: usize = 12;

/// Which entries of a product are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// All of them.
    General,
    /// It is symmetric: those on the diagonal and above. Some below are written, but not all.
    Symmetric,
}

/// A vector register of `f64`.
pub(super) trait Vector: Copy {
    /// Values in it.
    const WIDTH: usize;
    fn zero() -> Self;

    /// The values of a slice from `at` on.
    ///
    /// # Safety
    /// There are enough.
    unsafe fn load(from: &[f64], at: usize) -> Self;

    /// `a b + self`.
    fn fused(self, a: Self, b: Self) -> Self;
    fn sum(self) -> f64;

    /// The sum of each of several vectors.
    #[inline(always)]
    fn sums(of: &[Self], out: &mut [f64]) {
        out.iter_mut().zip(of).for_each(|(out, vector)| *out = vector.sum());
    }
}

impl Vector for [f64; 4] {
    const WIDTH: usize = 4;

    #[inline(always)]
    fn zero() -> Self {
        [0.0; 4]
    }

    #[inline(always)]
    unsafe fn load(from: &[f64], at: usize) -> Self {
        std::array::from_fn(|i| from[at + i])
    }

    #[inline(always)]
    fn fused(self, a: Self, b: Self) -> Self {
        std::array::from_fn(|i| self[i] + a[i] * b[i])
    }

    #[inline(always)]
    fn sum(self) -> f64 {
        (self[0] + self[2]) + (self[1] + self[3])
    }
}

/// All tiles of `R` rows and `C` columns that hold wanted entries, columns in bands that stay in the first-level cache.
#[inline(always)]
pub(super) fn tiled<V: Vector, const R: usize, const C: usize, const L: usize>(
    a: View<'_>,
    b: View<'_>,
    y: View<'_>,
    groups: usize,
    shape: Shape,
    (out, of_y): (&mut [f64], &mut [f64]),
) {
    let k = a.k;
    for from in (0..k).step_by(BAND) {
        let to = (from + BAND).min(k);
        line::<V, L>(b, y, from..to, groups, of_y);
        let end = if shape == Shape::Symmetric { to } else { k };
        for top in (0..end).step_by(R) {
            let first = if shape == Shape::Symmetric { from.max(top / C * C) } else { from };
            for left in (first..to).step_by(C) {
                let tile = tile::<V, R, C>(a, top, b, left, groups);
                let mut sums = [[0.0; C]; R];
                V::sums(tile.as_flattened(), sums.as_flattened_mut());
                let width = C.min(k - left);
                for (row, sums) in (top..k).zip(&sums) {
                    let place = &mut out[row * k + left..][..width];
                    place.iter_mut().zip(sums).for_each(|(out, sum)| *out += sum);
                }
            }
        }
    }
}

/// Sums of some terms with one row, in tiles of `R` of them.
#[inline(always)]
pub(super) fn line<V: Vector, const R: usize>(
    a: View<'_>,
    y: View<'_>,
    terms: Range<usize>,
    groups: usize,
    out: &mut [f64],
) {
    for top in terms.clone().step_by(R) {
        let tile = tile::<V, R, 1>(a, top, y, 0, groups);
        let mut sums = [0.0; R];
        V::sums(tile.as_flattened(), &mut sums);
        out[top..terms.end].iter_mut().zip(&sums).for_each(|(out, sum)| *out += sum);
    }
}

/// One tile: `R` rows of `a` from `top` on times `C` rows of `b` from `left` on, the sums still spread over the values of
/// a vector. The last row stands for those that are not there.
#[inline(always)]
fn tile<V: Vector, const R: usize, const C: usize>(
    a: View<'_>,
    top: usize,
    b: View<'_>,
    left: usize,
    groups: usize,
) -> [[V; C]; R] {
    let end = groups * GROUP;
    let a: [&[f64]; R] = std::array::from_fn(|r| &a.row((top + r).min(a.k - 1))[..end]);
    let b: [&[f64]; C] = std::array::from_fn(|c| &b.row((left + c).min(b.k - 1))[..end]);
    let mut sums = [[V::zero(); C]; R];
    for number in 0..end / V::WIDTH {
        let at = number * V::WIDTH;
        // SAFETY: all rows have `end` values, and whole vectors of them are read.
        let columns: [V; C] = std::array::from_fn(|c| unsafe { V::load(b[c], at) });
        for r in 0..R {
            // SAFETY: the same.
            let row = unsafe { V::load(a[r], at) };
            for c in 0..C {
                sums[r][c] = sums[r][c].fused(row, columns[c]);
            }
        }
    }
    sums
}
