//! Stages over recorded paths: regression sums and their projection, residuals, the covariance survey.

use itoscope_core::regression::{self, Ensemble, Regression, StepScheme, Weights};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arrays::{PyPaths, PyTimes};
use crate::program::PyProgram;
use crate::records::{PyFitted, PySums, PyTarget, PyVariance, PyWeights, Vector};
use crate::run::detached;

/// Fields of the record of sums: omega, cross, inner, c, d, s, total, n.
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
#[pyo3(signature = (x, times, program, target, scheme, weights, ensemble, progress))]
#[expect(clippy::too_many_arguments, reason = "those of the stage")]
pub fn regression_sums<'py>(
    py: Python<'py>,
    x: Vec<PyReadonlyArray2<'py, f64>>,
    times: Vec<PyTimes<'py>>,
    program: &Bound<'py, PyProgram>,
    target: PyTarget<'py>,
    scheme: &str,
    weights: Option<PyWeights<'py>>,
    ensemble: &str,
    progress: Option<&Bound<'py, PyAny>>,
) -> PyResult<SumsTuple<'py>> {
    let paths = PyPaths::new(x, times);
    let views = paths.views();
    let given = weights.as_ref().map(PyWeights::given).unwrap_or_default();
    let targets = target.given();
    let regression = Regression {
        program: program.get().program(),
        names: program.get().expressions(),
        target: target.view(),
        scheme: scheme_of(scheme)?,
        weights: weights.as_ref().map_or(Weights::Unit, |weights| weights.view(&given)),
        ensemble: ensemble_of(ensemble)?,
        squares: target.squares(),
        given: targets.as_deref(),
    };
    let sums = detached(py, progress, |control| regression.sums(&views, control))?;
    Ok((
        sums.omega.into_pyarray(py),
        sums.cross.into_pyarray(py),
        sums.inner.into_pyarray(py),
        sums.c.into_pyarray(py),
        sums.d.into_pyarray(py),
        sums.s,
        sums.total,
        sums.n,
    ))
}

/// Gram matrix, moment, square of the target and count.
type QuadraticTuple<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>, f64, f64);

/// The fields of the quadratic that the sums leave.
#[pyfunction]
pub fn project<'py>(py: Python<'py>, sums: PySums<'py>) -> QuadraticTuple<'py> {
    let moments = regression::project(&sums.copy());
    (moments.gram.into_pyarray(py), moments.moment.into_pyarray(py), moments.yy, moments.n)
}

/// The standardised residuals of one row and sums over them: n, powers, lagged, pairs, largest, path, step, z.
#[pyfunction]
#[expect(clippy::type_complexity, reason = "the fields of the record of residual sums")]
pub fn residual_sums<'py>(
    py: Python<'py>,
    x: Vec<PyReadonlyArray2<'py, f64>>,
    times: Vec<PyTimes<'py>>,
    row: usize,
    drift: PyFitted<'py>,
    variance: PyVariance<'py>,
    lags: usize,
) -> PyResult<(u64, Vec<f64>, Vec<f64>, Vec<f64>, f64, usize, usize, Bound<'py, PyArray1<f64>>)> {
    let paths = PyPaths::new(x, times);
    let views = paths.views();
    let (drift, floor, variance) = (drift.view(), variance.floors()[0], variance.view());
    let sums = detached(py, None, |control| {
        regression::residual_sums(&views, row, drift, variance, floor, lags, control)
    })?;
    let z = sums.z.into_pyarray(py);
    Ok((sums.n, sums.powers.to_vec(), sums.lagged, sums.pairs, sums.largest, sums.path, sums.step, z))
}

/// The predicted covariance on every sample: n, mean, low, below, indefinite, worst, path, sample.
#[pyfunction]
#[expect(clippy::type_complexity, reason = "the fields of the record of the survey")]
pub fn survey<'py>(
    py: Python<'py>,
    x: Vec<PyReadonlyArray2<'py, f64>>,
    gamma: PyFitted<'py>,
    pairs: Vec<(usize, usize)>,
    floors: Vector<'py>,
) -> PyResult<(u64, Vec<f64>, Vec<f64>, Vec<u64>, u64, f64, usize, usize)> {
    let times = x.iter().map(|_| PyTimes::Even(1.0)).collect();
    let paths = PyPaths::new(x, times);
    let (views, gamma, floors) = (paths.views(), gamma.view(), floors.as_array().to_vec());
    let found = detached(py, None, |control| regression::survey(&views, gamma, &pairs, &floors, control))?;
    Ok((found.n, found.mean, found.low, found.below, found.indefinite, found.worst, found.path, found.sample))
}
