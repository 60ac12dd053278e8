//! Moments of the drift regression: sensitivities of the mean, carried through the closed loop.

use super::small::{axpy, multiply_wide};
use super::state_space::StateSpace;
use super::visitor::{Step, Update, Visitor};
use super::whitened::WhitenedRows;

/// Sensitivities `D = dM / dtheta` of a batch and the rows they give.
///
/// `D- = Phi D + Psi e_i u_k + sum_n w_n Phi_n e_i du_k(s_n)`, `D = (I - Kg H) D-`, with `Psi` the integral of the
/// exponential, nodes `s_n` of weight `w_n` and the change `du_k` of a term by then; target `r + H D- theta` on
/// regressors `H D-` with weight `S^-1`.
pub struct DriftMoments<'a> {
    columns: &'a [(usize, usize)],
    theta: Vec<f64>,
    m: usize,
    q: usize,
    /// lanes x m x C
    d: Vec<f64>,
    next: Vec<f64>,
    seen: Vec<f64>,
    /// The rows of the regression.
    pub rows: WhitenedRows,
}

impl<'a> DriftMoments<'a> {
    /// For the drift coefficients `columns` (row, term) of a batch of `lanes` paths.
    pub fn new(model: &StateSpace<'_>, columns: &'a [(usize, usize)], lanes: usize) -> Self {
        let (m, c) = (model.m(), columns.len());
        Self {
            columns,
            theta: columns.iter().map(|&column| model.drift[column]).collect(),
            m,
            q: model.q(),
            d: vec![0.0; lanes * m * c],
            next: vec![0.0; m * c],
            seen: vec![0.0; c],
            rows: WhitenedRows::new(c),
        }
    }
}

impl Visitor for DriftMoments<'_> {
    fn predicted(&mut self, lane: usize, step: &Step<'_>) {
        let (m, c) = (self.m, self.columns.len());
        let d = &mut self.d[lane * m * c..(lane + 1) * m * c];
        let transition = step.transition;
        multiply_wide(transition.phi(), d, &mut self.next, m, m, c);
        d.copy_from_slice(&self.next);
        for (column, &(i, k)) in self.columns.iter().enumerate() {
            let u = step.terms[k * step.width];
            for j in 0..m {
                d[j * c + column] += transition.lead()[j * m + i] * u;
            }
            for (node, at) in transition.nodes().iter().enumerate() {
                let change = at.weight * step.change(k, node);
                if change != 0.0 {
                    for j in 0..m {
                        d[j * c + column] += transition.onward(node)[j * m + i] * change;
                    }
                }
            }
        }
    }

    fn updated(&mut self, lane: usize, update: &Update<'_>) {
        let (m, q, c) = (self.m, self.q, self.columns.len());
        let d = &mut self.d[lane * m * c..(lane + 1) * m * c];
        if update.n > 0 {
            for channel in 0..q {
                if !update.seen[channel] {
                    continue;
                }
                // row of (inverse observation) d
                self.seen.fill(0.0);
                for i in 0..m {
                    let weight: f64 = (0..=channel)
                        .map(|l| update.inverse[channel * q + l] * update.observation[l * m + i])
                        .sum();
                    if weight != 0.0 {
                        axpy(weight, &d[i * c..(i + 1) * c], &mut self.seen);
                    }
                }
                let now: f64 = self.seen.iter().zip(&self.theta).map(|(x, theta)| x * theta).sum();
                let row = self.rows.next();
                row[..c].copy_from_slice(&self.seen);
                row[c] = update.white[channel] + now;
                self.rows.n += 1.0;
            }
        }
        multiply_wide(update.closed, d, &mut self.next, m, m, c);
        d.copy_from_slice(&self.next);
    }
}
