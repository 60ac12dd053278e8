//! Compiled expressions for Python.

use std::sync::OnceLock;

use itoscope_core::Error;
use itoscope_core::program::Program;
use ndarray::{Array2, ArrayViewD, Ix2};
use numpy::{AllowTypeChange, IntoPyArray, PyArray2, PyArray3, PyArrayLikeDyn};
use pyo3::prelude::*;

use crate::errors::OrRaise;
use crate::run::detached;

/// Values computed that are worth threads of their own.
const WORTH_THREADS: usize = 200_000;

/// Expressions compiled over named inputs.
#[pyclass(name = "Program", module = "itoscope._core", frozen)]
pub struct PyProgram {
    program: Program,
    gradient: OnceLock<Program>,
    #[pyo3(get)]
    expressions: Vec<String>,
    #[pyo3(get)]
    inputs: Vec<String>,
}

impl PyProgram {
    /// The compiled program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Its expressions as given.
    pub fn expressions(&self) -> &[String] {
        &self.expressions
    }
}

#[pymethods]
impl PyProgram {
    #[new]
    fn new(py: Python<'_>, expressions: Vec<String>, inputs: Vec<String>) -> PyResult<Self> {
        let program = Program::new(&expressions, &inputs).or_raise(py)?;
        Ok(Self { program, gradient: OnceLock::new(), expressions, inputs })
    }

    fn __repr__(&self) -> String {
        format!("<Program of {} expressions in {}>", self.expressions.len(), self.inputs.join(", "))
    }

    /// Values `(n, K)` at the rows of `x` `(n, n_inputs)`.
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        x: PyArrayLikeDyn<'py, f64, AllowTypeChange>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        Ok(self.run(py, &self.program, x.as_array())?.into_pyarray(py))
    }

    /// Derivatives `(n, K, n_inputs)` at the rows of `x` `(n, n_inputs)`.
    fn gradient<'py>(
        &self,
        py: Python<'py>,
        x: PyArrayLikeDyn<'py, f64, AllowTypeChange>,
    ) -> PyResult<Bound<'py, PyArray3<f64>>> {
        let gradient = self.gradient.get_or_init(|| self.program.gradient_program());
        let values = self.run(py, gradient, x.as_array())?;
        let shape = (values.nrows(), self.program.n_outputs(), self.program.n_inputs());
        Ok(values.into_shape_with_order(shape).expect("rows are contiguous").into_pyarray(py))
    }
}

impl PyProgram {
    /// The program and the program of its derivatives.
    pub fn programs(&self) -> (&Program, &Program) {
        (&self.program, self.gradient.get_or_init(|| self.program.gradient_program()))
    }

    fn run(&self, py: Python<'_>, program: &Program, x: ArrayViewD<'_, f64>) -> PyResult<Array2<f64>> {
        let shape = format!("array of shape {:?}", x.shape());
        let rows = x.into_dimensionality::<Ix2>().ok().filter(|rows| rows.ncols() == self.inputs.len());
        let Some(rows) = rows else {
            let names = self.inputs.join(", ");
            let allowed = format!("shape (n, {}), one column for each of {names}", self.inputs.len());
            return Err(Error::argument("x", shape, allowed)).or_raise(py);
        };
        if rows.nrows() * program.n_outputs() < WORTH_THREADS {
            program.evaluate_here(rows).or_raise(py)
        } else {
            detached(py, None, |control| program.evaluate(rows, control))
        }
    }
}
