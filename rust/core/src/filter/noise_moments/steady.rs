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
            Settled::Standing if step.steady => true,
            Settled::Never => false,
            _ if step.steady => false,
            _ => {
                self.stop(lane, step.slot);
                false
            }
        }
    }

    /// The covariance's sensitivities a period before those to which a step leads, none where nobody kept them.
    pub fn before(&mut self, lane: usize, step: &Step<'_>) -> Vec<f64> {
        if step.period == 1 {
            return self.covariance(lane).to_vec();
        }
        std::mem::take(&mut self.slots[step.slot].before)
    }

    /// Notes how far the covariance's sensitivities came in a period of a covariance that has converged.
    pub fn compare(&mut self, lane: usize, before: &[f64], step: &Step<'_>) {
        // those of the other phases follow from those of one
        let counts = step.n.is_multiple_of(step.period) && !before.is_empty();
        let near = counts && close_columns(before, self.covariance(lane), self.m, self.width);
        if step.period > 1 {
            self.slots[step.slot].before = self.covariance(lane).to_vec();
        }
        let lane = &mut self.lanes[lane];
        if matches!(lane.settled, Settled::Never) {
            lane.settled = Settled::Moving(Convergence::new());
        }
        if let Settled::Moving(convergence) = &mut lane.settled
            && counts
            && convergence.step(near)
        {
            lane.settled = Settled::Converged(step.period);
        }
        if matches!(lane.settled, Settled::Converged(_)) {
            lane.phi = step.transition.phi().to_vec();
        }
    }

    /// Starts to stand, after an observation whose sensitivities have converged.
    pub fn settle(&mut self, lane: usize, update: &Update<'_>) {
        let Settled::Converged(left) = self.lanes[lane].settled else { return };
        let (m, q, c, k) = (self.m, self.q, self.width, self.columns.len());
        let phi = std::mem::take(&mut self.lanes[lane].phi);
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
        let mut rows = StandingRows::new(update.seen, carried - 1);
        self.pairs(lane, update, |_, row, _| rows.pair(row, base(&row[..carried], &noise)));
        let w = if update.period > 1 { self.covariance(lane).to_vec() } else { Vec::new() };
        let of = &mut self.lanes[lane];
        let (closed, gain) = (of.closed.clone(), of.gain.clone());
        of.settled = if left > 1 { Settled::Converged(left - 1) } else { Settled::Standing };
        of.last = update.slot;
        let standing = Standing { phi, stack, pull, w, closed, gain, rows };
        self.slots[update.slot].standing = Some(Box::new(standing));
    }

    /// An observation while all stands; false if it does not.
    pub fn step_steady(&mut self, lane: usize, update: &Update<'_>) -> bool {
        if !matches!(self.lanes[lane].settled, Settled::Standing) {
            return false;
        }
        if !update.steady {
            self.thaw(lane, update.slot);
            return false;
        }
        let (m, q, c) = (self.m, self.q, self.width);
        let Some(standing) = &mut self.slots[update.slot].standing else { return false };
        let d = &mut self.d[lane * m * c..(lane + 1) * m * c];
        multiply_wide(&standing.stack, d, &mut self.turn, q + m, m, c);
        for a in (0..q).filter(|&a| update.seen[a]) {
            push(&mut self.rows, &self.turn[a * c..][..self.carried], &self.noise, update.white[a]);
        }
        d.copy_from_slice(&self.turn[q * c..]);
        for a in (0..q).filter(|&a| update.seen[a]) {
            add_scaled(update.white[a], &standing.pull[a * m * c..(a + 1) * m * c], d);
        }
        standing.rows.add(update.white, update.seen);
        self.lanes[lane].last = update.slot;
        true
    }

    /// The sensitivities before an observation that ends the standing after its step was left out.
    fn thaw(&mut self, lane: usize, slot: usize) {
        let (m, c) = (self.m, self.width);
        self.lanes[lane].last = slot;
        let Some(phi) = self.slots[slot].standing.as_ref().map(|standing| standing.phi.clone()) else {
            return;
        };
        self.stop(lane, slot);
        let d = &mut self.d[lane * m * c..(lane + 1) * m * c];
        multiply_wide(&phi, d, &mut self.turn, m, m, c);
        d.copy_from_slice(&self.turn[..m * c]);
        self.lanes[lane].observed = false;
    }

    /// Ends the standing, if there is one: sensitivities are those of the last sample again, and all rows are given.
    fn stop(&mut self, lane: usize, slot: usize) {
        let of = &mut self.lanes[lane];
        if let (Settled::Standing, Some(standing)) = (&of.settled, &self.slots[of.last].standing)
            && !standing.w.is_empty()
        {
            let size = self.m * self.m * self.width;
            self.w[lane * size..(lane + 1) * size].copy_from_slice(&standing.w);
            of.closed.copy_from_slice(&standing.closed);
            of.gain.copy_from_slice(&standing.gain);
        }
        of.settled = Settled::Never;
        let most = self.slots.len() / self.lanes.len();
        for slot in slot / most * most..(slot / most + 1) * most {
            self.slots[slot].before.clear();
            self.give(slot);
        }
    }

    /// Gives the rows that were summed while all stood still.
    pub fn give(&mut self, slot: usize) {
        if let Some(standing) = self.slots[slot].standing.take() {
            standing.rows.give(&mut self.rows);
        }
    }
}
