//! `Library`: candidate terms over named states.

use crate::program::Program;
use crate::{Error, Result};

/// Most terms of a library: the matrix of a regression with as many has 800 MB.
const MOST_TERMS: usize = 10_000;

/// Candidate terms of an equation, expressions over named states, simple ones first.
///
/// ```
/// use itoscope_core::Library;
///
/// let library = Library::polynomials(&["x", "v"], 2)?.and(&["sgn(v)"])?;
/// assert_eq!(library.terms(), ["1", "x", "v", "x^2", "x v", "v^2", "sgn(v)"]);
/// # Ok::<(), itoscope_core::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Library {
    states: Vec<String>,
    terms: Vec<String>,
}

impl Library {
    /// The constant and all monomials of the states up to a total degree.
    ///
    /// # Errors
    /// [`Error::Argument`] for names that no expression can have, and more than 10 000 monomials.
    pub fn polynomials(states: &[impl AsRef<str>], degree: usize) -> Result<Self> {
        let names: Vec<&str> = states.iter().map(AsRef::as_ref).collect();
        let count =
            (1..=names.len()).try_fold(1_usize, |c, i| Some(c.checked_mul(degree.checked_add(i)?)? / i));
        if count.is_none_or(|count| count > MOST_TERMS) {
            let allowed = format!("a degree with at most {MOST_TERMS} monomials of {} states", names.len());
            return Err(Error::argument("degree", degree, allowed));
        }
        let mut terms = vec!["1".to_owned()];
        let mut powers = vec![0; names.len()];
        for total in 1..=degree {
            monomials(&names, 0, total, &mut powers, &mut terms);
        }
        Self::expressions(states, &terms)
    }

    /// These terms, each an expression of the states such as `x^2 v`, `sgn(v)` or `exp(-x^2)`.
    ///
    /// # Errors
    /// [`Error::Expression`] with the character at fault, [`Error::Argument`] for names that no expression can have, a
    /// term that is there twice, and no term at all.
    pub fn expressions(states: &[impl AsRef<str>], terms: &[impl AsRef<str>]) -> Result<Self> {
        let owned = |texts: Vec<&str>| texts.into_iter().map(str::to_owned).collect::<Vec<_>>();
        let states = owned(states.iter().map(AsRef::as_ref).collect());
        let terms = owned(terms.iter().map(AsRef::as_ref).collect());
        if states.is_empty() {
            return Err(Error::argument("states", "[]", "at least one name"));
        }
        if terms.is_empty() {
            return Err(Error::argument("terms", "[]", "at least one expression"));
        }
        if terms.len() > MOST_TERMS {
            return Err(Error::argument("terms", terms.len(), format!("at most {MOST_TERMS}")));
        }
        if let Some(again) = (1..terms.len()).find(|&k| terms[..k].contains(&terms[k])) {
            return Err(Error::argument("terms", &terms[again], "each term once"));
        }
        let library = Self { states, terms };
        library.program().map(|_| library)
    }

    /// The same with more terms; those that are there already are left out.
    ///
    /// # Errors
    /// As for [`Self::expressions`].
    pub fn and(mut self, terms: &[impl AsRef<str>]) -> Result<Self> {
        for term in terms.iter().map(AsRef::as_ref) {
            if !self.terms.iter().any(|known| known == term) {
                self.terms.push(term.to_owned());
            }
        }
        Self::expressions(&self.states, &self.terms)
    }

    /// Names of the states, one per column of the recordings.
    pub fn states(&self) -> &[String] {
        &self.states
    }

    /// The terms.
    pub fn terms(&self) -> &[String] {
        &self.terms
    }

    /// The terms, compiled.
    pub(super) fn program(&self) -> Result<Program> {
        Program::new(&self.terms, &self.states)
    }
}

/// Adds the monomials of `total` factors from state `first` on to those of `powers`, the powers of earlier states large
/// first.
fn monomials(names: &[&str], first: usize, total: usize, powers: &mut [usize], terms: &mut Vec<String>) {
    if total == 0 {
        let factors = names.iter().zip(powers.iter()).filter(|&(_, &power)| power > 0);
        let written = factors.map(|(&name, &power)| match power {
            1 => name.to_owned(),
            _ => format!("{name}^{power}"),
        });
        terms.push(written.collect::<Vec<_>>().join(" "));
    } else if first < names.len() {
        let least = if first + 1 == names.len() { total } else { 0 };
        for power in (least..=total).rev() {
            powers[first] = power;
            monomials(names, first + 1, total - power, powers, terms);
        }
        powers[first] = 0;
    }
}
