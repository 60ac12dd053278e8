//! The sampler stages: moments and a prior in, draws or masses out.

use itoscope_core::control::Control;
use itoscope_core::noise::{Kind, Purpose, Stream, Tape};
use itoscope_core::sampler::{self, Chain, Start, enumerate, run_chain, run_chains};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::OrRaise;
use crate::records::{PyPrior, PyQuadratic, PySweeps};
use crate::run::detached;

/// One recorded draw: its kind, the two shapes (zero where the kind has none), its value.
type PyDraw = (String, f64, f64, f64);

fn tape(draws: Vec<PyDraw>) -> PyResult<Tape> {
    let draws = draws.into_iter().map(|(kind, a, b, value)| {
        let kind = match kind.as_str() {
            "uniform" => Kind::Uniform,
            "normal" => Kind::Normal,
            "gamma" => Kind::Gamma(a),
            "beta" => Kind::Beta(a, b),
            _ => return Err(PyValueError::new_err(format!("a tape has no draws of kind {kind:?}"))),
        };
        Ok((kind, value))
    });
    Ok(Tape::new(draws.collect::<PyResult<_>>()?))
}

fn chain_dict(py: Python<'_>, chain: Chain) -> PyResult<Bound<'_, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("samples", chain.samples.into_pyarray(py))?;
    dict.set_item("included", chain.included.into_pyarray(py))?;
    dict.set_item("inclusion", chain.inclusion.into_pyarray(py))?;
    dict.set_item("noise_var", chain.noise_var.into_pyarray(py))?;
    dict.set_item("slab_var", chain.slab_var.into_pyarray(py))?;
    dict.set_item("p0", chain.p0.into_pyarray(py))?;
    let work = PyDict::new(py);
    work.set_item("sweeps", chain.work.sweeps)?;
    work.set_item("flips", chain.work.flips)?;
    work.set_item("exchanges_tried", chain.work.exchanges_tried)?;
    work.set_item("exchanges", chain.work.exchanges)?;
    work.set_item("pairs", chain.work.pairs)?;
    work.set_item("rows", chain.work.rows)?;
    dict.set_item("work", work)?;
    Ok(dict)
}

/// Log evidence of one model given the slab variance.
#[pyfunction]
pub fn log_evidence(
    py: Python<'_>,
    quadratic: PyQuadratic<'_>,
    prior: PyPrior,
    included: PyReadonlyArray1<'_, bool>,
    slab_var: f64,
) -> PyResult<f64> {
    let regression = quadratic.under(py, prior)?;
    let members = regression.usable(&included.as_array().to_vec()).or_raise(py)?;
    regression.log_evidence(&members, slab_var).or_raise(py)
}

/// Runs chains on streams of `seed`; one dictionary of arrays per chain.
#[pyfunction]
pub fn sample_chains<'py>(
    py: Python<'py>,
    quadratic: PyQuadratic<'py>,
    prior: PyPrior,
    sweeps: PySweeps,
    n_chains: usize,
    seed: u64,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let regression = quadratic.under(py, prior)?;
    let settings = sweeps.chains(n_chains);
    let chains =
        detached(py, progress.as_ref(), |control| run_chains(&regression, &settings, seed, control))?;
    chains.into_iter().map(|chain| chain_dict(py, chain)).collect()
}

/// Replays one chain from recorded draws; `start` is "search", "empty" or "random".
#[pyfunction]
pub fn replay_chain<'py>(
    py: Python<'py>,
    quadratic: PyQuadratic<'py>,
    prior: PyPrior,
    sweeps: PySweeps,
    start: &str,
    draws: Vec<PyDraw>,
) -> PyResult<Bound<'py, PyDict>> {
    let regression = quadratic.under(py, prior)?;
    let settings = sweeps.chains(1);
    settings.check().or_raise(py)?;
    let start = match start {
        "search" => Start::Search,
        "empty" => Start::Empty,
        "random" => Start::Random,
        _ => return Err(PyValueError::new_err(format!("start = {start:?}: search, empty or random"))),
    };
    let mut tape = tape(draws)?;
    let chain = run_chain(&regression, &settings, start, &mut tape, &Control::default()).or_raise(py)?;
    tape.finish().or_raise(py)?;
    chain_dict(py, chain)
}

/// Log joint mass of every model of at most 20 usable columns.
#[pyfunction]
pub fn enumerate_models<'py>(
    py: Python<'py>,
    quadratic: PyQuadratic<'py>,
    prior: PyPrior,
    progress: Option<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let regression = quadratic.under(py, prior)?;
    let log_mass = detached(py, progress.as_ref(), |control| enumerate(&regression, control))?;
    Ok(log_mass.into_pyarray(py))
}

/// Independent draws from the enumerated posterior, from a stream of `seed` or from recorded draws.
#[pyfunction]
pub fn exact_draws<'py>(
    py: Python<'py>,
    quadratic: PyQuadratic<'py>,
    prior: PyPrior,
    log_mass: PyReadonlyArray1<'py, f64>,
    n_draws: usize,
    seed: u64,
    draws: Option<Vec<PyDraw>>,
) -> PyResult<Bound<'py, PyDict>> {
    let regression = quadratic.under(py, prior)?;
    let log_mass = log_mass.as_array().to_vec();
    let chain = match draws {
        Some(draws) => {
            let mut tape = tape(draws)?;
            let chain = sampler::exact_draws(&regression, &log_mass, n_draws, &mut tape, &Control::default())
                .or_raise(py)?;
            tape.finish().or_raise(py)?;
            chain
        }
        None => detached(py, None, |control| {
            let mut stream = Stream::new(seed, Purpose::Chain, 0);
            sampler::exact_draws(&regression, &log_mass, n_draws, &mut stream, control)
        })?,
    };
    chain_dict(py, chain)
}

/// Log mass, mean and covariance of the coefficients given a model.
#[pyfunction]
#[allow(clippy::type_complexity)]
pub fn model_posterior<'py>(
    py: Python<'py>,
    quadratic: PyQuadratic<'py>,
    prior: PyPrior,
    included: PyReadonlyArray1<'py, bool>,
) -> PyResult<(f64, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray2<f64>>)> {
    let regression = quadratic.under(py, prior)?;
    let members = regression.usable(&included.as_array().to_vec()).or_raise(py)?;
    let posterior = sampler::model_posterior(&regression, &members).or_raise(py)?;
    Ok((posterior.log_mass, posterior.mean.into_pyarray(py), posterior.cov.into_pyarray(py)))
}
