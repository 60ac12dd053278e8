//! The Python module `itoscope._core`: conversion in, detached run, conversion out; no mathematics.

use pyo3::prelude::*;

mod arrays;
mod errors;
mod filter;
mod program;
mod records;
mod regression;
mod run;
mod sampler;
mod simulate;
mod table;

/// Compiled core of itoscope.
#[pymodule]
mod _core {
    use super::*;

    #[pymodule_export]
    use super::filter::{
        PyStateSpace, filter_batch, filter_densities, filter_drift_moments, filter_information,
        filter_innovations, filter_kicks, filter_loglik, filter_noise_moments, filter_smooth,
    };
    #[pymodule_export]
    use super::program::PyProgram;
    #[pymodule_export]
    use super::regression::{project, regression_sums, residual_sums, survey};
    #[pymodule_export]
    use super::run::set_threads;
    #[pymodule_export]
    use super::sampler::{
        enumerate_models, exact_draws, log_evidence, model_posterior, replay_chain, sample_chains,
    };
    #[pymodule_export]
    use super::simulate::simulate;
    #[pymodule_export]
    use super::table::read_table;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
