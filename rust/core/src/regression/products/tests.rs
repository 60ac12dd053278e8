//! Products against the plain sums, for every width of vector that the processor has.

use super::*;
use crate::noise::{Draws, Purpose, Stream};

fn rows(k: usize, n: usize, seed: u64) -> Rows {
    let mut draws = Stream::new(seed, Purpose::Path, 0);
    let mut rows = Rows::new(k);
    for term in 0..k {
        // Something behind the last step that must not be seen.
        rows.row_mut(term).fill(1e9);
        rows.set(term, (0..n).map(|_| draws.normal()));
    }
    rows
}

fn plain(a: &Rows, b: &Rows, n: usize) -> Array2<f64> {
    Array2::from_shape_fn((a.k, b.k), |(i, j)| {
        a.row(i)[..n].iter().zip(&b.row(j)[..n]).map(|(a, b)| a * b).sum()
    })
}

type Kernel = for<'a> fn(View<'a>, View<'a>, usize, Shape, &mut Array2<f64>);

fn kernels() -> Vec<(&'static str, Kernel)> {
    let mut kernels: Vec<(&'static str, Kernel)> = vec![
        ("chosen", add_product),
        ("baseline", |a, b, n, shape, out| {
            tiled::<[f64; 4], 2, 3>(a, b, n.div_ceil(GROUP), shape, out);
        }),
    ];
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        kernels.push(("avx2", |a, b, n, shape, out| {
            // SAFETY: the processor has AVX2 and fused multiply-add.
            unsafe { wide::avx2(a, b, n.div_ceil(GROUP), shape, out) }
        }));
    }
    kernels
}

#[test]
fn products_are_sums_over_the_steps() {
    for (name, kernel) in kernels() {
        for (k, n) in [(1, 1), (3, 7), (12, 8), (13, 255), (36, 256), (37, 100)] {
            let (a, b) = (rows(k, n, 1), rows(k, n, 2));
            for (left, right, shape) in [(&a, &b, Shape::General), (&a, &a, Shape::Symmetric)] {
                let mut out = Array2::ones((k, k));
                kernel(left.view(), right.view(), n, shape, &mut out);
                let error = (out - 1.0 - plain(left, right, n)).mapv(f64::abs);
                let worst = error.iter().copied().fold(0.0, f64::max);
                assert!(worst < 1e-11, "{name}, {k} terms, {n} steps, {shape:?}: {worst}");
            }
        }
    }
}
