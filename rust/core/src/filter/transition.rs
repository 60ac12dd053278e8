//! Local linearisation of one step: `exp(A h)` and its integrals, by Taylor series and doubling.
//!
//! Along a step the state follows `dx = (f + A (x - x_0) + c s^2) ds + g dB`, `s` the time since the start. All integrals
//! are exact for constant `A`: a linear system is forecast without error whatever the step (Ozaki 1992; Biscay et al.
//! 1996). What has been computed for a Jacobian and a step serves again while both stay the same.

use super::square::{Square, add, apply, norm, one, product, read, sandwich, with_size, write};

/// Gauss-Legendre nodes of the unit interval and their weights, at which terms are looked up within a step.
pub const PLACES: [f64; 3] = [0.112_701_665_379_258_3, 0.5, 0.887_298_334_620_741_7];
const WEIGHTS: [f64; 3] = [5.0 / 18.0, 8.0 / 18.0, 5.0 / 18.0];

/// Most terms of a series.
const MOST: usize = 18;

/// The first term that is left out of a series is at most this, beside the first.
const LEFT_OUT: f64 = 1e-16;

/// Largest norm of `A h` over which a series runs; beyond it the step is halved, and the halves are put together.
const NORM: f64 = 0.5;

/// A time within a step: since its start, and its weight in an integral over the step.
#[derive(Debug, Clone, Copy, Default)]
pub struct QuadratureNode {
    /// Time since the start.
    pub s: f64,
    /// Weight.
    pub weight: f64,
}

/// The exponential of a step and what goes with it; matrices are m x m, row by row.
#[derive(Debug, Clone)]
pub struct Transition {
    m: usize,
    a: Vec<f64>,
    h: f64,
    /// The series run over `h / 2^halvings`.
    halvings: u32,
    /// Terms of the series of vectors, and of the covariance, which turns twice as fast.
    terms: usize,
    covariance_terms: usize,
    /// Transition over `h / 2^halvings`.
    short: Vec<f64>,
    phi: Vec<f64>,
    lead: Vec<f64>,
    nodes: Vec<QuadratureNode>,
    onward: Vec<f64>,
    leads: Vec<f64>,
    /// How often the step was changed.
    version: u64,
}

impl Transition {
    /// Memory for `m` states, over no time.
    pub fn new(m: usize) -> Self {
        let square = || vec![0.0; m * m];
        Self {
            m,
            a: square(),
            h: f64::NAN,
            halvings: 0,
            terms: 1,
            covariance_terms: 1,
            short: square(),
            phi: square(),
            lead: square(),
            nodes: Vec::with_capacity(PLACES.len()),
            onward: vec![0.0; PLACES.len() * m * m],
            leads: vec![0.0; PLACES.len() * m * m],
            version: 0,
        }
    }

    /// Number of states.
    pub fn m(&self) -> usize {
        self.m
    }

    /// `exp(A h)`.
    pub fn phi(&self) -> &[f64] {
        &self.phi
    }

    /// `int_0^h exp(A s) ds`.
    pub fn lead(&self) -> &[f64] {
        &self.lead
    }

    /// Times within the step.
    pub fn nodes(&self) -> &[QuadratureNode] {
        &self.nodes
    }

    /// `exp(A (h - s))` at a node.
    pub fn onward(&self, node: usize) -> &[f64] {
        &self.onward[node * self.m * self.m..][..self.m * self.m]
    }

    /// `int_0^s exp(A r) dr` at a node: how far a unit drift leads by then.
    pub fn lead_to(&self, node: usize) -> &[f64] {
        &self.leads[node * self.m * self.m..][..self.m * self.m]
    }

    /// How often the step was changed: what was derived from it holds while this number does.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The step of length `h` under the Jacobian `a`; nothing is done where it is the one at hand. `nodes` says whether
    /// all of them are wanted; the one half way always is.
    pub fn set(&mut self, a: &[f64], h: f64, nodes: bool) {
        if self.h == h && !self.nodes.is_empty() && self.a == a {
            return;
        }
        self.version += 1;
        self.a.copy_from_slice(a);
        self.h = h;
        self.nodes.clear();
        for (place, weight) in PLACES.into_iter().zip(WEIGHTS) {
            self.nodes.push(QuadratureNode { s: place * h, weight: weight * h });
        }
        with_size!(self.m, self.expand::<N>(nodes));
    }

    /// The same to first order: `1 + A h`, and integrands as they are at the start.
    pub fn set_euler(&mut self, a: &[f64], h: f64) {
        self.version += 1;
        self.a.copy_from_slice(a);
        (self.h, self.halvings, self.terms, self.covariance_terms) = (h, 0, 1, 1);
        self.nodes.clear();
        for (index, &a) in a.iter().enumerate() {
            let one = f64::from(u8::from(index / self.m == index % self.m));
            self.phi[index] = one + h * a;
            self.lead[index] = h * one;
        }
    }

    /// `int_0^h exp(A (h - s)) s^2 ds c`.
    pub fn curve<const N: usize>(&self, c: &[f64; N]) -> [f64; N] {
        let a = read::<N>(&self.a);
        let mut t = self.h * 0.5_f64.powi(self.halvings as i32);
        // `int_0^t exp(A (t - s)) s^(order - 1) ds c = (order - 1)! sum_k A^k t^(k + order) / (k + order)! c`
        let series = |order: usize| {
            let factor = t.powi(order as i32) / order as f64;
            let mut term = c.map(|c| factor * c);
            let mut sum = term;
            for k in order + 1..order + self.terms {
                term = apply(&a, &term).map(|value| t / k as f64 * value);
                (0..N).for_each(|i| sum[i] += term[i]);
            }
            sum
        };
        let mut three = series(3);
        if self.halvings == 0 {
            return three;
        }
        let (mut one, mut two, mut phi) = (series(1), series(2), read::<N>(&self.short));
        for _ in 0..self.halvings {
            let moved = [apply(&phi, &one), apply(&phi, &two), apply(&phi, &three)];
            for i in 0..N {
                three[i] += moved[2][i] + 2.0 * t * two[i] + t * t * one[i];
                two[i] += moved[1][i] + t * one[i];
                one[i] += moved[0][i];
            }
            phi = product(&phi, &phi);
            t *= 2.0;
        }
        three
    }

    /// `int_0^h exp(A s) Gamma exp(A s)^T ds` for a symmetric matrix.
    pub fn spread<const N: usize>(&self, gamma: &Square<N>) -> Square<N> {
        let a = read::<N>(&self.a);
        let t = self.h * 0.5_f64.powi(self.halvings as i32);
        let mut term = gamma.map(|row| row.map(|value| t * value));
        let mut sum = term;
        for k in 2..=self.covariance_terms {
            let turned = product(&a, &term);
            for i in 0..N {
                for j in 0..N {
                    term[i][j] = t / k as f64 * (turned[i][j] + turned[j][i]);
                    sum[i][j] += term[i][j];
                }
            }
        }
        if self.halvings > 0 {
            let mut phi = read::<N>(&self.short);
            for _ in 0..self.halvings {
                let late = sandwich(&phi, &sum);
                add(&mut sum, 1.0, &late);
                phi = product(&phi, &phi);
            }
        }
        sum
    }

    /// All matrices of the step.
    fn expand<const N: usize>(&mut self, nodes: bool) {
        const END: usize = PLACES.len();
        let a = read::<N>(&self.a);
        let square = product(&a, &a);
        // units that differ from state to state blow up the norm of A, not the root of that of its square
        let size = norm(&a).min(norm(&square).sqrt()) * self.h;
        self.halvings = if size > NORM && size.is_finite() { (size / NORM).log2().ceil() as u32 } else { 0 };
        let share = 0.5_f64.powi(self.halvings as i32);
        let t = self.h * share;
        // the root of the norm of A^2 bounds even powers; an odd one has a factor A more, and `A^i Gamma (A^j)^T` two:
        // of integrals, where A^2 is nothing, `A Gamma A^T` is all the spread there is
        self.terms = (terms(size * share) + 1).min(MOST);
        self.covariance_terms = terms(2.0 * size * share) + 2;
        let wanted = |place: usize| nodes || place == END || place == END / 2;
        let (mut leads, mut factors) = ([[[0.0; N]; N]; END + 1], [t; END + 1]);
        // (A t)^k / (k + 1)!
        let mut power = one::<N>();
        for k in 0..self.terms {
            power = match k {
                0 => power,
                1 => a.map(|row| row.map(|value| value * t / 2.0)),
                2 => square.map(|row| row.map(|value| value * t * t / 6.0)),
                _ => product(&a, &power).map(|row| row.map(|value| value * t / (k + 1) as f64)),
            };
            for place in (0..=END).filter(|&place| wanted(place)) {
                factors[place] *= PLACES.get(place).copied().unwrap_or(1.0);
                add(&mut leads[place], factors[place], &power);
            }
        }
        let mm = N * N;
        for place in (0..=END).filter(|&place| wanted(place)) {
            let mut lead = leads[place];
            let mut phi = exponential(&a, &lead);
            if place == END && self.halvings > 0 {
                write(&phi, &mut self.short);
            }
            for _ in 0..self.halvings {
                let late = product(&phi, &lead);
                add(&mut lead, 1.0, &late);
                phi = product(&phi, &phi);
            }
            if place == END {
                write(&phi, &mut self.phi);
                write(&lead, &mut self.lead);
            } else {
                write(&lead, &mut self.leads[place * mm..]);
                // the nodes lie symmetrically: from the last but n it is as far to the end as to the n-th from the start
                write(&phi, &mut self.onward[(END - 1 - place) * mm..]);
            }
        }
    }
}

/// `exp(A t)` from its integral.
fn exponential<const N: usize>(a: &Square<N>, lead: &Square<N>) -> Square<N> {
    let mut phi = product(a, lead);
    (0..N).for_each(|i| phi[i][i] += 1.0);
    phi
}

/// How many terms `size^k / (k + 1)!` of a series count, at least two.
fn terms(size: f64) -> usize {
    let mut term = 1.0;
    for k in 1..MOST {
        term *= size / (k + 1) as f64;
        if term <= LEFT_OUT && k > 1 {
            return k;
        }
    }
    MOST
}

#[cfg(test)]
mod tests {
    use super::super::small::{axpy, multiply, multiply_transposed};
    use super::*;

    /// A damped oscillator of 2 rad per unit of time.
    const A: [f64; 4] = [0.0, 1.0, -4.0, -0.5];

    /// `exp(A t)` from the closed form.
    fn exact(t: f64) -> [f64; 4] {
        let (c, w) = (0.25, (4.0_f64 - 0.0625).sqrt());
        let (e, co, si) = ((-c * t).exp(), (w * t).cos(), (w * t).sin() / w);
        [e * (co + c * si), e * si, -4.0 * e * si, e * (co - c * si)]
    }

    #[test]
    fn the_exponential_is_that_of_the_closed_form() {
        for h in [1e-6, 0.1, 1.0, 30.0] {
            let mut found = Transition::new(2);
            found.set(&A, h, true);
            let version = found.version();
            for (found, exact) in found.phi().iter().zip(exact(h)) {
                assert!((found - exact).abs() < 1e-13, "{h}: {found} {exact}");
            }
            for (node, place) in PLACES.iter().enumerate() {
                for (found, exact) in found.onward(node).iter().zip(exact(h * (1.0 - place))) {
                    assert!((found - exact).abs() < 1e-13);
                }
            }
            found.set(&A, h, true);
            assert_eq!(found.version(), version);
            let mut few = Transition::new(2);
            few.set(&A, h, false);
            assert_eq!((few.phi(), few.lead(), few.onward(1)), (found.phi(), found.lead(), found.onward(1)));
        }
    }

    #[test]
    fn integrals_of_noise_spread_by_the_cube_of_the_step() {
        let (h, gamma) = (0.3, [0.0, 0.0, 0.0, 2.0]);
        for stiffness in [0.0, 1e-18, 1e-12, 1e-8] {
            let mut found = Transition::new(2);
            found.set(&[0.0, 1.0, -stiffness, 0.0], h, true);
            let exact = [2.0 * h * h * h / 3.0, h * h, h * h, 2.0 * h];
            for (found, exact) in found.spread(&read::<2>(&gamma)).as_flattened().iter().zip(exact) {
                assert!((found - exact).abs() < (1e-15 + stiffness) * exact, "{stiffness}: {found} {exact}");
            }
            assert!((found.lead()[1] - h * h / 2.0).abs() < 1e-15 + stiffness);
        }
    }

    #[test]
    fn integrals_are_those_of_a_fine_sum() {
        let (h, n) = (2.3, 20_000);
        let (gamma, c) = ([0.5, 0.2, 0.2, 1.0], [0.3, -0.7]);
        let (mut lead, mut spread, mut curve) = ([0.0; 4], [0.0; 4], [0.0; 2]);
        for k in 0..n {
            let s = (k as f64 + 0.5) * h / n as f64;
            let (phi, onward) = (exact(s), exact(h - s));
            let (mut half, mut whole, mut bent) = ([0.0; 4], [0.0; 4], [0.0; 2]);
            multiply(&phi, &gamma, &mut half, 2, 2, 2);
            multiply_transposed(&half, &phi, &mut whole, 2, 2, 2);
            multiply(&onward, &c, &mut bent, 2, 2, 1);
            axpy(h / n as f64, &phi, &mut lead);
            axpy(h / n as f64, &whole, &mut spread);
            axpy(s * s * h / n as f64, &bent, &mut curve);
        }
        let mut found = Transition::new(2);
        found.set(&A, h, true);
        let (spread_found, curve_found) = (found.spread(&read::<2>(&gamma)), found.curve(&c));
        let pairs = found.lead().iter().zip(&lead);
        let pairs = pairs.chain(spread_found.as_flattened().iter().zip(&spread));
        for (found, exact) in pairs.chain(curve_found.iter().zip(&curve)) {
            assert!((found - exact).abs() < 1e-7, "{found} {exact}");
        }
    }
}
