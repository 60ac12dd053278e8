//! Linear models and the joint normal distribution of all their samples, written down densely: what the filter, its
//! regressions and the smoother are compared with.

use nalgebra::{Cholesky, DMatrix, DVector};
use ndarray::{Array1, Array2, array};

use super::*;
use crate::path::Times;
use crate::program::Program;

/// The terms `1, x, v` and their gradients.
pub struct Toy {
    program: Program,
    gradient: Program,
}

impl Toy {
    pub fn new() -> Self {
        let program = Program::new(&["1", "x", "v"], &["x", "v"]).unwrap();
        Self { gradient: program.gradient_program(), program }
    }

    /// A damped oscillator under a constant force and correlated noise, both states observed, in steps of first order.
    pub fn model(&self) -> StateSpace<'_> {
        StateSpace {
            program: &self.program,
            gradient: &self.gradient,
            drift: array![[0.0, 0.0, 1.0], [0.3, -2.0, -0.5]],
            gamma: array![[0.2, 0.0, 0.0], [0.6, 0.0, 0.0], [0.1, 0.0, 0.0]],
            pairs: vec![(0, 0), (1, 1), (0, 1)],
            observation: array![[1.0, 0.0], [0.5, 1.0]],
            noise: array![0.05, 0.2],
            mean0: array![0.4, -0.3],
            cov0: array![[0.3, 0.1], [0.1, 0.5]],
            floor: array![0.0, 0.0],
            max_step: 10.0,
            kinks: Vec::new(),
            second_order: false,
            given: Vec::new(),
            scaled: Vec::new(),
            resets: Vec::new(),
            tails: Vec::new(),
            shared: Vec::new(),
            kicks: Vec::new(),
            periods: Vec::new(),
            along: false,
        }
    }

    /// The same with noises of the two sensors that are correlated.
    pub fn grouped(&self) -> StateSpace<'_> {
        StateSpace { noise: array![0.05, 0.2, -0.07], shared: vec![(0, 1)], ..self.model() }
    }
}

/// Samples `(n, q)` that no model made, the third of the second channel and all of the fifth missing.
pub fn samples(n: usize, q: usize) -> Array2<f64> {
    let mut y = Array2::from_shape_fn((n, q), |(t, c)| (1.3 * t as f64 + c as f64).sin() + 0.2 * t as f64);
    if q > 1 {
        y[[2, 1]] = f64::NAN;
    }
    y.row_mut(4).fill(f64::NAN);
    y
}

/// Uneven stamps of `n` samples.
pub fn stamps(n: usize) -> Array1<f64> {
    (0..n).map(|t| 0.1 * t as f64 + 0.03 * (t as f64).cos()).collect()
}

/// The states at all samples as one normal vector, sample by sample.
struct Dense {
    mean: DVector<f64>,
    cov: DMatrix<f64>,
}

impl Dense {
    /// `x' = x + h (A x + c) + w`, `w ~ N(0, h Gamma)`, for steps in `pieces` equal pieces each.
    fn new(model: &StateSpace<'_>, steps: &[f64], pieces: usize) -> Self {
        let m = model.m();
        let matrix = |f: &dyn Fn(usize, usize) -> f64| DMatrix::from_fn(m, m, f);
        let a = matrix(&|i, j| model.drift[[i, 1 + j]]);
        let force = DVector::from_fn(m, |i, _| model.drift[[i, 0]]);
        let mut gamma = DMatrix::zeros(m, m);
        for (pair, &(i, j)) in model.pairs.iter().enumerate() {
            gamma[(i, j)] = model.gamma[[pair, 0]];
            gamma[(j, i)] = gamma[(i, j)];
        }
        let n = steps.len() + 1;
        let (mut mean, mut cov) = (DVector::zeros(n * m), DMatrix::zeros(n * m, n * m));
        mean.rows_mut(0, m).copy_from(&DVector::from_fn(m, |i, _| model.mean0[i]));
        cov.view_mut((0, 0), (m, m)).copy_from(&matrix(&|i, j| model.cov0[[i, j]]));
        for (t, step) in steps.iter().enumerate() {
            let h = step / pieces as f64;
            let onward = DMatrix::identity(m, m) + &a * h;
            let (mut x, mut p) =
                (mean.rows(t * m, m).into_owned(), cov.view((t * m, t * m), (m, m)).into_owned());
            let mut row = cov.view((t * m, 0), (m, (t + 1) * m)).into_owned();
            for _ in 0..pieces {
                x = &onward * x + &force * h;
                p = &onward * p * onward.transpose() + &gamma * h;
                row = &onward * row;
            }
            let next = (t + 1) * m;
            mean.rows_mut(next, m).copy_from(&x);
            cov.view_mut((next, 0), (m, next)).copy_from(&row);
            cov.view_mut((0, next), (next, m)).copy_from(&row.transpose());
            cov.view_mut((next, next), (m, m)).copy_from(&p);
        }
        Self { mean, cov }
    }

    /// Log-likelihood of what was seen of `y`, and the states' mean and covariance given it.
    fn given(&self, model: &StateSpace<'_>, y: &Array2<f64>) -> (f64, DVector<f64>, DMatrix<f64>) {
        let (m, q) = (model.m(), model.q());
        let places = (0..y.nrows()).flat_map(|t| (0..q).map(move |c| (t, c)));
        let seen: Vec<(usize, usize)> = places.filter(|&place| !y[place].is_nan()).collect();
        let h = DMatrix::from_fn(seen.len(), self.mean.len(), |row, column| {
            let (t, c) = seen[row];
            if column / m == t { model.observation[[c, column % m]] } else { 0.0 }
        });
        let mut s = &h * &self.cov * h.transpose();
        seen.iter().enumerate().for_each(|(row, &(_, c))| s[(row, row)] += model.noise[c]);
        for (place, &(a, b)) in model.shared.iter().enumerate() {
            for t in 0..y.nrows() {
                let row = |c: usize| seen.iter().position(|&one| one == (t, c));
                if let (Some(a), Some(b)) = (row(a), row(b)) {
                    s[(a, b)] += model.noise[q + place];
                    s[(b, a)] += model.noise[q + place];
                }
            }
        }
        let r = DVector::from_fn(seen.len(), |row, _| y[seen[row]]) - &h * &self.mean;
        let factor = Cholesky::new(s).unwrap();
        let solved = factor.solve(&r);
        let log_det = 2.0 * factor.l().diagonal().map(f64::ln).sum();
        let loglik = -0.5 * (r.dot(&solved) + log_det + r.len() as f64 * (2.0 * std::f64::consts::PI).ln());
        let gain = &self.cov * h.transpose();
        (loglik, &self.mean + &gain * solved, &self.cov - &gain * factor.solve(&gain.transpose()))
    }
}

fn close(found: f64, wanted: f64, tolerance: f64) {
    assert!((found - wanted).abs() <= tolerance * wanted.abs().max(1.0), "{found}, not {wanted}");
}

fn total(model: &StateSpace<'_>, path: Path<'_>) -> f64 {
    loglik(model, &[path], &Control::default()).unwrap().iter().sum()
}

#[test]
fn the_likelihood_is_that_of_the_joint_normal() {
    let (toy, n) = (Toy::new(), 9);
    let (times, two) = (stamps(n), samples(n, 2));
    let steps: Vec<f64> = (1..n).map(|t| times[t] - times[t - 1]).collect();
    let both = toy.model();
    let one = StateSpace { observation: array![[0.7, -0.4]], noise: array![0.1], ..both.clone() };
    let grouped = toy.grouped();
    for (model, y) in [(&both, two.clone()), (&one, samples(n, 1)), (&grouped, two)] {
        let (wanted, ..) = Dense::new(model, &steps, 1).given(model, &y);
        close(total(model, Path { x: y.view(), times: Times::Stamps(times.view()) }), wanted, 1e-11);
    }
}

#[test]
fn a_step_longer_than_allowed_is_made_in_equal_pieces() {
    let (toy, y) = (Toy::new(), samples(8, 2));
    let model = StateSpace { max_step: 0.04, ..toy.model() };
    let path = Path { x: y.view(), times: Times::Even(0.1) };
    for (pieces, same) in [(3, true), (2, false)] {
        let (wanted, ..) = Dense::new(&model, &[0.1; 7], pieces).given(&model, &y);
        assert_eq!((total(&model, path) - wanted).abs() < 1e-10, same, "{pieces} pieces");
    }
}

#[test]
fn smoothed_states_are_those_given_all_samples() {
    let (toy, n) = (Toy::new(), 9);
    let (times, y) = (stamps(n), samples(n, 2));
    let steps: Vec<f64> = (1..n).map(|t| times[t] - times[t - 1]).collect();
    for model in [toy.model(), toy.grouped()] {
        let (_, mean, cov) = Dense::new(&model, &steps, 1).given(&model, &y);
        let path = Path { x: y.view(), times: Times::Stamps(times.view()) };
        let found = smooth(&model, &[path], &Control::default()).unwrap();
        for t in 0..n {
            for i in 0..2 {
                close(found[0].0[[t, i]], mean[2 * t + i], 1e-11);
                (0..2).for_each(|j| close(found[0].1[[t, i, j]], cov[(2 * t + i, 2 * t + j)], 1e-11));
            }
        }
    }
}

#[test]
fn whitened_innovations_make_up_the_likelihood_and_say_what_is_missing() {
    let (toy, n) = (Toy::new(), 9);
    let (model, y) = (toy.model(), samples(n, 2));
    let path = Path { x: y.view(), times: Times::Even(0.1) };
    let white = innovations(&model, &[path], &Control::default()).unwrap().remove(0);
    for ((t, c), value) in white.indexed_iter() {
        assert_eq!(value.is_nan(), t == 0 || y[[t, c]].is_nan(), "sample {t}, channel {c}");
    }
    // Four times the variance of everything leaves the gains, and halves what is whitened.
    let mut louder = model.clone();
    louder.noise.mapv_inplace(|value| 4.0 * value);
    for matrix in [&mut louder.gamma, &mut louder.cov0] {
        matrix.mapv_inplace(|value| 4.0 * value);
    }
    let half = innovations(&louder, &[path], &Control::default()).unwrap().remove(0);
    for (half, white) in half.iter().zip(&white).filter(|(_, white)| !white.is_nan()) {
        close(*half, 0.5 * white, 1e-12);
    }
}

#[test]
fn log_densities_of_samples_add_up_to_the_likelihood_of_all_but_the_first() {
    let (toy, n) = (Toy::new(), 9);
    let (model, y) = (toy.model(), samples(n, 2));
    let path = Path { x: y.view(), times: Times::Even(0.1) };
    let first = Path { x: y.slice(ndarray::s![..1, ..]), times: Times::Even(0.1) };
    let each = densities(&model, &[path], &Control::default()).unwrap().remove(0);
    let whole = loglik(&model, &[path, first], &Control::default()).unwrap();
    close(each.iter().filter(|value| !value.is_nan()).sum::<f64>(), whole[0] - whole[1], 1e-12);
    for (t, value) in each.iter().enumerate() {
        assert_eq!(value.is_nan(), t == 0 || y.row(t).iter().all(|y| y.is_nan()), "sample {t}");
    }
}

#[test]
fn paths_are_filtered_alike_alone_and_in_a_batch() {
    let (toy, y) = (Toy::new(), samples(8, 2));
    let model = StateSpace { second_order: true, ..toy.model() };
    let lengths: Vec<usize> = (0..40).map(|path| 5 + path % 4).collect();
    let paths: Vec<Path<'_>> =
        lengths.iter().map(|&n| Path { x: y.slice(ndarray::s![..n, ..]), times: Times::Even(0.1) }).collect();
    let together = loglik(&model, &paths, &Control::default()).unwrap();
    for (path, found) in paths.iter().zip(together) {
        assert_eq!(found, total(&model, *path));
    }
}

#[test]
fn a_path_that_leaves_the_finite_range_has_no_likelihood() {
    let (toy, y) = (Toy::new(), samples(8, 2));
    let model = StateSpace { drift: array![[0.0, 1e200, 0.0], [0.0, 0.0, 1e200]], ..toy.model() };
    let fine = toy.model();
    let path = Path { x: y.view(), times: Times::Even(0.1) };
    assert_eq!(total(&model, path), f64::NEG_INFINITY);
    assert!(total(&fine, path).is_finite());
}

#[test]
fn a_stopped_filter_says_so() {
    let (toy, y) = (Toy::new(), samples(8, 2));
    let control = Control::default();
    control.stop();
    let path = Path { x: y.view(), times: Times::Even(0.1) };
    assert_eq!(loglik(&toy.model(), &[path], &control), Err(Error::Interrupted));
}

/// Derivative of the likelihood by one number of the model.
fn slope(model: &StateSpace<'_>, path: Path<'_>, move_by: impl Fn(&mut StateSpace<'_>, f64)) -> f64 {
    let step = 1e-5;
    let at = |shift: f64| {
        let mut moved = model.clone();
        move_by(&mut moved, shift);
        total(&moved, path)
    };
    (at(step) - at(-step)) / (2.0 * step)
}

/// What is left of the target of each column at these coefficients: the gradient of the likelihood.
fn score(sums: &FilterSums, coefficients: &[f64]) -> Vec<f64> {
    let c = sums.moment.len();
    let fitted = |k: usize| (0..c).map(|l| sums.gram[k * c + l] * coefficients[l]).sum::<f64>();
    (0..c).map(|k| sums.moment[k] - fitted(k)).collect()
}

#[test]
fn the_moments_of_the_noise_know_the_gradient_of_the_likelihood() {
    let (toy, y) = (Toy::new(), samples(9, 2));
    let path = Path { x: y.view(), times: Times::Even(0.1) };
    // The rows leave the first sample out, so a sharp start takes it out of the likelihood as well.
    let sharp = |model| StateSpace { cov0: array![[0.0, 0.0], [0.0, 0.0]], ..model };
    let first = |moved: &StateSpace<'_>| {
        let start = y.slice(ndarray::s![..1, ..]);
        total(moved, Path { x: start, times: Times::Even(0.1) })
    };
    let columns = [(0, 0), (1, 0), (2, 0)];
    for (model, second_order) in
        [(toy.model(), false), (toy.model(), true), (toy.grouped(), false), (toy.grouped(), true)]
    {
        let model = StateSpace { second_order, ..sharp(model) };
        let (sums, _) = noise_moments(&model, &[path], &columns, None, &Control::default()).unwrap();
        let coefficients: Vec<f64> = [0.2, 0.6, 0.1].into_iter().chain(model.noise.iter().copied()).collect();
        let found = score(&sums, &coefficients);
        assert_eq!(found.len(), coefficients.len());
        for (k, found) in found.iter().enumerate() {
            let place = |moved: &mut StateSpace<'_>, shift: f64| match k {
                0..3 => moved.gamma[[k, 0]] += shift,
                _ => moved.noise[k - 3] += shift,
            };
            let step = 1e-5;
            let (mut up, mut down) = (model.clone(), model.clone());
            place(&mut up, step);
            place(&mut down, -step);
            let of_first = (first(&up) - first(&down)) / (2.0 * step);
            close(*found, slope(&model, path, place) - of_first, 1e-6);
        }
    }
}

#[test]
fn the_moments_of_the_drift_know_the_gradient_by_a_constant_force() {
    // A force moves no covariance, so the sensitivity of the mean is all there is to the gradient.
    let (toy, y) = (Toy::new(), samples(9, 2));
    let path = Path { x: y.view(), times: Times::Even(0.1) };
    for second_order in [false, true] {
        let model = StateSpace { second_order, ..toy.model() };
        let (sums, logliks) =
            drift_moments(&model, &[path], &[(0, 0), (1, 0)], None, &Control::default()).unwrap();
        assert_eq!(logliks, loglik(&model, &[path], &Control::default()).unwrap());
        for (i, found) in score(&sums, &[0.0, 0.3]).into_iter().enumerate() {
            close(found, slope(&model, path, |moved, shift| moved.drift[[i, 0]] += shift), 1e-7);
        }
    }
}

#[test]
fn information_and_moments_agree_where_both_are_exact() {
    let (toy, y) = (Toy::new(), samples(9, 2));
    let model = StateSpace { second_order: true, ..toy.model() };
    let path = Path { x: y.view(), times: Times::Even(0.1) };
    let control = Control::default();
    let parameters = [(Parameter::Drift(0, 0), 1e-4), (Parameter::Drift(1, 0), 1e-4)];
    let (sums, _) = information(&model, &[path], &parameters, None, &control).unwrap();
    let (moments, _) = drift_moments(&model, &[path], &[(0, 0), (1, 0)], None, &control).unwrap();
    sums.gram.iter().zip(&moments.gram).for_each(|(found, wanted)| close(*found, *wanted, 1e-9));
    sums.moment
        .iter()
        .zip(score(&moments, &[0.0, 0.3]))
        .for_each(|(found, wanted)| close(*found, wanted, 1e-9));
    let parameters = [(Parameter::Gamma(1, 0), 1e-5), (Parameter::Noise(1), 1e-5)];
    let (sums, _) = information(&model, &[path], &parameters, None, &control).unwrap();
    let (moments, _) = noise_moments(&model, &[path], &[(1, 0)], None, &control).unwrap();
    // Columns of the moments: the element of Gamma, then both noises.
    for (k, of_moments) in [0, 2].into_iter().enumerate() {
        for (l, other) in [0, 2].into_iter().enumerate() {
            close(sums.gram[2 * k + l], moments.gram[3 * of_moments + other], 1e-6);
        }
    }
}

#[test]
fn a_model_that_does_not_fit_is_refused_with_the_name_of_what_is_wrong() {
    let toy = Toy::new();
    let (fine, y) = (toy.model(), samples(8, 2));
    let path = Path { x: y.view(), times: Times::Even(0.1) };
    let cases = [
        ("drift", StateSpace { drift: Array2::zeros((2, 2)), ..fine.clone() }),
        ("gamma", StateSpace { gamma: Array2::zeros((2, 3)), ..fine.clone() }),
        ("observation", StateSpace { observation: Array2::zeros((2, 3)), ..fine.clone() }),
        ("cov0", StateSpace { cov0: Array2::zeros((1, 2)), ..fine.clone() }),
        ("noise", StateSpace { noise: array![0.1], ..fine.clone() }),
        ("noise", StateSpace { noise: array![0.05, 0.2], ..toy.grouped() }),
        ("shared", StateSpace { shared: vec![(0, 2)], ..toy.grouped() }),
        ("periods", StateSpace { periods: vec![1.0], ..toy.model() }),
        ("periods", StateSpace { periods: vec![1.0, -1.0], ..toy.model() }),
        ("tails", StateSpace { tails: vec![vec![0.2], Vec::new()], ..toy.grouped() }),
        ("a course", StateSpace { along: true, ..fine.clone() }),
        ("mean0", StateSpace { mean0: array![0.1], ..fine.clone() }),
        ("floor", StateSpace { floor: array![0.1], ..fine.clone() }),
        ("max_step", StateSpace { max_step: 0.0, ..fine.clone() }),
        ("pairs", StateSpace { pairs: vec![(0, 0), (1, 1), (0, 2)], ..fine.clone() }),
        (
            "kinks",
            StateSpace { kinks: vec![Kink { term: 3, shape: Shape::Sign, i: 0, j: 0 }], ..fine.clone() },
        ),
    ];
    for (name, model) in cases {
        let refused = loglik(&model, &[path], &Control::default()).unwrap_err().to_string();
        assert!(refused.contains(name), "{name}: {refused}");
    }
    let columns = noise_moments(&fine, &[path], &[(3, 0)], None, &Control::default());
    assert!(columns.unwrap_err().to_string().contains("columns"));
    let steps = information(&fine, &[path], &[(Parameter::Noise(0), 0.0)], None, &Control::default());
    assert!(steps.unwrap_err().to_string().contains("steps"));
}

/// Counts the samples at which a filter says that its covariance stands still.
struct Still(usize);
impl visitor::Visitor for Still {
    fn predicted(&mut self, _: usize, _: &visitor::Step<'_>) {}
    fn updated(&mut self, _: usize, update: &visitor::Update<'_>) {
        self.0 += usize::from(update.steady);
    }
}

#[test]
fn a_covariance_stands_still_on_even_steps_alone_and_the_same_is_found() {
    let toy = Toy::new();
    for model in [toy.model(), toy.grouped()] {
        stands_still(&StateSpace { second_order: true, ..model });
    }
}

fn stands_still(model: &StateSpace<'_>) {
    let (n, even) = (600, 0.1);
    let mut y = Array2::from_shape_fn((n, 2), |(t, c)| (0.3 * t as f64 + c as f64).sin());
    y[[400, 1]] = f64::NAN;
    // stamps whose steps differ in their last bits alone are filtered sample by sample
    let stamps: Array1<f64> = (0..n).map(|t| even * t as f64 + 1e-13 * (t % 3) as f64).collect();
    let path = |times| Path { x: y.view(), times };
    let paths = [path(Times::Even(even)), path(Times::Stamps(stamps.view()))];
    let still = paths.each_ref().map(|path| {
        let mut still = Still(0);
        Engine::new(model, std::slice::from_ref(path)).run(&mut still, &Control::default()).unwrap();
        still.0
    });
    assert!(still[0] > n / 2, "{still:?}");
    assert_eq!(still[1], 0);
    let nonlinear = StateSpace { second_order: false, ..model.clone() };
    let mut moving = Still(0);
    Engine::new(&nonlinear, &paths[..1]).run(&mut moving, &Control::default()).unwrap();
    assert_eq!(moving.0, 0);

    let control = Control::default();
    let drift: Vec<_> = (0..2).flat_map(|i| (0..3).map(move |k| (i, k))).collect();
    let gamma = [(0, 0), (1, 0), (2, 0)];
    let all = paths.map(|path| {
        let path = [path];
        let (a, loglik) = drift_moments(model, &path, &drift, None, &control).unwrap();
        let (b, _) = noise_moments(model, &path, &gamma, None, &control).unwrap();
        let parameters =
            [(Parameter::Drift(1, 1), 1e-3), (Parameter::Gamma(1, 0), 1e-3), (Parameter::Noise(0), 1e-4)];
        let (c, _) = information(model, &path, &parameters, None, &control).unwrap();
        let states = smooth(model, &path, &control).unwrap().remove(0);
        let white = innovations(model, &path, &control).unwrap().remove(0);
        let mut values = loglik;
        for sums in [a, b, c] {
            values.extend(sums.gram.into_iter().chain(sums.moment).chain([sums.yy, sums.n]));
        }
        values.extend(states.0.into_iter().chain(states.1).chain(white).filter(|value| value.is_finite()));
        values
    });
    for (index, (one, other)) in all[0].iter().zip(&all[1]).enumerate() {
        assert!((one - other).abs() < 1e-8 * one.abs().max(1.0), "{index}: {one} {other}");
    }
}
