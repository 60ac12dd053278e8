//! Stochastic differential equations as text, and their simulation.

use ndarray::{Array2, Array3, ArrayView2, ArrayView3};

use super::coefficients::Coefficients;
use super::ensemble::{Run, Stepper};
use super::scheme::Scheme;
use super::structure::Structure;
use crate::control::Control;
use crate::{Error, Result};

/// How the noise of an [`Sde`] is given.
#[derive(Debug, Clone, PartialEq)]
pub enum Noise {
    /// The coefficients `g`, m x n.
    Diffusion(Vec<Vec<String>>),
    /// The covariance `Gamma = g g^T`, m x m, lower triangle; semidefinite is allowed.
    Covariance(Vec<Vec<String>>),
}

/// The Ito equation `dX = f(X) dt + g(X) dB`, in expressions of the names of its states and parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Sde {
    /// Names of the m states.
    pub states: Vec<String>,
    /// Names of the parameters, of which each path has its own values.
    pub parameters: Vec<String>,
    /// Names of the inputs, which have a value in every step of the scheme.
    pub inputs: Vec<String>,
    /// The drift `f`.
    pub drift: Vec<String>,
    /// The noise.
    pub noise: Noise,
}

/// How to simulate.
#[derive(Debug, Clone)]
pub struct SimulationSettings<'a> {
    /// Time between two steps.
    pub dt: f64,
    /// Number of steps.
    pub n_steps: usize,
    /// Scheme of each step.
    pub scheme: Scheme,
    /// Steps of the scheme, of length `dt / substeps`, in one step.
    pub substeps: usize,
    /// Steps from one sample to the next.
    pub keep_every: usize,
    /// Seed of the streams, one per path: the same paths for any number of threads.
    pub seed: u64,
    /// Brownian increments `(n_paths, n_steps * substeps, n)` in place of drawn ones; see `Stepper::new`.
    pub noise: Option<ArrayView3<'a, f64>>,
    /// Values of the parameters of each path, `(n_paths, n_parameters)`; needed where the equation has some.
    pub parameters: Option<ArrayView2<'a, f64>>,
    /// Values of the inputs, `(n_steps * substeps, n_inputs)`, in all paths; needed where the equation has some.
    pub inputs: Option<ArrayView2<'a, f64>>,
}

impl SimulationSettings<'_> {
    /// Milstein steps of length `dt`, all samples kept, under seed 0.
    pub fn new(dt: f64, n_steps: usize) -> Self {
        Self {
            dt,
            n_steps,
            scheme: Scheme::Milstein,
            substeps: 1,
            keep_every: 1,
            seed: 0,
            noise: None,
            parameters: None,
            inputs: None,
        }
    }
}

impl Sde {
    /// An equation with the m x n coefficients `diffusion`.
    ///
    /// # Errors
    /// [`Error::Expression`] with the character at fault, [`Error::Argument`] for shapes that do not fit.
    pub fn new(drift: Vec<String>, diffusion: Vec<Vec<String>>, states: Vec<String>) -> Result<Self> {
        Self::with_parameters(drift, Noise::Diffusion(diffusion), states, Vec::new())
    }

    /// An equation with the m x m covariance `gamma`.
    ///
    /// # Errors
    /// As for [`Self::new`].
    pub fn with_covariance(drift: Vec<String>, gamma: Vec<Vec<String>>, states: Vec<String>) -> Result<Self> {
        Self::with_parameters(drift, Noise::Covariance(gamma), states, Vec::new())
    }

    /// An equation in whose expressions `parameters` stand for numbers that each path has its own of.
    ///
    /// # Errors
    /// As for [`Self::new`].
    pub fn with_parameters(
        drift: Vec<String>,
        noise: Noise,
        states: Vec<String>,
        parameters: Vec<String>,
    ) -> Result<Self> {
        Self::with_inputs(drift, noise, states, parameters, Vec::new())
    }

    /// An equation in whose expressions `inputs` stand for what drives it from outside, beside its parameters.
    ///
    /// # Errors
    /// As for [`Self::new`].
    pub fn with_inputs(
        drift: Vec<String>,
        noise: Noise,
        states: Vec<String>,
        parameters: Vec<String>,
        inputs: Vec<String>,
    ) -> Result<Self> {
        let sde = Self { states, parameters, inputs, drift, noise };
        sde.coefficients().map(|_| sde)
    }

    /// Drift and diffusion on one graph.
    fn coefficients(&self) -> Result<Coefficients> {
        if self.drift.len() != self.states.len() {
            let allowed = format!("{} expressions, one per state", self.states.len());
            return Err(Error::argument("drift", format!("{} expressions", self.drift.len()), allowed));
        }
        let names = [self.states.as_slice(), &self.parameters, &self.inputs].concat();
        match &self.noise {
            Noise::Diffusion(rows) => Coefficients::new(&self.drift, rows, &names),
            Noise::Covariance(rows) => Coefficients::with_covariance(&self.drift, rows, &names),
        }
    }

    /// The structure of the noise, which decides which schemes are right.
    ///
    /// # Errors
    /// As for [`Self::new`].
    pub fn structure(&self) -> Result<Structure> {
        Ok(self.coefficients()?.structure())
    }

    /// Simulates a path from each row of `x0` `(n_paths, m)`: samples `(n_paths, n_kept, m)`, NaN once a path has
    /// left the finite range, and how many samples of each path are finite.
    ///
    /// # Errors
    /// [`Error::Argument`] for a setting out of range or a scheme that does not fit the noise, naming one that does;
    /// [`Error::Interrupted`].
    pub fn simulate(
        &self,
        x0: ArrayView2<'_, f64>,
        settings: &SimulationSettings<'_>,
        control: &Control,
    ) -> Result<(Array3<f64>, Vec<i64>)> {
        let n_kept = settings.n_steps / settings.keep_every.max(1) + 1;
        let mut samples = vec![0.0; x0.nrows() * n_kept * x0.ncols()];
        let lengths = self.simulate_into(x0, settings, &mut samples, control)?;
        let shape = (x0.nrows(), n_kept, x0.ncols());
        Ok((Array3::from_shape_vec(shape, samples).expect("as many samples as the shape says"), lengths))
    }

    /// The same into `samples`, `(n_paths, n_kept, m)` in row-major order.
    ///
    /// # Errors
    /// As for [`Self::simulate`].
    ///
    /// # Panics
    /// If `samples` has another length.
    pub fn simulate_into(
        &self,
        x0: ArrayView2<'_, f64>,
        settings: &SimulationSettings<'_>,
        samples: &mut [f64],
        control: &Control,
    ) -> Result<Vec<i64>> {
        let SimulationSettings { dt, n_steps, scheme, substeps, keep_every, seed, noise, parameters, inputs } =
            settings.clone();
        if !(dt > 0.0 && dt.is_finite()) {
            return Err(Error::argument("dt", dt, "a positive, finite number"));
        }
        for (name, value) in [("n_steps", n_steps), ("substeps", substeps), ("keep_every", keep_every)] {
            if value == 0 {
                return Err(Error::argument(name, value, "a positive integer"));
            }
        }
        if x0.ncols() != self.states.len() || x0.iter().any(|x| !x.is_finite()) {
            let allowed = format!("finite, shape (n_paths, {})", self.states.len());
            return Err(Error::argument("x0", format!("array of shape {:?}", x0.dim()), allowed));
        }
        let none = Array2::zeros((x0.nrows(), 0));
        let parameters = parameters.unwrap_or(none.view());
        let shape = (x0.nrows(), self.parameters.len());
        if parameters.dim() != shape || parameters.iter().any(|value| !value.is_finite()) {
            let value = format!("array of shape {:?}", parameters.dim());
            return Err(Error::argument("parameters", value, format!("finite, shape {shape:?}")));
        }
        let n_fine = n_steps * substeps;
        let nothing = Array2::zeros((n_fine, 0));
        let inputs = inputs.unwrap_or(nothing.view());
        let wanted = (n_fine, self.inputs.len());
        if inputs.dim() != wanted || inputs.iter().any(|value| !value.is_finite()) {
            let value = format!("array of shape {:?}", inputs.dim());
            return Err(Error::argument("inputs", value, format!("finite, shape {wanted:?}")));
        }
        let n_given = noise.map_or(0, |noise| noise.dim().2);
        if let Some(noise) = &noise
            && (noise.dim().0, noise.dim().1) != (x0.nrows(), n_fine)
        {
            let allowed = format!("shape ({}, {n_fine}, n), n_steps * substeps increments", x0.nrows());
            return Err(Error::argument("noise", format!("array of shape {:?}", noise.dim()), allowed));
        }
        let stepper =
            Stepper::new(self.coefficients()?, scheme, dt / substeps as f64, n_given, self.inputs.len())?;
        stepper.simulate(
            &Run { x0, parameters, inputs, n_steps, substeps, keep_every, seed, noise },
            samples,
            control,
        )
    }
}
