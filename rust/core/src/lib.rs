//! The mathematics of itoscope, without Python: from recorded motion to the stochastic differential equation behind it.
//!
//! Start with [`discover`]: recordings of measured states and a [`Library`] of candidate terms in, the equation out, with
//! the probability of each term and the intervals of its coefficients. [`Discover`] lists the options.
//!
//! ```
//! use itoscope_core::{Discover, Library, discover, path::Path};
//! use ndarray::Array2;
//!
//! # let mut value = 0.0;
//! # let mut noise = 1_u32;
//! # let samples = Array2::from_shape_fn((3000, 1), |_| {
//! #     noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
//! #     value += -0.1 * value + 0.3 * (f64::from(noise >> 8) / f64::from(1 << 23) - 1.0);
//! #     value
//! # });
//! // `samples` is an `Array2<f64>`: a row for each time, a column for each state.
//! let recording = Path::even(samples.view(), 0.1);
//! let found = discover(&[recording], &Library::polynomials(&["x"], 3)?, &Discover::default())?;
//! println!("{found}");
//! # assert_eq!(found.drift("x").unwrap().selected().count(), 1);
//! # Ok::<(), itoscope_core::Error>(())
//! ```
//!
//! | module | owns |
//! | --- | --- |
//! | [`discovery`] | [`discover`], its options, its result, the library of terms |
//! | [`path`] | a recording: samples and their times |
//! | [`program`] | expressions over named inputs, compiled, with derivatives |
//! | [`regression`] | additive sums of one pass over the data, the moments that they become, residuals |
//! | [`sampler`] | evidence, exact enumeration and Gibbs chains of spike-and-slab regressions |
//! | [`filter`] | the Kalman filter of noisy and partly seen recordings, its moments and smoother |
//! | [`simulate`] | stochastic differential equations with the schemes that fit them |
//! | [`noise`], [`control`], [`table`] | random streams, progress and interruption, tables of numbers in text |
//!
//! Data flow one way: paths and a library of candidate terms become *moments* (K x K, K, a scalar, a count);
//! moments become a posterior over models; a posterior becomes a model that can be simulated.
//! After [`regression`] nobody sees the N samples, before [`simulate`] nobody sees equations: for all that [`discover`]
//! does not ask, its stages are here one by one.
//!
//! Randomness comes from an explicit seed, and is the same for any number of threads. All arrays are those of `ndarray`.

pub mod control;
pub mod discovery;
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

pub use discovery::{Discover, Discovery, Library, discover};
pub use error::{Error, Result};

/// The examples of the README, which are tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
