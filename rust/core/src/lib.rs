//! The mathematics of itoscope, without Python.
//!
//! Data flow one way: paths and a library of candidate terms become *moments* (K x K, K, a scalar, a count);
//! moments become a posterior over models; a posterior becomes a model that can be simulated.
//! After [`regression`] nobody sees the N samples, before [`simulate`] nobody sees equations.

pub mod control;
pub mod error;
pub mod filter;
pub mod noise;
pub mod path;
pub mod program;
pub mod regression;
pub mod sampler;
pub mod simulate;
pub mod table;
mod vectorised;

pub use error::{Error, Result};
