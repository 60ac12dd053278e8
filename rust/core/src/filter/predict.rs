//! One prediction of a batch of paths: terms over all lanes at once, small matrices path by path.

use super::small::{axpy, factor_semidefinite, multiply, multiply_transposed, symmetrise};
use super::state_space::{MAX_STATES, StateSpace};
use super::visitor::{QuadratureNode, Step, Visitor};
use crate::program::Scratch;

const SQRT_3: f64 = 1.732_050_807_568_877_2;

/// Gauss-Legendre nodes of the unit interval and their weights: exact for a quadratic Gamma under a quadratic
/// transition.
const PLACES: [f64; 3] = [0.112_701_665_379_258_3, 0.5, 0.887_298_334_620_741_7];
const WEIGHTS: [f64; 3] = [5.0 / 18.0, 8.0 / 18.0, 5.0 / 18.0];

/// Working memory for the predictions of a batch. Arrays over lanes hold one row of `width` lanes per entry.
pub struct Predictor<'a> {
    model: &'a StateSpace<'a>,
    lanes: usize,
    width: usize,
    values: Scratch,
    slopes: Scratch,
    around: Option<Scratch>,
    /// (row, term, coefficient) of the drift, and (pair, term, coefficient) of Gamma, zeros left out.
    drift: Vec<(usize, usize, f64)>,
    gamma: Vec<(usize, usize, f64)>,
    terms: Vec<f64>,
    gradient: Vec<f64>,
    jacobian: Vec<f64>,
    field: Vec<f64>,
    rates: Vec<f64>,
    bends: Vec<f64>,
    twist: Vec<f64>,
    ahead: Vec<f64>,
    small: LaneWork,
}

/// Matrices (m x m) of one path, kept so that no step has to clear memory.
struct LaneWork {
    a: Vec<f64>,
    phi: Vec<f64>,
    square: Vec<f64>,
    gamma: Vec<f64>,
    elements: Vec<f64>,
    onward: Vec<f64>,
    product: Vec<f64>,
    spread: Vec<f64>,
    next: Vec<f64>,
    low: Vec<f64>,
    rest: Vec<f64>,
}

impl LaneWork {
    fn new(m: usize, pairs: usize) -> Self {
        let square = || vec![0.0; m * m];
        Self {
            a: square(),
            phi: square(),
            square: square(),
            gamma: square(),
            elements: vec![0.0; pairs],
            onward: vec![0.0; PLACES.len() * m * m],
            product: square(),
            spread: square(),
            next: square(),
            low: square(),
            rest: square(),
        }
    }
}

/// The entries of a coefficient table that are not zero.
fn sparse(table: &ndarray::Array2<f64>) -> Vec<(usize, usize, f64)> {
    table.indexed_iter().filter(|(_, c)| **c != 0.0).map(|((i, k), &c)| (i, k, c)).collect()
}

impl<'a> Predictor<'a> {
    /// Memory for `lanes` paths.
    pub fn new(model: &'a StateSpace<'a>, lanes: usize) -> Self {
        let (m, k) = (model.m(), model.program.n_outputs());
        let values = model.program.scratch(lanes);
        let width = values.width();
        let zeros = |rows: usize| vec![0.0; rows * width];
        Self {
            model,
            lanes,
            width,
            values,
            slopes: model.gradient.scratch(lanes),
            around: model.second_order.then(|| model.program.scratch(2 * m * width)),
            drift: sparse(&model.drift),
            gamma: sparse(&model.gamma),
            terms: zeros(k),
            gradient: zeros(k * m),
            jacobian: zeros(m * m),
            field: zeros(m),
            rates: zeros(k),
            bends: zeros(k),
            twist: zeros(m),
            ahead: vec![0.0; lanes * m * m],
            small: LaneWork::new(m, model.pairs.len()),
        }
    }

    /// Advances means (lanes x m) and covariances (lanes x m x m) by `h`; lanes with `h = 0` stay as they are.
    ///
    /// The terms are averaged over where noise and doubt may take the state, covariance `P + h Gamma / 2`, around a
    /// point that moves with the drift: along the step a term is `u + s r + s^2 c`, with `r` from its gradient and `c`
    /// from its value where the drift leads. A term with a kink has no `c`; its average counts the way along the drift
    /// as spread.
    pub fn run(
        &mut self,
        n: usize,
        h: &[f64],
        mean: &mut [f64],
        cov: &mut [f64],
        visitor: &mut impl Visitor,
    ) {
        let m = self.model.m();
        self.terms_at(mean, cov);
        if self.model.second_order {
            self.bend(h, mean);
            self.average(h, mean, cov);
        }
        for lane in 0..self.lanes {
            if h[lane] > 0.0 {
                let mean = &mut mean[lane * m..(lane + 1) * m];
                let cov = &mut cov[lane * m * m..(lane + 1) * m * m];
                self.step(n, lane, h[lane], mean, cov, visitor);
            }
        }
    }

    /// Values and gradients of the terms at the means, the drift and its Jacobian, and the rates of the terms along it.
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
        for &(i, k, c) in &self.drift {
            for j in 0..m {
                let row = &self.gradient[(k * m + j) * w..][..w];
                axpy(c, row, &mut self.jacobian[(i * m + j) * w..][..w]);
            }
        }
        self.sum_field();
        self.rates.fill(0.0);
        for k in 0..self.model.program.n_outputs() {
            for j in 0..m {
                let (field, row) = (&self.field[j * w..][..w], &self.gradient[(k * m + j) * w..][..w]);
                let rate = &mut self.rates[k * w..][..w];
                for lane in 0..w {
                    rate[lane] += row[lane] * field[lane];
                }
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

    /// Curvatures of the terms along the drift, from their values where it leads.
    fn bend(&mut self, h: &[f64], mean: &[f64]) {
        let (m, w) = (self.model.m(), self.width);
        for i in 0..m {
            let lead = self.values.input_mut(i);
            for lane in 0..self.lanes {
                let turn: f64 =
                    (0..m).map(|j| self.jacobian[(i * m + j) * w + lane] * self.field[j * w + lane]).sum();
                let h = h[lane];
                lead[lane] = mean[lane * m + i] + h * (self.field[i * w + lane] + h / 2.0 * turn);
            }
        }
        self.model.program.run(&mut self.values);
        let led = self.values.outputs();
        for k in 0..self.model.program.n_outputs() {
            for lane in 0..self.lanes {
                let (at, h) = (k * w + lane, h[lane]);
                self.bends[at] =
                    if h > 0.0 { (led[at] - self.terms[at] - h * self.rates[at]) / (h * h) } else { 0.0 };
            }
        }
        for kink in &self.model.kinks {
            self.bends[kink.term * w..][..w].fill(0.0);
        }
        self.twist.fill(0.0);
        for &(i, k, c) in &self.drift {
            axpy(2.0 * c, &self.bends[k * w..][..w], &mut self.twist[i * w..][..w]);
        }
    }

    /// Replaces the term values by their averages over the step: three-point Gauss-Hermite along each column of the
    /// factor of the covariance, kinks exactly.
    fn average(&mut self, h: &[f64], mean: &[f64], cov: &[f64]) {
        let (m, w) = (self.model.m(), self.width);
        let Some(around) = self.around.as_mut() else { return };
        let total = around.width();
        let LaneWork { gamma, elements, low, rest, .. } = &mut self.small;
        for lane in 0..self.lanes {
            elements.fill(0.0);
            for &(pair, k, c) in &self.gamma {
                elements[pair] += c * self.terms[k * w + lane];
            }
            self.model.positive_gamma(elements, gamma);
            let ahead = &mut self.ahead[lane * m * m..(lane + 1) * m * m];
            for index in 0..m * m {
                ahead[index] = cov[lane * m * m + index] + h[lane] / 2.0 * gamma[index];
            }
            factor_semidefinite(ahead, low, rest, m);
            let inputs = around.inputs_mut();
            for column in 0..m {
                for i in 0..m {
                    let (x, shift) = (mean[lane * m + i], SQRT_3 * low[i * m + column]);
                    inputs[i * total + column * w + lane] = x + shift;
                    inputs[i * total + (m + column) * w + lane] = x - shift;
                }
            }
        }
        self.model.program.run(around);
        for k in 0..self.model.program.n_outputs() {
            let row = around.output(k);
            let term = &mut self.terms[k * w..][..w];
            for lane in 0..w {
                let mut sum = 0.0;
                for point in 0..2 * m {
                    sum += row[point * w + lane];
                }
                term[lane] += (sum - 2.0 * m as f64 * term[lane]) / 6.0;
            }
        }
        if !self.model.kinks.is_empty() {
            self.average_kinks(h, mean);
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
    fn step(
        &mut self,
        n: usize,
        lane: usize,
        h: f64,
        mean: &mut [f64],
        cov: &mut [f64],
        visitor: &mut impl Visitor,
    ) {
        let (m, w) = (self.model.m(), self.width);
        let mm = m * m;
        let LaneWork { a, phi, square, gamma, elements, onward, product, spread, next, .. } = &mut self.small;
        let mut field = [0.0; MAX_STATES];
        for (index, a) in a.iter_mut().enumerate() {
            *a = self.jacobian[index * w + lane];
        }
        for i in 0..m {
            field[i] = self.field[i * w + lane];
        }
        let mut nodes = [QuadratureNode { s: 0.0, weight: h }; PLACES.len()];
        let mut count = 1;
        onward.fill(0.0);
        if self.model.second_order {
            multiply(a, a, square, m, m, m);
            multiply(square, a, product, m, m, m);
            for index in 0..mm {
                phi[index] = h * a[index] + h * h / 2.0 * square[index] + h.powi(3) / 6.0 * product[index];
            }
            count = PLACES.len();
            for node in 0..count {
                nodes[node] = QuadratureNode { s: PLACES[node] * h, weight: WEIGHTS[node] * h };
                let left = (1.0 - PLACES[node]) * h;
                for index in 0..mm {
                    onward[node * mm + index] = left * (a[index] + left / 2.0 * square[index]);
                }
            }
        } else {
            phi.iter_mut().zip(&*a).for_each(|(phi, a)| *phi = h * a);
        }
        for i in 0..m {
            phi[i * m + i] += 1.0;
            for node in 0..count {
                onward[node * mm + i * m + i] += 1.0;
            }
        }
        spread.fill(0.0);
        for (node, QuadratureNode { s, weight }) in nodes[..count].iter().enumerate() {
            elements.fill(0.0);
            for &(pair, k, c) in &self.gamma {
                let at = k * w + lane;
                elements[pair] += c * (self.terms[at] + s * (self.rates[at] + s * self.bends[at]));
            }
            self.model.positive_gamma(elements, gamma);
            let onward = &onward[node * mm..(node + 1) * mm];
            multiply(onward, gamma, product, m, m, m);
            multiply_transposed(product, onward, next, m, m, m);
            axpy(*weight, next, spread);
        }
        multiply(phi, cov, product, m, m, m);
        multiply_transposed(product, phi, next, m, m, m);
        axpy(1.0, spread, next);
        symmetrise(next, m);
        cov.copy_from_slice(next);
        let mut turn = [0.0; MAX_STATES];
        if self.model.second_order {
            multiply(a, &field, &mut turn, m, m, 1);
        }
        for i in 0..m {
            mean[i] += h * field[i] + h * h / 2.0 * turn[i] + h.powi(3) / 6.0 * self.twist[i * w + lane];
        }
        let step = Step {
            n,
            h,
            terms: &self.terms[lane..],
            rates: &self.rates[lane..],
            bends: &self.bends[lane..],
            width: w,
            phi,
            jacobian: a,
            nodes: &nodes[..count],
            onward,
            spread,
            mean,
            cov,
        };
        visitor.predicted(lane, &step);
    }
}
