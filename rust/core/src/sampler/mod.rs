//! From moments and a prior to a posterior over models: evidence, chains of a Gibbs sampler, exact enumeration.
//!
//! Nothing here knows samples or names: only columns and masks of columns.

mod chains;
mod enumerate;
mod evidence;
mod factor;
mod gibbs;
mod greedy;
mod kernels;
mod lanes;
mod pairs;
mod posterior;
mod prior;
mod proposals;
mod slab;
mod special;
mod spectrum;

pub use chains::{Chain, ChainSettings, Start, run_chain, run_chains};
pub use enumerate::{MAX_COLUMNS, enumerate};
pub use evidence::ScaledRegression;
pub use gibbs::ChainWork;
pub use posterior::{ModelPosterior, exact_draws, model_posterior};
pub use prior::Prior;

#[cfg(feature = "parts")]
pub use {factor::Factor, gibbs::Gibbs, greedy::greedy_start};
