//! Expressions: text becomes a graph of shared, simplified nodes, on which derivatives are taken symbolically; a graph
//! becomes a [`Program`], run over blocks of lanes in struct-of-arrays layout (see `code.rs`).
//!
//! One mechanism serves the libraries (values and gradients), the coefficients of an SDE, and the operators of the
//! integration schemes.
//!
//! ```
//! use itoscope_core::program::Program;
//!
//! let program = Program::new(&["x1^2 x2", "sgn(x2)"], &["x1", "x2"])?;
//! let mut scratch = program.scratch(8);
//! scratch.input_mut(0).fill(3.0);
//! scratch.input_mut(1).fill(-2.0);
//! program.run(&mut scratch);
//! assert_eq!(scratch.output(0)[7], -18.0);
//! assert_eq!(scratch.output(1)[7], -1.0);
//! # Ok::<(), itoscope_core::Error>(())
//! ```

mod affine;
mod code;
mod compile;
mod derive;
mod graph;
mod memory;
mod parse;
mod squares;

use std::sync::OnceLock;

use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis};
use rayon::prelude::*;

use crate::control::Control;
use crate::{Error, Result};

use compile::compile;

pub(crate) use code::Code;
pub use code::Scratch;
pub(crate) use graph::{Graph, Id};
pub(crate) use memory::Memory;
pub(crate) use parse::parse;
use parse::parse_naming;
pub(crate) use squares::{Squares, Strip};

/// Rows of an `(n, m)` array that one block of [`Program::evaluate`] holds: the time to interpret an instruction is spread
/// over 32 vectors, and the working memory of a wide library stays in the second-level cache.
const ROWS: usize = 256;

/// Expressions over named inputs, ready to run.
#[derive(Debug, Clone)]
pub struct Program {
    graph: Graph,
    roots: Vec<Id>,
    code: Code,
    /// Outputs whose text names an input that they do not depend on: `0 x` and `x - x` are 0, but not where x is NaN.
    vanished: Vec<(usize, usize)>,
    /// What [`Self::squares`] found.
    squares: OnceLock<Option<Box<Extended>>>,
}

/// A program whose first outputs are those of another, behind them rows that the distinct products of these are made of.
#[derive(Debug, Clone)]
pub(crate) struct Extended {
    pub program: Program,
    pub squares: Squares,
}

impl Program {
    /// Of each output that is affine by its form its value at the origin and its slopes, `1 + m` numbers.
    pub(crate) fn affine(&self) -> Vec<Option<Vec<f64>>> {
        self.graph.affine(&self.roots)
    }

    /// Compiles `expressions` over the names `inputs`; the grammar is that of `parse.rs`.
    ///
    /// # Errors
    /// [`Error::Expression`] with the character at fault; [`Error::Argument`] for an input that is no name or comes
    /// twice.
    pub fn new(expressions: &[impl AsRef<str>], inputs: &[impl AsRef<str>]) -> Result<Self> {
        check_names(inputs)?;
        let mut graph = Graph::new(inputs.len());
        let (mut roots, mut vanished) = (Vec::with_capacity(expressions.len()), Vec::new());
        for (output, text) in expressions.iter().enumerate() {
            let (root, named) = parse_naming(text.as_ref(), inputs, &mut graph)?;
            let mut gone = named;
            graph.each_input(root, |input| gone[input] = false);
            vanished.extend((0..gone.len()).filter(|&input| gone[input]).map(|input| (output, input)));
            roots.push(root);
        }
        Ok(Self { vanished, ..Self::compile(graph, roots) })
    }

    /// Compiles the nodes `roots` of a graph.
    pub(crate) fn compile(graph: Graph, roots: Vec<Id>) -> Self {
        let code = compile(&graph, &roots);
        Self { graph, roots, code, vanished: Vec::new(), squares: OnceLock::new() }
    }

    /// The distinct products of the outputs, where it is less work to sum them than to sum those of all pairs.
    pub(crate) fn squares(&self) -> Option<&Extended> {
        let extended = || {
            let (squares, graph, rows) = Squares::of(&self.graph, &self.roots)?;
            Some(Box::new(Extended { program: Self::compile(graph, rows), squares }))
        };
        self.squares.get_or_init(extended).as_deref()
    }

    /// Number of inputs, `m`.
    pub fn n_inputs(&self) -> usize {
        self.graph.n_inputs()
    }

    /// Number of outputs, `K`.
    pub fn n_outputs(&self) -> usize {
        self.roots.len()
    }

    /// Number of instructions that one block takes.
    pub fn n_instructions(&self) -> usize {
        self.code.n_instructions()
    }

    /// The program of all first derivatives; output `k * m + i` is the derivative of output `k` by input `i`.
    pub fn gradient_program(&self) -> Self {
        let mut graph = self.graph.clone();
        let mut roots = Vec::with_capacity(self.roots.len() * graph.n_inputs());
        for &root in &self.roots {
            for input in 0..graph.n_inputs() {
                roots.push(graph.derivative(root, input));
            }
        }
        Self::compile(graph, roots)
    }

    /// The instructions alone.
    pub(crate) fn code(&self) -> &Code {
        &self.code
    }

    /// Working memory for blocks of at least `lanes` lanes, allocated once and used again and again.
    pub fn scratch(&self, lanes: usize) -> Scratch {
        self.code.scratch(lanes)
    }

    /// Computes the outputs of `scratch` from its inputs, in all lanes.
    ///
    /// # Panics
    /// If the working memory was made for another program.
    pub fn run(&self, scratch: &mut Scratch) {
        self.code.run(scratch);
    }

    /// Values `(n, K)` at the rows of `x` `(n, m)`, on all threads of the current pool; NaN where an input that the
    /// expression names is.
    ///
    /// # Errors
    /// [`Error::Argument`] if `x` has another number of columns, [`Error::Interrupted`].
    pub fn evaluate(&self, x: ArrayView2<'_, f64>, control: &Control) -> Result<Array2<f64>> {
        let mut out = self.room(x)?;
        let blocks = out.axis_chunks_iter_mut(Axis(0), ROWS).into_par_iter();
        blocks.zip(x.axis_chunks_iter(Axis(0), ROWS).into_par_iter()).try_for_each_init(
            || self.scratch(ROWS.min(x.nrows())),
            |scratch, (out, x)| {
                control.check()?;
                self.fill(x, out, scratch);
                control.advance(x.nrows() as u64);
                Ok(())
            },
        )?;
        Ok(out)
    }

    /// The same values on the calling thread alone, for few rows.
    ///
    /// # Errors
    /// [`Error::Argument`] if `x` has another number of columns.
    pub fn evaluate_here(&self, x: ArrayView2<'_, f64>) -> Result<Array2<f64>> {
        let mut out = self.room(x)?;
        let mut scratch = self.scratch(ROWS.min(x.nrows()));
        for (out, x) in out.axis_chunks_iter_mut(Axis(0), ROWS).zip(x.axis_chunks_iter(Axis(0), ROWS)) {
            self.fill(x, out, &mut scratch);
        }
        Ok(out)
    }

    /// Room for the values at the rows of `x`.
    fn room(&self, x: ArrayView2<'_, f64>) -> Result<Array2<f64>> {
        if x.ncols() != self.n_inputs() {
            let allowed = format!("shape (n, {}), one column per input", self.n_inputs());
            return Err(Error::argument("x", format!("array of shape {:?}", x.dim()), allowed));
        }
        Ok(Array2::zeros((x.nrows(), self.n_outputs())))
    }

    /// Values at the rows of a block. Inlined: the loops over its callers' rows are compiled for their strides.
    #[inline(always)]
    fn fill(&self, x: ArrayView2<'_, f64>, mut out: ArrayViewMut2<'_, f64>, scratch: &mut Scratch) {
        for (i, column) in x.columns().into_iter().enumerate() {
            scratch.input_mut(i).iter_mut().zip(column).for_each(|(lane, &value)| *lane = value);
        }
        self.run(scratch);
        for (k, mut column) in out.columns_mut().into_iter().enumerate() {
            column.iter_mut().zip(scratch.output(k)).for_each(|(value, &lane)| *value = lane);
        }
        for &(output, input) in &self.vanished {
            let missing = x.column(input).into_iter().map(|value| value.is_nan());
            let values = out.column_mut(output).into_iter().zip(missing);
            values.filter(|(_, missing)| *missing).for_each(|(value, _)| *value = f64::NAN);
        }
    }
}

pub(crate) fn check_names(inputs: &[impl AsRef<str>]) -> Result<()> {
    for (i, input) in inputs.iter().map(AsRef::as_ref).enumerate() {
        let wrong = |allowed| Err(Error::argument(format!("inputs[{i}]"), format!("'{input}'"), allowed));
        let mut chars = input.chars();
        let begins = chars.next().is_some_and(|c| c.is_alphabetic() || c == '_');
        if !(begins && chars.all(|c| c.is_alphanumeric() || c == '_')) {
            return wrong("a name of letters, digits and underscores, no digit first");
        }
        if inputs[..i].iter().any(|other| other.as_ref() == input) {
            return wrong("names that differ from each other");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
