//! Products of rows of terms, `out += A B^T`, whole or where it is symmetric: dot products in tiles of vector registers.
//!
//! A row is one term at the steps of a block, so the vectors run along the steps and nothing is packed. Compiled for the
//! baseline, for AVX2 and for AVX-512, and taken by what the processor has; they differ in last bits, on one machine
//! the bits are always the same.

use std::ops::Range;

use ndarray::{Array1, Array2};

use super::block::STEPS;
use crate::program::Memory;

/// Steps are padded to a multiple of this many with zeros.
pub(super) const GROUP: usize = 8;
/// Values from one row to the next: the steps, one sample more, and room for a whole group.
pub(super) const STRIDE: usize = STEPS + GROUP;

/// Terms at the steps of a block, one row per term; what lies behind the last step is zero.
pub(super) struct Rows {
    k: usize,
    values: Memory,
}

impl Rows {
    /// Rows of `k` terms.
    pub fn new(k: usize) -> Self {
        Self { k, values: Memory::zeros(k * STRIDE) }
    }

    /// All rows, to be read.
    pub fn view(&self) -> View<'_> {
        View { k: self.k, values: &self.values }
    }

    /// Row of term `k`, and room behind it.
    pub fn row(&self, k: usize) -> &[f64] {
        &self.values[k * STRIDE..(k + 1) * STRIDE]
    }

    /// Row of term `k`, and room behind it.
    pub fn row_mut(&mut self, k: usize) -> &mut [f64] {
        &mut self.values[k * STRIDE..(k + 1) * STRIDE]
    }

    /// Row of term `k` becomes `values`, zeros behind them.
    pub fn set(&mut self, k: usize, values: impl Iterator<Item = f64>) {
        let row = self.row_mut(k);
        let mut n: usize = 0;
        for (place, value) in row.iter_mut().zip(values) {
            *place = value;
            n += 1;
        }
        row[n..n.next_multiple_of(GROUP)].fill(0.0);
    }

    /// Zeros behind the first `n` steps.
    pub fn cut(&mut self, n: usize) {
        for k in 0..self.k {
            self.row_mut(k)[n..n.next_multiple_of(GROUP)].fill(0.0);
        }
    }

    /// Zeros everywhere.
    pub fn clear(&mut self) {
        self.values.fill(0.0);
    }

    /// Becomes the rows of `other` times one weight per step, which are returned.
    pub fn weigh(&mut self, other: View<'_>, w: &[f64]) -> View<'_> {
        let n = w.len();
        for k in 0..self.k {
            let row = self.row_mut(k);
            for ((place, value), w) in row[..n].iter_mut().zip(&other.row(k)[..n]).zip(w) {
                *place = value * w;
            }
            row[n..n.next_multiple_of(GROUP)].fill(0.0);
        }
        self.view()
    }

    /// Adds the steps of `one`, each to the step whose number it has in `steps`.
    pub fn add_at(&mut self, one: View<'_>, steps: &[usize]) {
        for k in 0..self.k {
            let row = self.row_mut(k);
            for (&n, value) in steps.iter().zip(one.row(k)) {
                row[n] += value;
            }
        }
    }

    /// The steps with these numbers, divided by their count, side by side.
    pub fn divide_at(&mut self, count: &[f64], steps: &[usize]) {
        for k in 0..self.k {
            let row = self.row_mut(k);
            for (p, &n) in steps.iter().enumerate() {
                row[p] = row[n] / count[n];
            }
        }
        self.cut(steps.len());
    }
}

/// Rows that are read where they are: `STRIDE` values from one to the next.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    k: usize,
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

/// `out += A B^T` over the first `n` steps, and `line += B y`; `a` and `b` have rows of the same terms, `y` has one.
pub(super) fn add_product(
    a: View<'_>,
    b: View<'_>,
    y: View<'_>,
    n: usize,
    shape: Shape,
    out: &mut Array2<f64>,
    line: &mut Array1<f64>,
) {
    assert!(a.k == b.k && out.dim() == (a.k, a.k) && n <= STEPS, "rows of other terms");
    assert!(line.len() == b.k && y.k == 1, "a line of other terms");
    let groups = n.div_ceil(GROUP);
    let to = (out.as_slice_mut().expect("made in order"), line.as_slice_mut().expect("made in order"));
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") {
            // SAFETY: the processor has AVX-512.
            return unsafe { wide::avx512(a, b, y, groups, shape, to) };
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: the processor has AVX2 and fused multiply-add.
            return unsafe { wide::avx2(a, b, y, groups, shape, to) };
        }
    }
    tiled::<[f64; 4], 2, 3, 6>(a, b, y, groups, shape, to);
}

/// `out += A y` over the first `n` steps, `y` the only row of its kind.
pub(super) fn add_line(a: View<'_>, y: View<'_>, n: usize, out: &mut Array1<f64>) {
    assert!(a.k == out.len() && y.k == 1 && n <= STEPS, "rows of other terms");
    let groups = n.div_ceil(GROUP);
    let out = out.as_slice_mut().expect("made in order");
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") {
            // SAFETY: the processor has AVX-512.
            return unsafe { wide::avx512_line(a, y, groups, out) };
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: the processor has AVX2 and fused multiply-add.
            return unsafe { wide::avx2_line(a, y, groups, out) };
        }
    }
    line::<[f64; 4], 6>(a, y, 0..a.k, groups, out);
}

/// `out += w u u^T` with the terms at one step.
pub(super) fn add_outer(rows: View<'_>, step: usize, w: f64, out: &mut Array2<f64>) {
    let u: Vec<f64> = (0..rows.k).map(|k| rows.row(k)[step]).collect();
    let out = out.as_slice_mut().expect("made in order");
    for (line, one) in out.chunks_exact_mut(rows.k).zip(&u) {
        let left = w * one;
        line.iter_mut().zip(&u).for_each(|(out, right)| *out += left * right);
    }
}

/// `a.b`, in eight sums side by side.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (whole, rest) = a.as_chunks::<GROUP>();
    let (others, other_rest) = b.as_chunks::<GROUP>();
    let mut sums = [0.0; GROUP];
    for (a, b) in whole.iter().zip(others) {
        for lane in 0..GROUP {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum::<f64>() + rest.iter().zip(other_rest).map(|(a, b)| a * b).sum::<f64>()
}

/// A vector register of `f64`.
trait Vector: Copy {
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
fn tiled<V: Vector, const R: usize, const C: usize, const L: usize>(
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
fn line<V: Vector, const R: usize>(
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

#[cfg(target_arch = "x86_64")]
mod wide;

#[cfg(test)]
mod tests;
