//! The mathematics of itoscope, without Python.
//!
//! Data flow one way: paths and a library of candidate terms become *moments* (K x K, K, a scalar, a count);
//! moments become a posterior over models; a posterior becomes a model that can be simulated.
//! After [`gram`] nobody sees the N samples, before [`model`] nobody sees equations.

mod block;
pub mod chains;
pub mod code;
mod compile;
pub mod control;
pub mod enumerate;
pub mod error;
pub mod evidence;
pub mod expr;
pub mod factor;
pub mod filter;
pub mod gibbs;
pub mod gram;
pub mod integrate;
pub mod library;
pub mod model;
pub mod moments;
pub mod noise;
pub mod normals;
pub mod path;
pub mod posterior;
pub mod prior;
pub mod problems;
pub mod program;
pub mod residuals;
pub mod search;
pub mod simd;
pub mod slab;
pub mod special;
pub mod targets;

pub use error::{Error, Result};
