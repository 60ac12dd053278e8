//! One prediction of a batch of paths: terms over all lanes at once, small matrices path by path.

use super::engine::{Step, Visitor};
use super::model::{MAX_STATES, StateSpace};
use super::small::{axpy, factor_semidefinite, multiply, multiply_transposed, symmetrise};
use crate::program::Scratch;

const SQRT_3: f64 = 1.732_050_807_568_877_2;

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
    spread: Vec<f64>,
    growth: Vec<f64>,
    ahead: Vec<f64>,
    small: Small,
}

/// Matrices (m x m) of one path, kept so that no step has to clear memory.
struct Small {
    a: Vec<f64>,
    phi: Vec<f64>,
    gamma: Vec<f64>,
    growth: Vec<f64>,
    product: Vec<f64>,
    next: Vec<f64>,
    low: Vec<f64>,
    rest: Vec<f64>,
    work: Vec<f64>,
}

impl Small {
    fn new(m: usize) -> Self {
        let square = || vec![0.0; m * m];
        Self {
            a: square(),
            phi: square(),
            gamma: square(),
            growth: square(),
            product: square(),
            next: square(),
            low: square(),
            rest: square(),
            work: vec![0.0; 2 * m * m],
        }
    }
}

/// The entries of a coefficient table that are not zero.
fn sparse(table: &ndarray::Array2<f64>) -> Vec<(usize, usize, f64)> {
    table.indexed_iter().filter(|(_, c)| **c != 0.0).map(|((i, k), &c)| (i, k, c)).collect()
}

/// `int_0^h (I + A (h - s)) Gamma s^power (I + A (h - s))^T ds` added to `out`, for power 0 or 1.
///
/// `work` holds `2 m m` numbers.
pub fn add_spread(gamma: &[f64], a: &[f64], h: f64, power: i32, out: &mut [f64], m: usize, work: &mut [f64]) {
    let (ag, aga) = work.split_at_mut(m * m);
    multiply(a, gamma, ag, m, m, m);
    multiply_transposed(ag, a, aga, m, m, m);
    let (c0, c1, c2) = if power == 0 {
        (h, h * h / 2.0, h.powi(3) / 3.0)
    } else {
        (h * h / 2.0, h.powi(3) / 6.0, h.powi(4) / 12.0)
    };
    for i in 0..m {
        for j in 0..m {
            out[i * m + j] +=
                c0 * gamma[i * m + j] + c1 * (ag[i * m + j] + ag[j * m + i]) + c2 * aga[i * m + j];
        }
    }
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
            spread: zeros(model.pairs.len()),
            growth: zeros(model.pairs.len()),
            ahead: vec![0.0; lanes * m * m],
            small: Small::new(m),
        }
    }

    /// Advances means (lanes x m) and covariances (lanes x m x m) by `h`; lanes with `h = 0` stay as they are.
    ///
    /// The terms are averaged over where the state may be during the step: covariance `P + h Gamma / 2` around a
    /// point that moves with the drift. Gamma changes linearly over the step.
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
        self.sum_field();
        if self.model.second_order {
            self.average(h, mean, cov);
        }
        self.sum_gamma();
        for lane in 0..self.lanes {
            if h[lane] > 0.0 {
                let mean = &mut mean[lane * m..(lane + 1) * m];
                let cov = &mut cov[lane * m * m..(lane + 1) * m * m];
                self.step(n, lane, h[lane], mean, cov, visitor);
            }
        }
    }

    /// Values and gradients of the terms at the means, the Jacobian of the drift, and the rates along it.
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

    /// The elements of Gamma from the terms as they stand, and their rates.
    fn sum_gamma(&mut self) {
        let w = self.width;
        self.spread.fill(0.0);
        self.growth.fill(0.0);
        for &(pair, k, c) in &self.gamma {
            axpy(c, &self.terms[k * w..][..w], &mut self.spread[pair * w..][..w]);
            axpy(c, &self.rates[k * w..][..w], &mut self.growth[pair * w..][..w]);
        }
    }

    /// Replaces the term values by their averages over the step: three-point Gauss-Hermite along each column of the
    /// factor of the covariance, kinks exactly.
    fn average(&mut self, h: &[f64], mean: &[f64], cov: &[f64]) {
        let (m, w) = (self.model.m(), self.width);
        self.sum_gamma();
        let Some(around) = self.around.as_mut() else { return };
        let total = around.width();
        let Small { gamma, low, rest, .. } = &mut self.small;
        for lane in 0..self.lanes {
            self.model.positive_gamma(|pair| self.spread[pair * w + lane], gamma);
            let ahead = &mut self.ahead[lane * m * m..(lane + 1) * m * m];
            let h = h[lane];
            for i in 0..m {
                for j in 0..m {
                    let moved = self.field[i * w + lane] * self.field[j * w + lane];
                    ahead[i * m + j] =
                        cov[(lane * m + i) * m + j] + h / 2.0 * gamma[i * m + j] + h * h / 3.0 * moved;
                }
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
        let mut slope = [0.0; MAX_STATES];
        for kink in &self.model.kinks {
            for lane in 0..self.lanes {
                let x = &mean[lane * m..(lane + 1) * m];
                let ahead = &self.ahead[lane * m * m..(lane + 1) * m * m];
                self.terms[kink.term * w + lane] = kink.expectation(x, ahead, &mut slope[..m]);
            }
        }
        self.sum_field();
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
        let Small { a, phi, gamma, growth, product, next, work, .. } = &mut self.small;
        let mut field = [0.0; MAX_STATES];
        for (index, a) in a.iter_mut().enumerate() {
            *a = self.jacobian[index * w + lane];
        }
        for i in 0..m {
            field[i] = self.field[i * w + lane];
        }
        self.model.positive_gamma(|pair| self.spread[pair * w + lane], gamma);
        if self.model.second_order {
            multiply(a, a, phi, m, m, m);
            multiply(phi, a, product, m, m, m);
            for index in 0..m * m {
                phi[index] = h * a[index] + h * h / 2.0 * phi[index] + h.powi(3) / 6.0 * product[index];
            }
            let at_end = |pair: usize| self.spread[pair * w + lane] + h * self.growth[pair * w + lane];
            self.model.positive_gamma(at_end, growth);
            growth.iter_mut().zip(&*gamma).for_each(|(growth, gamma)| *growth = (*growth - gamma) / h);
        } else {
            phi.iter_mut().zip(&*a).for_each(|(phi, a)| *phi = h * a);
        }
        for i in 0..m {
            phi[i * m + i] += 1.0;
        }
        multiply(phi, cov, product, m, m, m);
        multiply_transposed(product, phi, next, m, m, m);
        if self.model.second_order {
            add_spread(gamma, a, h, 0, next, m, work);
            add_spread(growth, a, h, 1, next, m, work);
        } else {
            next.iter_mut().zip(&*gamma).for_each(|(next, gamma)| *next += h * gamma);
        }
        symmetrise(next, m);
        cov.copy_from_slice(next);
        let (mut turn, mut bend) = ([0.0; MAX_STATES], [0.0; MAX_STATES]);
        if self.model.second_order {
            multiply(a, &field, &mut turn, m, m, 1);
            multiply(a, &turn, &mut bend, m, m, 1);
        }
        for i in 0..m {
            mean[i] += h * field[i] + h * h / 2.0 * turn[i] + h.powi(3) / 6.0 * bend[i];
        }
        let step = Step {
            n,
            h,
            terms: &self.terms[lane..],
            rates: &self.rates[lane..],
            width: w,
            phi,
            jacobian: a,
            gamma,
            growth,
            mean,
            cov,
        };
        visitor.predicted(lane, &step);
    }
}
