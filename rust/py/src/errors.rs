//! Core errors as the exception classes of `itoscope.errors`.

use itoscope_core::Error;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

/// The Python exception of a core error: same class and message as the NumPy reference raises.
pub fn to_py(py: Python<'_>, error: Error) -> PyErr {
    let class = match error {
        Error::Argument { .. } => "ArgumentError",
        Error::Data(_) => "DataError",
        Error::Expression { .. } => "ExpressionError",
        Error::Interrupted => return PyKeyboardInterrupt::new_err(()),
        _ => "NumericalError",
    };
    match py.import("itoscope.errors").and_then(|module| module.getattr(class)) {
        Ok(class) => match class.call1((error.to_string(),)) {
            Ok(value) => PyErr::from_value(value),
            Err(problem) => problem,
        },
        Err(problem) => problem,
    }
}

/// `?` for core results inside a binding.
pub trait OrRaise<T> {
    /// The value, or the Python exception.
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T> OrRaise<T> for itoscope_core::Result<T> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| to_py(py, error))
    }
}
