//! The one error type of the crate: each variant says what was wrong with which value, and what is allowed.

use std::borrow::Cow;

/// What a caller can do wrong, or what the numbers can refuse to do.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An argument is outside its allowed range.
    #[error("{name} = {value}: {allowed}")]
    Argument {
        /// Name of the argument as the caller wrote it.
        name: Cow<'static, str>,
        /// The offending value.
        value: String,
        /// What would have been allowed.
        allowed: String,
    },
    /// The recorded data break a rule.
    #[error("{0}")]
    Data(String),
    /// An expression does not parse; `position` counts characters from zero.
    #[error("{message}\n  {text}\n  {:>width$}", "^", width = position + 1)]
    Expression {
        /// The expression as written.
        text: String,
        /// Character offset of the mistake.
        position: usize,
        /// What was expected there.
        message: String,
    },
    /// The numbers cannot be computed with, for instance a Gram matrix that is not positive definite.
    #[error("{0}")]
    Numerical(String),
    /// The caller asked for the work to stop.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// An [`Error::Argument`] from anything that can be shown.
    pub fn argument(
        name: impl Into<Cow<'static, str>>,
        value: impl std::fmt::Display,
        allowed: impl Into<String>,
    ) -> Self {
        Self::Argument { name: name.into(), value: value.to_string(), allowed: allowed.into() }
    }
}

/// Result with this crate's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;
