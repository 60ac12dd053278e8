//! The records that stages take, `itoscope.backends.records` and `itoscope.stats.quadratic`, read by their attributes.

use itoscope_core::regression::{Fitted, Sums, Target, Weights};
use itoscope_core::sampler::{ChainSettings, Prior, ScaledRegression};
use itoscope_core::simulate::Noise;
use ndarray::ArrayView1;
use numpy::{AllowTypeChange, PyArrayLike1, PyArrayLike2, PyReadonlyArray1};
use pyo3::prelude::*;

use crate::errors::OrRaise;
use crate::program::PyProgram;

/// Numbers of any type that NumPy can turn into doubles; doubles are not copied.
pub type Vector<'py> = PyArrayLike1<'py, f64, AllowTypeChange>;
/// The same in rows and columns.
pub type Matrix<'py> = PyArrayLike2<'py, f64, AllowTypeChange>;

/// `Fitted`: a linear model over a library.
#[derive(FromPyObject)]
pub struct PyFitted<'py> {
    program: Bound<'py, PyProgram>,
    coef: Matrix<'py>,
}

impl PyFitted<'_> {
    /// A view for the core.
    pub fn view(&self) -> Fitted<'_> {
        Fitted { program: self.program.get().program(), coef: self.coef.as_array() }
    }
}

/// `Variance`: predicted covariances with their floors.
#[derive(FromPyObject)]
pub struct PyVariance<'py> {
    program: Bound<'py, PyProgram>,
    coef: Matrix<'py>,
    floors: Vector<'py>,
}

impl PyVariance<'_> {
    /// A view of the coefficients for the core.
    pub fn view(&self) -> Fitted<'_> {
        Fitted { program: self.program.get().program(), coef: self.coef.as_array() }
    }

    /// Lower bounds of the first and of the last variance; zero where there are none.
    pub fn floors(&self) -> [f64; 2] {
        let floors = self.floors.as_array();
        [floors.first().copied().unwrap_or(0.0), floors.last().copied().unwrap_or(0.0)]
    }
}

/// `Weights`: a predicted variance, or one array of weights per path.
#[derive(FromPyObject)]
pub enum PyWeights<'py> {
    /// By a predicted variance.
    Variance(PyVariance<'py>),
    /// One weight per step of each path.
    Given(Vec<PyReadonlyArray1<'py, f64>>),
}

impl PyWeights<'_> {
    /// Views of the weights of each path, where these are given.
    pub fn given(&self) -> Vec<ArrayView1<'_, f64>> {
        match self {
            Self::Variance(_) => Vec::new(),
            Self::Given(all) => all.iter().map(|weights| weights.as_array()).collect(),
        }
    }

    /// The weights for the core; `given` are those of [`Self::given`].
    pub fn view<'a>(&'a self, given: &'a [ArrayView1<'a, f64>]) -> Weights<'a> {
        match self {
            Self::Variance(variance) => {
                Weights::Variance { gamma: variance.view(), floors: variance.floors() }
            }
            Self::Given(_) => Weights::Given(given),
        }
    }
}

/// `Target`: what is regressed.
#[derive(FromPyObject)]
pub struct PyTarget<'py> {
    pair: (usize, usize),
    is_diffusion: bool,
    drift: Option<PyFitted<'py>>,
    squares: bool,
    given: Option<Vec<PyReadonlyArray1<'py, f64>>>,
}

impl PyTarget<'_> {
    /// Views of the targets of each path, where these are given.
    pub fn given(&self) -> Option<Vec<ArrayView1<'_, f64>>> {
        self.given.as_ref().map(|all| all.iter().map(|targets| targets.as_array()).collect())
    }

    /// Whether products of terms with terms are wanted.
    pub fn squares(&self) -> bool {
        self.squares
    }

    /// A view for the core.
    pub fn view(&self) -> Target<'_> {
        if self.is_diffusion {
            Target::Diffusion { pair: self.pair, drift: self.drift.as_ref().map(PyFitted::view) }
        } else {
            Target::Drift(self.pair.0)
        }
    }
}

/// `Sums`: the additive sums of a regression.
#[derive(FromPyObject)]
pub struct PySums<'py> {
    omega: Matrix<'py>,
    cross: Matrix<'py>,
    inner: Matrix<'py>,
    c: Vector<'py>,
    d: Vector<'py>,
    s: f64,
    total: f64,
    n: u64,
}

impl PySums<'_> {
    /// A copy for the core.
    pub fn copy(&self) -> Sums {
        let matrix = |m: &Matrix<'_>| m.as_array().to_owned();
        let vector = |v: &Vector<'_>| v.as_array().to_owned();
        Sums {
            omega: matrix(&self.omega),
            cross: matrix(&self.cross),
            inner: matrix(&self.inner),
            c: vector(&self.c),
            d: vector(&self.d),
            s: self.s,
            total: self.total,
            n: self.n,
        }
    }
}

/// `Quadratic`: all that a regression leaves of its rows.
#[derive(FromPyObject)]
pub struct PyQuadratic<'py> {
    gram: Matrix<'py>,
    moment: Vector<'py>,
    yy: f64,
    n: f64,
}

impl PyQuadratic<'_> {
    /// The regression under a prior.
    pub fn under(&self, py: Python<'_>, prior: PyPrior) -> PyResult<ScaledRegression> {
        let (gram, moment) = (self.gram.as_array(), self.moment.as_array());
        ScaledRegression::new(gram, moment, self.yy, self.n, prior.into()).or_raise(py)
    }
}

/// `itoscope.Prior`, or anything with its attributes.
#[derive(FromPyObject)]
pub struct PyPrior {
    a_p: f64,
    b_p: f64,
    a_v: f64,
    b_v: f64,
    a_s: f64,
    b_s: f64,
    slab_start: f64,
    p0_start: f64,
    standardize: bool,
    empty: Option<f64>,
}

impl From<PyPrior> for Prior {
    fn from(p: PyPrior) -> Self {
        let PyPrior { a_p, b_p, a_v, b_v, a_s, b_s, slab_start, p0_start, standardize, empty } = p;
        Self { a_p, b_p, a_v, b_v, a_s, b_s, slab_start, p0_start, standardize, empty }
    }
}

/// `Sweeps`: how long a chain is.
#[derive(FromPyObject)]
pub struct PySweeps {
    n_samples: usize,
    n_burn: usize,
    thin: usize,
    exchanges: usize,
}

impl PySweeps {
    /// So many chains of this length.
    pub fn chains(&self, n_chains: usize) -> ChainSettings {
        let Self { n_samples, n_burn, thin, exchanges } = *self;
        ChainSettings { n_chains, n_samples, n_burn, thin, exchanges }
    }
}

/// `Dynamics`: an equation as expressions.
#[derive(FromPyObject)]
pub struct PyDynamics {
    /// Names of the states.
    pub states: Vec<String>,
    /// The drift.
    pub drift: Vec<String>,
    diffusion: Option<Vec<Vec<String>>>,
    gamma: Option<Vec<Vec<String>>>,
    /// Names that stand for numbers of each path.
    pub parameters: Vec<String>,
    /// Names that stand for what drives the system from outside.
    pub inputs: Vec<String>,
}

impl PyDynamics {
    /// The noise in the form that is given: none is a diffusion without columns.
    pub fn noise(&mut self) -> Noise {
        match self.gamma.take() {
            Some(gamma) => Noise::Covariance(gamma),
            None => Noise::Diffusion(self.diffusion.take().unwrap_or(vec![Vec::new(); self.drift.len()])),
        }
    }
}

/// `Stepping`: how time goes.
#[derive(FromPyObject)]
pub struct PyStepping {
    /// Time between two steps.
    pub dt: f64,
    /// Number of steps.
    pub n_steps: usize,
    /// Name of the scheme.
    pub scheme: String,
    /// Steps of the scheme in a step.
    pub substeps: usize,
    /// Steps from one sample to the next.
    pub keep_every: usize,
}

/// `StateSpace`: the filter's model.
#[derive(FromPyObject)]
pub struct PyModel<'py> {
    /// The terms.
    pub program: Py<PyProgram>,
    /// Coefficients of the drift.
    pub drift: Matrix<'py>,
    /// Coefficients of the elements of Gamma.
    pub gamma: Matrix<'py>,
    /// Which elements.
    pub pairs: Vec<(usize, usize)>,
    /// What the channels see.
    pub observation: Matrix<'py>,
    /// Variances of their noises, then covariances.
    pub noise: Vector<'py>,
    /// Mean of the first state.
    pub mean0: Vector<'py>,
    /// Its covariance.
    pub cov0: Matrix<'py>,
    /// Smallest variances of Gamma.
    pub floor: Vector<'py>,
    /// Longest step.
    pub max_step: f64,
    /// Terms with kinks.
    pub kinks: Vec<PyKink>,
    /// Whether the terms of order dt^2 are kept.
    pub second_order: bool,
    /// States that the paths hold.
    pub given: Vec<usize>,
    /// Channels whose noise is scaled by the paths.
    pub scaled: Vec<usize>,
    /// What becomes of the state after the samples that the paths mark.
    pub resets: Vec<Matrix<'py>>,
    /// What the noise of each channel has beyond a normal law.
    pub tails: Vec<Vec<f64>>,
    /// Pairs of channels whose noises are correlated.
    pub shared: Vec<(usize, usize)>,
    /// What shapes the law of steps.
    pub kicks: Vec<f64>,
    /// Periods of channels that wrap.
    pub periods: Vec<f64>,
    /// Whether the paths hold the law about which steps are linearised.
    pub along: bool,
}

/// `Kink`: a term whose derivative jumps.
#[derive(FromPyObject)]
pub struct PyKink {
    /// Number of the term.
    pub term: usize,
    /// Name of its shape.
    pub kind: String,
    /// State outside the bars.
    pub i: usize,
    /// State inside the bars or the sign.
    pub j: usize,
}
