//! How the noise of an equation enters, which decides the schemes that are right for it.

use std::fmt;

/// How the noise enters, the first that fits; it decides which schemes are right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Structure {
    /// No noise.
    None,
    /// The diffusion is constant.
    Additive,
    /// One noise.
    Scalar,
    /// No noise acts on the coefficients of another: `Li b_kj = 0` and `Li Lj b_kj = 0` for `i != j`.
    Diagonal,
    /// `Li b_kj = Lj b_ki`.
    Commutative,
    /// None of these.
    General,
}

impl fmt::Display for Structure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Additive => "additive",
            Self::Scalar => "scalar",
            Self::Diagonal => "diagonal",
            Self::Commutative => "commutative",
            Self::General => "general",
        })
    }
}
