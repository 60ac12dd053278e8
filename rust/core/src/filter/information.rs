//! Gradient and Fisher information of the filter's likelihood, by filters of slightly changed models in lockstep.

use super::engine::Engine;
use super::small::{multiply, multiply_transposed};
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
    /// `noise[channel]`
    Noise(usize),
}

impl Parameter {
    fn shift(self, model: &mut StateSpace<'_>, step: f64) -> Result<()> {
        let place = match self {
            Self::Drift(i, k) => model.drift.get_mut((i, k)),
            Self::Gamma(pair, k) => model.gamma.get_mut((pair, k)),
            Self::Noise(channel) => model.noise.get_mut(channel),
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
        }
    }
}

impl Visitor for Now {
    fn predicted(&mut self, _: usize, _: &Step<'_>) {}

    fn updated(&mut self, lane: usize, update: &Update<'_>) {
        let q = self.q;
        debug_assert_eq!(update.mean.len(), self.m);
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
/// `dl = -r^T S^-1 dr + tr(S^-1 (r r^T - S) S^-1 dS) / 2`; information `dr^T S^-1 dr + tr(S^-1 dS S^-1 dS) / 2`.
pub fn information_rows(
    models: &[StateSpace<'_>],
    steps: &[f64],
    paths: &[Path<'_>],
    control: &Control,
) -> Result<(WhitenedRows, Vec<f64>)> {
    let (m, q, c, lanes) = (models[0].m(), models[0].q(), steps.len(), paths.len());
    let mut engines: Vec<Engine<'_, '_>> = models.iter().map(|model| Engine::new(model, paths)).collect();
    let mut seen: Vec<Now> = models.iter().map(|_| Now::new(m, q, lanes)).collect();
    let mut rows = WhitenedRows::new(c);
    let (mut change, mut half, mut white) = (vec![0.0; q * q], vec![0.0; q * q], vec![0.0; q * q]);
    let (mut dr, mut ds) = (vec![0.0; c * q], vec![0.0; c * q * q]);
    for n in 0..engines[0].length() {
        if n % 16 == 0 {
            control.check()?;
        }
        for (engine, now) in engines.iter_mut().zip(&mut seen) {
            engine.advance(n, now);
        }
        for lane in (0..lanes).filter(|&lane| n > 0 && n < paths[lane].len()) {
            let inverse = &seen[0].inverse[lane * q * q..(lane + 1) * q * q];
            for k in 0..c {
                let (up, down) = (&seen[1 + 2 * k], &seen[2 + 2 * k]);
                let scale = 0.5 / steps[k];
                for a in 0..q {
                    change[a] = (up.r[lane * q + a] - down.r[lane * q + a]) * scale;
                }
                multiply(inverse, &change, &mut dr[k * q..(k + 1) * q], q, q, 1);
                for index in 0..q * q {
                    change[index] = (up.s[lane * q * q + index] - down.s[lane * q * q + index]) * scale;
                }
                multiply(inverse, &change, &mut half, q, q, q);
                multiply_transposed(&half, inverse, &mut white, q, q, q);
                ds[k * q * q..(k + 1) * q * q].copy_from_slice(&white);
            }
            let (seen_now, r) =
                (&seen[0].seen[lane * q..(lane + 1) * q], &seen[0].white[lane * q..(lane + 1) * q]);
            for a in (0..q).filter(|&a| seen_now[a]) {
                let row = rows.next();
                (0..c).for_each(|k| row[k] = dr[k * q + a]);
                row[c] = -r[a];
                rows.n += 1.0;
                for b in (a..q).filter(|&b| seen_now[b]) {
                    let scale = if a == b { 0.5_f64.sqrt() } else { 1.0 };
                    let row = rows.next();
                    (0..c).for_each(|k| row[k] = scale * ds[k * q * q + a * q + b]);
                    row[c] = scale * (r[a] * r[b] - f64::from(u8::from(a == b)));
                    rows.n += 1.0;
                }
            }
        }
    }
    control.advance(paths.iter().map(|path| path.len() as u64).sum());
    Ok((rows, engines[0].loglik()))
}
