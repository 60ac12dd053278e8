//! `Discover`: what may be asked of a discovery beside the recordings and the candidate terms.

use super::library::Library;
use crate::regression::StepScheme;
use crate::sampler::Prior;
use crate::{Error, Result};

/// Prior probability that the drift of a state is none at all.
const NO_DRIFT: f64 = 1.0 / 3.0;
/// Scales that the prior of the slab may have.
const SCALES: (f64, f64) = (1e-100, 1e100);

/// Which entries of the covariance of the noise `Gamma` are sought.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Diffusion {
    /// All entries, each over the terms of its library.
    #[default]
    Full,
    /// The variances alone.
    Diagonal,
    /// All entries, each a constant.
    Constant,
    /// None: an ordinary differential equation with a constant error.
    None,
}

/// How the posterior over models is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sampler {
    /// All models where that costs no more than chains (up to 12 terms, and more where chains are long), else chains.
    #[default]
    Auto,
    /// Markov chains.
    Gibbs,
    /// All models, of at most 20 terms, and independent draws from their posterior.
    Exact,
}

/// The unit of the slab of a drift.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SlabUnit {
    /// The time over which the state forgets: the prior is the same however finely a path is sampled.
    #[default]
    Time,
    /// A sample, the slab of the paper: it grows wider the finer a path is sampled.
    Sample,
}

/// The options of [`discover`](super::discover); [`Default`] has those of the Python package.
///
/// ```
/// use itoscope_core::{Discover, discovery::Diffusion};
///
/// let asked = Discover { diffusion: Diffusion::Constant, seed: 7, ..Discover::default() };
/// assert_eq!(asked.n_chains, 4);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Discover {
    /// Which entries of `Gamma` are sought. Default: [`Diffusion::Full`].
    pub diffusion: Diffusion,
    /// Candidate terms of `Gamma`, over the states of the drift's library. Default: the terms of the drift.
    pub diffusion_library: Option<Library>,
    /// Rows of the drift that are given and carry no noise, `("x", "v")` for `dx = v dt`. With it a motion of second order
    /// is told, whose positions and velocities were both measured. Default: none.
    pub known_drift: Vec<(String, String)>,
    /// States whose drift is sought and carries no noise. Default: none.
    pub without_noise: Vec<String>,
    /// Regressors at both ends of a step with the start as instrument (bias of order `dt^2`), or at its start (the
    /// paper's, bias of order `dt`). Default: [`StepScheme::Trapezoid`].
    pub scheme: StepScheme,
    /// Weigh the steps by the inverse variance of the noise, found in rounds. Default: true.
    pub weighted: bool,
    /// Rounds of weights after which the search for stable terms ends with a warning. Default: 8.
    pub max_rounds: usize,
    /// A predicted variance is held above this share of its mean, so that no step has unlimited weight. Default: 0.01.
    pub weight_floor: f64,
    /// Hyperparameters of the spike-and-slab hierarchy. Default: [`Prior::default`]; that the drift of a state is none
    /// at all has the probability 1/3 unless `a_p`, `b_p` or `empty` say otherwise.
    pub prior: Prior,
    /// The unit of the slab of a drift. Default: [`SlabUnit::Time`].
    pub slab_unit: SlabUnit,
    /// Chains, or all models. Default: [`Sampler::Auto`].
    pub sampler: Sampler,
    /// Number of chains. Default: 4.
    pub n_chains: usize,
    /// Sweeps of each chain after the burn-in. Default: 2000.
    pub n_samples: usize,
    /// Sweeps of each chain that are thrown away at its start. Default: 1000.
    pub n_burn: usize,
    /// Terms of a larger probability are selected; at one half, the most probable model is where that is another.
    /// Default: 0.5.
    pub threshold: f64,
    /// Seed of all chains: same seed, same answer, whatever the number of threads. Default: 0.
    pub seed: u64,
}

impl Default for Discover {
    fn default() -> Self {
        Self {
            diffusion: Diffusion::Full,
            diffusion_library: None,
            known_drift: Vec::new(),
            without_noise: Vec::new(),
            scheme: StepScheme::Trapezoid,
            weighted: true,
            max_rounds: 8,
            weight_floor: 1e-2,
            prior: Prior::default(),
            slab_unit: SlabUnit::Time,
            sampler: Sampler::Auto,
            n_chains: 4,
            n_samples: 2000,
            n_burn: 1000,
            threshold: 0.5,
            seed: 0,
        }
    }
}

impl Discover {
    /// Checks the options by themselves.
    ///
    /// # Errors
    /// [`Error::Argument`] names the first one outside its range.
    pub(super) fn check(&self) -> Result<()> {
        let counts =
            [("n_chains", self.n_chains), ("n_samples", self.n_samples), ("max_rounds", self.max_rounds)];
        for (name, value) in counts {
            if value == 0 {
                return Err(Error::argument(name, value, "a whole number, at least 1"));
            }
        }
        for (name, value) in [("threshold", self.threshold), ("weight_floor", self.weight_floor)] {
            if !(value > 0.0 && value < 1.0) {
                return Err(Error::argument(name, value, "a number between 0 and 1, both excluded"));
            }
        }
        if self.seed > i64::MAX as u64 {
            return Err(Error::argument("seed", self.seed, "a whole number from 0 to 2^63 - 1"));
        }
        self.prior.check()
    }

    /// The prior where a sample is the unit: `v c ~ IG(a_v, b_v c)`, for the scale `c` of the slab of a drift.
    pub(super) fn prior_of_drift(&self, scale: f64) -> Prior {
        if self.slab_unit == SlabUnit::Sample || scale == 1.0 {
            return self.prior;
        }
        let (usual, given) = (Prior::default(), self.prior);
        let said = given.empty.is_some() || (given.a_p, given.b_p) != (usual.a_p, usual.b_p);
        let scaled = |value: f64| (value * scale).clamp(SCALES.0, SCALES.1);
        Prior {
            b_v: scaled(given.b_v),
            slab_start: scaled(given.slab_start),
            empty: if said { given.empty } else { Some(NO_DRIFT) },
            ..given
        }
    }
}
