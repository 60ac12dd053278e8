//! Geweke's joint-distribution test: parameters from the prior, data given them, sweeps given the data; then the
//! parameters still have the prior's distribution, if and only if the sweep leaves the posterior as it is.
//!
//! Every replicate is independent, so the comparison of means is a plain two-sample z test. Eight functions at
//! |z| > 4.8 have a false-alarm rate below 1.3e-5.

use itoscope_core::noise::{Draws, Purpose, Stream};
use itoscope_core::sampler::{Gibbs, Prior, ScaledRegression};
use ndarray::{Array1, Array2};

const K: usize = 5;
const N: usize = 8;
const REPLICATES: usize = 60_000;
const FUNCTIONS: usize = 8;
const THRESHOLD: f64 = 4.8;

/// Priors with finite moments; scaling would make the prior depend on the data, so it is off.
const PRIOR: Prior = Prior {
    a_p: 2.0,
    b_p: 3.0,
    a_v: 4.0,
    b_v: 3.0,
    a_s: 4.0,
    b_s: 3.0,
    slab_start: 1.0,
    p0_start: 0.5,
    standardize: false,
    empty: None,
};

struct State {
    theta: Array1<f64>,
    members: Vec<usize>,
    s2: f64,
    v: f64,
    p0: f64,
}

impl State {
    /// A draw from [`PRIOR`], or from it with less weight on the model without columns.
    fn of_prior(prior: &Prior, draws: &mut Stream) -> Self {
        loop {
            let state = Self::of_rate(draws);
            if !state.members.is_empty() || draws.uniform() < prior.log_favour(K).exp() {
                return state;
            }
        }
    }

    fn of_rate(draws: &mut Stream) -> Self {
        let p0 = draws.beta(PRIOR.a_p, PRIOR.b_p);
        let v = PRIOR.b_v / draws.gamma(PRIOR.a_v);
        let s2 = PRIOR.b_s / draws.gamma(PRIOR.a_s);
        let members: Vec<usize> = (0..K).filter(|_| draws.uniform() < p0).collect();
        let mut theta = Array1::zeros(K);
        for &k in &members {
            theta[k] = (s2 * v).sqrt() * draws.normal();
        }
        Self { theta, members, s2, v, p0 }
    }

    fn functions(&self) -> [f64; FUNCTIONS] {
        let square = self.theta.dot(&self.theta);
        [
            self.members.len() as f64,
            f64::from(self.members.contains(&0)),
            f64::from(self.members.contains(&4)),
            self.s2.ln(),
            self.v.ln(),
            self.p0,
            (square / self.s2).min(50.0),
            self.theta[1].tanh() * self.theta[4].tanh(),
        ]
    }
}

/// z of each function between fresh prior states and states that went through data and sweeps, which use `prior`.
fn z_scores(prior: Prior, exchanges: usize, seed: u64) -> [f64; FUNCTIONS] {
    let mut draws = Stream::new(seed, Purpose::Chain, 0);
    let mut x = Array2::from_shape_simple_fn((N, K), || draws.normal());
    for row in 0..N {
        x[[row, 4]] = x[[row, 1]] + 0.2 * x[[row, 4]];
    }
    let gram = x.t().dot(&x);
    let (mut sums, mut squares) = ([[0.0; FUNCTIONS]; 2], [[0.0; FUNCTIONS]; 2]);
    for _ in 0..REPLICATES {
        let fresh = State::of_prior(&prior, &mut draws);
        let mut state = State::of_prior(&prior, &mut draws);
        for _ in 0..2 {
            let y =
                x.dot(&state.theta) + Array1::from_shape_simple_fn(N, || state.s2.sqrt() * draws.normal());
            let regression =
                ScaledRegression::new(gram.view(), x.t().dot(&y).view(), y.dot(&y), N as f64, prior).unwrap();
            let mut gibbs = Gibbs::resume(&regression, &state.members, state.v, state.p0, exchanges);
            for _ in 0..2 {
                gibbs.sweep(&mut draws);
            }
            let (s2, v, p0) = gibbs.parameters();
            let mut theta = Array1::zeros(K);
            for (&k, value) in gibbs.members().iter().zip(gibbs.theta()) {
                theta[k] = *value;
            }
            state = State { theta, members: gibbs.members().to_vec(), s2, v, p0 };
        }
        for (side, values) in [fresh.functions(), state.functions()].into_iter().enumerate() {
            for (i, value) in values.into_iter().enumerate() {
                sums[side][i] += value;
                squares[side][i] += value * value;
            }
        }
    }
    let m = REPLICATES as f64;
    std::array::from_fn(|i| {
        let variance: f64 = (0..2).map(|side| squares[side][i] / m - (sums[side][i] / m).powi(2)).sum();
        (sums[0][i] - sums[1][i]) / m / (variance / m).sqrt()
    })
}

fn worst(z: [f64; FUNCTIONS]) -> f64 {
    z.into_iter().map(f64::abs).fold(0.0, f64::max)
}

#[test]
fn sweeps_leave_the_joint_distribution_alone() {
    for exchanges in [0, 2] {
        let z = z_scores(PRIOR, exchanges, 17);
        assert!(worst(z) < THRESHOLD, "{exchanges} exchanges and pairs: {z:?}");
    }
    let z = z_scores(Prior { empty: Some(0.05), ..PRIOR }, 1, 17);
    assert!(worst(z) < THRESHOLD, "few empty models: {z:?}");
}

#[test]
fn a_wrong_shape_of_the_noise_variance_is_seen() {
    let z = z_scores(Prior { a_s: PRIOR.a_s + 0.5, ..PRIOR }, 1, 17);
    assert!(worst(z) > THRESHOLD, "{z:?}");
}
