//! The registers of x86-64 beyond the baseline. The tiles fill them: 24 sums of 32 registers, 12 of 16.

use std::arch::x86_64::*;

use crate::program::Strip;
use crate::regression::tiles::{Shape, Vector, View, line, strips, tiled};

impl Vector for __m512d {
    const WIDTH: usize = 8;

    #[inline(always)]
    fn zero() -> Self {
        // SAFETY: used inside `avx512` alone.
        unsafe { _mm512_setzero_pd() }
    }

    #[inline(always)]
    unsafe fn load(from: &[f64], at: usize) -> Self {
        debug_assert!(from.len() >= at + Self::WIDTH);
        // SAFETY: used inside `avx512` alone; the caller says that there are eight values.
        unsafe { _mm512_loadu_pd(from.as_ptr().add(at)) }
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

    /// Eight vectors turned and added, in a third of the instructions that eight sums take.
    #[inline(always)]
    fn sums(of: &[Self], out: &mut [f64]) {
        let (eights, rest) = of.as_chunks::<8>();
        let (places, others) = out.as_chunks_mut::<8>();
        for (&[a, b, c, d, e, f, g, h], place) in eights.iter().zip(places) {
            // SAFETY: used inside `avx512` alone; there is room for eight values.
            unsafe {
                let pairs = |x, y| _mm512_add_pd(_mm512_unpacklo_pd(x, y), _mm512_unpackhi_pd(x, y));
                let halves = |x, y| {
                    let even = _mm512_shuffle_f64x2::<0b10_00_10_00>(x, y);
                    _mm512_add_pd(even, _mm512_shuffle_f64x2::<0b11_01_11_01>(x, y))
                };
                let first = halves(pairs(a, b), pairs(c, d));
                let second = halves(pairs(e, f), pairs(g, h));
                _mm512_storeu_pd(place.as_mut_ptr(), halves(first, second));
            }
        }
        others.iter_mut().zip(rest).for_each(|(out, vector)| *out = vector.sum());
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
    unsafe fn load(from: &[f64], at: usize) -> Self {
        debug_assert!(from.len() >= at + Self::WIDTH);
        // SAFETY: used inside `avx2` alone; the caller says that there are four values.
        unsafe { _mm256_loadu_pd(from.as_ptr().add(at)) }
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

    /// Four vectors turned and added.
    #[inline(always)]
    fn sums(of: &[Self], out: &mut [f64]) {
        let (fours, rest) = of.as_chunks::<4>();
        let (places, others) = out.as_chunks_mut::<4>();
        for (&[a, b, c, d], place) in fours.iter().zip(places) {
            // SAFETY: used inside `avx2` alone; there is room for four values.
            unsafe {
                let (first, second) = (_mm256_hadd_pd(a, b), _mm256_hadd_pd(c, d));
                let low = _mm256_permute2f128_pd::<0x20>(first, second);
                let high = _mm256_permute2f128_pd::<0x31>(first, second);
                _mm256_storeu_pd(place.as_mut_ptr(), _mm256_add_pd(low, high));
            }
        }
        others.iter_mut().zip(rest).for_each(|(out, vector)| *out = vector.sum());
    }
}

/// Entries of a product and of a line.
type To<'a> = (&'a mut [f64], &'a mut [f64]);

#[target_feature(enable = "avx512f")]
pub fn avx512(a: View<'_>, b: View<'_>, y: View<'_>, groups: usize, shape: Shape, to: To<'_>) {
    match shape {
        Shape::General => tiled::<__m512d, 4, 6, 12>(a, b, y, groups, shape, to),
        // Smaller tiles lose less along the diagonal.
        Shape::Symmetric => tiled::<__m512d, 4, 4, 12>(a, b, y, groups, shape, to),
    }
}

#[target_feature(enable = "avx512f")]
pub fn avx512_strips(
    bases: (View<'_>, &[usize]),
    columns: View<'_>,
    all: &[Strip],
    groups: usize,
    times: f64,
    out: &mut [f64],
) {
    strips::<__m512d, 12>(bases, columns, all, groups, times, out);
}

#[target_feature(enable = "avx2,fma")]
pub fn avx2_strips(
    bases: (View<'_>, &[usize]),
    columns: View<'_>,
    all: &[Strip],
    groups: usize,
    times: f64,
    out: &mut [f64],
) {
    strips::<__m256d, 6>(bases, columns, all, groups, times, out);
}

#[target_feature(enable = "avx512f")]
pub fn avx512_line(a: View<'_>, y: View<'_>, groups: usize, out: &mut [f64]) {
    line::<__m512d, 12>(a, y, 0..a.k, groups, out);
}

#[target_feature(enable = "avx2,fma")]
pub fn avx2_line(a: View<'_>, y: View<'_>, groups: usize, out: &mut [f64]) {
    line::<__m256d, 12>(a, y, 0..a.k, groups, out);
}

#[target_feature(enable = "avx2,fma")]
pub fn avx2(a: View<'_>, b: View<'_>, y: View<'_>, groups: usize, shape: Shape, to: To<'_>) {
    tiled::<__m256d, 4, 3, 12>(a, b, y, groups, shape, to);
}
