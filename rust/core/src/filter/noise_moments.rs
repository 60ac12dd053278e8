//! Moments of the regression of Gamma and the noise variances: sensitivities of covariance and mean.

mod memory;
mod steady;

use super::small::{axpy, multiply, multiply_transposed};
use super::state_space::MAX_STATES;
use super::transition::Transition;
use super::visitor::{Step, Update, Visitor};
use super::whitened::WhitenedRows;
use super::wide::multiply_wide;

pub use memory::NoiseMoments;
use memory::{Slot, both, push};

impl NoiseMoments<'_> {
    /// The rows, all of them.
    pub fn finish(mut self) -> WhitenedRows {
        (0..self.slots.len()).for_each(|slot| self.give(slot));
        self.rows
    }

    /// `w = a w a^T` for every column, of the path in `lane`, `a` being `factor`.
    fn sandwich(&mut self, lane: usize) {
        let (m, c, a) = (self.m, self.width, &self.factor);
        let w = &mut self.w[lane * m * m * c..(lane + 1) * m * m * c];
        multiply_wide(a, w, &mut self.next, m, m, m * c);
        for i in 0..m {
            let (part, out) = (&self.next[i * m * c..(i + 1) * m * c], &mut w[i * (m + 1) * c..]);
            multiply_wide(&a[i * m..], part, out, m - i, m, c);
        }
        for i in 0..m {
            for j in 0..i {
                w.copy_within((j * m + i) * c..(j * m + i + 1) * c, (i * m + j) * c);
            }
        }
    }

    /// The whitened observation, one row per channel.
    #[inline]
    fn whiten(&mut self, update: &Update<'_>) {
        let (m, q) = (self.m, self.q);
        let white = &mut self.white;
        for channel in 0..q {
            for i in 0..m {
                white[channel * m + i] = (0..=channel)
                    .map(|l| update.inverse[channel * q + l] * update.observation[l * m + i])
                    .sum();
            }
        }
    }

    /// The rows that an observation gives: of its innovations, and of their products.
    #[inline]
    fn add_rows(&mut self, lane: usize, update: &Update<'_>) {
        let (m, c, carried) = (self.m, self.width, self.carried);
        let d = &self.d[lane * m * c..(lane + 1) * m * c];
        for a in (0..self.q).filter(|&a| update.seen[a]) {
            let row = &mut self.part_row;
            row.fill(0.0);
            for i in 0..m {
                axpy(self.white[a * m + i], &d[i * c..(i + 1) * c], row);
            }
            push(&mut self.rows, &row[..carried], &self.noise, update.white[a]);
        }
        let noise = std::mem::take(&mut self.noise);
        self.pairs(lane, update, |rows, row, target| push(rows, &row[..carried], &noise, target));
        self.noise = noise;
    }

    /// The mean's sensitivities after an observation: `D = closed (D + C H^T S^-1 r) - Kg E S^-1 r`.
    #[inline]
    fn close(&mut self, lane: usize, update: &Update<'_>) {
        let (m, q, c, k) = (self.m, self.q, self.width, self.columns.len());
        let w = &self.w[lane * m * m * c..(lane + 1) * m * m * c];
        let d = &mut self.d[lane * m * c..(lane + 1) * m * c];
        let mut solved = [0.0; MAX_STATES];
        for channel in 0..q {
            solved[channel] = (channel..q).map(|l| update.inverse[l * q + channel] * update.white[l]).sum();
        }
        for j in 0..m {
            let pull: f64 = (0..q).map(|channel| update.observation[channel * m + j] * solved[channel]).sum();
            if pull != 0.0 {
                for i in 0..m {
                    axpy(pull, &w[(i * m + j) * c..][..c], &mut d[i * c..(i + 1) * c]);
                }
            }
        }
        multiply_wide(update.closed, d, &mut self.turn, m, m, c);
        d.copy_from_slice(&self.turn[..m * c]);
        for channel in (0..q).filter(|&channel| update.seen[channel]) {
            for i in 0..m {
                d[i * c + k + channel] -=
                    update.scale[channel] * update.gain[i * q + channel] * solved[channel];
            }
        }
        for (place, size, (a, b)) in both(self.shared, update.seen, update.scale) {
            for i in 0..m {
                let pulled = update.gain[i * q + a] * solved[b] + update.gain[i * q + b] * solved[a];
                d[i * c + k + q + place] -= size * pulled;
            }
        }
        let lane = &mut self.lanes[lane];
        lane.observed = true;
        lane.closed.copy_from_slice(update.closed);
        lane.gain.copy_from_slice(update.gain);
        for (index, gain) in lane.gain.iter_mut().enumerate() {
            *gain *= update.scale[index % q].sqrt();
        }
    }

    /// The sensitivities through the last observation and a step, without what the step adds.
    fn carry(&mut self, lane: usize, transition: &Transition) {
        let (m, q, c, k) = (self.m, self.q, self.width, self.columns.len());
        let observed = self.lanes[lane].observed;
        if observed {
            multiply(transition.phi(), &self.lanes[lane].closed, &mut self.factor, m, m, m);
        } else {
            self.factor.copy_from_slice(transition.phi());
        }
        self.sandwich(lane);
        if observed {
            let (moved, w) = (&mut self.small, &mut self.w[lane * m * m * c..(lane + 1) * m * m * c]);
            multiply(transition.phi(), &self.lanes[lane].gain, moved, m, m, q);
            for (i, j) in (0..m * m).map(|index| (index / m, index % m)) {
                for channel in 0..q {
                    w[(i * m + j) * c + k + channel] += moved[i * q + channel] * moved[j * q + channel];
                }
                for (place, &(a, b)) in self.shared.iter().enumerate() {
                    let turned = moved[i * q + b] * moved[j * q + a];
                    w[(i * m + j) * c + k + q + place] += moved[i * q + a] * moved[j * q + b] + turned;
                }
            }
        }
        self.lanes[lane].observed = false;
        let d = &mut self.d[lane * m * c..(lane + 1) * m * c];
        multiply_wide(transition.phi(), d, &mut self.turn, m, m, c);
        d.copy_from_slice(&self.turn[..m * c]);
    }

    /// What a step adds to the covariance's sensitivities.
    fn spread(&mut self, lane: usize, step: &Step<'_>) {
        let (m, c, transition) = (self.m, self.width, step.transition);
        let mm = m * m;
        let w = &mut self.w[lane * mm * c..(lane + 1) * mm * c];
        let Slot { version, spreads, .. } = &mut self.slots[step.slot];
        if *version != transition.version() {
            *version = transition.version();
            for ((unit, range), out) in self.units.iter().zip(spreads.chunks_exact_mut(mm)) {
                if !range.is_empty() {
                    transition.spread(unit, out);
                }
            }
        }
        let (product, moved) = self.small.split_at_mut(mm);
        for (pair, (unit, range)) in self.units.iter().enumerate() {
            let own = &self.columns[range.clone()];
            let values = &mut self.values[..own.len()];
            for node in 0..=transition.nodes().len() {
                // the integral of the values at the start is exact, that of their changes a sum over nodes
                for (value, &(of, k)) in values.iter_mut().zip(own) {
                    *value = match (of == pair, node) {
                        (false, _) => 0.0,
                        (true, 0) => step.size * step.terms[k * step.width],
                        (true, node) => {
                            step.size * transition.nodes()[node - 1].weight * step.change(k, node - 1)
                        }
                    };
                }
                if values.iter().all(|&value| value == 0.0) {
                    continue;
                }
                if node > 0 {
                    let onward = transition.onward(node - 1);
                    multiply(onward, unit, product, m, m, m);
                    multiply_transposed(product, onward, moved, m, m, m);
                } else {
                    moved.copy_from_slice(&spreads[pair * mm..(pair + 1) * mm]);
                }
                for (index, &factor) in moved.iter().enumerate() {
                    if factor != 0.0 {
                        axpy(factor, values, &mut w[index * c + range.start..][..own.len()]);
                    }
                }
            }
        }
        for index in 0..mm {
            w[index * c + self.carried - 1] += step.spread[index];
        }
    }
}

impl Visitor for NoiseMoments<'_> {
    const TERMS: bool = true;

    fn predicted(&mut self, lane: usize, step: &Step<'_>) {
        if self.stands(lane, step) {
            return;
        }
        let before = (step.steady && self.converges).then(|| self.before(lane, step));
        self.carry(lane, step.transition);
        self.spread(lane, step);
        if let Some(before) = before {
            self.compare(lane, &before, step);
        }
    }

    fn updated(&mut self, lane: usize, update: &Update<'_>) {
        if self.step_steady(lane, update) {
            return;
        }
        self.whiten(update);
        if update.n > 0 {
            self.add_rows(lane, update);
        }
        self.close(lane, update);
        self.settle(lane, update);
    }
}
