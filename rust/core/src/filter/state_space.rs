//! The state-space model of the filter, checked once before any filtering.

use ndarray::{Array1, Array2};

use super::kink::Kink;
use crate::path::Path;
use crate::program::Program;
use crate::{Error, Result};

/// Largest correlation of two noises of the model. The elements of Gamma are fitted one by one, so that at some states
/// they may make no covariance; a pair held below one does, with 0.2 % of the smaller variance left to itself, far above
/// what rounding takes from a Cholesky pivot.
const MAX_CORRELATION: f64 = 0.999;

/// Largest number of states: a bound for arrays on the stack, and for matrices whose size the compiler knows.
pub const MAX_STATES: usize = 20;

/// `dx = f(x) dt + g(x) dB`, `f = drift u(x)`, `(g g^T)_pair = gamma u(x)`; `y = observation x + e`, `e` normal.
#[derive(Debug, Clone)]
pub struct StateSpace<'a> {
    /// The K terms `u`.
    pub program: &'a Program,
    /// Their gradients: output `k m + i` is the derivative of term `k` by state `i`.
    pub gradient: &'a Program,
    /// `(m, K)`.
    pub drift: Array2<f64>,
    /// `(n_pairs, K)`.
    pub gamma: Array2<f64>,
    /// Elements of Gamma with a row of `gamma`; all others are zero.
    pub pairs: Vec<(usize, usize)>,
    /// `(q, m)`.
    pub observation: Array2<f64>,
    /// `(q + shared,)` variances of the noises, then their covariances.
    pub noise: Array1<f64>,
    /// `(m,)` mean of the first state.
    pub mean0: Array1<f64>,
    /// `(m, m)` its covariance.
    pub cov0: Array2<f64>,
    /// `(m,)` smallest Gamma_ii.
    pub floor: Array1<f64>,
    /// Longer steps are predicted in several pieces.
    pub max_step: f64,
    /// Terms with kinks.
    pub kinks: Vec<Kink>,
    /// Local linearisation with averages over the state's uncertainty; false is an Euler step.
    pub second_order: bool,
    /// States that are known at every sample: the columns of the paths after the channels hold them, in this order.
    pub given: Vec<usize>,
    /// Channels whose noise variance is multiplied sample by sample: the columns of the paths after the given states hold
    /// the factors, in this order.
    pub scaled: Vec<usize>,
    /// Linear maps (m x m) of the state after a sample, each where its column of the paths, after the factors, is not zero.
    pub resets: Vec<Array2<f64>>,
    /// Of each channel what its noise has beyond a normal law: nothing; one over the degrees of freedom of Student's law,
    /// whose scale has the variance `noise`; or the share of wide readings and their standard deviation over that of the
    /// others, of variance `noise`. Empty where all are normal.
    pub tails: Vec<Vec<f64>>,
    /// Pairs of channels whose noises are correlated at one sample, the covariance of each in `noise` after the variances.
    pub shared: Vec<(usize, usize)>,
    /// What shapes the law of the sizes of steps, factors of the covariance of the noise from sample to sample: nothing
    /// where all are one; one over the degrees of freedom of Student's law; or the share of jumps and the root of their
    /// size.
    pub kicks: Vec<f64>,
    /// Of each channel the period by which its readings wrap, zero of those that do not. Empty where none does.
    pub periods: Vec<f64>,
    /// Whether each step is linearised about a normal law of the state that the paths hold, and not about the filter's:
    /// the columns after the resets are its mean and the lower triangle of its covariance, row by row, at the sample that
    /// the step leaves.
    pub along: bool,
}

impl StateSpace<'_> {
    /// Number of states.
    pub fn m(&self) -> usize {
        self.program.n_inputs()
    }

    /// Number of observed channels.
    pub fn q(&self) -> usize {
        self.observation.nrows()
    }

    /// Columns of the paths that hold the law about which a step is linearised.
    pub fn course(&self) -> usize {
        if self.along { self.m() * (self.m() + 3) / 2 } else { 0 }
    }

    /// The covariance of the noises of each pair of channels that are both seen, with these factors of the variances.
    pub fn covariances<'a>(
        &'a self,
        seen: &'a [bool],
        scale: &'a [f64],
    ) -> impl Iterator<Item = (usize, usize, f64)> + 'a {
        let (pairs, own) = (self.shared.iter(), self.noise.iter().skip(self.q()));
        let both = |&(&(a, b), _): &(&(usize, usize), &f64)| seen[a] && seen[b];
        pairs.zip(own).filter(both).map(|(&(a, b), own)| (a, b, own * (scale[a] * scale[b]).sqrt()))
    }

    /// Checks every shape against the program and the paths.
    ///
    /// # Errors
    /// [`Error::Argument`] names the first array that does not fit.
    pub fn check(&self, paths: &[Path<'_>]) -> Result<()> {
        let (m, k, q, pairs) = (self.m(), self.program.n_outputs(), self.q(), self.pairs.len());
        if m > MAX_STATES {
            return Err(Error::argument("states", m, format!("at most {MAX_STATES}")));
        }
        let shapes = [
            ("drift", self.drift.dim(), (m, k)),
            ("gamma", self.gamma.dim(), (pairs, k)),
            ("observation", self.observation.dim(), (q, m)),
            ("cov0", self.cov0.dim(), (m, m)),
            ("noise", (self.noise.len(), 1), (q + self.shared.len(), 1)),
            ("mean0", (self.mean0.len(), 1), (m, 1)),
            ("floor", (self.floor.len(), 1), (m, 1)),
        ];
        for (name, found, wanted) in shapes {
            if found != wanted {
                return Err(Error::argument(
                    name,
                    format!("array of shape {found:?}"),
                    format!("{wanted:?}"),
                ));
            }
        }
        if q > MAX_STATES {
            return Err(Error::argument(
                "observation",
                format!("{q} channels"),
                format!("at most {MAX_STATES}"),
            ));
        }
        if self.gradient.n_outputs() != k * m {
            return Err(Error::argument("gradient", self.gradient.n_outputs(), format!("{}", k * m)));
        }
        if self.max_step.is_nan() || self.max_step <= 0.0 {
            return Err(Error::argument("max_step", self.max_step, "a positive number"));
        }
        if let Some(pair) = self.pairs.iter().find(|(i, j)| *i >= m || *j >= m) {
            return Err(Error::argument("pairs", format!("{pair:?}"), format!("states below {m}")));
        }
        if let Some(kink) = self.kinks.iter().find(|kink| kink.i >= m || kink.j >= m || kink.term >= k) {
            return Err(Error::argument("kinks", format!("{kink:?}"), "a term and states that exist"));
        }
        if let Some(state) = self.given.iter().find(|&&state| state >= m) {
            return Err(Error::argument("given", state, format!("states below {m}")));
        }
        if let Some(channel) = self.scaled.iter().find(|&&channel| channel >= q) {
            return Err(Error::argument("scaled", channel, format!("channels below {q}")));
        }
        if let Some(pair) = self.shared.iter().find(|&&(a, b)| a >= q || b >= q || a == b) {
            return Err(Error::argument("shared", format!("{pair:?}"), format!("two channels below {q}")));
        }
        if let Some(reset) = self.resets.iter().find(|reset| reset.dim() != (m, m)) {
            let found = format!("array of shape {:?}", reset.dim());
            return Err(Error::argument("resets", found, format!("({m}, {m})")));
        }
        self.check_tails()?;
        self.check_kicks()?;
        if !self.periods.is_empty() && self.periods.len() != q {
            let found = format!("{} of them", self.periods.len());
            return Err(Error::argument("periods", found, format!("none, or {q}")));
        }
        if let Some(period) = self.periods.iter().find(|period| !(**period >= 0.0 && period.is_finite())) {
            return Err(Error::argument(
                "periods",
                period,
                "positive numbers, or 0 of a channel that does not wrap",
            ));
        }
        let columns = q + self.given.len() + self.scaled.len() + self.resets.len() + self.course();
        if let Some((n, path)) = paths.iter().enumerate().find(|(_, path)| path.x.ncols() != columns) {
            let found = format!("path {n} with {} columns", path.x.ncols());
            let allowed = format!(
                "{q} channels, one per row of observation, {} given, {} scaled, {} resets, {} of a course",
                self.given.len(),
                self.scaled.len(),
                self.resets.len(),
                self.course()
            );
            return Err(Error::argument("paths", found, allowed));
        }
        Ok(())
    }

    fn check_kicks(&self) -> Result<()> {
        let right = match *self.kicks {
            [] => true,
            [heaviness] => heaviness > 0.0 && heaviness.is_finite(),
            [share, width] => share > 0.0 && share < 1.0 && width > 0.0 && width.is_finite(),
            _ => false,
        };
        if !right {
            let allowed = "nothing, a positive number, or a share and a width";
            return Err(Error::argument("kicks", format!("{:?}", self.kicks), allowed));
        }
        let beside = [self.tails.is_empty(), self.resets.is_empty(), self.periods.is_empty(), !self.along];
        if !self.kicks.is_empty() && beside.contains(&false) {
            let allowed = "none beside tails, resets, periods and a course";
            return Err(Error::argument("kicks", "a law", allowed));
        }
        Ok(())
    }

    fn check_tails(&self) -> Result<()> {
        let q = self.q();
        if !self.tails.is_empty() && !self.shared.is_empty() {
            return Err(Error::argument("tails", "laws", "none where noises are correlated"));
        }
        if !self.tails.is_empty() && self.tails.len() != q {
            let found = format!("{} of them", self.tails.len());
            return Err(Error::argument("tails", found, format!("none, or {q}")));
        }
        let wrong = |tail: &[f64]| match *tail {
            [] => false,
            [heaviness] => !(heaviness > 0.0 && heaviness.is_finite()),
            [share, width] => !(share > 0.0 && share < 1.0 && width > 0.0 && width.is_finite()),
            _ => true,
        };
        if let Some(tail) = self.tails.iter().find(|tail| wrong(tail)) {
            let allowed = "nothing, a positive number, or a share and a width";
            return Err(Error::argument("tails", format!("{tail:?}"), allowed));
        }
        Ok(())
    }

    /// Diffusion covariance (m x m) from the values of its elements, kept positive: diagonals floored, correlations
    /// below `MAX_CORRELATION`.
    pub fn positive_gamma(&self, values: &[f64], out: &mut [f64]) {
        let m = self.m();
        out.fill(0.0);
        for (pair, &(i, j)) in self.pairs.iter().enumerate() {
            if i == j {
                out[i * m + i] = values[pair].max(self.floor[i]);
            }
        }
        for (pair, &(i, j)) in self.pairs.iter().enumerate() {
            if i != j {
                let limit = MAX_CORRELATION * (out[i * m + i] * out[j * m + j]).sqrt();
                let value = values[pair].max(-limit).min(limit);
                out[i * m + j] = value;
                out[j * m + i] = value;
            }
        }
    }
}
