//! Stochastic differential equations as text, their integration schemes, and the paths they make.

mod coefficients;
mod covariance;
mod ensemble;
mod euler_maruyama;
mod milstein;
mod normals;
mod scheme;
mod sde;
mod structure;
mod taylor15;

pub use scheme::Scheme;
pub use sde::{Noise, Sde, SimulationSettings};
pub use structure::Structure;

#[cfg(feature = "parts")]
pub use normals::{Normals, PER_BLOCK};
