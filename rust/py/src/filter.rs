//! The filter's stages for Python.

use itoscope_core::Error;
use itoscope_core::control::Control;
use itoscope_core::filter::{self, FilterSums, Kink, Parameter, Shape, StateSpace};
use itoscope_core::path::Path;
use ndarray::{Array1, Array2};
use numpy::{IntoPyArray, PyArray, PyArray1, PyArray2, PyArray3, PyArrayMethods, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::arrays::{PyPaths, PyTimes};
use crate::errors::OrRaise;
use crate::program::PyProgram;
use crate::records::{PyKink, PyModel};
use crate::run::detached;

/// A state-space model, converted once for the stages that use it.
#[pyclass(name = "StateSpace", module = "itoscope._core", frozen)]
pub struct PyStateSpace {
    program: Py<PyProgram>,
    drift: Array2<f64>,
    gamma: Array2<f64>,
    pairs: Vec<(usize, usize)>,
    observation: Array2<f64>,
    noise: Array1<f64>,
    mean0: Array1<f64>,
    cov0: Array2<f64>,
    floor: Array1<f64>,
    max_step: f64,
    kinks: Vec<Kink>,
    second_order: bool,
    given: Vec<usize>,
    scaled: Vec<usize>,
    resets: Vec<Array2<f64>>,
    tails: Vec<Vec<f64>>,
    shared: Vec<(usize, usize)>,
    kicks: Vec<f64>,
    periods: Vec<f64>,
    along: bool,
}

#[pymethods]
impl PyStateSpace {
    #[new]
    fn new(py: Python<'_>, model: PyModel<'_>) -> PyResult<Self> {
        let kink = |PyKink { term, kind, i, j }: PyKink| {
            let shape = match kind.as_str() {
                "sgn" => Shape::Sign,
                "abs" => Shape::Absolute,
                "product" => Shape::Product,
                _ => return Err(Error::argument("kinks", kind, "'sgn', 'abs' or 'product'")),
            };
            Ok(Kink { term, shape, i, j })
        };
        Ok(Self {
            program: model.program,
            drift: model.drift.as_array().to_owned(),
            gamma: model.gamma.as_array().to_owned(),
            pairs: model.pairs,
            observation: model.observation.as_array().to_owned(),
            noise: model.noise.as_array().to_owned(),
            mean0: model.mean0.as_array().to_owned(),
            cov0: model.cov0.as_array().to_owned(),
            floor: model.floor.as_array().to_owned(),
            max_step: model.max_step,
            kinks: model.kinks.into_iter().map(kink).collect::<itoscope_core::Result<_>>().or_raise(py)?,
            second_order: model.second_order,
            given: model.given,
            scaled: model.scaled,
            resets: model.resets.iter().map(|reset| reset.as_array().to_owned()).collect(),
            tails: model.tails,
            shared: model.shared,
            kicks: model.kicks,
            periods: model.periods,
            along: model.along,
        })
    }
}

impl PyStateSpace {
    fn model(&self) -> StateSpace<'_> {
        let (program, gradient) = self.program.get().programs();
        StateSpace {
            program,
            gradient,
            drift: self.drift.clone(),
            gamma: self.gamma.clone(),
            pairs: self.pairs.clone(),
            observation: self.observation.clone(),
            noise: self.noise.clone(),
            mean0: self.mean0.clone(),
            cov0: self.cov0.clone(),
            floor: self.floor.clone(),
            max_step: self.max_step,
            kinks: self.kinks.clone(),
            second_order: self.second_order,
            given: self.given.clone(),
            scaled: self.scaled.clone(),
            resets: self.resets.clone(),
            tails: self.tails.clone(),
            shared: self.shared.clone(),
            kicks: self.kicks.clone(),
            periods: self.periods.clone(),
            along: self.along,
        }
    }
}

type Samples<'py> = Vec<PyReadonlyArray2<'py, f64>>;
type Columns = Vec<(usize, usize)>;
/// Gram matrix, moment, target's square, count, log-likelihoods.
type Moments<'py> =
    (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>, f64, f64, Bound<'py, PyArray1<f64>>);

fn moments<'py>(py: Python<'py>, (sums, loglik): (FilterSums, Vec<f64>)) -> PyResult<Moments<'py>> {
    let c = sums.moment.len();
    let gram = sums.gram.into_pyarray(py).reshape([c, c])?;
    Ok((gram, sums.moment.into_pyarray(py), sums.yy, sums.n, loglik.into_pyarray(py)))
}

/// How many paths of a recording of so many are summed together.
#[pyfunction]
pub fn filter_batch(n_paths: usize) -> usize {
    filter::batch_of(n_paths)
}

/// Log-likelihood of each path.
#[pyfunction]
pub fn filter_loglik<'py>(
    py: Python<'py>,
    model: &PyStateSpace,
    paths: Samples<'py>,
    times: Vec<PyTimes<'py>>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let paths = PyPaths::new(paths, times);
    let (views, space) = (paths.views(), model.model());
    let values = detached(py, None, |control| filter::loglik(&space, &views, control))?;
    Ok(values.into_pyarray(py))
}

/// Moments of the drift regression.
#[pyfunction]
#[pyo3(signature = (model, paths, times, columns, batch=None))]
pub fn filter_drift_moments<'py>(
    py: Python<'py>,
    model: &PyStateSpace,
    paths: Samples<'py>,
    times: Vec<PyTimes<'py>>,
    columns: Columns,
    batch: Option<usize>,
) -> PyResult<Moments<'py>> {
    let paths = PyPaths::new(paths, times);
    let (views, space) = (paths.views(), model.model());
    let found =
        detached(py, None, |control| filter::drift_moments(&space, &views, &columns, batch, control))?;
    moments(py, found)
}

/// Moments of the regression of Gamma and the noise variances.
#[pyfunction]
#[pyo3(signature = (model, paths, times, columns, batch=None))]
pub fn filter_noise_moments<'py>(
    py: Python<'py>,
    model: &PyStateSpace,
    paths: Samples<'py>,
    times: Vec<PyTimes<'py>>,
    columns: Columns,
    batch: Option<usize>,
) -> PyResult<Moments<'py>> {
    let paths = PyPaths::new(paths, times);
    let (views, space) = (paths.views(), model.model());
    let found =
        detached(py, None, |control| filter::noise_moments(&space, &views, &columns, batch, control))?;
    moments(py, found)
}

/// Fisher information and gradient of the log-likelihood.
#[pyfunction]
#[pyo3(signature = (model, paths, times, parameters, steps, batch=None))]
pub fn filter_information<'py>(
    py: Python<'py>,
    model: &PyStateSpace,
    paths: Samples<'py>,
    times: Vec<PyTimes<'py>>,
    parameters: Vec<(String, usize, usize)>,
    steps: Vec<f64>,
    batch: Option<usize>,
) -> PyResult<Moments<'py>> {
    let parameter = |((kind, i, k), step): ((String, usize, usize), f64)| {
        let parameter = match kind.as_str() {
            "drift" => Parameter::Drift(i, k),
            "gamma" => Parameter::Gamma(i, k),
            "noise" => Parameter::Noise(i),
            "tails" => Parameter::Tail(i, k),
            "kicks" => Parameter::Kick(k),
            _ => {
                let allowed = "'drift', 'gamma', 'noise', 'tails' or 'kicks'";
                return Err(Error::argument("parameters", kind, allowed));
            }
        };
        Ok((parameter, step))
    };
    let zipped = parameters.into_iter().zip(steps);
    let parameters = zipped.map(parameter).collect::<itoscope_core::Result<Vec<_>>>().or_raise(py)?;
    let paths = PyPaths::new(paths, times);
    let (views, space) = (paths.views(), model.model());
    let found =
        detached(py, None, |control| filter::information(&space, &views, &parameters, batch, control))?;
    moments(py, found)
}

/// What Python has of an array.
type Of<'py, T> = Bound<'py, PyArray<f64, <T as IntoPyArray>::Dim>>;

/// What a stage finds of every path, an array for each.
fn of_every_path<'py, T: IntoPyArray<Item = f64> + Send>(
    py: Python<'py>,
    model: &PyStateSpace,
    (paths, times): (Samples<'py>, Vec<PyTimes<'py>>),
    stage: impl Fn(&StateSpace<'_>, &[Path<'_>], &Control) -> itoscope_core::Result<Vec<T>> + Sync,
) -> PyResult<Vec<Of<'py, T>>> {
    let paths = PyPaths::new(paths, times);
    let (views, space) = (paths.views(), model.model());
    let found = detached(py, None, |control| stage(&space, &views, control))?;
    Ok(found.into_iter().map(|table| table.into_pyarray(py)).collect())
}

/// What the readings tell of the sizes of the steps of every path.
#[pyfunction]
pub fn filter_kicks<'py>(
    py: Python<'py>,
    model: &PyStateSpace,
    paths: Samples<'py>,
    times: Vec<PyTimes<'py>>,
) -> PyResult<Vec<Bound<'py, PyArray2<f64>>>> {
    of_every_path(py, model, (paths, times), filter::kicks)
}

/// Whitened innovations of every path.
#[pyfunction]
pub fn filter_innovations<'py>(
    py: Python<'py>,
    model: &PyStateSpace,
    paths: Samples<'py>,
    times: Vec<PyTimes<'py>>,
) -> PyResult<Vec<Bound<'py, PyArray2<f64>>>> {
    of_every_path(py, model, (paths, times), filter::innovations)
}

/// Log density of every sample of every path.
#[pyfunction]
pub fn filter_densities<'py>(
    py: Python<'py>,
    model: &PyStateSpace,
    paths: Samples<'py>,
    times: Vec<PyTimes<'py>>,
) -> PyResult<Vec<Bound<'py, PyArray1<f64>>>> {
    of_every_path(py, model, (paths, times), filter::densities)
}

/// Smoothed states of one path: means and covariances.
type States<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray3<f64>>);

/// Smoothed means and covariances of every path.
#[pyfunction]
pub fn filter_smooth<'py>(
    py: Python<'py>,
    model: &PyStateSpace,
    paths: Samples<'py>,
    times: Vec<PyTimes<'py>>,
) -> PyResult<Vec<States<'py>>> {
    let paths = PyPaths::new(paths, times);
    let (views, space) = (paths.views(), model.model());
    let found = detached(py, None, |control| filter::smooth(&space, &views, control))?;
    Ok(found.into_iter().map(|(mean, cov)| (mean.into_pyarray(py), cov.into_pyarray(py))).collect())
}
