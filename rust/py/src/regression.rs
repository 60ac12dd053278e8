//! Stages over recorded paths: regression sums and their projection, residuals, the covariance survey.

use itoscope_core::regression::{self, Ensemble, Fitted, Regression, StepScheme, Sums, Target, Weights};
use ndarray::{Array1, Array2, ArrayView1, ArrayView2};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arrays::{PyPaths, PyTimes};
use crate::program::PyProgram;
use crate::run::detached;

/// A program and coefficients, as Python gives them.
type PyFitted<'py> = (Bound<'py, PyProgram>, PyReadonlyArray2<'py, f64>);

fn fitted<'a>(pair: &'a PyFitted<'_>) -> Fitted<'a> {
    Fitted { program: pair.0.get().program(), coef: pair.1.as_array() }
}

/// Weights as Python gives them: one array per path, or a predicted variance with its floors.
#[derive(FromPyObject)]
pub enum PyWeights<'py> {
    /// Program, coefficients, floors.
    Variance((Bound<'py, PyProgram>, PyReadonlyArray2<'py, f64>, Vec<f64>)),
    /// One weight per step of each path.
    Given(Vec<PyReadonlyArray1<'py, f64>>),
}

/// Arrays of [`Sums`]: omega, cross, inner, c, d, s, total, n.
type SumsTuple<'py> = (
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
    f64,
    f64,
    u64,
);

fn matrix<'py>(py: Python<'py>, m: &nalgebra::DMatrix<f64>) -> Bound<'py, PyArray2<f64>> {
    Array2::from_shape_fn((m.nrows(), m.ncols()), |(i, j)| m[(i, j)]).into_pyarray(py)
}

fn vector<'py>(py: Python<'py>, v: &nalgebra::DVector<f64>) -> Bound<'py, PyArray1<f64>> {
    Array1::from_iter(v.iter().copied()).into_pyarray(py)
}

fn from_matrix(m: &ArrayView2<'_, f64>) -> nalgebra::DMatrix<f64> {
    nalgebra::DMatrix::from_fn(m.nrows(), m.ncols(), |i, j| m[(i, j)])
}

fn from_vector(v: &ArrayView1<'_, f64>) -> nalgebra::DVector<f64> {
    nalgebra::DVector::from_iterator(v.len(), v.iter().copied())
}

fn scheme_of(name: &str) -> PyResult<StepScheme> {
    match name {
        "euler" => Ok(StepScheme::Euler),
        "trapezoid" => Ok(StepScheme::Trapezoid),
        _ => Err(PyValueError::new_err(format!("scheme = '{name}': 'euler' or 'trapezoid'"))),
    }
}

fn ensemble_of(name: &str) -> PyResult<Ensemble> {
    match name {
        "pool" => Ok(Ensemble::Pool),
        "mean" => Ok(Ensemble::Mean),
        _ => Err(PyValueError::new_err(format!("ensemble = '{name}': 'pool' or 'mean'"))),
    }
}

/// Additive sums of one regression over all steps of all paths.
#[pyfunction]
#[pyo3(signature = (x, times, program, pair, is_diffusion, drift, scheme, weights, ensemble, progress))]
#[allow(clippy::too_many_arguments)]
pub fn regression_sums<'py>(
    py: Python<'py>,
    x: Vec<PyReadonlyArray2<'py, f64>>,
    times: Vec<PyTimes<'py>>,
    program: &Bound<'py, PyProgram>,
    pair: (usize, usize),
    is_diffusion: bool,
    drift: Option<PyFitted<'py>>,
    scheme: &str,
    weights: Option<PyWeights<'py>>,
    ensemble: &str,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<SumsTuple<'py>> {
    let paths = PyPaths::new(x, times);
    let views = paths.views();
    let drift = drift.as_ref().map(fitted);
    let target = if is_diffusion { Target::Diffusion { pair, drift } } else { Target::Drift(pair.0) };
    let given: Vec<ArrayView1<'_, f64>> = match &weights {
        Some(PyWeights::Given(all)) => all.iter().map(|w| w.as_array()).collect(),
        _ => Vec::new(),
    };
    let weights = match &weights {
        None => Weights::Unit,
        Some(PyWeights::Given(_)) => Weights::Given(&given),
        Some(PyWeights::Variance((p, coef, floors))) => Weights::Variance {
            gamma: Fitted { program: p.get().program(), coef: coef.as_array() },
            floors: [floors.first().copied().unwrap_or(0.0), floors.last().copied().unwrap_or(0.0)],
        },
    };
    let regression = Regression {
        program: program.get().program(),
        names: program.get().expressions(),
        target,
        scheme: scheme_of(scheme)?,
        weights,
        ensemble: ensemble_of(ensemble)?,
    };
    let sums = detached(py, progress, |control| regression.sums(&views, control))?;
    Ok((
        matrix(py, &sums.omega),
        matrix(py, &sums.cross),
        matrix(py, &sums.inner),
        vector(py, &sums.c),
        vector(py, &sums.d),
        sums.s,
        sums.total,
        sums.n,
    ))
}

/// Moments `(gram, moment, yy)` of the sums.
#[pyfunction]
#[allow(clippy::too_many_arguments, clippy::type_complexity)]
pub fn project<'py>(
    py: Python<'py>,
    omega: PyReadonlyArray2<'py, f64>,
    cross: PyReadonlyArray2<'py, f64>,
    inner: PyReadonlyArray2<'py, f64>,
    c: PyReadonlyArray1<'py, f64>,
    d: PyReadonlyArray1<'py, f64>,
    s: f64,
) -> (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>, f64) {
    let sums = Sums {
        omega: from_matrix(&omega.as_array()),
        cross: from_matrix(&cross.as_array()),
        inner: from_matrix(&inner.as_array()),
        c: from_vector(&c.as_array()),
        d: from_vector(&d.as_array()),
        s,
        total: 0.0,
        n: 0,
    };
    let moments = regression::project(&sums);
    (matrix(py, &moments.gram), vector(py, &moments.moment), moments.yy)
}

/// Sums over the standardised residuals of one row: n, powers, lagged, pairs, largest, path, step.
#[pyfunction]
#[allow(clippy::too_many_arguments, clippy::type_complexity)]
pub fn residual_sums<'py>(
    py: Python<'py>,
    x: Vec<PyReadonlyArray2<'py, f64>>,
    times: Vec<PyTimes<'py>>,
    row: usize,
    drift: PyFitted<'py>,
    variance: PyFitted<'py>,
    floor: f64,
    lags: usize,
) -> PyResult<(u64, Vec<f64>, Vec<f64>, Vec<f64>, f64, usize, usize)> {
    let paths = PyPaths::new(x, times);
    let views = paths.views();
    let (drift, variance) = (fitted(&drift), fitted(&variance));
    let sums = detached(py, None, |control| {
        regression::residual_sums(&views, row, drift, variance, floor, lags, control)
    })?;
    Ok((sums.n, sums.powers.to_vec(), sums.lagged, sums.pairs, sums.largest, sums.path, sums.step))
}

/// The predicted covariance on every sample: n, mean, low, below, indefinite, worst, path, sample.
#[pyfunction]
#[allow(clippy::type_complexity)]
pub fn survey<'py>(
    py: Python<'py>,
    x: Vec<PyReadonlyArray2<'py, f64>>,
    gamma: PyFitted<'py>,
    pairs: Vec<(usize, usize)>,
    floors: Vec<f64>,
) -> PyResult<(u64, Vec<f64>, Vec<f64>, Vec<u64>, u64, f64, usize, usize)> {
    let times = x.iter().map(|_| PyTimes::Even(1.0)).collect();
    let paths = PyPaths::new(x, times);
    let views = paths.views();
    let gamma = fitted(&gamma);
    let found = detached(py, None, |control| regression::survey(&views, gamma, &pairs, &floors, control))?;
    Ok((found.n, found.mean, found.low, found.below, found.indefinite, found.worst, found.path, found.sample))
}
