//! From moments and a prior to a posterior over models: evidence, chains of a Gibbs sampler, exact enumeration.
//!
//! Nothing here knows samples or names: only columns and masks of columns.

pub mod chains;
pub mod enumerate;
pub mod evidence;
pub mod factor;
pub mod gibbs;
pub mod greedy;
pub mod kernels;
pub mod posterior;
pub mod prior;
pub mod slab;
pub mod special;
