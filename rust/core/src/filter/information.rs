//! Gradient and Fisher information of the filter's likelihood, by filters of slightly changed models in lockstep.

use rayon::prelude::*;

use super::engine::Engine;
use super::kicks::{Asked, weighed};
use super::small::{multiply, multiply_transposed};
use super::standing::{StandingRows, excess, pairs, scale};
use super::state_space::StateSpace;
use super::visitor::{Step, Update, Visitor};
use super::whitened::WhitenedRows;
use crate::control::Control;
use crate::path::Path;
use crate::{Error, Result};

/// A coefficient of the model and the step of its central difference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Parameter {
    /// `drift[row, term]`
    Drift(usize, usize),
    /// `gamma[pair, term]`
    Gamma(usize, usize),
    /// `noise[place]`
    Noise(usize),
    /// `tails[channel][place]`
    Tail(usize, usize),
    /// `kicks[place]`
    Kick(usize),
}

impl Parameter {
    fn shift(self, model: &mut StateSpace<'_>, step: f64) -> Result<()> {
        let place = match self {
            Self::Drift(i, k) => model.drift.get_mut((i, k)),
            Self::Gamma(pair, k) => model.gamma.get_mut((pair, k)),
            Self::Noise(channel) => model.noise.get_mut(channel),
            Self::Kick(place) => model.kicks.get_mut(place),
            Self::Tail(channel, place) => model.tails.get_mut(channel).and_then(|tail| tail.get_mut(place)),
        };
        let missing = || Error::argument("parameters", format!("{self:?}"), "coefficients of the model");
        *place.ok_or_else(missing)? += step;
        Ok(())
    }
}

/// Innovations of a batch at one sample.
struct Now {
    q: usize,
    m: usize,
    seen: Vec<bool>,
    r: Vec<f64>,
    s: Vec<f64>,
    inverse: Vec<f64>,
    white: Vec<f64>,
    gained: Vec<f64>,
    steady: Vec<bool>,
    slot: Vec<usize>,
}

impl Now {
    fn new(m: usize, q: usize, lanes: usize) -> Self {
        let zeros = |n: usize| vec![0.0; lanes * n];
        Self {
            q,
            m,
            seen: vec![false; lanes * q],
            r: zeros(q),
            s: zeros(q * q),
            inverse: zeros(q * q),
            white: zeros(q),
            gained: zeros(1),
            steady: vec![false; lanes],
            slot: vec![0; lanes],
        }
    }
}

impl Visitor for Now {
    fn predicted(&mut self, _: usize, _: &Step<'_>) {}

    fn updated(&mut self, lane: usize, update: &Update<'_>) {
        let q = self.q;
        debug_assert_eq!(update.mean.len(), self.m);
        self.steady[lane] = update.steady;
        self.slot[lane] = update.slot;
        self.gained[lane] = update.gained;
        self.seen[lane * q..(lane + 1) * q].copy_from_slice(update.seen);
        self.r[lane * q..(lane + 1) * q].copy_from_slice(update.r);
        self.white[lane * q..(lane + 1) * q].copy_from_slice(update.white);
        self.s[lane * q * q..(lane + 1) * q * q].copy_from_slice(update.s);
        self.inverse[lane * q * q..(lane + 1) * q * q].copy_from_slice(update.inverse);
    }
}

/// The model and, for each parameter, the models a step above and below.
pub fn changed<'a>(model: &StateSpace<'a>, parameters: &[(Parameter, f64)]) -> Result<Vec<StateSpace<'a>>> {
    let mut models = vec![model.clone()];
    for &(parameter, step) in parameters {
        for step in [step, -step] {
            let mut moved = model.clone();
            parameter.shift(&mut moved, step)?;
            models.push(moved);
        }
    }
    Ok(models)
}

/// Rows of one batch whose products are the Fisher information, and with the target the gradient.
///
/// `dl = -r^T S^-1 dr + tr(S^-1 (r r^T - S) S^-1 dS) / 2`; information `dr^T S^-1 dr + tr(S^-1 dS S^-1 dS) / 2`. While
/// the covariances of all models stand still, so does `dS`. All take the turns of angles that the model itself takes. Where
/// noise has tails the rows are the scores of the samples.
pub fn information_rows(
    models: &[StateSpace<'_>],
    steps: &[f64],
    paths: &[Path<'_>],
    control: &Control,
) -> Result<(WhitenedRows, Vec<f64>)> {
    if !models[0].kicks.is_empty() {
        return kicked_rows(models, steps, paths, control);
    }
    let (m, q, lanes) = (models[0].m(), models[0].q(), paths.len());
    let mut engines: Vec<Engine<'_, '_>> = models.iter().map(|model| Engine::new(model, paths)).collect();
    let mut changes = Changes {
        steps,
        seen: models.iter().map(|_| Now::new(m, q, lanes)).collect(),
        standing: vec![None; engines[0].slots()],
        ds: vec![0.0; q * q * steps.len()],
        rows: WhitenedRows::new(steps.len()),
    };
    for n in 0..engines[0].length() {
        if n % 16 == 0 {
            control.check()?;
        }
        if let (Some((first, others)), Some((seen, beside))) =
            (engines.split_first_mut(), changes.seen.split_first_mut())
        {
            first.advance(n, seen);
            for (engine, now) in others.iter_mut().zip(beside) {
                engine.follow(first.turned());
                engine.advance(n, now);
            }
        }
        for lane in (0..lanes).filter(|&lane| n > 0 && n < paths[lane].len()) {
            if models[0].tails.is_empty() {
                changes.add(lane);
            } else {
                changes.add_score(lane);
            }
        }
    }
    (0..changes.standing.len()).for_each(|slot| changes.give(slot));
    control.advance(paths.iter().map(|path| path.len() as u64).sum());
    Ok((changes.rows, engines[0].loglik()))
}

/// The scores of all samples where steps are of unknown size.
fn kicked_rows(
    models: &[StateSpace<'_>],
    steps: &[f64],
    paths: &[Path<'_>],
    control: &Control,
) -> Result<(WhitenedRows, Vec<f64>)> {
    let (mut rows, mut loglik) = (WhitenedRows::new(steps.len()), Vec::new());
    for path in paths {
        let of = |model: &StateSpace<'_>| weighed(model, path, Asked::Likelihood, control);
        let seen = models.par_iter().map(of).collect::<Result<Vec<_>>>()?;
        for n in 1..path.len() {
            let row = rows.next();
            for (k, step) in steps.iter().enumerate() {
                row[k] = (seen[1 + 2 * k].gained[n] - seen[2 + 2 * k].gained[n]) / (2.0 * step);
            }
            row[steps.len()] = 1.0;
            rows.n += 1.0;
        }
        loglik.push(seen[0].total());
    }
    Ok((rows, loglik))
}

/// How innovations and their covariances change with the parameters, and the rows that this gives.
struct Changes<'a> {
    steps: &'a [f64],
    /// Of the model, then above and below of each parameter.
    seen: Vec<Now>,
    /// Of each slot whose covariances stand still, the rows of their changes.
    standing: Vec<Option<StandingRows>>,
    /// `S^(-1/2) dS S^(-T/2)`, q x q x c.
    ds: Vec<f64>,
    rows: WhitenedRows,
}

impl Changes<'_> {
    /// The rows of the sample that was last seen.
    fn add(&mut self, lane: usize) {
        let (q, c) = (self.seen[0].q, self.steps.len());
        self.add_innovations(lane);
        let slot = self.seen[0].slot[lane];
        let (there, r) = (&self.seen[0].seen[lane * q..(lane + 1) * q], &self.seen[0].white[lane * q..]);
        if self.seen.iter().all(|now| now.steady[lane]) {
            if let Some(standing) = &mut self.standing[slot] {
                standing.add(r, there);
                return;
            }
            whitened_changes(&self.seen, self.steps, lane, &mut self.ds);
            let mut standing = StandingRows::new(there, c);
            for (a, b) in pairs(there) {
                let row = &self.ds[(a * q + b) * c..][..c];
                standing.pair(&row.iter().map(|value| scale(a, b) * value).collect::<Vec<_>>(), 0.0);
            }
            standing.add(r, there);
            self.standing[slot] = Some(standing);
            return;
        }
        self.give(slot);
        whitened_changes(&self.seen, self.steps, lane, &mut self.ds);
        let (there, r) = (&self.seen[0].seen[lane * q..(lane + 1) * q], &self.seen[0].white[lane * q..]);
        for (a, b) in pairs(there) {
            let row = self.rows.next();
            let ds = &self.ds[(a * q + b) * c..][..c];
            row.iter_mut().zip(ds).for_each(|(row, ds)| *row = scale(a, b) * ds);
            row[c] = scale(a, b) * excess(r, a, b);
            self.rows.n += 1.0;
        }
    }

    /// The score of the sample that was last seen.
    fn add_score(&mut self, lane: usize) {
        let (c, row) = (self.steps.len(), self.rows.next());
        for (k, step) in self.steps.iter().enumerate() {
            row[k] = (self.seen[1 + 2 * k].gained[lane] - self.seen[2 + 2 * k].gained[lane]) / (2.0 * step);
        }
        row[c] = 1.0;
        self.rows.n += 1.0;
    }

    /// The rows of the innovations themselves.
    fn add_innovations(&mut self, lane: usize) {
        let (q, c, now) = (self.seen[0].q, self.steps.len(), &self.seen[0]);
        let inverse = &now.inverse[lane * q * q..(lane + 1) * q * q];
        for a in (0..q).filter(|&a| now.seen[lane * q + a]) {
            let row = self.rows.next();
            for (k, step) in self.steps.iter().enumerate() {
                let (up, down) = (&self.seen[1 + 2 * k].r[lane * q..], &self.seen[2 + 2 * k].r[lane * q..]);
                row[k] = (0..=a).map(|b| inverse[a * q + b] * ((up[b] - down[b]) * (0.5 / step))).sum();
            }
            row[c] = -now.white[lane * q + a];
            self.rows.n += 1.0;
        }
    }

    /// Ends what stood still, if anything did, and gives its rows.
    fn give(&mut self, slot: usize) {
        if let Some(standing) = self.standing[slot].take() {
            standing.give(&mut self.rows);
        }
    }
}

/// Writes how the covariance of the innovations changes with each parameter, in units of it: q x q x c.
fn whitened_changes(seen: &[Now], steps: &[f64], lane: usize, ds: &mut [f64]) {
    let (q, c) = (seen[0].q, steps.len());
    let at = lane * q * q..(lane + 1) * q * q;
    let inverse = &seen[0].inverse[at.clone()];
    let (mut change, mut half, mut white) = (vec![0.0; q * q], vec![0.0; q * q], vec![0.0; q * q]);
    for (k, step) in steps.iter().enumerate() {
        let pairs = seen[1 + 2 * k].s[at.clone()].iter().zip(&seen[2 + 2 * k].s[at.clone()]);
        change.iter_mut().zip(pairs).for_each(|(change, (up, down))| *change = (up - down) * (0.5 / step));
        multiply(inverse, &change, &mut half, q, q, q);
        multiply_transposed(&half, inverse, &mut white, q, q, q);
        white.iter().enumerate().for_each(|(index, white)| ds[index * c + k] = *white);
    }
}
