//! Stochastic differential equations as text, their integration schemes, and the paths they make.

pub mod coefficients;
pub mod ensemble;
mod euler_maruyama;
mod milstein;
pub mod normals;
pub mod scheme;
pub mod sde;
mod taylor15;
