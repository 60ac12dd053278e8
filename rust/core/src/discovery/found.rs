//! `Discovery`: the equations that were found, by state.

use super::equation::Equation;
use crate::Result;
use crate::simulate::Sde;

/// The stochastic differential equation `dX = f(X) dt + g(X) dB` behind recordings: an [`Equation`] for each row of the
/// drift that was sought, and one for each entry of `Gamma = g g^T`. Prints as a page.
#[derive(Debug, Clone)]
pub struct Discovery {
    pub(super) states: Vec<String>,
    pub(super) known_drift: Vec<(String, String)>,
    pub(super) drift: Vec<(String, Equation)>,
    pub(super) diffusion: Vec<((String, String), Equation)>,
    pub(super) rounds: usize,
    pub(super) settled: bool,
    pub(super) warnings: Vec<String>,
    pub(super) n_paths: usize,
    pub(super) n_steps: usize,
    pub(super) dt: Option<f64>,
}

impl Discovery {
    /// Names of the states.
    pub fn states(&self) -> &[String] {
        &self.states
    }

    /// The equation of the drift of a state; none for a row that was given, and for a name that is no state.
    pub fn drift(&self, state: &str) -> Option<&Equation> {
        self.drift.iter().find(|(name, _)| name == state).map(|(_, equation)| equation)
    }

    /// The equation of an entry of `Gamma`, in either order of the states; none where it was not sought.
    pub fn diffusion(&self, a: &str, b: &str) -> Option<&Equation> {
        let is = |(i, j): &(String, String)| (i == a && j == b) || (i == b && j == a);
        self.diffusion.iter().find(|(pair, _)| is(pair)).map(|(_, equation)| equation)
    }

    /// All equations: the drift of each state, then the entries of `Gamma`.
    pub fn equations(&self) -> impl Iterator<Item = &Equation> {
        self.drift.iter().map(|(_, equation)| equation).chain(self.gammas())
    }

    /// The equations of the entries of `Gamma`, the diagonal first.
    pub(super) fn gammas(&self) -> impl Iterator<Item = &Equation> {
        self.diffusion.iter().map(|(_, equation)| equation)
    }

    /// The drift of a state that was given.
    pub fn given(&self, state: &str) -> Option<&str> {
        self.known_drift.iter().find(|(name, _)| name == state).map(|(_, drift)| drift.as_str())
    }

    /// Rounds of weights that were run; 0 without weights.
    pub fn rounds(&self) -> usize {
        self.rounds
    }

    /// Whether the terms of the last two rounds are the same and no coefficient moved by a tenth of its standard
    /// deviation.
    pub fn is_settled(&self) -> bool {
        self.settled
    }

    /// What a reader should know before trusting the answer, each sentence with the equations that it is about.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Number of recordings.
    pub fn n_paths(&self) -> usize {
        self.n_paths
    }

    /// Number of their steps.
    pub fn n_steps(&self) -> usize {
        self.n_steps
    }

    /// The step, where all are equal.
    pub fn dt(&self) -> Option<f64> {
        self.dt
    }

    /// The equation to simulate: the selected terms with their coefficients.
    ///
    /// Where `Gamma` is diagonal each noisy state has a Brownian motion of its own, of the size `sqrt(Gamma_ii)`, and every
    /// scheme serves; otherwise `Gamma` is given as it is, for
    /// [`Scheme::EulerMaruyama`](crate::simulate::Scheme::EulerMaruyama).
    ///
    /// # Errors
    /// [`Error::Expression`](crate::Error::Expression) for a term that cannot be part of a sum.
    pub fn sde(&self) -> Result<Sde> {
        let drift = |state: &String| {
            let given = self.given(state).map(str::to_owned);
            given.or_else(|| self.drift(state).map(Equation::expression)).unwrap_or_else(|| "0".into())
        };
        let drift = self.states.iter().map(drift).collect();
        let entry =
            |a: &str, b: &str| self.diffusion(a, b).map_or_else(|| "0".to_owned(), Equation::expression);
        if self.diffusion.iter().all(|((a, b), equation)| a == b || equation.selected().next().is_none()) {
            let own = |state: &String, noisy: &str| match state == noisy {
                true => format!("sqrt({})", entry(noisy, noisy)),
                false => "0".to_owned(),
            };
            let row = |state: &String| self.noisy().map(|noisy| own(state, noisy)).collect();
            return Sde::new(drift, self.states.iter().map(row).collect(), self.states.clone());
        }
        let row = |a: &String| self.states.iter().map(|b| entry(a, b)).collect();
        Sde::with_covariance(drift, self.states.iter().map(row).collect(), self.states.clone())
    }

    /// The states that carry noise.
    pub(super) fn noisy(&self) -> impl Iterator<Item = &str> {
        self.diffusion.iter().filter(|((a, b), _)| a == b).map(|((a, _), _)| a.as_str())
    }

    pub(super) fn has_noise(&self) -> bool {
        !self.diffusion.is_empty()
    }
}
