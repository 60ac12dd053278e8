//! Products of rows of terms, `out += A B^T`, whole or where it is symmetric: dot products in tiles of vector registers.
//!
//! A row is one term at the steps of a block, so the vectors run along the steps and nothing is packed. Compiled for the
//! baseline, for AVX2 and for AVX-512, and taken by what the processor has; they differ in last bits, on one machine
//! the bits are always the same.

use ndarray::{Array1, Array2};

use super::block::STEPS;
pub(super) use super::tiles::{GROUP, STRIDE, Shape, View};
use super::tiles::{line, strips, tiled};
use crate::program::{Memory, Squares};

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
        View::new(self.k, &self.values)
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

    /// The first rows become some rows of `other` times one weight per step; they are returned.
    pub fn weigh(
        &mut self,
        other: View<'_>,
        rows: impl ExactSizeIterator<Item = usize>,
        w: &[f64],
    ) -> View<'_> {
        let (n, n_rows) = (w.len(), rows.len());
        for (k, source) in rows.enumerate() {
            let row = self.row_mut(k);
            for ((place, value), w) in row[..n].iter_mut().zip(&other.row(source)[..n]).zip(w) {
                *place = value * w;
            }
            row[n..n.next_multiple_of(GROUP)].fill(0.0);
        }
        self.view().first(n_rows)
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

/// `out += times w u_i u_j` over the first `n` steps, one number for each distinct product of the outputs of `squares`.
///
/// `columns` has what the program of `squares` computes; its bases, times `w`, are the rows of `bases` that `rows` says.
pub(super) fn add_squares(
    squares: &Squares,
    bases: (View<'_>, &[usize]),
    columns: View<'_>,
    n: usize,
    times: f64,
    out: &mut Array1<f64>,
) {
    assert!(columns.k == squares.n_rows && n <= STEPS, "rows of other terms");
    assert!(out.len() == squares.n_distinct && bases.1.len() == squares.bases.len(), "other products");
    let groups = n.div_ceil(GROUP);
    let out = out.as_slice_mut().expect("made in order");
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") {
            // SAFETY: the processor has AVX-512.
            return unsafe { wide::avx512_strips(bases, columns, &squares.strips, groups, times, out) };
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            // SAFETY: the processor has AVX2 and fused multiply-add.
            return unsafe { wide::avx2_strips(bases, columns, &squares.strips, groups, times, out) };
        }
    }
    strips::<[f64; 4], 3>(bases, columns, &squares.strips, groups, times, out);
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

#[cfg(target_arch = "x86_64")]
mod wide;

#[cfg(test)]
mod tests;
