//! From recorded paths to moments: additive sums of a regression in one pass, their projection, residuals, the survey.
//!
//! After this nobody sees the N samples: the sampler knows K x K, K, a scalar and a count.

mod block;
mod distinct;
mod pass;
mod products;
mod project;
mod residuals;
mod rows;
mod sums;
mod targets;
mod tiles;

pub use block::Fitted;
pub(crate) use project::RANK_TOLERANCE;
pub use project::{Moments, project};
pub use residuals::{ResidualSums, Survey, residual_sums, survey};
pub use sums::Sums;
pub use targets::{Ensemble, Regression, StepScheme, Target, Weights};

#[cfg(test)]
mod tests;
