//! Predictions of affine models: no program runs, and a covariance that has converged is not computed again.

use super::memory::{Predictor, Steady};
use crate::filter::affine::{Affine, close};
use crate::filter::small::axpy;
use crate::filter::square::{apply, read, with_size};
use crate::filter::transition::PLACES;
use crate::filter::visitor::{Step, Visitor};

impl Predictor<'_> {
    /// Whether all is as it was at the last sample of a path.
    pub fn steady(&self, lane: usize) -> bool {
        self.steady[lane].holds(self.phases.periods[lane])
    }

    /// The covariance that was predicted last, for sample `n`; what converges starts anew, since something is missing or
    /// uneven.
    pub fn unsettle(&mut self, n: usize, lane: usize) -> &[f64] {
        let (mm, slot) = (self.model.m() * self.model.m(), self.phases.slot(lane, n));
        self.steady[lane] = Steady::NEVER;
        &self.ahead[slot * mm..(slot + 1) * mm]
    }

    /// Advances all lanes that move, see `run`.
    pub fn run_affine<V: Visitor>(
        &mut self,
        affine: &Affine,
        (n, h): (usize, &[f64]),
        mean: &mut [f64],
        cov: &mut [f64],
        visitor: &mut V,
    ) {
        let m = self.model.m();
        for lane in (0..self.lanes).filter(|&lane| h[lane] > 0.0) {
            let mean = &mut mean[lane * m..(lane + 1) * m];
            let cov = &mut cov[lane * m * m..(lane + 1) * m * m];
            with_size!(m, self.step_affine::<N, V>(affine, (n, lane, h[lane]), mean, cov, visitor));
        }
    }

    fn step_affine<const N: usize, V: Visitor>(
        &mut self,
        affine: &Affine,
        (n, lane, h): (usize, usize, f64),
        mean: &mut [f64],
        cov: &mut [f64],
        visitor: &mut V,
    ) {
        let (w, mm) = (self.width, N * N);
        let (slot, period) = (self.phases.slot(lane, n), self.phases.periods[lane]);
        let (transition, steady, last) =
            (&mut self.moves[slot], &mut self.steady[lane], &mut self.steps[slot]);
        let ahead = &mut self.ahead[slot * mm..(slot + 1) * mm];
        if last.is_nan() || (*last - h).abs() > self.phases.slack[lane] {
            *steady = Steady::NEVER;
            *last = h;
            transition.set(&affine.a, h, true);
        }
        if V::TERMS {
            let terms = self.terms[lane..].iter_mut().step_by(w);
            for ((term, &offset), slopes) in terms.zip(&affine.offsets).zip(affine.slopes.chunks_exact(N)) {
                *term = offset + slopes.iter().zip(&*mean).map(|(slope, x)| slope * x).sum::<f64>();
            }
        }
        let mut field = apply(&read::<N>(&affine.a), &std::array::from_fn(|i| mean[i]));
        (0..N).for_each(|i| field[i] += affine.force[i]);
        let mut ways = [[0.0; N]; PLACES.len()];
        // the first steady step of each phase shows them still
        if V::TERMS && steady.age < 2 * period {
            for (node, way) in ways.iter_mut().enumerate() {
                *way = apply(&read::<N>(transition.lead_to(node)), &field);
            }
        }
        let size = self.sizes.get(lane).map_or(1.0, |sizes| sizes[n]);
        let moved = apply(&read::<N>(transition.lead()), &field);
        (0..N).for_each(|i| mean[i] += moved[i]);
        if steady.age < period {
            let added = self.spreads[slot].of::<N>(&affine.gamma, transition);
            self.small.rest.copy_from_slice(cov);
            transition.carry(&self.small.rest, cov);
            axpy(size, added.as_flattened(), cov);
            // the covariances of the other phases follow from that of one
            let counted = n.is_multiple_of(period) && steady.age == 0 && self.settles;
            if steady.age > 0 || counted && steady.convergence.step(close(ahead, cov, N)) {
                steady.age += 1;
            }
            ahead.copy_from_slice(cov);
        } else {
            steady.age += 1;
        }
        let mut spread: &[f64] = &self.spreads[slot].value;
        if !self.sizes.is_empty() {
            let scaled = self.small.spread.iter_mut().zip(spread);
            scaled.for_each(|(scaled, spread)| *scaled = size * spread);
            spread = &self.small.spread;
        }
        let step = Step {
            n,
            slot,
            period,
            terms: &self.terms[lane..],
            gradient: &self.gradient[lane..],
            bends: &self.bends[lane..],
            width: w,
            field: &field,
            ways: ways.as_flattened(),
            transition,
            spread,
            size,
            mean,
            cov: ahead,
            steady: steady.holds(period),
        };
        visitor.predicted(lane, &step);
    }
}
