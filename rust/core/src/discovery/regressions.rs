//! The regressions of a discovery: what is regressed on what, and their moments, shared where they may.

use std::collections::HashMap;

use ndarray::{Array2, ArrayView2};

use super::correlation::recorded_correlation;
use super::settings::{Diffusion, Discover};
use crate::control::Control;
use crate::path::{Path, Times};
use crate::program::Program;
use crate::regression::{Ensemble, Fitted, Moments, Regression, Sums, Target, Weights, project};
use crate::{Error, Result};

/// The term of a constant.
pub(super) const CONSTANT: &str = "1";

/// Candidate terms, compiled.
pub(super) struct Candidates {
    pub terms: Vec<String>,
    pub program: Program,
}

/// The variances that the steps of a regression are weighed by.
pub(super) struct Variance {
    /// Coefficients of `Gamma_ii`, or of `Gamma_ii, Gamma_jj, Gamma_ij`, over the terms of the diffusion.
    pub coef: Array2<f64>,
    /// Lower bounds of the variances, the second one of a product alone.
    pub floors: [f64; 2],
}

/// What is regressed.
#[derive(Clone, Copy)]
pub(super) enum Row<'a> {
    /// The increments of a state.
    Drift(usize),
    /// The products of the increments of two, less the drifts `(2, K)` of their rows where these are given.
    Gamma((usize, usize), Option<ArrayView2<'a, f64>>),
}

/// The regressions of a discovery, with the sums of those that were made so far and may serve again.
pub(super) struct Measured<'a, 'p> {
    pub paths: &'a [Path<'p>],
    pub asked: &'a Discover,
    pub drift: Candidates,
    pub gamma: Candidates,
    /// States whose drift is sought.
    pub rows: Vec<usize>,
    /// Entries of `Gamma` that are sought, the diagonal first.
    pub pairs: Vec<(usize, usize)>,
    pub control: &'a Control,
    /// Of each row a step over the correlation time of its state.
    slab_scales: HashMap<usize, f64>,
    even: bool,
    /// Sums without weights by terms and by whether steps weigh alike, of whatever target: their squares serve again.
    squares: HashMap<(Vec<String>, bool), Sums>,
    /// Sums without weights of drifts.
    drifts: HashMap<usize, Sums>,
}

impl<'a, 'p> Measured<'a, 'p> {
    pub(super) fn new(
        paths: &'a [Path<'p>],
        asked: &'a Discover,
        candidates: [Candidates; 2],
        rows: Vec<usize>,
        noisy: &[usize],
        control: &'a Control,
    ) -> Self {
        let [drift, gamma] = candidates;
        let mut pairs: Vec<(usize, usize)> = noisy.iter().map(|&row| (row, row)).collect();
        if asked.diffusion != Diffusion::Diagonal {
            pairs.extend(
                noisy.iter().enumerate().flat_map(|(q, &i)| noisy[q + 1..].iter().map(move |&j| (i, j))),
            );
        }
        let slab_scales = rows
            .iter()
            .map(|&row| {
                let (tau, step) = recorded_correlation(paths, row);
                (row, step / tau)
            })
            .collect();
        let first = match paths[0].times {
            Times::Even(dt) => Some(dt),
            Times::Stamps(_) => None,
        };
        let alike = |path: &Path<'_>| matches!(path.times, Times::Even(dt) if Some(dt) == first);
        let even = paths.iter().all(alike);
        let (squares, drifts) = (HashMap::new(), HashMap::new());
        Self { paths, asked, drift, gamma, rows, pairs, control, slab_scales, even, squares, drifts }
    }

    /// Whether a state's drift carries noise.
    pub(super) fn is_noisy(&self, row: usize) -> bool {
        self.pairs.contains(&(row, row))
    }

    /// A step over the correlation time of a state.
    pub(super) fn slab_scale(&self, row: usize) -> f64 {
        self.slab_scales[&row]
    }

    /// The moments of a regression, and the mean of its target.
    ///
    /// Steps of one weight have the sums of an unweighted regression times it. Of those the products of terms with terms
    /// are made once, whatever the target, and the sums of a drift once.
    ///
    /// # Errors
    /// [`Error::Data`] for a term that is not finite on the data and where no step has samples at both ends,
    /// [`Error::Interrupted`].
    pub(super) fn regress(&mut self, row: Row<'_>, weights: Option<&Variance>) -> Result<(Moments, f64)> {
        let sums = match self.level(weights) {
            None => self.sums(row, weights, true)?,
            Some(level) => weighed(self.shared(row)?, level),
        };
        if sums.n == 0 {
            return Err(Error::Data(
                "no step of the paths has a sample of every state at both of its ends: the regression has no row".into(),
            ));
        }
        let mut moments = project(&sums);
        moments.gram = 0.5 * (&moments.gram + &moments.gram.t());
        Ok((moments, sums.total / sums.n as f64))
    }

    fn candidates(&self, row: Row<'_>) -> &Candidates {
        if matches!(row, Row::Drift(_)) { &self.drift } else { &self.gamma }
    }

    /// The weight of all steps, where they have one.
    fn level(&self, weights: Option<&Variance>) -> Option<f64> {
        let Some(Variance { coef, floors }) = weights else { return Some(1.0) };
        let constant = self.gamma.terms.iter().position(|term| term == CONSTANT)?;
        let others = coef.indexed_iter().any(|((_, k), &value)| k != constant && value != 0.0);
        if others {
            return None;
        }
        let entries = coef.column(constant);
        let mut variance = entries[0].max(floors[0]);
        if entries.len() == 3 {
            let both = variance * entries[1].max(floors[1]);
            variance = both + entries[2].powi(2).min(both);
        }
        (variance > 0.0).then(|| 1.0 / variance)
    }

    /// Sums without weights: of a drift those that are there, otherwise with the products that are there.
    fn shared(&mut self, row: Row<'_>) -> Result<Sums> {
        if let Row::Drift(i) = row
            && let Some(known) = self.drifts.get(&i)
        {
            return Ok(known.clone());
        }
        // Steps of a drift weigh by their length.
        let alike = self.even || matches!(row, Row::Gamma(..));
        let key = (self.candidates(row).terms.clone(), alike);
        let known = self.squares.get(&key).cloned();
        let mut sums = self.sums(row, None, known.is_none())?;
        if let Some(Sums { omega, cross, inner, .. }) = known {
            (sums.omega, sums.cross, sums.inner) = (omega, cross, inner);
        }
        self.squares.insert(key, sums.clone());
        if let Row::Drift(i) = row {
            self.drifts.insert(i, sums.clone());
        }
        Ok(sums)
    }

    /// One pass over the recordings.
    fn sums(&self, row: Row<'_>, weights: Option<&Variance>, squares: bool) -> Result<Sums> {
        let candidates = self.candidates(row);
        let target = match row {
            Row::Drift(i) => Target::Drift(i),
            Row::Gamma(pair, coef) => Target::Diffusion {
                pair,
                drift: coef.map(|coef| Fitted { program: &self.drift.program, coef }),
            },
        };
        let weights = match weights {
            None => Weights::Unit,
            Some(Variance { coef, floors }) => Weights::Variance {
                gamma: Fitted { program: &self.gamma.program, coef: coef.view() },
                floors: *floors,
            },
        };
        let regression = Regression {
            program: &candidates.program,
            names: &candidates.terms,
            target,
            scheme: self.asked.scheme,
            weights,
            ensemble: Ensemble::Pool,
            squares,
            given: None,
        };
        regression.sums(self.paths, self.control)
    }
}

/// Sums with weights that are larger by a factor.
fn weighed(mut sums: Sums, factor: f64) -> Sums {
    for square in [&mut sums.omega, &mut sums.cross, &mut sums.inner] {
        *square *= factor;
    }
    sums.c *= factor;
    sums.d *= factor;
    sums.s *= factor;
    sums
}
