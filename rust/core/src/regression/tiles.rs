//! Tiles of dot products: rows of terms that are read where they are, and registers that run along the steps.

use std::ops::Range;

use super::block::STEPS;
use crate::program::Strip;

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

    /// The first `k` rows.
    pub fn first(self, k: usize) -> Self {
        Self { k: k.min(self.k), ..self }
    }

    /// Row of term `k`.
    pub fn row(self, k: usize) -> &'a [f64] {
        let from = &self.values[k * STRIDE..];
        &from[..from.len().min(STRIDE)]
    }
}

/// Columns whose rows are read again and again before the next ones: 25 kB, which first-level caches hold.
const BAND: usize = 12;

/// Columns of a strip that any processor has registers for.
const MOST_COLUMNS: usize = 12;

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
                let tile = tile::<V, R, C>(rows_from(a, top, groups), rows_from(b, left, groups));
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
        let tile = tile::<V, R, 1>(rows_from(a, top, groups), rows_from(y, 0, groups));
        let mut sums = [0.0; R];
        V::sums(tile.as_flattened(), &mut sums);
        out[top..terms.end].iter_mut().zip(&sums).for_each(|(out, sum)| *out += sum);
    }
}

/// Adds `times` the dot products of the strips to their places; `rows` says where each base is. At most `MOST` columns
/// are held in registers at once.
#[inline(always)]
pub(super) fn strips<V: Vector, const MOST: usize>(
    (bases, rows): (View<'_>, &[usize]),
    columns: View<'_>,
    strips: &[Strip],
    groups: usize,
    times: f64,
    out: &mut [f64],
) {
    for strip in strips {
        let pair = strip.bases.map(|base| &bases.row(rows[base])[..groups * GROUP]);
        // Parts of one length, or nearly so.
        let most = strip.columns.len().div_ceil(strip.columns.len().div_ceil(MOST));
        for (columns_of, places) in strip.columns.chunks(most).zip(strip.places.chunks(most)) {
            let mut sums = [[0.0; 2]; MOST_COLUMNS];
            macro_rules! part {
                ($($n:literal)*) => {
                    match columns_of.len() {
                        $($n => {
                            let part = std::array::from_fn(|c| &columns.row(columns_of[c])[..groups * GROUP]);
                            let tile = tile::<V, $n, 2>(part, pair);
                            V::sums(tile.as_flattened(), sums[..$n].as_flattened_mut());
                        })*
                        _ => unreachable!("more columns than registers"),
                    }
                };
            }
            part!(1 2 3 4 5 6 7 8 9 10 11 12);
            for (sums, places) in sums.iter().zip(places) {
                for (sum, place) in sums.iter().zip(places) {
                    if let Some(place) = *place {
                        out[place] += times * sum;
                    }
                }
            }
        }
    }
}

/// The rows from number `top` on. The last row stands for those that are not there.
#[inline(always)]
fn rows_from<const R: usize>(rows: View<'_>, top: usize, groups: usize) -> [&[f64]; R] {
    std::array::from_fn(|r| &rows.row((top + r).min(rows.k - 1))[..groups * GROUP])
}

/// One tile: each of `R` rows with each of `C` rows of the same length, whole vectors, the sums still spread over the
/// values of a vector.
#[inline(always)]
fn tile<V: Vector, const R: usize, const C: usize>(a: [&[f64]; R], b: [&[f64]; C]) -> [[V; C]; R] {
    let end = a[0].len();
    assert!(a.iter().chain(&b).all(|row| row.len() == end));
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
