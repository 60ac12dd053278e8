//! Simulation of SDEs for Python.

use itoscope_core::Error;
use itoscope_core::simulate::{Noise, Sde, SimulationSettings};
use numpy::{
    IntoPyArray, PyArray1, PyReadonlyArray2, PyReadonlyArray3, PyReadwriteArray3, PyUntypedArrayMethods,
};
use pyo3::prelude::*;

use crate::errors::OrRaise;
use crate::run::detached;

/// Simulates paths of an SDE into `samples` `(n_paths, n_kept, m)`, and returns how many samples of each are finite;
/// see `itoscope.backends.protocol.Backend.simulate`.
#[pyfunction]
#[pyo3(signature = (drift, diffusion, gamma, states, x0, *, dt, n_steps, scheme, substeps, keep_every, seed, noise,
    parameters, progress, samples))]
#[expect(clippy::too_many_arguments, reason = "keyword arguments of the stage")]
pub fn simulate<'py>(
    py: Python<'py>,
    drift: Vec<String>,
    diffusion: Option<Vec<Vec<String>>>,
    gamma: Option<Vec<Vec<String>>>,
    states: Vec<String>,
    x0: PyReadonlyArray2<'py, f64>,
    dt: f64,
    n_steps: usize,
    scheme: &str,
    substeps: usize,
    keep_every: usize,
    seed: u64,
    noise: Option<PyReadonlyArray3<'py, f64>>,
    parameters: Option<(Vec<String>, PyReadonlyArray2<'py, f64>)>,
    progress: Option<Bound<'py, PyAny>>,
    mut samples: PyReadwriteArray3<'py, f64>,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let given = match gamma {
        Some(gamma) => Noise::Covariance(gamma),
        None => Noise::Diffusion(diffusion.unwrap_or(vec![Vec::new(); drift.len()])),
    };
    let (names, values) = parameters.unzip();
    let sde = Sde::with_parameters(drift, given, states, names.unwrap_or_default()).or_raise(py)?;
    let noise = noise.as_ref().map(|noise| noise.as_array());
    let parameters = values.as_ref().map(|values| values.as_array());
    let scheme = scheme.parse().or_raise(py)?;
    let settings = SimulationSettings { dt, n_steps, scheme, substeps, keep_every, seed, noise, parameters };
    let x0 = x0.as_array();
    let n_kept = n_steps / keep_every.max(1) + 1;
    let shape = [x0.nrows(), n_kept, x0.ncols()];
    if samples.shape() != shape {
        let given = format!("array of shape {:?}", samples.shape());
        return Err(Error::argument("samples", given, format!("shape {shape:?}"))).or_raise(py);
    }
    let samples = samples.as_slice_mut()?;
    let lengths =
        detached(py, progress.as_ref(), |control| sde.simulate_into(x0, &settings, samples, control))?;
    Ok(lengths.into_pyarray(py))
}
