//! `Equation`: which terms are in one equation, with what coefficients, and how sure that is.

use ndarray::{Array2, ArrayView2};

use super::posterior::{Posterior, drawn_intervals};
use super::student::student_quantile;
use super::sums::signed_terms;
use crate::Result;

/// There is doubt between models where the most probable one has less of the probability.
const DOUBT: f64 = 0.8;
/// The probability of the intervals.
const INTERVAL: f64 = 0.95;

/// One candidate term of an equation.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Term {
    /// The expression.
    pub name: String,
    /// Probability that it is in the equation.
    pub probability: f64,
    /// Whether it is in the model that is shown.
    pub selected: bool,
    /// Coefficient given the model that is shown, noise and slab variance integrated out; zero if not selected.
    pub mean: f64,
    /// Its standard deviation.
    pub sd: f64,
    /// The central 95 % interval of the coefficient: averaged over models where none of them has 0.8 of the probability,
    /// given the model that is shown elsewhere.
    pub interval: (f64, f64),
    /// Coefficient averaged over the twenty most probable models, in which it is 0 where the term is out.
    pub averaged_mean: f64,
    /// Its standard deviation over these models.
    pub averaged_sd: f64,
}

/// One set of terms and the probability that it is the equation.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Model {
    /// Names of the terms.
    pub terms: Vec<String>,
    /// Its probability.
    pub probability: f64,
}

/// The posterior of one equation over its candidate terms; iterates over all [`Term`]s in the order of the library.
#[derive(Debug, Clone)]
pub struct Equation {
    label: String,
    terms: Vec<Term>,
    models: Vec<Model>,
    cov: Array2<f64>,
    draws: Array2<f64>,
    exact: bool,
    aliases: Vec<(String, Vec<String>)>,
    warnings: Vec<String>,
}

impl Equation {
    /// The equation of this name.
    pub(super) fn new(label: String, names: &[String], found: Posterior) -> Result<Self> {
        let (averaged_mean, averaged_sd) = found.averaged()?;
        let sd = found.sd();
        let intervals = intervals(&found);
        let terms = names
            .iter()
            .enumerate()
            .map(|(k, name)| Term {
                name: name.clone(),
                probability: found.pip[k],
                selected: found.selected[k],
                mean: found.mean[k],
                sd: sd[k],
                interval: intervals[k],
                averaged_mean: averaged_mean[k],
                averaged_sd: averaged_sd[k],
            })
            .collect();
        let named = |model: &[bool]| {
            names.iter().zip(model).filter(|(_, inside)| **inside).map(|(name, _)| name.clone()).collect()
        };
        Ok(Self {
            label,
            terms,
            models: found
                .models
                .iter()
                .map(|(model, mass)| Model { terms: named(model), probability: *mass })
                .collect(),
            cov: found.cov,
            draws: found.draws,
            exact: found.exact,
            aliases: found
                .aliases
                .iter()
                .map(|(kept, others)| {
                    (names[*kept].clone(), others.iter().map(|&k| names[k].clone()).collect())
                })
                .collect(),
            warnings: found.warnings,
        })
    }

    /// Its left side: `dx`, or `Gamma[x, v]`.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// All candidate terms, in the order of the library.
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// The terms of the model that is shown.
    pub fn selected(&self) -> impl Iterator<Item = &Term> {
        self.terms.iter().filter(|term| term.selected)
    }

    /// The term of this name.
    pub fn term(&self, name: &str) -> Option<&Term> {
        self.terms.iter().find(|term| term.name == name)
    }

    /// The most probable models, twenty at most, the first ones first.
    pub fn models(&self) -> &[Model] {
        &self.models
    }

    /// Whether no model has 0.8 of the probability.
    pub fn is_doubtful(&self) -> bool {
        self.models.first().is_some_and(|model| model.probability < DOUBT)
    }

    /// Covariance `(K, K)` of the coefficients given the model that is shown.
    pub fn covariance(&self) -> ArrayView2<'_, f64> {
        self.cov.view()
    }

    /// Draws `(n, K)` of the coefficients of all models, zero where a term is out; those of a chain follow each other.
    pub fn draws(&self) -> ArrayView2<'_, f64> {
        self.draws.view()
    }

    /// Whether all models were looked at, so that probabilities have no Monte Carlo error.
    pub fn is_exact(&self) -> bool {
        self.exact
    }

    /// Terms that stand for others which coincide with them on the data and were not tried.
    pub fn aliases(&self) -> &[(String, Vec<String>)] {
        &self.aliases
    }

    /// What a reader should know before trusting the answer.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// The right side as an expression with all digits: `1.0023 x - 0.9981 x^3`, or `0`.
    pub fn expression(&self) -> String {
        let parts =
            self.selected().map(|term| (term.mean < 0.0, format!("{}", term.mean.abs()), term.name.as_str()));
        let found = signed_terms(parts);
        if found.is_empty() { "0".into() } else { found.join(" ") }
    }
}

impl<'a> IntoIterator for &'a Equation {
    type Item = &'a Term;
    type IntoIter = std::slice::Iter<'a, Term>;

    fn into_iter(self) -> Self::IntoIter {
        self.terms.iter()
    }
}

/// Central intervals of the coefficients.
///
/// Given the selected model `mean -+ t sd sqrt((nu - 2) / nu)` with the quantile t of Student's distribution of `nu`
/// degrees of freedom. Averaged over models they are quantiles of the draws, in which a coefficient is 0 where its term
/// is out; those given the model for a selected term of which hardly a draw has it.
fn intervals(found: &Posterior) -> Vec<(f64, f64)> {
    let quantile = student_quantile(0.5 * (1.0 + INTERVAL), found.degrees);
    let shrink = if found.degrees > 2.0 { ((found.degrees - 2.0) / found.degrees).sqrt() } else { 1.0 };
    let sd = found.sd();
    let given = |k: usize| {
        let half = if sd[k] > 0.0 { quantile * shrink * sd[k] } else { 0.0 };
        (found.mean[k] - half, found.mean[k] + half)
    };
    if found.models.first().is_none_or(|(_, mass)| *mass >= DOUBT) {
        return (0..sd.len()).map(given).collect();
    }
    let averaged = drawn_intervals(&found.draws, INTERVAL).into_iter().enumerate();
    averaged
        .map(|(k, (low, high))| if found.selected[k] && high <= low { given(k) } else { (low, high) })
        .collect()
}
