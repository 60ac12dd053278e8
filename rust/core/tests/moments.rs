//! The regression sums do not depend on the number of threads, and stop when asked.

use itoscope_core::Error;
use itoscope_core::control::Control;
use itoscope_core::noise::{Draws, Purpose, Stream};
use itoscope_core::path::{Path, Times};
use itoscope_core::program::Program;
use itoscope_core::regression::{Ensemble, Regression, StepScheme, Sums, Target, Weights, project};
use ndarray::Array2;

/// Ornstein-Uhlenbeck paths by their exact transition: rate 1, diffusion 2.
fn paths(n_paths: u64, n_times: usize, dt: f64) -> Vec<Array2<f64>> {
    let (decay, spread) = ((-dt).exp(), (1.0 - (-2.0 * dt).exp()).sqrt());
    (0..n_paths)
        .map(|index| {
            let mut stream = Stream::new(3, Purpose::Path, index);
            let mut x = stream.normal();
            Array2::from_shape_fn((n_times, 1), |_| {
                let now = x;
                x = decay * x + spread * stream.normal();
                now
            })
        })
        .collect()
}

fn sums(data: &[Array2<f64>], dt: f64, threads: usize, ensemble: Ensemble) -> Sums {
    let program = Program::new(&["1", "x", "x^2", "x^3"], &["x"]).unwrap();
    let views: Vec<Path<'_>> = data.iter().map(|x| Path { x: x.view(), times: Times::Even(dt) }).collect();
    let regression = Regression {
        program: &program,
        names: &[],
        target: Target::Drift(0),
        scheme: StepScheme::Trapezoid,
        weights: Weights::Unit,
        ensemble,
        squares: true,
        given: None,
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| regression.sums(&views, &Control::default())).unwrap()
}

#[test]
fn the_bits_are_the_same_for_any_number_of_threads() {
    let data = paths(7, 20_000, 0.01);
    for ensemble in [Ensemble::Pool, Ensemble::Mean] {
        let one = sums(&data, 0.01, 1, ensemble);
        for threads in [2, 3, 5] {
            assert_eq!(one, sums(&data, 0.01, threads, ensemble));
        }
    }
}

#[test]
fn projected_moments_find_the_rate_of_an_exact_process() {
    let moments = project(&sums(&paths(20, 20_000, 0.05), 0.05, 2, Ensemble::Pool));
    let rate = moments.moment[1] / moments.gram[(1, 1)];
    // 20 000 time units: the standard error of the rate is sqrt(2 / 20000) = 0.01; the bias of the scheme is 2e-4.
    assert!((rate + 1.0).abs() < 0.05, "{rate}");
}

#[test]
fn a_stopped_regression_ends_with_interrupted() {
    let data = paths(1, 1000, 0.1);
    let program = Program::new(&["x"], &["x"]).unwrap();
    let views = [Path { x: data[0].view(), times: Times::Even(0.1) }];
    let regression = Regression {
        program: &program,
        names: &[],
        target: Target::Drift(0),
        scheme: StepScheme::Euler,
        weights: Weights::Unit,
        ensemble: Ensemble::Pool,
        squares: true,
        given: None,
    };
    let control = Control::default();
    control.stop();
    assert_eq!(regression.sums(&views, &control), Err(Error::Interrupted));
}

#[test]
fn a_term_that_is_not_finite_is_named_with_its_sample() {
    let mut data = paths(1, 600, 0.1);
    data[0][[300, 0]] = 0.0;
    let names = ["1 / x".to_string()];
    let program = Program::new(&names, &["x"]).unwrap();
    let views = [Path { x: data[0].view(), times: Times::Even(0.1) }];
    let regression = Regression {
        program: &program,
        names: &names,
        target: Target::Drift(0),
        scheme: StepScheme::Euler,
        weights: Weights::Unit,
        ensemble: Ensemble::Pool,
        squares: true,
        given: None,
    };
    let message = regression.sums(&views, &Control::default()).unwrap_err().to_string();
    assert!(message.contains("'1 / x' is infinite at path 0, sample 300"), "{message}");
}
