//! Expressions: text becomes a graph of shared, simplified nodes, on which derivatives are taken symbolically.
//!
//! One mechanism serves the libraries (values and gradients), the coefficients of an SDE, and the operators of the
//! integration schemes; [`crate::program`] turns a graph into something that runs.

mod derive;
mod graph;
mod parse;

pub use graph::{Function, Graph, Id, Node};
pub use parse::parse;
