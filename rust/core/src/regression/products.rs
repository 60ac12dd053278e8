//! Products of rows of terms, `out += A B^T`, whole or where it is symmetric: dot products in tiles of vector registers.
//!
//! A row is one term at the steps of a block, so the vectors run along the steps and nothing is packed. Compiled for the
//! baseline, for AVX2 and for AVX-512, and taken by what the processor has; they differ in last bits, on one machine
//! the bits are always the same.

use ndarray::{Array1, Array2};

use super::block::STEPS;

/// Rows in storage are a multiple of this many, so that no tile has a remainder.
const TILES: usize = 12;
/// Steps are padded to a multiple of this many with zeros.
pub(super) const GROUP: usize = 8;
/// Values from one row to the next: the steps, one sample more, and room for a whole group.
pub(super) const STRIDE: usize = STEPS + GROUP;

/// Terms at the steps of a block, one row per term; what lies behind the last step is zero.
pub(super) struct Rows {
    k: usize,
    values: Vec<f64>,
}

impl Rows {
    /// Rows of `k` terms.
    pub fn new(k: usize) -> Self {
        Self { k, values: vec![0.0; k.next_multiple_of(TILES) * STRIDE] }
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

    /// Rows of `other` times one weight per step.
    pub fn weigh(&mut self, other: &Self, w: &[f64]) {
        for k in 0..self.k {
            self.set(k, other.row(k).iter().zip(w).map(|(value, w)| value * w));
        }
    }

    /// Adds the steps of `one`, each to the step whose number it has in `steps`.
    pub fn add_at(&mut self, one: &Self, steps: &[usize]) {
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

/// Which entries of a product are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// All of them.
    General,
    /// It is symmetric.
    Symmetric,
}

/// `out += A B^T` over the first `n` steps; `a` and `b` have rows of the same terms.
pub(super) fn add_product(a: &Rows, b: &Rows, n: usize, shape: Shape, out: &mut Array2<f64>) {
    assert!(a.k == b.k && out.dim() == (a.k, a.k) && n <= STEPS, "rows of other terms");
    let groups = n.div_ceil(GROUP);
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") {
            // SAFETY: the processor has AVX-512.
            return unsafe { wide::avx512(a, b, groups, shape, out) };
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: the processor has AVX2 and fused multiply-add.
            return unsafe { wide::avx2(a, b, groups, shape, out) };
        }
    }
    tiled::<[f64; 4], 2, 3>(a, b, groups, shape, out);
}

/// `out += A y` over the first `n` steps, `y` the only row of its kind.
pub(super) fn add_line(a: &Rows, y: &Rows, n: usize, out: &mut Array1<f64>) {
    for (k, out) in out.iter_mut().enumerate() {
        *out += dot(&a.row(k)[..n], &y.row(0)[..n]);
    }
}

/// `out += w u u^T` with the terms at one step.
pub(super) fn add_outer(rows: &Rows, step: usize, w: f64, out: &mut Array2<f64>) {
    for (i, mut line) in out.rows_mut().into_iter().enumerate() {
        let left = w * rows.row(i)[step];
        line.iter_mut().enumerate().for_each(|(j, out)| *out += left * rows.row(j)[step]);
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
    /// The first values of a slice that has enough.
    fn load(from: &[f64]) -> Self;
    /// `a b + self`.
    fn fused(self, a: Self, b: Self) -> Self;
    fn sum(self) -> f64;
}

impl Vector for [f64; 4] {
    const WIDTH: usize = 4;

    #[inline(always)]
    fn zero() -> Self {
        [0.0; 4]
    }

    #[inline(always)]
    fn load(from: &[f64]) -> Self {
        std::array::from_fn(|i| from[i])
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

/// All tiles of `R` rows and `C` columns that hold wanted entries.
#[inline(always)]
fn tiled<V: Vector, const R: usize, const C: usize>(
    a: &Rows,
    b: &Rows,
    groups: usize,
    shape: Shape,
    out: &mut Array2<f64>,
) {
    let k = a.k;
    for top in (0..k).step_by(R) {
        let first = if shape == Shape::Symmetric { top / C * C } else { 0 };
        for left in (first..k).step_by(C) {
            let tile = tile::<V, R, C>(&a.values[top * STRIDE..], &b.values[left * STRIDE..], groups);
            for (i, sums) in (top..k).zip(&tile) {
                for (j, sum) in (left..k).zip(sums) {
                    if shape == Shape::General {
                        out[[i, j]] += sum.sum();
                    } else if j >= i {
                        let sum = sum.sum();
                        out[[i, j]] += sum;
                        if j > i {
                            out[[j, i]] += sum;
                        }
                    }
                }
            }
        }
    }
}

/// One tile: `R` rows of `a` times `C` rows of `b`, the sums still spread over the values of a vector.
#[inline(always)]
fn tile<V: Vector, const R: usize, const C: usize>(a: &[f64], b: &[f64], groups: usize) -> [[V; C]; R] {
    let end = groups * GROUP;
    let a: [&[f64]; R] = std::array::from_fn(|r| &a[r * STRIDE..][..end]);
    let b: [&[f64]; C] = std::array::from_fn(|c| &b[c * STRIDE..][..end]);
    let mut sums = [[V::zero(); C]; R];
    for at in (0..end).step_by(V::WIDTH) {
        let columns: [V; C] = std::array::from_fn(|c| V::load(&b[c][at..at + V::WIDTH]));
        for r in 0..R {
            let row = V::load(&a[r][at..at + V::WIDTH]);
            for c in 0..C {
                sums[r][c] = sums[r][c].fused(row, columns[c]);
            }
        }
    }
    sums
}

#[cfg(target_arch = "x86_64")]
mod wide {
    //! The registers of x86-64 beyond the baseline. The tiles fill them: 24 sums of 32 registers, 12 of 16.

    use std::arch::x86_64::*;

    use crate::regression::products::{Array2, Rows, Shape, Vector, tiled};

    impl Vector for __m512d {
        const WIDTH: usize = 8;

        #[inline(always)]
        fn zero() -> Self {
            // SAFETY: used inside `avx512` alone.
            unsafe { _mm512_setzero_pd() }
        }

        #[inline(always)]
        fn load(from: &[f64]) -> Self {
            assert!(from.len() >= Self::WIDTH);
            // SAFETY: used inside `avx512` alone; the slice has eight values.
            unsafe { _mm512_loadu_pd(from.as_ptr()) }
        }

        #[inline(always)]
        fn fused(self, a: Self, b: Self) -> Self {
            // SAFETY: used inside `avx512` alone.
            unsafe { _mm512_fmadd_pd(a, b, self) }
        }

        #[inline(always)]
        fn sum(self) -> f64 {
            // SAFETY: used inside `avx512` alone.
            unsafe { _mm512_reduce_add_pd(self) }
        }
    }

    impl Vector for __m256d {
        const WIDTH: usize = 4;

        #[inline(always)]
        fn zero() -> Self {
            // SAFETY: used inside `avx2` alone.
            unsafe { _mm256_setzero_pd() }
        }

        #[inline(always)]
        fn load(from: &[f64]) -> Self {
            assert!(from.len() >= Self::WIDTH);
            // SAFETY: used inside `avx2` alone; the slice has four values.
            unsafe { _mm256_loadu_pd(from.as_ptr()) }
        }

        #[inline(always)]
        fn fused(self, a: Self, b: Self) -> Self {
            // SAFETY: used inside `avx2` alone.
            unsafe { _mm256_fmadd_pd(a, b, self) }
        }

        #[inline(always)]
        fn sum(self) -> f64 {
            let mut values = [0.0; 4];
            // SAFETY: used inside `avx2` alone; there is room for four values.
            unsafe { _mm256_storeu_pd(values.as_mut_ptr(), self) };
            values.sum()
        }
    }

    #[target_feature(enable = "avx512f")]
    pub fn avx512(a: &Rows, b: &Rows, groups: usize, shape: Shape, out: &mut Array2<f64>) {
        tiled::<__m512d, 4, 6>(a, b, groups, shape, out);
    }

    #[target_feature(enable = "avx2,fma")]
    pub fn avx2(a: &Rows, b: &Rows, groups: usize, shape: Shape, out: &mut Array2<f64>) {
        tiled::<__m256d, 4, 3>(a, b, groups, shape, out);
    }
}

#[cfg(test)]
mod tests;
