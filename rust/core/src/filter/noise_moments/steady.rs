//! Sensitivities once those of the covariance have converged: a sample moves those of the mean alone.

use super::memory::{NoiseMoments, Settled, Standing, base, both, push};
use crate::filter::affine::{Convergence, close_columns};
use crate::filter::small::multiply;
use crate::filter::standing::StandingRows;
use crate::filter::visitor::{Step, Update};
use crate::filter::wide::{add_scaled, multiply_wide};

impl NoiseMoments<'_> {
    /// The covariance's sensitivities of a path (m x m x C).
    pub fn covariance(&self, lane: usize) -> &[f64] {
        let size = self.m * self.m * self.width;
        &self.w[lane * size..(lane + 1) * size]
    }

    /// Whether a step leaves all to the observation after it, since the covariance and its sensitivities stand.
    pub fn stands(&mut self, lane: usize, step: &Step<'_>) -> bool {
        match self.lanes[lane].settled {
            Settled::Standing(_) if step.steady => true,
            Settled::Never => false,
            _ if step.steady => false,
            _ => {
                self.give(lane);
                false
            }
        }
    }

    /// Notes how far the covariance's sensitivities came in a step of a covariance that has converged.
    pub fn compare(&mut self, lane: usize, before: &[f64], phi: &[f64]) {
        let near = close_columns(before, self.covariance(lane), self.m, self.width);
        let settled = &mut self.lanes[lane].settled;
        if matches!(settled, Settled::Never) {
            *settled = Settled::Moving(Convergence::new());
        }
        if let Settled::Moving(convergence) = settled
            && convergence.step(near)
        {
            *settled = Settled::Converged(phi.to_vec());
        }
    }

    /// Starts to stand, after an observation whose sensitivities have converged.
    pub fn settle(&mut self, lane: usize, update: &Update<'_>) {
        let Settled::Converged(phi) = &self.lanes[lane].settled else { return };
        let (m, q, c, k) = (self.m, self.q, self.width, self.columns.len());
        let phi = phi.clone();
        let mut stack = vec![0.0; (q + m) * m];
        multiply(&self.white, &phi, &mut stack, q, m, m);
        multiply(update.closed, &phi, &mut stack[q * m..], m, m, m);
        let (mut pull, mut drawn) = (vec![0.0; q * m * c], vec![0.0; m * c]);
        for a in 0..q {
            drawn.fill(0.0);
            for i in 0..m {
                for j in 0..m {
                    let w = &self.covariance(lane)[(i * m + j) * c..][..c];
                    add_scaled(self.white[a * m + j], w, &mut drawn[i * c..(i + 1) * c]);
                }
            }
            let pull = &mut pull[a * m * c..(a + 1) * m * c];
            multiply_wide(update.closed, &drawn, pull, m, m, c);
            for i in 0..m {
                for channel in 0..=a {
                    pull[i * c + k + channel] -= update.scale[channel]
                        * update.gain[i * q + channel]
                        * update.inverse[a * q + channel];
                }
                for (place, size, (one, other)) in both(self.shared, update.seen, update.scale) {
                    let straight = update.gain[i * q + one] * update.inverse[a * q + other];
                    let turned = update.gain[i * q + other] * update.inverse[a * q + one];
                    pull[i * c + k + q + place] -= size * (straight + turned);
                }
            }
        }
        let (carried, noise) = (self.carried, self.noise.clone());
        let mut rows = StandingRows::new(q, carried - 1);
        self.pairs(lane, update, |_, row, _| rows.pair(row, base(&row[..carried], &noise)));
        self.lanes[lane].settled = Settled::Standing(Box::new(Standing { phi, stack, pull, rows }));
    }

    /// An observation while all stands; false if it does not.
    pub fn step_steady(&mut self, lane: usize, update: &Update<'_>) -> bool {
        if !matches!(self.lanes[lane].settled, Settled::Standing(_)) {
            return false;
        }
        if !update.steady {
            self.thaw(lane);
            return false;
        }
        let (m, q, c) = (self.m, self.q, self.width);
        let Settled::Standing(standing) = &mut self.lanes[lane].settled else { return false };
        let d = &mut self.d[lane * m * c..(lane + 1) * m * c];
        multiply_wide(&standing.stack, d, &mut self.turn, q + m, m, c);
        for a in 0..q {
            push(&mut self.rows, &self.turn[a * c..][..self.carried], &self.noise, update.white[a]);
        }
        d.copy_from_slice(&self.turn[q * c..]);
        for a in 0..q {
            add_scaled(update.white[a], &standing.pull[a * m * c..(a + 1) * m * c], d);
        }
        standing.rows.add(update.white);
        true
    }

    /// The sensitivities before an observation that ends the standing after its step was left out.
    fn thaw(&mut self, lane: usize) {
        let (m, c) = (self.m, self.width);
        if let Some(standing) = self.give(lane) {
            let d = &mut self.d[lane * m * c..(lane + 1) * m * c];
            multiply_wide(&standing.phi, d, &mut self.turn, m, m, c);
            d.copy_from_slice(&self.turn[..m * c]);
            self.lanes[lane].observed = false;
        }
    }

    /// Ends the standing, if there is one, and gives the rows that were summed.
    pub fn give(&mut self, lane: usize) -> Option<Box<Standing>> {
        match std::mem::take(&mut self.lanes[lane].settled) {
            Settled::Standing(mut standing) => {
                let rows = std::mem::replace(&mut standing.rows, StandingRows::new(0, 0));
                rows.give(&mut self.rows);
                Some(standing)
            }
            _ => None,
        }
    }
}
