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

type Kernel = for<'a> fn(View<'a>, View<'a>, View<'a>, usize, Shape, &mut Array2<f64>, &mut Array1<f64>);

fn slices<'a>(out: &'a mut Array2<f64>, line: &'a mut Array1<f64>) -> (&'a mut [f64], &'a mut [f64]) {
    (out.as_slice_mut().expect("made in order"), line.as_slice_mut().expect("made in order"))
}

fn kernels() -> Vec<(&'static str, Kernel)> {
    let mut kernels: Vec<(&'static str, Kernel)> = vec![
        ("chosen", add_product),
        ("baseline", |a, b, y, n, shape, out, line| {
            tiled::<[f64; 4], 2, 3, 6>(a, b, y, n.div_ceil(GROUP), shape, slices(out, line));
        }),
    ];
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        kernels.push(("avx2", |a, b, y, n, shape, out, line| {
            // SAFETY: the processor has AVX2 and fused multiply-add.
            unsafe { wide::avx2(a, b, y, n.div_ceil(GROUP), shape, slices(out, line)) }
        }));
    }
    kernels
}

#[test]
fn products_are_sums_over_the_steps() {
    for (name, kernel) in kernels() {
        for (k, n) in [(1, 1), (3, 7), (12, 8), (13, 255), (36, 256), (37, 100)] {
            let (a, b, y) = (rows(k, n, 1), rows(k, n, 2), rows(1, n, 3));
            for (left, right, shape) in [(&a, &b, Shape::General), (&a, &a, Shape::Symmetric)] {
                let (mut out, mut line) = (Array2::ones((k, k)), Array1::ones(k));
                kernel(left.view(), right.view(), y.view(), n, shape, &mut out, &mut line);
                let error = (out - 1.0 - plain(left, right, n)).mapv(f64::abs);
                let wanted = error.indexed_iter().filter(|((i, j), _)| shape == Shape::General || i <= j);
                let worst = wanted.fold(0.0, |worst: f64, (_, &error)| worst.max(error));
                assert!(worst < 1e-11, "{name}, {k} terms, {n} steps, {shape:?}: {worst}");
                let of_line = (line - 1.0 - plain(right, &y, n).column(0)).mapv(f64::abs);
                let worst = of_line.iter().copied().fold(0.0, f64::max);
                assert!(worst < 1e-11, "{name}, {k} terms, {n} steps, the line: {worst}");
            }
        }
    }
}

#[test]
fn strips_are_sums_over_the_steps() {
    use crate::program::Program;

    let names: Vec<String> =
        (0..=6).flat_map(|total| (0..=total).map(move |a| format!("x^{a} y^{}", total - a))).collect();
    let program = Program::new(&names, &["x", "y"]).unwrap();
    let squares = &program.squares().unwrap().squares;
    let k = squares.n_rows;
    type Strips = for<'a> fn((View<'a>, &[usize]), View<'a>, &Squares, usize, &mut Array1<f64>);
    let mut kernels: Vec<(&str, Strips)> = vec![
        ("chosen", |bases, columns, squares, n, out| add_squares(squares, bases, columns, n, 0.5, out)),
        ("baseline", |bases, columns, squares, n, out| {
            let out = out.as_slice_mut().expect("made in order");
            strips::<[f64; 4], 3>(bases, columns, &squares.strips, n.div_ceil(GROUP), 0.5, out);
        }),
    ];
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        kernels.push(("avx2", |bases, columns, squares, n, out| {
            let out = out.as_slice_mut().expect("made in order");
            // SAFETY: the processor has AVX2 and fused multiply-add.
            unsafe { wide::avx2_strips(bases, columns, &squares.strips, n.div_ceil(GROUP), 0.5, out) };
        }));
    }
    for (name, kernel) in kernels {
        for n in [1, 8, 100, 256] {
            let rows = rows(k, n, 1);
            let mut found = Array1::ones(squares.n_distinct);
            kernel((rows.view(), &squares.bases), rows.view(), squares, n, &mut found);
            for strip in &squares.strips {
                for (&column, places) in strip.columns.iter().zip(&strip.places) {
                    for (base, place) in strip.bases.into_iter().zip(places) {
                        let Some(place) = *place else { continue };
                        let (a, b) = (rows.row(squares.bases[base]), rows.row(column));
                        let wanted = 1.0 + 0.5 * a[..n].iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
                        assert!((found[place] - wanted).abs() < 1e-11, "{name}, {n} steps");
                    }
                }
            }
        }
    }
}
