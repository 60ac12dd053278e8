//! Sums of a regression and of its residuals against the same written as plain loops over the samples.

use nalgebra::{DMatrix, DVector};
use ndarray::{Array1, Array2, ArrayView1, array};

use super::block::STEPS;
use super::*;
use crate::control::Control;
use crate::path::{Path, Times};
use crate::program::{Extended, Program};

/// Two paths of two states, one longer than a block and uneven, with gaps; nothing of them is special.
struct Recording {
    paths: [Array2<f64>; 2],
    stamps: Array1<f64>,
}

impl Recording {
    fn new() -> Self {
        let path = |n: usize, turn: f64| {
            Array2::from_shape_fn((n, 2), |(t, i)| {
                (turn * t as f64).sin() + 0.1 * (i as f64 + 1.0) * (t as f64).cos()
            })
        };
        let (mut first, second) = (path(STEPS + 40, 0.7), path(30, 1.1));
        first[[7, 0]] = f64::NAN;
        first[[STEPS, 1]] = f64::NAN;
        let stamps = (0..first.nrows()).map(|t| 0.1 * t as f64 + 0.02 * (t as f64).sin()).collect();
        Self { paths: [first, second], stamps }
    }

    fn views(&self) -> [Path<'_>; 2] {
        let [first, second] = &self.paths;
        [
            Path { x: first.view(), times: Times::Stamps(self.stamps.view()) },
            Path { x: second.view(), times: Times::Even(0.1) },
        ]
    }
}

fn matrix(m: &Array2<f64>) -> DMatrix<f64> {
    DMatrix::from_fn(m.nrows(), m.ncols(), |i, j| m[[i, j]])
}

fn vector(v: &Array1<f64>) -> DVector<f64> {
    DVector::from_iterator(v.len(), v.iter().copied())
}

const TERMS: [&str; 3] = ["1", "x", "x v"];

fn program() -> Program {
    Program::new(&TERMS, &["x", "v"]).unwrap()
}

/// The terms at a sample.
fn terms(x: ArrayView1<'_, f64>) -> DVector<f64> {
    DVector::from_vec(vec![1.0, x[0], x[0] * x[1]])
}

/// Steps that touch no gap: start, end, length, path and number.
fn steps<'a>(
    paths: &'a [Path<'a>],
) -> impl Iterator<Item = (ArrayView1<'a, f64>, ArrayView1<'a, f64>, f64, usize, usize)> {
    let of_path = |(path, p): (usize, &'a Path<'a>)| {
        let step = move |n: usize| (p.x.row(n), p.x.row(n + 1), p.dt(n), path, n);
        (0..p.n_steps()).map(step)
    };
    let whole = |x: &ArrayView1<'_, f64>| x.iter().all(|x| !x.is_nan());
    paths.iter().enumerate().flat_map(of_path).filter(move |(now, next, ..)| whole(now) && whole(next))
}

fn close(found: f64, wanted: f64) {
    assert!((found - wanted).abs() <= 1e-11 * wanted.abs().max(1.0), "{found}, not {wanted}");
}

/// The sums of targets and weights that a loop makes.
fn compare<'a>(found: &Sums, paths: &'a [Path<'a>], scheme: StepScheme, row: impl Fn(usize) -> (f64, f64)) {
    let square = || DMatrix::zeros(3, 3);
    let (mut omega, mut cross, mut inner) = (square(), square(), square());
    let (mut c, mut d, mut s, mut total, mut n) = (DVector::zeros(3), DVector::zeros(3), 0.0, 0.0, 0);
    for (number, (now, next, ..)) in steps(paths).enumerate() {
        let (y, w) = row(number);
        let left = terms(now);
        let mid = if scheme == StepScheme::Euler { left.clone() } else { (&left + terms(next)) * 0.5 };
        omega += &left * left.transpose() * w;
        cross += &left * mid.transpose() * w;
        inner += &mid * mid.transpose() * w;
        c += &left * (w * y);
        d += &mid * (w * y);
        (s, total, n) = (s + w * y * y, total + y, n + 1);
    }
    for (found, wanted) in [(&found.omega, &omega), (&found.cross, &cross), (&found.inner, &inner)] {
        matrix(found).iter().zip(wanted.iter()).for_each(|(found, wanted)| close(*found, *wanted));
    }
    for (found, wanted) in [(&found.c, &c), (&found.d, &d)] {
        found.iter().zip(wanted.iter()).for_each(|(found, wanted)| close(*found, *wanted));
    }
    close(found.s, s);
    close(found.total, total);
    assert_eq!(found.n, n);
}

fn regression<'a>(
    program: &'a Program,
    names: &'a [String],
    target: Target<'a>,
    weights: Weights<'a>,
) -> Regression<'a> {
    Regression {
        program,
        names,
        target,
        scheme: StepScheme::Trapezoid,
        weights,
        ensemble: Ensemble::Pool,
        squares: true,
        given: None,
    }
}

#[test]
fn sums_of_the_drift_are_those_of_a_loop() {
    let (recording, program) = (Recording::new(), program());
    let paths = recording.views();
    let dt: Vec<f64> = steps(&paths).map(|(_, _, dt, ..)| dt).collect();
    let span: f64 = paths.iter().map(Path::span).sum();
    let dt_mean = span / paths.iter().map(Path::n_steps).sum::<usize>() as f64;
    let given: Vec<Array1<f64>> =
        paths.iter().map(|p| (0..p.n_steps()).map(|n| 1.0 + 0.5 * (n as f64).cos()).collect()).collect();
    let views: Vec<ArrayView1<'_, f64>> = given.iter().map(|w| w.view()).collect();
    let own: Vec<f64> = steps(&paths).map(|(.., path, n)| given[path][n]).collect();
    let target = |(now, next, dt, ..): (ArrayView1<'_, f64>, ArrayView1<'_, f64>, f64, usize, usize)| {
        (next[1] - now[1]) / dt
    };
    let y: Vec<f64> = steps(&paths).map(target).collect();
    for scheme in [StepScheme::Euler, StepScheme::Trapezoid] {
        for weighted in [false, true] {
            let weights = if weighted { Weights::Given(&views) } else { Weights::Unit };
            let regression = Regression { scheme, ..regression(&program, &[], Target::Drift(1), weights) };
            let sums = regression.sums(&paths, &Control::default()).unwrap();
            compare(&sums, &paths, scheme, |n| (y[n], dt[n] / dt_mean * if weighted { own[n] } else { 1.0 }));
        }
    }
}

#[test]
fn distinct_products_make_the_sums_of_all_pairs() {
    let recording = Recording::new();
    let mut names: Vec<String> =
        (0..=5).flat_map(|total| (0..=total).map(move |a| format!("x^{a} v^{}", total - a))).collect();
    names.extend(["sgn(x)", "|v|", "x|x|", "-3 x|v|"].map(String::from));
    let program = Program::new(&names, &["x", "v"]).unwrap();
    let squares = program.squares();
    assert!(squares.is_some_and(|Extended { squares, .. }| 2 * squares.n_distinct < squares.of_pair.len()));
    // Whole blocks of one path are read where they are, the others are gathered.
    let long = Array2::from_shape_fn((4 * STEPS + 9, 2), |(t, i)| (0.7 * t as f64 + i as f64).sin());
    let even = [Path { x: long.view(), times: Times::Even(0.1) }];
    let weight = |paths: &[Path<'_>]| -> Vec<Array1<f64>> {
        paths.iter().map(|p| (0..p.n_steps()).map(|n| 1.0 + 0.5 * (n as f64).cos()).collect()).collect()
    };
    for paths in [&recording.views()[..], &even] {
        let given = weight(paths);
        let views: Vec<ArrayView1<'_, f64>> = given.iter().map(|w| w.view()).collect();
        for scheme in [StepScheme::Euler, StepScheme::Trapezoid] {
            for weights in [Weights::Unit, Weights::Given(&views)] {
                let regression =
                    Regression { scheme, ..regression(&program, &names, Target::Drift(1), weights) };
                let found =
                    regression.pooled(paths, squares, &Control::default()).unwrap().sums(scheme, squares);
                let wanted = regression.pooled(paths, None, &Control::default()).unwrap().sums(scheme, None);
                for (found, all) in [
                    (&found.omega, &wanted.omega),
                    (&found.cross, &wanted.cross),
                    (&found.inner, &wanted.inner),
                ] {
                    for ((i, j), found) in found.indexed_iter() {
                        let size = (wanted.inner[[i, i]] * wanted.inner[[j, j]]).sqrt();
                        let error = (found - all[[i, j]]).abs();
                        assert!(error <= 1e-12 * size.max(all[[i, j]].abs()), "{} {}", names[i], names[j]);
                    }
                }
                assert_eq!(
                    (&found.c, &found.d, found.s, found.n),
                    (&wanted.c, &wanted.d, wanted.s, wanted.n)
                );
            }
        }
    }
}

#[test]
fn sums_of_the_diffusion_are_those_of_a_loop() {
    let (recording, program) = (Recording::new(), program());
    let paths = recording.views();
    let drift = array![[0.2, -1.0, 0.3], [0.0, 0.5, -0.4]];
    let gamma = array![[0.5, 0.3, 0.1], [0.4, 0.0, 0.2], [0.1, 0.9, 0.0]];
    let floors = [0.45, 0.3];
    let at = |coef: &Array2<f64>, row: usize, x: ArrayView1<'_, f64>| -> f64 {
        terms(x).iter().zip(coef.row(row)).map(|(u, c)| u * c).sum()
    };
    let mut rows = Vec::new();
    let mut cut = 0;
    for (now, next, dt, ..) in steps(&paths) {
        let e = [0, 1].map(|i| next[i] - now[i] - dt * (at(&drift, i, now) + at(&drift, i, next)) / 2.0);
        let both = at(&gamma, 0, now).max(floors[0]) * at(&gamma, 1, now).max(floors[1]);
        let mixed = at(&gamma, 2, now).powi(2);
        cut += usize::from(mixed > both);
        rows.push((e[0] * e[1] / dt, 1.0 / (both + mixed.min(both))));
    }
    assert!(cut > 0, "some covariance is larger than the variances allow");
    let fitted = |coef| Fitted { program: &program, coef };
    let regression = regression(
        &program,
        &[],
        Target::Diffusion { pair: (0, 1), drift: Some(fitted(drift.view())) },
        Weights::Variance { gamma: fitted(gamma.view()), floors },
    );
    let sums = regression.sums(&paths, &Control::default()).unwrap();
    compare(&sums, &paths, StepScheme::Trapezoid, |n| rows[n]);
}

#[test]
fn targets_that_are_given_take_the_place_of_the_increments() {
    let (recording, program) = (Recording::new(), program());
    let paths = recording.views();
    let own: Vec<Array1<f64>> =
        paths.iter().map(|p| (0..p.n_steps()).map(|n| (n as f64).sin()).collect()).collect();
    let views: Vec<ArrayView1<'_, f64>> = own.iter().map(|y| y.view()).collect();
    let y: Vec<f64> = steps(&paths).map(|(.., path, n)| own[path][n]).collect();
    let plain = regression(&program, &[], Target::Diffusion { pair: (0, 0), drift: None }, Weights::Unit);
    let sums = Regression { given: Some(&views), ..plain }.sums(&paths, &Control::default()).unwrap();
    compare(&sums, &paths, StepScheme::Trapezoid, |n| (y[n], 1.0));
    let short = Regression { given: Some(&views[1..]), ..plain };
    assert!(matches!(short.sums(&paths, &Control::default()), Err(crate::Error::Argument { .. })));
}

#[test]
fn the_mean_ensemble_regresses_averages_over_the_paths() {
    let program = program();
    let data = [0.0, 0.4, 1.1]
        .map(|phase| Array2::from_shape_fn((6, 2), |(t, i)| (phase + t as f64 + i as f64).sin()));
    let paths = data.each_ref().map(|x| Path { x: x.view(), times: Times::Even(0.1) });
    let regression =
        Regression { ensemble: Ensemble::Mean, ..regression(&program, &[], Target::Drift(0), Weights::Unit) };
    let sums = regression.sums(&paths, &Control::default()).unwrap();
    let average = |f: &dyn Fn(&Array2<f64>) -> DVector<f64>| data.iter().map(f).sum::<DVector<f64>>() / 3.0;
    let (mut omega, mut c) = (DMatrix::zeros(3, 3), DVector::zeros(3));
    for n in 0..5 {
        let left = average(&|x| terms(x.row(n)));
        let y = average(&|x| DVector::from_element(1, (x[[n + 1, 0]] - x[[n, 0]]) / 0.1))[0];
        omega += &left * left.transpose();
        c += &left * y;
    }
    sums.omega.iter().zip(omega.iter()).for_each(|(found, wanted)| close(*found, *wanted));
    sums.c.iter().zip(c.iter()).for_each(|(found, wanted)| close(*found, *wanted));
    assert_eq!(sums.n, 5);
}

#[test]
fn a_term_that_is_not_finite_is_named_with_its_place() {
    let program = Program::new(&["1", "1/(x - 0.5)"], &["x"]).unwrap();
    let names = ["1", "1/(x - 0.5)"].map(str::to_owned);
    let x = array![[0.1], [0.2], [0.5], [0.7]];
    let path = Path { x: x.view(), times: Times::Even(0.1) };
    let regression = regression(&program, &names, Target::Drift(0), Weights::Unit);
    let message = regression.sums(&[path], &Control::default()).unwrap_err().to_string();
    assert!(message.contains("'1/(x - 0.5)' is infinite at path 0, sample 2"), "{message}");
}

#[test]
fn moments_leave_the_residual_sum_of_the_instrumental_fit() {
    let (recording, program) = (Recording::new(), program());
    let paths = recording.views();
    let regression = regression(&program, &[], Target::Drift(1), Weights::Unit);
    let sums = regression.sums(&paths, &Control::default()).unwrap();
    let moments = project(&sums);
    // As many instruments as regressors: the fit solves them exactly.
    let theta = matrix(&sums.cross).lu().solve(&vector(&sums.c)).unwrap();
    let fitted = matrix(&moments.gram).lu().solve(&vector(&moments.moment)).unwrap();
    (fitted - &theta).iter().for_each(|difference| close(*difference, 0.0));
    let square = |gram: &Array2<f64>, moment: &Array1<f64>, yy: f64| {
        yy - 2.0 * vector(moment).dot(&theta) + theta.dot(&(matrix(gram) * &theta))
    };
    close(square(&moments.gram, &moments.moment, moments.yy), square(&sums.inner, &sums.d, sums.s));
    assert_eq!(moments.n, sums.n as f64);
}

#[test]
fn a_column_twice_takes_no_direction_of_its_own() {
    let recording = Recording::new();
    let paths = recording.views();
    let (once, twice) = (Program::new(&["1", "x"], &["x", "v"]), Program::new(&["1", "x", "x"], &["x", "v"]));
    let left = |program: Program| {
        let regression = regression(&program, &[], Target::Drift(1), Weights::Unit);
        let moments = project(&regression.sums(&paths, &Control::default()).unwrap());
        let (gram, moment) = (matrix(&moments.gram), vector(&moments.moment));
        let least = 1e-9 * gram.norm();
        let theta = gram.pseudo_inverse(least).unwrap() * &moment;
        moments.yy - moment.dot(&theta)
    };
    assert!((left(once.unwrap()) / left(twice.unwrap()) - 1.0).abs() < 1e-9);
}

#[test]
fn residual_sums_are_those_of_a_loop() {
    let (recording, program) = (Recording::new(), program());
    let paths = recording.views();
    let (drift, variance, floor, lags) = (array![[0.2, -1.0, 0.3]], array![[0.5, 0.3, 0.1]], 0.45, 3);
    let fitted = |coef| Fitted { program: &program, coef };
    let found = residual_sums(
        &paths,
        0,
        fitted(drift.view()),
        fitted(variance.view()),
        floor,
        lags,
        &Control::default(),
    )
    .unwrap();
    let at = |coef: &Array2<f64>, x: ArrayView1<'_, f64>| -> f64 {
        terms(x).iter().zip(coef.row(0)).map(|(u, c)| u * c).sum()
    };
    let z: Vec<(f64, usize, usize)> = steps(&paths)
        .map(|(now, next, dt, path, n)| {
            let e = next[0] - now[0] - dt * (at(&drift, now) + at(&drift, next)) / 2.0;
            (e / (at(&variance, now).max(floor) * dt).sqrt(), path, n)
        })
        .collect();
    assert_eq!(found.n as usize, z.len());
    for power in 0..4 {
        close(found.powers[power], z.iter().map(|(z, ..)| z.powi(power as i32 + 1)).sum());
    }
    for lag in 1..=lags {
        let later = |(_, path, n): &(f64, usize, usize)| {
            z.iter().find(|other| (other.1, other.2) == (*path, n + lag))
        };
        let products: Vec<f64> = z.iter().filter_map(|now| Some(now.0 * later(now)?.0)).collect();
        close(found.lagged[lag - 1], products.iter().sum());
        assert_eq!(found.pairs[lag - 1], products.len() as f64);
    }
    let largest = z.iter().max_by(|a, b| a.0.abs().total_cmp(&b.0.abs())).unwrap();
    assert_eq!((found.largest, found.path, found.step), (largest.0.abs(), largest.1, largest.2));
    assert_eq!(found.z.len(), paths.iter().map(Path::n_steps).sum::<usize>());
    let known: Vec<f64> = found.z.into_iter().filter(|z| !z.is_nan()).collect();
    assert_eq!(known, z.iter().map(|(z, ..)| *z).collect::<Vec<_>>());
}

#[test]
fn the_survey_is_that_of_a_loop() {
    let (recording, program) = (Recording::new(), program());
    let paths = recording.views();
    let gamma = array![[0.5, 0.3, 0.1], [0.4, 0.0, 0.2], [0.1, 0.9, 0.0]];
    let (pairs, floors) = ([(0, 0), (1, 1), (0, 1)], [0.45, 0.3]);
    let fitted = Fitted { program: &program, coef: gamma.view() };
    let found = survey(&paths, fitted, &pairs, &floors, &Control::default()).unwrap();
    let mut values = Vec::new();
    for (path, p) in paths.iter().enumerate() {
        for (n, x) in p.x.rows().into_iter().enumerate().filter(|(_, x)| x.iter().all(|x| !x.is_nan())) {
            let at: [f64; 3] =
                std::array::from_fn(|q| terms(x).iter().zip(gamma.row(q)).map(|(u, c)| u * c).sum());
            let (half, mixed) = ((at[0] + at[1]) / 2.0, at[2]);
            let smallest = half - (((at[0] - at[1]) / 2.0).powi(2) + mixed * mixed).sqrt();
            values.push((at, smallest, path, n));
        }
    }
    assert_eq!(found.n as usize, values.len());
    for q in 0..3 {
        close(found.mean[q], values.iter().map(|(at, ..)| at[q]).sum::<f64>() / values.len() as f64);
        close(found.low[q], values.iter().map(|(at, ..)| at[q]).fold(f64::INFINITY, f64::min));
    }
    for i in 0..2 {
        assert_eq!(found.below[i] as usize, values.iter().filter(|(at, ..)| at[i] < floors[i]).count());
    }
    assert_eq!(
        found.indefinite as usize,
        values.iter().filter(|(_, smallest, ..)| *smallest < -1e-9).count()
    );
    let worst = values.iter().min_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
    close(found.worst, worst.1);
    assert_eq!((found.path, found.sample), (worst.2, worst.3));
}
