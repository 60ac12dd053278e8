//! The distinct products of a library with itself, summed over the steps of a block.

use ndarray::Array1;

use super::products::{Rows, View, add_squares};
use crate::program::Squares;

/// Which products differ, and room for what they are made of.
pub(super) struct Distinct<'a> {
    squares: &'a Squares,
    weighted: Rows,
    in_order: Vec<usize>,
}

impl<'a> Distinct<'a> {
    /// Room for the bases of the products.
    pub fn new(squares: &'a Squares) -> Self {
        let n_bases = squares.bases.len();
        Self { squares, weighted: Rows::new(n_bases), in_order: (0..n_bases).collect() }
    }

    /// Adds `w u_i u_j`; `rows` has the library and what extends it, `even` says that all weights are the same.
    pub fn add(&mut self, rows: View<'_>, w: &[f64], even: bool, out: &mut Array1<f64>) {
        let Self { squares, weighted, in_order } = self;
        if even {
            add_squares(squares, (rows, &squares.bases), rows, w.len(), w[0], out);
        } else {
            let bases = weighted.weigh(rows, squares.bases.iter().copied(), w);
            add_squares(squares, (bases, in_order), rows, w.len(), 1.0, out);
        }
    }
}
