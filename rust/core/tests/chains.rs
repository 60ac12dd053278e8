//! Chains: the same bits on any number of threads, and an end when asked.

use itoscope_core::control::Control;
use itoscope_core::noise::{Draws, Purpose, Stream};
use itoscope_core::sampler::{ChainSettings, Prior, ScaledRegression, run_chains};
use ndarray::{Array1, Array2};

fn regression(k: usize, noise: f64, prior: Prior) -> ScaledRegression {
    let mut draws = Stream::new(8, Purpose::Path, k as u64);
    let n = 120;
    let mut x = Array2::from_shape_simple_fn((n, k), || draws.normal());
    for row in 0..n {
        x[[row, k - 1]] = x[[row, 0]] + 0.1 * x[[row, k - 1]];
    }
    let y: Array1<f64> =
        (0..n).map(|row| 0.4 * x[[row, 0]] - 0.3 * x[[row, 1]] + noise * draws.normal()).collect();
    ScaledRegression::new(x.t().dot(&x).view(), x.t().dot(&y).view(), y.dot(&y), n as f64, prior).unwrap()
}

#[test]
fn chains_are_the_same_for_any_number_of_threads() {
    let regression = regression(10, 1.0, Prior::default());
    let settings = ChainSettings { n_chains: 3, n_samples: 50, n_burn: 10, thin: 2, exchanges: 1 };
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| run_chains(&regression, &settings, 4, &Control::default()).unwrap())
    };
    assert_eq!(run(1), run(3));
}

#[test]
fn a_stopped_chain_says_so() {
    let regression = regression(10, 1.0, Prior::default());
    let settings = ChainSettings { n_chains: 1, n_samples: 100, n_burn: 0, thin: 1, exchanges: 1 };
    let control = Control::default();
    control.stop();
    assert_eq!(run_chains(&regression, &settings, 4, &control), Err(itoscope_core::Error::Interrupted));
}
