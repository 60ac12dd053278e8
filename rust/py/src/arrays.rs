//! NumPy arrays as core paths, without copying.

use itoscope_core::path::{Path, Times};
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

/// Times of one path as Python gives them: a step length, or stamps.
#[derive(FromPyObject)]
pub enum PyTimes<'py> {
    /// Equal steps.
    Even(f64),
    /// One stamp per sample.
    Stamps(PyReadonlyArray1<'py, f64>),
}

/// Borrowed NumPy paths, kept alive while the core works on views of them.
pub struct PyPaths<'py> {
    x: Vec<PyReadonlyArray2<'py, f64>>,
    times: Vec<PyTimes<'py>>,
}

impl<'py> PyPaths<'py> {
    /// Pairs samples and times.
    pub fn new(x: Vec<PyReadonlyArray2<'py, f64>>, times: Vec<PyTimes<'py>>) -> Self {
        Self { x, times }
    }

    /// Views for the core.
    pub fn views(&self) -> Vec<Path<'_>> {
        let times = self.times.iter().map(|t| match t {
            PyTimes::Even(dt) => Times::Even(*dt),
            PyTimes::Stamps(stamps) => Times::Stamps(stamps.as_array()),
        });
        self.x.iter().zip(times).map(|(x, times)| Path { x: x.as_array(), times }).collect()
    }
}
