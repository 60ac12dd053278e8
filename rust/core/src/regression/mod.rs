//! From recorded paths to moments: additive sums of a regression in one pass, their projection, residuals, the survey.
//!
//! After this nobody sees the N samples: the sampler knows K x K, K, a scalar and a count.

pub mod block;
pub mod pass;
pub mod project;
pub mod residuals;
pub mod rows;
pub mod targets;
