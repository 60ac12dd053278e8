//! Fixed problems that the benches share, so that every bench times the same work.

use itoscope_core::evidence::Regression;
use itoscope_core::library;
use itoscope_core::noise::{Draws, Purpose, Stream};
use itoscope_core::prior::Prior;
use itoscope_core::program::Program;
use ndarray::{Array1, Array2};

/// Standard normal samples `(n, m)`, smoothed a little, from a fixed seed.
pub fn samples(n: usize, m: usize) -> Array2<f64> {
    let mut stream = Stream::new(1, Purpose::Path, 0);
    let mut x = vec![0.0; m];
    Array2::from_shape_fn((n, m), |(_, i)| {
        x[i] = 0.9 * x[i] + 0.4 * stream.normal();
        x[i]
    })
}

/// The paper's library of `m` states up to `degree`, with its names.
pub fn paper(m: usize, degree: usize) -> (Vec<String>, Program) {
    let states: Vec<String> = (1..=m).map(|i| format!("x{i}")).collect();
    let names = library::paper(&states, degree);
    let program = Program::new(&names, &states).expect("the paper's library compiles");
    (names, program)
}

/// Moments of `n` samples of `k` normal columns, the first `r` of them true with coefficient 1, noise of variance 1.
///
/// The moments are drawn through the triangular factor of a Wishart matrix, so that `n` costs nothing.
pub fn regression(n: usize, k: usize, r: usize) -> Regression {
    let mut draws = Stream::new(1, Purpose::Measurement, k as u64);
    let mut factor = Array2::zeros((k, k));
    for i in 0..k {
        factor[[i, i]] = (2.0 * draws.gamma(0.5 * (n - i) as f64)).sqrt();
        for j in 0..i {
            factor[[i, j]] = draws.normal();
        }
    }
    let gram = factor.dot(&factor.t());
    let noise: Array1<f64> = (0..k).map(|_| draws.normal()).collect();
    let theta: Array1<f64> = (0..k).map(|column| f64::from(u8::from(column < r))).collect();
    let moment = gram.dot(&theta) + factor.dot(&noise);
    let rest = 2.0 * draws.gamma(0.5 * (n - k) as f64) + noise.dot(&noise);
    let yy = theta.dot(&gram.dot(&theta)) + 2.0 * theta.dot(&factor.dot(&noise)) + rest;
    Regression::new(gram.view(), moment.view(), yy, n as f64, Prior::default())
        .expect("moments of drawn data")
}

/// The sizes at which the sampler is measured: samples, columns, true columns.
pub const SAMPLER_SIZES: [(usize, usize, usize); 3] = [(1000, 36, 3), (10_000, 59, 3), (5000, 200, 5)];

/// A thread pool of this thread alone, for kernels whose instructions are counted.
pub fn one_thread() -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build().expect("one thread")
}
