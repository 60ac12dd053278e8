//! Predictions against closed forms: the transition of a linear model, moments of a normal state, an expected kink.

use nalgebra::{Matrix2, Vector2};
use ndarray::{Array1, Array2, array};

use super::super::affine::Affine;
use super::super::kink::{Kink, Shape};
use super::super::phases::Phases;
use super::super::visitor::{Nobody, Update};
use super::*;
use crate::program::Program;

/// A model of these terms over the states `x, v`, with nothing observed.
fn model<'a>(programs: &'a [Program; 2], drift: Array2<f64>, gamma: Array2<f64>) -> StateSpace<'a> {
    StateSpace {
        program: &programs[0],
        gradient: &programs[1],
        drift,
        gamma,
        pairs: vec![(0, 0), (1, 1)],
        observation: Array2::zeros((0, 2)),
        noise: Array1::zeros(0),
        mean0: Array1::zeros(2),
        cov0: Array2::zeros((2, 2)),
        floor: Array1::zeros(2),
        max_step: 1.0,
        kinks: Vec::new(),
        second_order: true,
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

fn programs(terms: &[&str]) -> [Program; 2] {
    let program = Program::new(terms, &["x", "v"]).unwrap();
    let gradient = program.gradient_program();
    [program, gradient]
}

/// Predictions of so many paths without phases.
fn lonely<'a>(model: &'a StateSpace<'a>, lanes: usize) -> Predictor<'a> {
    Predictor::with(model, Affine::of(model), Phases::one(lanes))
}

/// Mean and covariance a step of `h` after these.
fn after(model: &StateSpace<'_>, h: f64, mean: [f64; 2], cov: [f64; 4]) -> ([f64; 2], [f64; 4]) {
    let (mut mean, mut cov) = (mean, cov);
    lonely(model, 1).run(1, &[h], None, (&mut mean, &mut cov), &mut Nobody);
    (mean, cov)
}

const MEAN: [f64; 2] = [0.4, -0.7];
const COV: [f64; 4] = [0.2, 0.05, 0.05, 0.3];

/// The largest difference of two predictions.
fn distance(a: &([f64; 2], [f64; 4]), b: &([f64; 2], [f64; 4])) -> f64 {
    let pairs = a.0.iter().chain(&a.1).zip(b.0.iter().chain(&b.1));
    pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn a_linear_model_is_predicted_exactly_at_any_step() {
    let programs = programs(&["1", "x", "v"]);
    let drift = array![[0.0, 0.0, 1.0], [0.3, -4.0, -0.5]];
    let model = model(&programs, drift, array![[0.1, 0.0, 0.0], [0.6, 0.0, 0.0]]);
    let (a, force, gamma) =
        (Matrix2::new(0.0, 1.0, -4.0, -0.5), Vector2::new(0.0, 0.3), Matrix2::new(0.1, 0.0, 0.0, 0.6));
    // The moments by many small steps of the second order.
    let fine = |h: f64| {
        let n = 40_000;
        let dt = h / f64::from(n);
        let half = Matrix2::identity() + a * (dt / 2.0);
        let onward = Matrix2::identity() + a * dt + a * a * (dt * dt / 2.0);
        let (mut x, mut p) = (Vector2::from(MEAN), Matrix2::new(COV[0], COV[1], COV[2], COV[3]));
        for _ in 0..n {
            x = onward * x + half * force * dt;
            p = onward * p * onward.transpose() + half * gamma * half.transpose() * dt;
        }
        ([x[0], x[1]], [p[(0, 0)], p[(0, 1)], p[(1, 0)], p[(1, 1)]])
    };
    for h in [1e-3, 0.1, 3.0] {
        let error = distance(&after(&model, h, MEAN, COV), &fine(h));
        assert!(error < 2e-7 * h, "{error} at {h}");
    }
}

#[test]
fn steps_of_first_order_are_eulers() {
    let programs = programs(&["x", "v"]);
    let second = model(&programs, array![[0.0, 1.0], [-4.0, -0.5]], array![[0.0, 0.0], [0.0, 0.0]]);
    let first = StateSpace { second_order: false, floor: array![0.1, 0.6], ..second };
    let (mean, cov) = after(&first, 0.1, MEAN, COV);
    let onward = Matrix2::new(1.0, 0.1, -0.4, 0.95);
    let x = onward * Vector2::from(MEAN);
    let p = onward * Matrix2::new(COV[0], COV[1], COV[2], COV[3]) * onward.transpose()
        + Matrix2::new(0.01, 0.0, 0.0, 0.06);
    let wanted = ([x[0], x[1]], [p[(0, 0)], p[(0, 1)], p[(1, 0)], p[(1, 1)]]);
    assert!(distance(&(mean, cov), &wanted) < 1e-15);
}

#[test]
fn terms_are_averaged_over_where_the_state_may_be() {
    // Over N(x, P) the cube is x^3 + 3 x P, the square in Gamma x^2 + P: both change the slope at the start of the step.
    let programs = programs(&["x^3", "x^2"]);
    let model = model(&programs, array![[-1.0, 0.0], [0.0, 0.0]], array![[0.0, 0.5], [0.0, 0.0]]);
    let h = 1e-6;
    let (mean, cov) = after(&model, h, MEAN, COV);
    let [x, p] = [MEAN[0], COV[0]];
    assert!(((mean[0] - x) / h + x.powi(3) + 3.0 * x * p).abs() < 1e-5);
    let gamma = 0.5 * (x * x + p);
    assert!(((cov[0] - p) / h - gamma + 2.0 * 3.0 * x * x * p).abs() < 1e-5);
}

/// Mean and covariance a step of `h` after `MEAN`, `COV`, linearised about these.
fn about(model: &StateSpace<'_>, h: f64, at: [f64; 2], doubt: [f64; 4]) -> ([f64; 2], [f64; 4]) {
    let (mut mean, mut cov) = (MEAN, COV);
    lonely(model, 1).run(1, &[h], Some((&at, &doubt)), (&mut mean, &mut cov), &mut Nobody);
    (mean, cov)
}

#[test]
fn a_step_is_linearised_about_the_law_that_is_told() {
    // About N(s, V) the cube is s^3 + 3 s V + 3 s^2 (x - s), and 3 s^2 its slope.
    let programs = programs(&["x^3"]);
    let model = model(&programs, array![[-1.0], [0.0]], array![[0.0], [0.0]]);
    let (h, at, doubt) = (1e-6, [0.9, 0.1], [0.02, 0.0, 0.0, 0.05]);
    let (mean, cov) = about(&model, h, at, doubt);
    let ([s, v], [x, p]) = ([at[0], doubt[0]], [MEAN[0], COV[0]]);
    let cube = s.powi(3) + 3.0 * s * v + 3.0 * s * s * (x - s);
    assert!(((mean[0] - x) / h + cube).abs() < 1e-5);
    assert!(((cov[0] - p) / h + 6.0 * s * s * p).abs() < 1e-5);
    // About the law of the state itself it is the step that is made without a course.
    assert!(distance(&about(&model, 0.3, MEAN, COV), &after(&model, 0.3, MEAN, COV)) == 0.0);
}

#[test]
fn a_linear_model_is_the_same_about_any_law() {
    let programs = programs(&["1", "x", "v"]);
    let drift = array![[0.0, 0.0, 1.0], [0.3, -4.0, -0.5]];
    let model = model(&programs, drift, array![[0.1, 0.0, 0.0], [0.6, 0.0, 0.0]]);
    let far = about(&model, 0.3, [7.0, -5.0], [2.0, 0.3, 0.3, 1.0]);
    assert_eq!(far, after(&model, 0.3, MEAN, COV));
}

#[test]
fn a_kink_counts_by_its_expectation() {
    let programs = programs(&["sgn(x)"]);
    let kink = Kink { term: 0, shape: Shape::Sign, i: 0, j: 0 };
    let smooth = model(&programs, array![[-1.0], [0.0]], array![[0.0], [0.0]]);
    let h = 1e-6;
    let slope = |model: &StateSpace<'_>| (after(model, h, MEAN, COV).0[0] - MEAN[0]) / h;
    let expected = -libm::erf(MEAN[0] / (2.0 * COV[0]).sqrt());
    assert!((slope(&StateSpace { kinks: vec![kink], ..smooth.clone() }) - expected).abs() < 1e-5);
    assert!((slope(&smooth) - expected).abs() > 0.01, "unnamed, it counts at a few points alone");
}

#[test]
fn lanes_do_not_see_each_other_and_one_without_a_step_stays() {
    let programs = programs(&["x", "v", "x^3"]);
    let model = model(
        &programs,
        array![[0.0, 1.0, 0.0], [-4.0, -0.5, -1.0]],
        array![[0.1, 0.0, 0.0], [0.6, 0.0, 0.2]],
    );
    let steps = [0.1, 0.0, 0.02];
    let starts = [MEAN, [1.0, 2.0], [-0.3, 0.1]];
    let (mut mean, mut cov) = (starts.concat(), [COV; 3].concat());
    lonely(&model, 3).run(1, &steps, None, (&mut mean, &mut cov), &mut Nobody);
    for lane in 0..3 {
        let alone = if steps[lane] > 0.0 {
            after(&model, steps[lane], starts[lane], COV)
        } else {
            (starts[lane], COV)
        };
        assert_eq!(mean[2 * lane..2 * lane + 2], alone.0);
        assert_eq!(cov[4 * lane..4 * lane + 4], alone.1);
    }
}

/// Keeps how much a step says its terms change by each of its nodes, with the time of each.
struct Along(Vec<(f64, [f64; 3])>);

impl Visitor for Along {
    const TERMS: bool = true;

    fn predicted(&mut self, _: usize, step: &Step<'_>) {
        let nodes = step.transition.nodes().iter().enumerate();
        self.0 = nodes.map(|(node, at)| (at.s, std::array::from_fn(|k| step.change(k, node)))).collect();
    }

    fn updated(&mut self, _: usize, _: &Update<'_>) {}
}

#[test]
fn terms_within_a_step_follow_the_drift() {
    // Without noise and doubt the state of a free oscillator goes round; the square bends on its way.
    let programs = programs(&["x", "v", "x^2"]);
    let model = model(&programs, array![[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]], Array2::zeros((2, 3)));
    let at = |s: f64| {
        let x = MEAN[0] * s.cos() + MEAN[1] * s.sin();
        [x, MEAN[1] * s.cos() - MEAN[0] * s.sin(), x * x]
    };
    for (h, tolerance) in [(0.1, 2e-4), (0.01, 2e-7)] {
        let (mut mean, mut cov, mut along) = (MEAN, [0.0; 4], Along(Vec::new()));
        lonely(&model, 1).run(1, &[h], None, (&mut mean, &mut cov), &mut along);
        assert_eq!(along.0.len(), PLACES.len());
        for (s, changes) in along.0 {
            for ((change, start), end) in changes.into_iter().zip(at(0.0)).zip(at(s)) {
                assert!((start + change - end).abs() < tolerance, "at {s} of {h}: {change}");
            }
        }
    }
}
