//! The state of a sampled model: a Cholesky factor that is kept extended over all columns.
//!
//! For the model with members r let `L L^T = G_rr + I/v`, `W = L^-1 G_r,:` (one row per member, all K columns),
//! `z = L^-1 b_r`. Then for every column k outside the model
//! `d_k = G_kk + 1/v - sum_j W_jk^2` and `c_k = b_k - sum_j W_jk z_j` tell what inserting it would do, in O(1):
//! the log evidence changes by `-1/2 log(v d_k) - (a_s + n/2) log(1 - c_k^2 / (d_k (2 b_s + E)))`, `E = yy - z.z`.
//! With `U = L^-1` kept beside it, `S = U^T U` tells the same about removals.

use super::evidence::ScaledRegression;
use super::kernels::{self, Bounds, Columns, Leaving, Pivots, System};
use super::lanes::LANES;
use super::special::LogProduct;

/// The place of a column that is not in the model.
const OUTSIDE: usize = usize::MAX;

/// The member that an exchange would replace: the share of the energy it explains, and its `S_kk`.
#[derive(Clone, Copy)]
struct Own {
    share: f64,
    s: f64,
}

/// All that could replace it: the largest share, and a bound on the sum of their weights in units of the member's.
#[derive(Clone, Copy)]
struct Others {
    largest_share: f64,
    bound: f64,
}

/// The maintained factor. All storage is claimed at the start: nothing is allocated later.
#[derive(Debug, Clone)]
pub struct Factor<'a> {
    regression: &'a ScaledRegression,
    inverse_v: f64,
    members: Vec<usize>,
    position: Vec<usize>,
    rows: Vec<[f64; LANES]>,
    lower: Vec<f64>,
    inverse_pivots: Vec<f64>,
    inverse: Vec<f64>,
    z: Vec<f64>,
    coefficients: Vec<f64>,
    schur: Vec<f64>,
    residual: Vec<f64>,
    outside: Vec<f64>,
    shares: Vec<f64>,
    weights: Vec<f64>,
    group_sums: Vec<f64>,
    energy: f64,
    rows_computed: u64,
}

impl<'a> Factor<'a> {
    /// The empty model with slab variance `v`.
    pub fn new(regression: &'a ScaledRegression, v: f64) -> Self {
        let (k, stride) = (regression.n_usable(), regression.stride());
        let mut outside = vec![1.0; k];
        outside.resize(stride, 0.0);
        let mut factor = Self {
            regression,
            inverse_v: 1.0 / v,
            members: Vec::with_capacity(k),
            position: vec![OUTSIDE; k],
            rows: vec![[0.0; LANES]; k * stride / LANES],
            lower: vec![0.0; k * k],
            inverse_pivots: vec![0.0; k],
            inverse: vec![0.0; k * k],
            z: vec![0.0; k],
            coefficients: vec![0.0; k],
            schur: vec![0.0; stride],
            residual: vec![0.0; stride],
            outside,
            shares: vec![0.0; stride],
            weights: vec![0.0; stride],
            group_sums: vec![0.0; stride / LANES],
            energy: 0.0,
            rows_computed: 0,
        };
        factor.refactor(0);
        factor
    }

    /// The columns of the model in the order of the factor's rows.
    pub fn members(&self) -> &[usize] {
        &self.members
    }

    /// Whether column `k` is in the model.
    #[inline]
    pub fn contains(&self, k: usize) -> bool {
        self.position[k] != OUTSIDE
    }

    /// `2 b_s + yy - b_r.mu`, twice the scale of the noise variance given the model.
    pub fn energy(&self) -> f64 {
        self.energy
    }

    /// `log det(G_rr + I/v)`.
    pub fn log_det(&self) -> f64 {
        let mut product = LogProduct::new();
        self.inverse_pivots[..self.members.len()].iter().for_each(|inverse| product.push(inverse * inverse));
        -product.log()
    }

    /// Rows computed since the start.
    pub fn rows_computed(&self) -> u64 {
        self.rows_computed
    }

    /// Takes another slab variance, which changes every row.
    pub fn set_slab(&mut self, v: f64) {
        self.inverse_v = 1.0 / v;
        self.refactor(0);
    }

    /// Adds column `k` to the model: one row, O(r K).
    pub fn insert(&mut self, k: usize) {
        debug_assert!(!self.contains(k));
        self.members.push(k);
        self.append();
    }

    /// Takes column `k` out of the model: the rows after its own are computed again.
    pub fn remove(&mut self, k: usize) {
        let place = self.position[k];
        self.members.remove(place);
        self.position[k] = OUTSIDE;
        self.outside[k] = 1.0;
        self.refactor(place);
    }

    /// `p(Z_k = 1 | all others)` of each column, into `out` (padded), from the lanes of column `from` on. `odds` is
    /// `(1 - p0) / p0`.
    ///
    /// The entries of the members in `schur` and `residual` have no meaning of their own. Here they are made such that
    /// the formula for a column outside gives the probability to stay: with `q = mu^2 / S` the energy without the member
    /// is `E + q`, its Schur complement `d = 1 / S`, and `x = q / (E + q)`.
    pub fn inclusion(&mut self, odds: f64, from: usize, out: &mut [f64]) {
        for place in 0..self.members.len() {
            let k = self.members[place];
            if k >= from {
                let (s, mu) = self.marginal(place);
                let gain = mu * mu / s;
                self.schur[k] = 1.0 / s;
                self.residual[k] = (gain / (self.energy + gain) * self.energy / s).sqrt();
            }
        }
        let from = from / LANES * LANES;
        let total = 2.0 * self.regression.prior().b_s + self.regression.yy();
        kernels::inclusion(
            &self.schur[from..],
            &self.residual[from..],
            &self.bounds(self.energy, total),
            self.regression.power(),
            odds / self.inverse_v.sqrt(),
            &mut out[from..],
        );
    }

    /// 1 for columns outside the model, 0 for members and for the padding.
    pub fn outside(&self) -> &[f64] {
        &self.outside
    }

    /// What the log evidence gains where column `k` comes in, but for what all columns have in common.
    pub fn gain_of(&self, k: usize) -> f64 {
        let total = 2.0 * self.regression.prior().b_s + self.regression.yy();
        let Bounds { floor, inverse_energy, ceiling } = self.bounds(self.energy, total);
        let d = self.schur[k].max(floor);
        let share = (self.residual[k] * self.residual[k] / d * inverse_energy).min(ceiling);
        -self.regression.power() * (-share).ln_1p() - 0.5 * d.ln()
    }

    /// What the log evidence loses where member number `place` goes, but for what all members have in common.
    pub fn loss_of(&self, place: usize) -> f64 {
        let (s, mu) = self.marginal(place);
        self.regression.power() * (mu * mu / (s * self.energy)).ln_1p() + 0.5 * s.ln()
    }

    /// Probability that member number `place` stays in the model given all others.
    pub fn keep_probability(&self, place: usize, odds: f64) -> f64 {
        let (s, mu) = self.marginal(place);
        let gain = mu * mu / (s * self.energy);
        1.0 / (1.0 + odds * (-self.regression.power() * gain.ln_1p()).exp() / (s * self.inverse_v).sqrt())
    }

    /// `S_kk` and `mu_k` of member number `place`: variance over s2, and mean, of its coefficient.
    #[inline]
    pub fn marginal(&self, place: usize) -> (f64, f64) {
        let (mut s, mut mu) = (0.0, 0.0);
        for row in place..self.members.len() {
            let u = self.inverse[row * self.width() + place];
            s += u * u;
            mu += u * self.z[row];
        }
        (s, mu)
    }

    /// Coefficients `U^T (z + noise)` of the members, in their order: with `noise = sqrt(s2) N(0, I)` a draw from
    /// `N(mu, s2 S)`, with zero noise the mean. `noise` is overwritten.
    pub fn coefficients(&self, noise: &mut [f64], out: &mut [f64]) {
        let r = self.members.len();
        for (noise, z) in noise.iter_mut().zip(&self.z[..r]) {
            *noise += z;
        }
        out[..r].fill(0.0);
        for row in 0..r {
            let inverse = &self.inverse[row * self.width()..][..=row];
            for (out, u) in out.iter_mut().zip(inverse) {
                *out += u * noise[row];
            }
        }
    }

    /// Draws the column that stands in the place of member number `place`, the others held, with probability proportional
    /// to the evidence of the model with that exchange: the member if `uniform` is below its share, else the others in
    /// the order of the columns.
    ///
    /// Mostly the member is far ahead of the rest. A bound on the sum of the others' weights then settles the draw
    /// without computing them.
    pub fn exchange_draw(&mut self, place: usize, uniform: f64) -> usize {
        let (member, own, others) = self.exchange_candidates(place);
        if uniform * (1.0 + others.bound) < 1.0 {
            return member;
        }
        let own = self.exchange_weights(own, others.largest_share);
        let mut left = uniform * (own + self.group_sums.iter().sum::<f64>()) - own;
        if left < 0.0 {
            return member;
        }
        let last = self.group_sums.len() - 1;
        let mut group = 0;
        while group < last && left >= self.group_sums[group] {
            left -= self.group_sums[group];
            group += 1;
        }
        let mut chosen = member;
        for column in group * LANES..self.width().min((group + 1) * LANES) {
            if self.weights[column] > 0.0 {
                chosen = column;
                left -= self.weights[column];
                if left < 0.0 {
                    break;
                }
            }
        }
        chosen
    }

    /// Shares and inverse Schur complements of all columns in the place of a member; the member and its own.
    fn exchange_candidates(&mut self, place: usize) -> (usize, Own, Others) {
        let (r, width) = (self.members.len(), self.width());
        let (s, mu) = self.marginal(place);
        for row in place..r {
            self.coefficients[row] = self.inverse[row * width + place];
        }
        let energy = self.energy + mu * mu / s;
        let bounds = self.bounds(energy, energy);
        let (largest_share, largest_inverse) = kernels::exchange_candidates(
            &Columns {
                rows: &self.rows,
                capacity: width,
                schur: &self.schur,
                residual: &self.residual,
                mask: &self.outside,
            },
            place,
            &self.coefficients[place..r],
            &Leaving { inverse_s: 1.0 / s, mu_by_s: mu / s },
            &bounds,
            &mut self.shares,
            &mut self.weights,
        );
        let share = (mu * mu / (s * energy)).min(bounds.ceiling);
        let log_ratio = self.regression.power() * ((-share).ln_1p() - (-largest_share).ln_1p());
        let bound = (width - r) as f64 * (largest_inverse / s).sqrt() * log_ratio.exp();
        (self.members[place], Own { share, s }, Others { largest_share, bound })
    }

    /// Weights of all candidates in one unit; returns that of the member.
    fn exchange_weights(&mut self, own: Own, largest_share: f64) -> f64 {
        let power = self.regression.power();
        let log_unit = (-own.share.max(largest_share)).ln_1p();
        kernels::exchange_weights(&self.shares, log_unit, power, &mut self.weights, &mut self.group_sums);
        own.s.sqrt() * (power * (log_unit - (-own.share).ln_1p())).exp()
    }

    /// In exact arithmetic no Schur complement is below `1/v`; the energy never falls below `2 b_s`, so no column can
    /// explain more of what it is without the column, at most `without`, than all but that.
    fn bounds(&self, energy: f64, without: f64) -> Bounds {
        let ceiling = 1.0 - 2.0 * self.regression.prior().b_s / without;
        Bounds { floor: self.inverse_v, inverse_energy: 1.0 / energy, ceiling }
    }

    /// Most rows that a factor can have; rows and groups are that far apart.
    fn width(&self) -> usize {
        self.regression.n_usable().max(1)
    }

    /// Computes the rows from number `from` on again, and what hangs on all of them: first `L` and its inverse on the
    /// members alone, then all columns in one pass.
    fn refactor(&mut self, from: usize) {
        let (r, width, regression) = (self.members.len(), self.width(), self.regression);
        self.energy = 2.0 * regression.prior().b_s + regression.yy();
        self.energy -= self.z[..from].iter().map(|z| z * z).sum::<f64>();
        // Plain index loops: models are small, and setting up iterators would cost more than the sums.
        for place in from..r {
            let (k, row) = (self.members[place], place * width);
            let gram = regression.gram_row(k);
            let mut pivot = gram[k] + self.inverse_v;
            let mut residual = regression.moment()[k];
            for column in 0..place {
                let mut w = gram[self.members[column]];
                for i in 0..column {
                    w -= self.lower[row + i] * self.lower[column * width + i];
                }
                w *= self.inverse_pivots[column];
                self.lower[row + column] = w;
                pivot -= w * w;
                residual -= w * self.z[column];
            }
            self.finish_row(place, pivot, residual);
        }
        let system = System {
            gram: regression.gram(),
            diagonal: regression.diagonal(),
            ridge: self.inverse_v,
            moment: regression.moment(),
        };
        let pivots = Pivots { inverse: &self.inverse_pivots, z: &self.z };
        let (rows, schur, residual) = (&mut self.rows, &mut self.schur, &mut self.residual);
        kernels::solve_rows(&system, &self.members, from, &self.lower, &pivots, rows, width, schur, residual);
    }

    /// Adds the last member's row to the factor: the coefficients of `L` are what the former rows hold at its column.
    fn append(&mut self) {
        let (place, width) = (self.members.len() - 1, self.width());
        let k = self.members[place];
        let (group, lane) = (k / LANES, k % LANES);
        let lower = &mut self.lower[place * width..][..place];
        for (coefficient, row) in lower.iter_mut().zip(&self.rows[group * width..]) {
            *coefficient = row[lane];
        }
        let (pivot, residual) = (self.schur[k], self.residual[k]);
        // In exact arithmetic the Schur complement is at least 1/v; near-copies lose that to rounding.
        let inverse_pivot = 1.0 / pivot.max(self.inverse_v).sqrt();
        kernels::append_row(
            self.regression.gram_row(k),
            lower,
            inverse_pivot,
            residual * inverse_pivot,
            &mut self.rows,
            width,
            &mut self.schur,
            &mut self.residual,
        );
        self.finish_row(place, pivot, residual);
    }

    /// Pivot, `z`, energy and the row of `U` of member number `place`, whose row of `L` is known.
    #[inline(always)]
    fn finish_row(&mut self, place: usize, pivot: f64, residual: f64) {
        let width = self.width();
        let inverse_pivot = 1.0 / pivot.max(self.inverse_v).sqrt();
        let z = residual * inverse_pivot;
        self.inverse_pivots[place] = inverse_pivot;
        self.z[place] = z;
        self.energy = (self.energy - z * z).max(2.0 * self.regression.prior().b_s);
        let row = place * width;
        for column in 0..place {
            let mut sum = 0.0;
            for i in column..place {
                sum += self.lower[row + i] * self.inverse[i * width + column];
            }
            self.inverse[row + column] = -sum * inverse_pivot;
        }
        self.inverse[row + place] = inverse_pivot;
        self.position[self.members[place]] = place;
        self.outside[self.members[place]] = 0.0;
        self.rows_computed += 1;
    }
}

#[cfg(test)]
mod tests;
