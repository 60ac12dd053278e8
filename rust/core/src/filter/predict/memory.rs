//! Working memory of predictions, and how far the covariance of a path has converged.

use crate::filter::affine::{Affine, Convergence};
use crate::filter::phases::Phases;
use crate::filter::square::{Square, read};
use crate::filter::state_space::StateSpace;
use crate::filter::transition::Transition;
use crate::path::Path;
use crate::program::Scratch;

/// How far the covariance of a path has converged.
#[derive(Debug, Clone, Copy)]
pub struct Steady {
    pub convergence: Convergence,
    /// Predictions since it has converged.
    pub age: usize,
}

impl Steady {
    pub const NEVER: Self = Self { convergence: Convergence::new(), age: 0 };

    /// Whether the last prediction, and the gain that follows from it, are the same as those a period before.
    pub fn holds(&self, period: usize) -> bool {
        self.age > period
    }
}

/// Working memory for the predictions of a batch. Arrays over lanes hold one row of `width` lanes per entry.
pub struct Predictor<'a> {
    pub model: &'a StateSpace<'a>,
    pub affine: Option<Affine>,
    pub phases: Phases,
    pub steady: Vec<Steady>,
    /// The step of each slot.
    pub steps: Vec<f64>,
    /// Whether a covariance converges: what noise with tails leaves of it differs by sample.
    pub settles: bool,
    /// Factors of the covariance of the noise of the step to each sample, of each lane; nothing where all are one.
    pub sizes: Vec<Vec<f64>>,
    pub lanes: usize,
    pub width: usize,
    pub values: Scratch,
    pub slopes: Scratch,
    pub around: Option<Scratch>,
    /// Columns of the factor of a covariance along which terms are averaged: those that lead to states that bend one.
    pub columns: usize,
    /// (row, term, coefficient) of the drift, and (pair, term, coefficient) of Gamma, zeros left out.
    pub drift: Vec<(usize, usize, f64)>,
    pub gamma: Vec<(usize, usize, f64)>,
    /// (element of the Jacobian, gradient, coefficient) of the drift, gradients that are nothing left out.
    pub slopes_of: Vec<(usize, usize, f64)>,
    /// Whether Gamma moves with the state.
    pub gamma_moves: bool,
    pub terms: Vec<f64>,
    pub gradient: Vec<f64>,
    pub jacobian: Vec<f64>,
    pub field: Vec<f64>,
    pub bends: Vec<f64>,
    pub twist: Vec<f64>,
    /// Where the linear drift leads in a step (lanes x m).
    pub way: Vec<f64>,
    /// Covariances half way; of affine models those that were predicted last (slots x m x m).
    pub ahead: Vec<f64>,
    pub moves: Vec<Transition>,
    pub spreads: Vec<Spread>,
    pub small: LaneWork,
}

/// Matrices (m x m) of one path, kept so that no step has to clear memory.
pub struct LaneWork {
    pub a: Vec<f64>,
    pub gamma: Vec<f64>,
    pub start: Vec<f64>,
    pub elements: Vec<f64>,
    pub spread: Vec<f64>,
    pub low: Vec<f64>,
    pub rest: Vec<f64>,
}

impl LaneWork {
    pub fn new(m: usize, pairs: usize) -> Self {
        let square = || vec![0.0; m * m];
        Self {
            a: square(),
            gamma: square(),
            start: square(),
            elements: vec![0.0; pairs],
            spread: square(),
            low: square(),
            rest: square(),
        }
    }
}

/// The spread that a Gamma gave over a step, for as long as both stay the same.
#[derive(Clone)]
pub struct Spread {
    pub version: u64,
    pub gamma: Vec<f64>,
    pub value: Vec<f64>,
}

impl Spread {
    /// The spread of this Gamma over the step.
    #[inline]
    pub fn of<const N: usize>(&mut self, gamma: &[f64], transition: &Transition) -> Square<N> {
        if self.version != transition.version() || self.gamma != gamma {
            self.version = transition.version();
            self.gamma.copy_from_slice(gamma);
            transition.spread(gamma, &mut self.value);
        }
        read(&self.value)
    }
}

/// The states up to the last of which a term is no linear function, where sensors have states of their own; else all.
fn bent(model: &StateSpace<'_>) -> usize {
    let (m, slopes) = (model.m(), model.gradient.affine());
    let constant =
        |form: &Option<Vec<f64>>| form.as_ref().is_some_and(|form| form[1..].iter().all(|&c| c == 0.0));
    let bends = |i: &usize| slopes.iter().skip(*i).step_by(m).any(|form| !constant(form));
    if model.resets.is_empty() { m } else { (0..m).rev().find(bends).map_or(1, |last| last + 1) }
}

/// Which gradients make which element of the Jacobian, and how: all but those that are nothing wherever a path may be.
fn sloping(model: &StateSpace<'_>, drift: &[(usize, usize, f64)]) -> Vec<(usize, usize, f64)> {
    let (m, forms) = (model.m(), model.gradient.affine());
    let kinked = |k: usize| model.kinks.iter().any(|kink| kink.term == k);
    let none = |at: usize| forms[at].as_ref().is_some_and(|form| form.iter().all(|&c| c == 0.0));
    let every = drift.iter().flat_map(|&(i, k, c)| (0..m).map(move |j| (i * m + j, k * m + j, c)));
    every.filter(|&(_, at, _)| kinked(at / m) || !none(at)).collect()
}

/// The entries of a coefficient table that are not zero.
fn sparse(table: &ndarray::Array2<f64>) -> Vec<(usize, usize, f64)> {
    table.indexed_iter().filter(|(_, c)| **c != 0.0).map(|((i, k), &c)| (i, k, c)).collect()
}

impl<'a> Predictor<'a> {
    /// Memory for the paths of a batch.
    pub fn new(model: &'a StateSpace<'a>, paths: &[Path<'_>]) -> Self {
        let affine = Affine::of(model);
        let phases = Phases::of(model, affine.is_some(), paths);
        Self::with(model, affine, phases)
    }

    /// The same with phases.
    pub fn with(model: &'a StateSpace<'a>, affine: Option<Affine>, phases: Phases) -> Self {
        let (lanes, slots) = (phases.periods.len(), phases.slots());
        let (m, k) = (model.m(), model.program.n_outputs());
        let values = model.program.scratch(lanes);
        let width = values.width();
        let zeros = |rows: usize| vec![0.0; rows * width];
        let (drift, gamma) = (sparse(&model.drift), sparse(&model.gamma));
        let forms = model.program.affine();
        let moves =
            |k: usize| forms[k].as_ref().is_none_or(|form| form[1..].iter().any(|&slope| slope != 0.0));
        let mut gradient = zeros(k * m);
        let columns = bent(model);
        if let Some(affine) = &affine {
            let rows = gradient.chunks_exact_mut(width.max(1));
            rows.zip(&affine.slopes).for_each(|(row, &slope)| row.fill(slope));
        }
        Self {
            model,
            phases,
            steady: vec![Steady::NEVER; lanes],
            steps: vec![f64::NAN; slots],
            settles: model.tails.is_empty(),
            sizes: Vec::new(),
            lanes,
            width,
            values,
            slopes: model.gradient.scratch(lanes),
            around: (model.second_order && affine.is_none())
                .then(|| model.program.scratch(2 * columns * lanes)),
            columns,
            affine,
            slopes_of: sloping(model, &drift),
            drift,
            gamma_moves: gamma.iter().any(|&(_, k, _)| moves(k)),
            gamma,
            terms: zeros(k),
            gradient,
            jacobian: zeros(m * m),
            field: zeros(m),
            bends: zeros(k),
            twist: zeros(m),
            way: vec![0.0; lanes * m],
            ahead: vec![0.0; slots * m * m],
            moves: vec![Transition::new(m); slots],
            spreads: vec![
                Spread { version: 0, gamma: vec![f64::NAN; m * m], value: vec![0.0; m * m] };
                slots
            ],
            small: LaneWork::new(m, model.pairs.len()),
        }
    }
}
