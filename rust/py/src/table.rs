//! Text tables for Python.

use itoscope_core::table::{Column, Fault, Kind, Layout, read};
use numpy::IntoPyArray;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

use crate::run::detached;

/// The columns of whole lines of a text table: arrays of numbers, texts as `(bytes, width)`, `None` for those skipped;
/// or, as a second item, the fault `(line, column, cell)`, where column -1 means that the row has `cell` cells.
#[pyfunction]
#[pyo3(signature = (text, kinds, delimiter=None, decimal_comma=false))]
#[allow(clippy::type_complexity)]
pub fn read_table<'py>(
    py: Python<'py>,
    text: &Bound<'py, PyBytes>,
    kinds: &str,
    delimiter: Option<u8>,
    decimal_comma: bool,
) -> PyResult<(Bound<'py, PyList>, Option<(usize, isize, String)>)> {
    let kinds: Vec<Kind> = kinds
        .bytes()
        .map(|kind| match kind {
            b'n' => Kind::Number,
            b't' => Kind::Text,
            _ => Kind::Skip,
        })
        .collect();
    let bytes = text.as_bytes();
    let found = PyList::empty(py);
    match detached(py, None, |_| Ok(read(bytes, Layout { delimiter, decimal_comma }, &kinds)))? {
        Err(Fault::Cells { line, found: cells }) => Ok((found, Some((line, -1, cells.to_string())))),
        Err(Fault::Number { line, column, cell }) => Ok((found, Some((line, column as isize, cell)))),
        Ok(columns) => {
            for column in columns {
                match column {
                    Column::Skipped => found.append(py.None())?,
                    Column::Numbers(values) => found.append(values.into_pyarray(py))?,
                    Column::Text(bytes, ends) => found.append(padded(py, &bytes, &ends))?,
                }
            }
            Ok((found, None))
        }
    }
}

/// Texts at one width, filled with zero bytes, as NumPy's type `S` has them.
fn padded<'py>(py: Python<'py>, bytes: &[u8], ends: &[usize]) -> (Bound<'py, PyBytes>, usize) {
    let starts = || std::iter::once(&0).chain(ends);
    let width = ends.iter().zip(starts()).map(|(end, start)| end - start).max().unwrap_or(0).max(1);
    if bytes.len() == width * ends.len() {
        return (PyBytes::new(py, bytes), width);
    }
    let mut wide = vec![0; width * ends.len()];
    for ((cell, end), start) in wide.chunks_exact_mut(width).zip(ends).zip(starts()) {
        cell[..end - start].copy_from_slice(&bytes[*start..*end]);
    }
    (PyBytes::new(py, &wide), width)
}
