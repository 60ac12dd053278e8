//! One prediction of a batch of paths: terms over all lanes at once, small matrices path by path.

mod affine;
mod memory;

use super::small::{axpy, factor_semidefinite};
use super::square::{Square, add, apply, read, sandwich, with_size, write};
use super::state_space::{MAX_STATES, StateSpace};
use super::transition::PLACES;
use super::visitor::{Step, Visitor};
use memory::LaneWork;
pub use memory::Predictor;

const SQRT_3: f64 = 1.732_050_807_568_877_2;

/// Adds what Gamma does beyond its value at the start, as it moves along the step with its terms: the integral for the
/// start is exact, the rest a sum over nodes.
#[inline]
fn add_changes<const N: usize>(
    model: &StateSpace<'_>,
    gamma: &[(usize, usize, f64)],
    (step, now): (&Step<'_>, &mut [f64]),
    (start, elements): (&[f64], &mut [f64]),
    added: &mut Square<N>,
) {
    for (node, at) in step.transition.nodes().iter().enumerate() {
        let mut still = true;
        elements.fill(0.0);
        for &(pair, k, c) in gamma {
            let change = step.change(k, node);
            still &= change == 0.0;
            elements[pair] += c * (step.terms[k * step.width] + change);
        }
        if still {
            continue;
        }
        model.positive_gamma(elements, now);
        let mut change = read::<N>(now);
        add(&mut change, -1.0, &read(start));
        add(added, at.weight, &sandwich(&read(step.transition.onward(node)), &change));
    }
}

impl Predictor<'_> {
    /// Advances means (lanes x m) and covariances (lanes x m x m) by `h`; lanes with `h = 0` stay as they are. Steps are
    /// linearised about these, or about the laws `about` (means, covariances) where there are some.
    ///
    /// The drift is linearised at the mean, `f + A (x - M)`, and integrated exactly. Its terms are averaged over where
    /// noise and doubt may take the state, with the covariance of half way; what the way of the drift adds to a term
    /// beyond its gradient is counted as `c s^2`, with `c` from the term where the linear drift leads. A term with a kink
    /// has no `c`; its average counts the way along the drift as spread.
    pub fn run<V: Visitor>(
        &mut self,
        n: usize,
        h: &[f64],
        about: Option<(&[f64], &[f64])>,
        (mean, cov): (&mut [f64], &mut [f64]),
        visitor: &mut V,
    ) {
        if let Some(affine) = self.affine.take() {
            self.run_affine(&affine, (n, h), mean, cov, visitor);
            self.affine = Some(affine);
            return;
        }
        let m = self.model.m();
        let (at, doubt) = about.unwrap_or((mean, cov));
        self.terms_at(at, doubt);
        self.linearise(h, V::TERMS || self.gamma_moves);
        if self.model.second_order {
            self.bend(h, at);
            self.average(h, at, doubt);
        }
        if about.is_some() {
            self.carry_to(at, mean);
        }
        for lane in 0..self.lanes {
            if h[lane] > 0.0 {
                let mean = &mut mean[lane * m..(lane + 1) * m];
                let cov = &mut cov[lane * m * m..(lane + 1) * m * m];
                self.step(n, lane, mean, cov, visitor);
            }
        }
    }

    /// Values and gradients of the terms at the means, the drift and its Jacobian.
    fn terms_at(&mut self, mean: &[f64], cov: &[f64]) {
        let (m, w) = (self.model.m(), self.width);
        for i in 0..m {
            for lane in 0..self.lanes {
                self.values.input_mut(i)[lane] = mean[lane * m + i];
                self.slopes.input_mut(i)[lane] = mean[lane * m + i];
            }
        }
        self.model.program.run(&mut self.values);
        self.model.gradient.run(&mut self.slopes);
        self.terms.copy_from_slice(self.values.outputs());
        self.gradient.copy_from_slice(self.slopes.outputs());
        let mut slope = [0.0; MAX_STATES];
        for kink in &self.model.kinks {
            for lane in 0..self.lanes {
                let x = &mean[lane * m..(lane + 1) * m];
                let cov = &cov[lane * m * m..(lane + 1) * m * m];
                self.terms[kink.term * w + lane] = kink.expectation(x, cov, &mut slope[..m]);
                for j in 0..m {
                    self.gradient[(kink.term * m + j) * w + lane] = slope[j];
                }
            }
        }
        self.jacobian.fill(0.0);
        for &(element, slope, c) in &self.slopes_of {
            axpy(c, &self.gradient[slope * w..][..w], &mut self.jacobian[element * w..][..w]);
        }
        self.sum_field();
    }

    /// The transition of every lane that moves.
    fn linearise(&mut self, h: &[f64], nodes: bool) {
        let w = self.width;
        for (lane, transition) in self.moves.iter_mut().enumerate().filter(|(lane, _)| h[*lane] > 0.0) {
            for (index, a) in self.small.a.iter_mut().enumerate() {
                *a = self.jacobian[index * w + lane];
            }
            if self.model.second_order {
                transition.set(&self.small.a, h[lane], nodes);
            } else {
                transition.set_euler(&self.small.a, h[lane]);
            }
        }
    }

    /// The drift from the terms as they stand.
    fn sum_field(&mut self) {
        let w = self.width;
        self.field.fill(0.0);
        for &(i, k, c) in &self.drift {
            axpy(c, &self.terms[k * w..][..w], &mut self.field[i * w..][..w]);
        }
    }

    /// What the way of the drift adds to the terms beyond their gradients, from their values where it leads.
    fn bend(&mut self, h: &[f64], mean: &[f64]) {
        let (m, w) = (self.model.m(), self.width);
        for lane in 0..self.lanes {
            if h[lane] > 0.0 {
                let way = &mut self.way[lane * m..(lane + 1) * m];
                with_size!(m, {
                    let field: [f64; N] = std::array::from_fn(|i| self.field[i * w + lane]);
                    way.copy_from_slice(&apply(&read::<N>(self.moves[lane].lead()), &field));
                });
            }
            for i in 0..m {
                self.values.input_mut(i)[lane] = mean[lane * m + i] + self.way[lane * m + i];
            }
        }
        self.model.program.run(&mut self.values);
        let led = self.values.outputs();
        for k in 0..self.model.program.n_outputs() {
            for lane in 0..self.lanes {
                let (at, h) = (k * w + lane, h[lane]);
                let straight: f64 =
                    (0..m).map(|j| self.gradient[(k * m + j) * w + lane] * self.way[lane * m + j]).sum();
                self.bends[at] = if h > 0.0 { (led[at] - self.terms[at] - straight) / (h * h) } else { 0.0 };
            }
        }
        for kink in &self.model.kinks {
            self.bends[kink.term * w..][..w].fill(0.0);
        }
        self.twist.fill(0.0);
        for &(i, k, c) in &self.drift {
            axpy(c, &self.bends[k * w..][..w], &mut self.twist[i * w..][..w]);
        }
    }

    /// Replaces the term values by their averages over the step: three-point Gauss-Hermite along each column of the
    /// factor of the covariance, kinks exactly.
    fn average(&mut self, h: &[f64], mean: &[f64], cov: &[f64]) {
        let (m, w, lanes, columns) = (self.model.m(), self.width, self.lanes, self.columns);
        let Some(around) = self.around.as_mut() else { return };
        let total = around.width();
        let LaneWork { gamma, elements, low, rest, .. } = &mut self.small;
        for lane in 0..self.lanes {
            if h[lane] <= 0.0 {
                continue;
            }
            elements.fill(0.0);
            for &(pair, k, c) in &self.gamma {
                elements[pair] += c * self.terms[k * w + lane];
            }
            self.model.positive_gamma(elements, gamma);
            let ahead = &mut self.ahead[lane * m * m..(lane + 1) * m * m];
            rest.copy_from_slice(&cov[lane * m * m..(lane + 1) * m * m]);
            axpy(h[lane] / 4.0, gamma, rest);
            self.moves[lane].carry_onward(PLACES.len() / 2, rest, ahead);
            axpy(h[lane] / 4.0, gamma, ahead);
            factor_semidefinite(ahead, low, rest, m);
            let inputs = around.inputs_mut();
            for column in 0..columns {
                for i in 0..m {
                    let (x, shift) = (mean[lane * m + i], SQRT_3 * low[i * m + column]);
                    inputs[i * total + column * lanes + lane] = x + shift;
                    inputs[i * total + (columns + column) * lanes + lane] = x - shift;
                }
            }
        }
        self.model.program.run(around);
        for k in 0..self.model.program.n_outputs() {
            let row = around.output(k);
            let term = &mut self.terms[k * w..][..w];
            for lane in 0..lanes {
                let mut sum = 0.0;
                for point in 0..2 * columns {
                    sum += row[point * lanes + lane];
                }
                term[lane] += (sum - 2.0 * columns as f64 * term[lane]) / 6.0;
            }
        }
        if !self.model.kinks.is_empty() {
            self.average_kinks(h, mean);
        }
        self.sum_field();
    }

    /// Moves the terms from where they were linearised to the means, along their gradients.
    fn carry_to(&mut self, at: &[f64], mean: &[f64]) {
        let (m, w) = (self.model.m(), self.width);
        for k in 0..self.model.program.n_outputs() {
            for j in 0..m {
                for lane in 0..self.lanes {
                    let away = mean[lane * m + j] - at[lane * m + j];
                    self.terms[k * w + lane] += self.gradient[(k * m + j) * w + lane] * away;
                }
            }
        }
        self.sum_field();
    }

    fn average_kinks(&mut self, h: &[f64], mean: &[f64]) {
        let (m, w) = (self.model.m(), self.width);
        let mut slope = [0.0; MAX_STATES];
        for lane in 0..self.lanes {
            let ahead = &mut self.ahead[lane * m * m..(lane + 1) * m * m];
            for i in 0..m {
                for j in 0..m {
                    let way = self.field[i * w + lane] * self.field[j * w + lane];
                    ahead[i * m + j] += h[lane] * h[lane] / 3.0 * way;
                }
            }
            let x = &mean[lane * m..(lane + 1) * m];
            for kink in &self.model.kinks {
                self.terms[kink.term * w + lane] = kink.expectation(x, ahead, &mut slope[..m]);
            }
        }
    }

    /// Moves mean and covariance of one lane.
    fn step<V: Visitor>(
        &mut self,
        n: usize,
        lane: usize,
        mean: &mut [f64],
        cov: &mut [f64],
        visitor: &mut V,
    ) {
        with_size!(self.model.m(), self.step_of::<N, V>(n, lane, mean, cov, visitor));
    }

    fn step_of<const N: usize, V: Visitor>(
        &mut self,
        n: usize,
        lane: usize,
        mean: &mut [f64],
        cov: &mut [f64],
        visitor: &mut V,
    ) {
        let w = self.width;
        let transition = &self.moves[lane];
        let field: [f64; N] = std::array::from_fn(|i| self.field[i * w + lane]);
        let mut ways = [[0.0; N]; PLACES.len()];
        let nodes = if V::TERMS || self.gamma_moves { transition.nodes().len() } else { 0 };
        for node in 0..nodes {
            ways[node] = apply(&read::<N>(transition.lead_to(node)), &field);
        }
        let LaneWork { gamma, start, elements, spread, rest, .. } = &mut self.small;
        elements.fill(0.0);
        for &(pair, k, c) in &self.gamma {
            elements[pair] += c * self.terms[k * w + lane];
        }
        self.model.positive_gamma(elements, start);
        let size = self.sizes.get(lane).map_or(1.0, |sizes| sizes[n]);
        let mut added = self.spreads[lane].of::<N>(start, transition);
        let moved = apply(&read::<N>(transition.lead()), &field);
        let twist: [f64; N] = std::array::from_fn(|i| self.twist[i * w + lane]);
        let bent = if twist.iter().any(|&value| value != 0.0) { transition.curve(&twist) } else { [0.0; N] };
        for i in 0..N {
            mean[i] += moved[i] + bent[i];
        }
        let mut step = Step {
            n,
            slot: lane,
            period: 1,
            terms: &self.terms[lane..],
            gradient: &self.gradient[lane..],
            bends: &self.bends[lane..],
            width: w,
            field: &field,
            ways: ways.as_flattened(),
            transition,
            spread: &[],
            size,
            mean: &[],
            cov: &[],
            steady: false,
        };
        if self.gamma_moves {
            add_changes(self.model, &self.gamma, (&step, gamma), (start, elements), &mut added);
        }
        if !self.sizes.is_empty() {
            added.as_flattened_mut().iter_mut().for_each(|value| *value *= size);
        }
        write(&added, spread);
        rest.copy_from_slice(cov);
        transition.carry(rest, cov);
        axpy(1.0, spread, cov);
        (step.spread, step.mean, step.cov) = (spread, mean, cov);
        visitor.predicted(lane, &step);
    }
}

#[cfg(test)]
mod tests;
