//! Integration schemes: what each promises, to which noise, and the choice between them.
//!
//! A scheme is a function on the expression graph: from drift and diffusion it makes one expression per state for the
//! state after a step, from the state before it and the increments of the noise. All of them compile into one
//! [`Program`](crate::program::Program), with common parts shared and the step length folded into the numbers.

use std::str::FromStr;

use super::coefficients::{Coefficients, Increments};
use super::structure::Structure;
use super::{euler_maruyama, milstein, taylor15};
use crate::program::Id;
use crate::{Error, Result};

/// An integration scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// See `euler_maruyama.rs`.
    EulerMaruyama,
    /// See `milstein.rs`.
    Milstein,
    /// See `taylor15.rs`.
    Taylor15,
}

impl Scheme {
    /// All schemes, in order of strong order.
    pub const ALL: [Self; 3] = [Self::EulerMaruyama, Self::Milstein, Self::Taylor15];

    /// Name as it is written.
    pub fn name(self) -> &'static str {
        match self {
            Self::EulerMaruyama => "euler-maruyama",
            Self::Milstein => "milstein",
            Self::Taylor15 => "taylor15",
        }
    }

    /// Order at which single paths converge.
    pub fn strong_order(self) -> f64 {
        match self {
            Self::EulerMaruyama => 0.5,
            Self::Milstein => 1.0,
            Self::Taylor15 => 1.5,
        }
    }

    /// Order at which distributions converge.
    pub fn weak_order(self) -> f64 {
        match self {
            Self::EulerMaruyama | Self::Milstein => 1.0,
            Self::Taylor15 => 2.0,
        }
    }

    /// Noise for which it has these orders.
    pub fn structures(self) -> &'static [Structure] {
        use Structure::*;
        match self {
            Self::EulerMaruyama => &[None, Additive, Scalar, Diagonal, Commutative, General],
            Self::Milstein => &[None, Additive, Scalar, Diagonal, Commutative],
            Self::Taylor15 => &[None, Additive, Scalar, Diagonal],
        }
    }

    /// Nothing, if the scheme is right for noise of this structure.
    ///
    /// # Errors
    /// [`Error::Argument`] that names the schemes that would do.
    pub fn check(self, structure: Structure) -> Result<()> {
        if self.structures().contains(&structure) {
            return Ok(());
        }
        let fitting: Vec<String> = Self::ALL
            .iter()
            .filter(|scheme| scheme.structures().contains(&structure))
            .map(|scheme| format!("'{}'", scheme.name()))
            .collect();
        // Every scheme takes an equation without noise, which is therefore not worth naming.
        let accepted: Vec<String> = self.structures()[1..].iter().map(Structure::to_string).collect();
        let (last, others) = accepted.split_last().expect("a scheme takes some noise");
        let allowed = format!(
            "needs {} or {last} noise; the noise of this SDE is {structure}, use {}",
            others.join(", "),
            fitting.join(" or ")
        );
        Err(Error::argument("scheme", format!("'{}'", self.name()), allowed))
    }

    /// Whether a step needs the integrals `dZ` of the Brownian motions besides their increments `dW`.
    pub fn needs_dz(self) -> bool {
        self == Self::Taylor15
    }

    /// The state after one step.
    pub(super) fn step(self, c: &mut Coefficients, increments: &Increments) -> Vec<Id> {
        let start: Vec<Id> = (0..c.n_states()).map(|k| c.graph.input(k)).collect();
        let mut step = euler_maruyama::step(c, increments, start);
        if self != Self::EulerMaruyama {
            step = milstein::correct(c, increments, step);
        }
        if self == Self::Taylor15 {
            step = taylor15::correct(c, increments, step);
        }
        step
    }
}

impl FromStr for Scheme {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|scheme| scheme.name() == name).ok_or_else(|| {
            let names: Vec<String> = Self::ALL.iter().map(|scheme| format!("'{}'", scheme.name())).collect();
            Error::argument("scheme", format!("'{name}'"), format!("one of {}", names.join(", ")))
        })
    }
}
