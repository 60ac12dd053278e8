//! Simulation of SDEs for Python.

use itoscope_core::Error;
use itoscope_core::simulate::{Sde, SimulationSettings};
use numpy::{
    IntoPyArray, PyArray1, PyReadonlyArray2, PyReadonlyArray3, PyReadwriteArray3, PyUntypedArrayMethods,
};
use pyo3::prelude::*;

use crate::errors::OrRaise;
use crate::records::{PyDynamics, PyStepping};
use crate::run::detached;

/// Simulates paths of an SDE into `samples` `(n_paths, n_kept, m)`, and returns how many samples of each are finite;
/// see `itoscope.backends.protocol.Backend.simulate`.
#[pyfunction]
#[pyo3(signature = (dynamics, x0, stepping, *, seed, noise, values, inputs, progress, samples))]
#[expect(clippy::too_many_arguments, reason = "those of the stage")]
pub fn simulate<'py>(
    py: Python<'py>,
    mut dynamics: PyDynamics,
    x0: PyReadonlyArray2<'py, f64>,
    stepping: PyStepping,
    seed: u64,
    noise: Option<PyReadonlyArray3<'py, f64>>,
    values: Option<PyReadonlyArray2<'py, f64>>,
    inputs: Option<PyReadonlyArray2<'py, f64>>,
    progress: Option<Bound<'py, PyAny>>,
    mut samples: PyReadwriteArray3<'py, f64>,
) -> PyResult<Bound<'py, PyArray1<i64>>> {
    let given = dynamics.noise();
    // Names without values are none: the equation then does not compile where it uses them.
    let names = if values.is_some() { dynamics.parameters } else { Vec::new() };
    let driven = if inputs.is_some() { dynamics.inputs } else { Vec::new() };
    let sde = Sde::with_inputs(dynamics.drift, given, dynamics.states, names, driven).or_raise(py)?;
    let noise = noise.as_ref().map(|noise| noise.as_array());
    let parameters = values.as_ref().map(|values| values.as_array());
    let inputs = inputs.as_ref().map(|inputs| inputs.as_array());
    let PyStepping { dt, n_steps, scheme, substeps, keep_every } = stepping;
    let scheme = scheme.parse().or_raise(py)?;
    let settings =
        SimulationSettings { dt, n_steps, scheme, substeps, keep_every, seed, noise, parameters, inputs };
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
