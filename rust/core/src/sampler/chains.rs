//! Several chains of one regression, in parallel, from different starts, and the draws they keep.

use ndarray::{Array1, Array2};
use rayon::prelude::*;

use super::evidence::ScaledRegression;
use super::gibbs::{ChainWork, Gibbs};
use super::greedy::greedy_start;
use crate::control::Control;
use crate::noise::{Draws, Purpose, Stream};
use crate::{Error, Result};

/// Sweeps between two looks at the [`Control`].
const CHECK_EVERY: u64 = 16;

/// Expected size of a random start.
const RANDOM_SIZE: f64 = 10.0;
/// The largest share of the columns that it takes.
const RANDOM_RATE: f64 = 0.5;

/// How many chains, how long, and what is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainSettings {
    /// Number of chains.
    pub n_chains: usize,
    /// Draws kept of each chain.
    pub n_samples: usize,
    /// Sweeps before the first draw is kept.
    pub n_burn: usize,
    /// Sweeps per kept draw.
    pub thin: usize,
    /// Exchange moves per sweep.
    pub exchanges: usize,
}

impl ChainSettings {
    /// Checks that there is something to do.
    ///
    /// # Errors
    /// [`Error::Argument`] names the first setting that is zero and may not be.
    pub fn check(&self) -> Result<()> {
        for (name, value) in [("n_chains", self.n_chains), ("n_samples", self.n_samples), ("thin", self.thin)]
        {
            if value == 0 {
                return Err(Error::argument(name, value, "a whole number, at least 1"));
            }
        }
        Ok(())
    }
}

/// Where a chain begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// Forward, then backward greedy search in the posterior at the starting values of the prior.
    Search,
    /// The empty model.
    Empty,
    /// Each column with probability `min(1/2, 10/K)`.
    Random,
}

impl Start {
    /// The start of chain number `index`: search, empty, then random ones.
    pub fn of_chain(index: usize) -> Self {
        match index {
            0 => Self::Search,
            1 => Self::Empty,
            _ => Self::Random,
        }
    }

    fn columns(self, regression: &ScaledRegression, draws: &mut impl Draws) -> Vec<usize> {
        let k = regression.n_usable();
        match self {
            Self::Search => greedy_start(regression),
            Self::Empty => Vec::new(),
            Self::Random => {
                let rate = RANDOM_RATE.min(RANDOM_SIZE / k as f64);
                (0..k).filter(|_| draws.uniform() < rate).collect()
            }
        }
    }
}

/// The draws of one chain, columns and units as the caller has them.
#[derive(Debug, Clone, PartialEq)]
pub struct Chain {
    /// Coefficients `(draw, K)`, zero outside the model.
    pub samples: Array2<f64>,
    /// Whether each column is in the model `(draw, K)`.
    pub included: Array2<bool>,
    /// Average of `p(Z_k = 1 | rest)` over the sweeps of the draw `(draw, K)`.
    pub inclusion: Array2<f64>,
    /// Noise variance `(draw,)`, in squared units of the target.
    pub noise_var: Array1<f64>,
    /// Slab variance `(draw,)`, in the scaled coordinates.
    pub slab_var: Array1<f64>,
    /// Inclusion rate `(draw,)`.
    pub p0: Array1<f64>,
    /// Work done, burn-in included.
    pub work: ChainWork,
}

/// Runs one chain on any source of draws.
///
/// # Errors
/// [`Error::Interrupted`] if `control` asks for it.
pub fn run_chain(
    regression: &ScaledRegression,
    settings: &ChainSettings,
    start: Start,
    draws: &mut impl Draws,
    control: &Control,
) -> Result<Chain> {
    let start = start.columns(regression, draws);
    let mut gibbs = Gibbs::new(regression, &start, settings.exchanges);
    for _ in 0..settings.n_burn {
        gibbs.sweep(draws);
        watch(control, &gibbs)?;
    }
    let (n, k) = (settings.n_samples, regression.n_columns());
    let mut chain = Chain {
        samples: Array2::zeros((n, k)),
        included: Array2::default((n, k)),
        inclusion: Array2::zeros((n, k)),
        noise_var: Array1::zeros(n),
        slab_var: Array1::zeros(n),
        p0: Array1::zeros(n),
        work: ChainWork::default(),
    };
    let original: Vec<usize> = (0..regression.n_usable()).map(|column| regression.original(column)).collect();
    let share = 1.0 / settings.thin as f64;
    let noise_unit = regression.target_scale().powi(2);
    for draw in 0..n {
        let mut inclusion = chain.inclusion.row_mut(draw);
        for _ in 0..settings.thin {
            gibbs.sweep(draws);
            for (&column, probability) in original.iter().zip(gibbs.inclusion()) {
                inclusion[column] += share * probability;
            }
            watch(control, &gibbs)?;
        }
        for (&member, theta) in gibbs.members().iter().zip(gibbs.theta()) {
            chain.samples[[draw, original[member]]] = theta * regression.raw(member);
            chain.included[[draw, original[member]]] = true;
        }
        let (s2, v, p0) = gibbs.parameters();
        chain.noise_var[draw] = s2 * noise_unit;
        chain.slab_var[draw] = v;
        chain.p0[draw] = p0;
    }
    chain.work = gibbs.work();
    control.advance(chain.work.sweeps % CHECK_EVERY);
    Ok(chain)
}

/// Runs all chains in parallel; the draws depend on `seed` and the chain's number alone.
///
/// # Errors
/// [`Error::Argument`] for settings that make no sense, [`Error::Interrupted`] if `control` asks for it.
pub fn run_chains(
    regression: &ScaledRegression,
    settings: &ChainSettings,
    seed: u64,
    control: &Control,
) -> Result<Vec<Chain>> {
    settings.check()?;
    (0..settings.n_chains)
        .into_par_iter()
        .map(|index| {
            let mut stream = Stream::new(seed, Purpose::Chain, index as u64);
            run_chain(regression, settings, Start::of_chain(index), &mut stream, control)
        })
        .collect()
}

fn watch(control: &Control, gibbs: &Gibbs) -> Result<()> {
    if gibbs.work().sweeps.is_multiple_of(CHECK_EVERY) {
        control.advance(CHECK_EVERY);
        control.check()?;
    }
    Ok(())
}
