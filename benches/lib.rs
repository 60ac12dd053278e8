//! Fixed problems that the benches share, so that every bench times the same work.

use itoscope_core::filter::StateSpace;
use itoscope_core::noise::{Draws, Purpose, Stream};
use itoscope_core::path::{Path, Times};
use itoscope_core::program::Program;
use itoscope_core::regression::{self, Ensemble, Fitted, StepScheme, Target, Weights};
use itoscope_core::sampler::{Prior, ScaledRegression};
use itoscope_support::library;
use ndarray::{Array1, Array2, Array3, Axis, array, s};

/// Seed of drawn moments and of the noise on recordings. Another one would change what the recorded counts count.
const SEED: u64 = 0x1d04_151b_0000_0000;

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
pub fn regression(n: usize, k: usize, r: usize) -> ScaledRegression {
    let mut draws = Stream::new(SEED, Purpose::Path, k as u64);
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
    ScaledRegression::new(gram.view(), moment.view(), yy, n as f64, Prior::default())
        .expect("moments of drawn data")
}

/// The sizes at which the sampler is measured: samples, columns, true columns.
pub const SAMPLER_SIZES: [(usize, usize, usize); 3] = [(1000, 36, 3), (10_000, 59, 3), (5000, 200, 5)];

/// A thread pool of this thread alone, for kernels whose instructions are counted.
pub fn one_thread() -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build().expect("one thread")
}

/// The same start for all paths, `(n_paths, m)`.
pub fn starts(n_paths: usize, x0: &[f64]) -> Array2<f64> {
    Array2::from_shape_fn((n_paths, x0.len()), |(_, k)| x0[k])
}

/// A recording of one path and the regressions on the paper's library.
pub struct Setup {
    /// The terms.
    pub names: Vec<String>,
    /// Their values.
    pub program: Program,
    x: Array2<f64>,
    coef: Array2<f64>,
}

impl Setup {
    /// `n` samples of `m` states.
    pub fn new(m: usize, degree: usize, n: usize) -> Self {
        let (names, program) = paper(m, degree);
        let coef = Array2::from_elem((3, names.len()), 0.1);
        Self { names, program, x: samples(n, m), coef }
    }

    /// The recording.
    pub fn paths(&self) -> [Path<'_>; 1] {
        [Path { x: self.x.view(), times: Times::Even(1e-3) }]
    }

    /// The drift of the second state, unweighted.
    pub fn drift(&self) -> regression::Regression<'_> {
        regression::Regression {
            program: &self.program,
            names: &self.names,
            target: Target::Drift(1),
            scheme: StepScheme::Trapezoid,
            weights: Weights::Unit,
            ensemble: Ensemble::Pool,
            squares: true,
            given: None,
        }
    }

    /// The diffusion of the second state, with a fitted drift taken off, weighted.
    pub fn diffusion(&self) -> regression::Regression<'_> {
        let fitted = |rows: usize| Fitted { program: &self.program, coef: self.coef.slice(s![..rows, ..]) };
        regression::Regression {
            target: Target::Diffusion { pair: (1, 1), drift: Some(fitted(2)) },
            weights: Weights::Variance { gamma: fitted(3), floors: [0.1, 0.1] },
            ..self.drift()
        }
    }
}

/// Noisy displacements of the Duffing-Van der Pol oscillator, and the true model over the paper's library.
pub struct Recording {
    program: Program,
    gradient: Program,
    drift: Array2<f64>,
    gamma: Array2<f64>,
    x: Array3<f64>,
}

impl Recording {
    /// `n_paths` records of `n` samples, 1 ms apart. The motion is a decaying swing, which is all that a bench needs.
    pub fn new(n_paths: usize, n: usize) -> Self {
        let (names, program) = paper(2, 6);
        let column = |term: &str| names.iter().position(|name| name == term).expect("a term of the library");
        let (mut drift, mut gamma) = (Array2::zeros((2, names.len())), Array2::zeros((1, names.len())));
        drift[[0, column("x2")]] = 1.0;
        drift[[1, column("x1")]] = -1000.0;
        drift[[1, column("x2")]] = -2.0;
        drift[[1, column("x1^3")]] = -1e5;
        gamma[[0, column("x1^2")]] = 100.0;
        let mut stream = Stream::new(SEED, Purpose::Path, 0);
        let x = Array3::from_shape_fn((n_paths, n, 1), |(_, i, _)| {
            let t = i as f64 * 1e-3;
            0.1 * (-t).exp() * (40.0 * t).cos() + 0.002 * stream.normal()
        });
        Self { gradient: program.gradient_program(), program, drift, gamma, x }
    }

    /// The records.
    pub fn paths(&self) -> Vec<Path<'_>> {
        self.x.axis_iter(Axis(0)).map(|x| Path { x, times: Times::Even(1e-3) }).collect()
    }

    /// The filter's model, velocity unmeasured.
    pub fn model(&self) -> StateSpace<'_> {
        StateSpace {
            program: &self.program,
            gradient: &self.gradient,
            drift: self.drift.clone(),
            gamma: self.gamma.clone(),
            pairs: vec![(1, 1)],
            observation: array![[1.0, 0.0]],
            noise: array![4e-6],
            mean0: array![0.1, 0.0],
            cov0: array![[0.01, 0.0], [0.0, 4.0]],
            floor: array![0.0, 1e-6],
            max_step: 2e-3,
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

    /// All terms of a row of the drift, or of a pair of Gamma.
    pub fn candidates(&self, row: usize) -> Vec<(usize, usize)> {
        (0..self.program.n_outputs()).map(|term| (row, term)).collect()
    }
}
