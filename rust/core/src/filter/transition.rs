//! Local linearisation of one step: `exp(A h)` and its integrals, by Taylor series and doubling.
//!
//! Along a step the state follows `dx = (f + A (x - x_0) + c s^2) ds + g dB`, `s` the time since the start. All integrals
//! are exact for constant `A`: a linear system is forecast without error whatever the step (Ozaki 1992; Biscay et al.
//! 1996). What has been computed for a Jacobian and a step serves again while both stay the same.
//!
//! A last state that drives nothing, as the zero of a sensor or what it gathers over an exposure, is carried as a row beside
//! the matrices of the others: with `dz = b x ds` its part of the exponential is `b int exp(A s) ds`.

use super::square::{
    Square, add, apply, apply_transposed, dot, norm, one, product, read, read_part, sandwich, with_size,
    write_part,
};

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
    /// Whether the last state drives nothing, itself included, and whether nothing drives it either.
    passive: bool,
    alone: bool,
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
            passive: false,
            alone: false,
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
        let m = self.m;
        self.passive = m > 1 && (0..m).all(|i| a[i * m + m - 1] == 0.0);
        self.alone = self.passive && a[(m - 1) * m..].iter().all(|&value| value == 0.0);
        with_size!(self.core(), self.expand::<N>(nodes));
    }

    /// How many states there are without a last one that drives nothing.
    fn core(&self) -> usize {
        self.m - usize::from(self.passive)
    }

    /// The same to first order: `1 + A h`, and integrands as they are at the start.
    pub fn set_euler(&mut self, a: &[f64], h: f64) {
        self.version += 1;
        self.a.copy_from_slice(a);
        (self.passive, self.alone) = (false, false);
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

    /// `exp(A h) p exp(A h)^T` for a symmetric matrix (m x m).
    pub fn carry(&self, p: &[f64], out: &mut [f64]) {
        with_size!(self.core(), self.moved::<N>(&self.phi, p, out));
    }

    /// The same from a node to the end of the step.
    pub fn carry_onward(&self, node: usize, p: &[f64], out: &mut [f64]) {
        with_size!(self.core(), self.moved::<N>(self.onward(node), p, out));
    }

    #[inline]
    fn moved<const N: usize>(&self, phi: &[f64], p: &[f64], out: &mut [f64]) {
        let (m, part) = (self.m, Parted::<N>::of(p, self.m));
        if self.passive {
            part.turned(&read_part(phi, m), &read_row(phi, m), self.alone).write(out);
        } else {
            write_part(&sandwich(&read_part(phi, m), &part.core), out, m);
        }
    }

    /// `int_0^h exp(A s) Gamma exp(A s)^T ds` for a symmetric matrix (m x m).
    pub fn spread(&self, gamma: &[f64], out: &mut [f64]) {
        with_size!(self.core(), self.spread_of::<N>(gamma, out));
    }

    fn spread_of<const N: usize>(&self, gamma: &[f64], out: &mut [f64]) {
        let (m, a) = (self.m, read_part::<N>(&self.a, self.m));
        let t = self.h * 0.5_f64.powi(self.halvings as i32);
        let mut term = Parted::<N>::of(gamma, m);
        term.core = term.core.map(|row| row.map(|value| t * value));
        (term.row, term.corner) = (term.row.map(|value| t * value), t * term.corner);
        let (mut sum, b) = (term, if self.passive { read_row::<N>(&self.a, m) } else { [0.0; N] });
        let beside = self.passive && !(self.alone && term.row == [0.0; N]);
        for k in 2..=self.covariance_terms {
            let share = t / k as f64;
            if beside {
                let (driven, turned) = (apply_transposed(&term.core, &b), apply(&a, &term.row));
                term.corner = 2.0 * share * dot(&b, &term.row);
                term.row = std::array::from_fn(|i| share * (driven[i] + turned[i]));
                sum.corner += term.corner;
                (0..N).for_each(|i| sum.row[i] += term.row[i]);
            }
            let turned = product(&a, &term.core);
            for i in 0..N {
                for j in 0..N {
                    term.core[i][j] = share * (turned[i][j] + turned[j][i]);
                    sum.core[i][j] += term.core[i][j];
                }
            }
        }
        if self.halvings > 0 {
            let mut phi = read_part::<N>(&self.short, m);
            let mut row = if beside { read_row::<N>(&self.short, m) } else { [0.0; N] };
            for _ in 0..self.halvings {
                let late = sum.turned(&phi, &row, !beside);
                add(&mut sum.core, 1.0, &late.core);
                (0..N).for_each(|i| sum.row[i] += late.row[i]);
                sum.corner += late.corner;
                if beside {
                    let further = apply_transposed(&phi, &row);
                    (0..N).for_each(|i| row[i] += further[i]);
                }
                phi = product(&phi, &phi);
            }
        }
        if self.passive { sum.write(out) } else { write_part(&sum.core, out, m) }
    }

    /// All matrices of the step.
    fn expand<const N: usize>(&mut self, nodes: bool) {
        const END: usize = PLACES.len();
        let (m, a) = (self.m, read_part::<N>(&self.a, self.m));
        let b = if self.passive { read_row::<N>(&self.a, m) } else { [0.0; N] };
        let driven = self.passive && !self.alone;
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
        let length = |place: usize| PLACES.get(place).copied().unwrap_or(1.0);
        let (mut leads, mut factors) = ([[[0.0; N]; N]; END + 1], [t; END + 1]);
        let mut seconds = [[0.0; N]; END + 1];
        // (A t)^k / (k + 1)!
        let mut power = one::<N>();
        for k in 0..self.terms {
            let factor = t / (k + 1) as f64;
            power = match k {
                0 => power,
                1 => a.map(|row| row.map(|value| value * factor)),
                2 => square.map(|row| row.map(|value| value * (0.5 * t * factor))),
                _ => product(&a, &power).map(|row| row.map(|value| value * factor)),
            };
            let row = if driven { apply_transposed(&power, &b) } else { [0.0; N] };
            for place in (0..=END).filter(|&place| wanted(place)) {
                factors[place] *= length(place);
                add(&mut leads[place], factors[place], &power);
                if driven {
                    let factor = factors[place] * length(place) * t / (k + 2) as f64;
                    (0..N).for_each(|i| seconds[place][i] += factor * row[i]);
                }
            }
        }
        for place in (0..=END).filter(|&place| wanted(place)) {
            let (mut lead, mut second, mut span) = (leads[place], seconds[place], length(place) * t);
            let mut phi = exponential(&a, &lead);
            if place == END && self.halvings > 0 {
                write_part(&phi, &mut self.short, m);
                if self.passive {
                    write_row(&apply_transposed(&lead, &b), 1.0, &mut self.short, m);
                }
            }
            for _ in 0..self.halvings {
                if driven {
                    let (gone, late) = (apply_transposed(&lead, &b), apply_transposed(&phi, &second));
                    (0..N).for_each(|i| second[i] += span * gone[i] + late[i]);
                }
                span *= 2.0;
                let late = product(&phi, &lead);
                add(&mut lead, 1.0, &late);
                phi = product(&phi, &phi);
            }
            let row = if driven { apply_transposed(&lead, &b) } else { [0.0; N] };
            // the nodes lie symmetrically: from the last but n it is as far to the end as to the n-th from the start
            let (of_lead, of_phi) = if place == END {
                (&mut self.lead[..], &mut self.phi[..])
            } else {
                (&mut self.leads[place * m * m..], &mut self.onward[(END - 1 - place) * m * m..])
            };
            write_part(&lead, of_lead, m);
            write_part(&phi, of_phi, m);
            if self.passive {
                write_row(&second, span, of_lead, m);
                write_row(&row, 1.0, of_phi, m);
            }
        }
    }
}

/// A symmetric matrix of N states and, where there is one, of a last state beside them: its row, and its own element.
#[derive(Clone, Copy)]
struct Parted<const N: usize> {
    core: Square<N>,
    row: [f64; N],
    corner: f64,
}

impl<const N: usize> Parted<N> {
    /// Of a matrix (m x m), `m` being `N` or one more.
    #[inline]
    fn of(p: &[f64], m: usize) -> Self {
        let (row, corner) = if m > N { (read_row(p, m), p[m * m - 1]) } else { ([0.0; N], 0.0) };
        Self { core: read_part(p, m), row, corner }
    }

    /// `f p f^T` with `phi` and the row `(row, 1)` of the last state in `f`, which is `alone` where that is nothing.
    #[inline]
    fn turned(&self, phi: &Square<N>, row: &[f64; N], alone: bool) -> Self {
        let mut beside = self.row;
        let mut corner = self.corner;
        if !alone {
            let driven = apply(&self.core, row);
            corner += dot(row, &driven) + 2.0 * dot(row, &beside);
            (0..N).for_each(|i| beside[i] += driven[i]);
        }
        Self { core: sandwich(phi, &self.core), row: apply(phi, &beside), corner }
    }

    /// Writes it as a matrix of N + 1 states.
    #[inline]
    fn write(&self, out: &mut [f64]) {
        let m = N + 1;
        write_part(&self.core, out, m);
        write_row(&self.row, self.corner, out, m);
        (0..N).for_each(|i| out[i * m + N] = self.row[i]);
    }
}

/// The first N elements of the last row of a matrix (m x m).
#[inline]
fn read_row<const N: usize>(values: &[f64], m: usize) -> [f64; N] {
    std::array::from_fn(|i| values[(m - 1) * m + i])
}

/// Writes the last row of a matrix (m x m) whose last column is zero but for the corner.
#[inline]
fn write_row<const N: usize>(row: &[f64; N], corner: f64, out: &mut [f64], m: usize) {
    out[(m - 1) * m..(m - 1) * m + N].copy_from_slice(row);
    (0..N).for_each(|i| out[i * m + N] = 0.0);
    out[m * m - 1] = corner;
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
mod tests;
