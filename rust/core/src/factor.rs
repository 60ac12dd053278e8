//! The state of a sampled model: a Cholesky factor that is kept extended over all columns.
//!
//! For the model with members r let `L L^T = G_rr + I/v`, `W = L^-1 G_r,:` (one row per member, all K columns),
//! `z = L^-1 b_r`. Then for every column k outside the model
//! `d_k = G_kk + 1/v - sum_j W_jk^2` and `c_k = b_k - sum_j W_jk z_j` tell what inserting it would do, in O(1):
//! the log evidence changes by `-1/2 log(v d_k) - (a_s + n/2) log(1 - c_k^2 / (d_k (2 b_s + E)))`, `E = yy - z.z`.
//! With `U = L^-1` kept beside it, `S = U^T U` tells the same about removals.

use crate::evidence::Regression;
use crate::simd;

const OUTSIDE: usize = usize::MAX;

/// The maintained factor. All storage is claimed at the start: nothing is allocated later.
#[derive(Debug, Clone)]
pub struct Factor<'a> {
    regression: &'a Regression,
    inverse_v: f64,
    members: Vec<usize>,
    position: Vec<usize>,
    rows: Vec<f64>,
    inverse: Vec<f64>,
    z: Vec<f64>,
    coefficients: Vec<f64>,
    schur: Vec<f64>,
    residual: Vec<f64>,
    outside: Vec<f64>,
    effect: Vec<f64>,
    gains: Vec<f64>,
    weights: Vec<f64>,
    energy: f64,
    rows_computed: u64,
}

impl<'a> Factor<'a> {
    /// The empty model with slab variance `v`.
    pub fn new(regression: &'a Regression, v: f64) -> Self {
        let (k, stride) = (regression.n_usable(), regression.stride());
        let mut outside = vec![1.0; k];
        outside.resize(stride, 0.0);
        let mut factor = Self {
            regression,
            inverse_v: 1.0 / v,
            members: Vec::with_capacity(k),
            position: vec![OUTSIDE; k],
            rows: vec![0.0; k * stride],
            inverse: vec![0.0; k * k],
            z: vec![0.0; k],
            coefficients: vec![0.0; k],
            schur: vec![0.0; stride],
            residual: vec![0.0; stride],
            outside,
            effect: vec![0.0; stride],
            gains: vec![0.0; stride],
            weights: vec![0.0; stride],
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

    /// Rows computed since the start.
    pub fn rows_computed(&self) -> u64 {
        self.rows_computed
    }

    /// `log evidence + (a_s + n/2) log 2` without [`Regression::log_constant`].
    pub fn log_evidence(&self) -> f64 {
        let r = self.members.len();
        let log_det: f64 = (0..r).map(|p| -2.0 * self.inverse[p * self.width() + p].ln()).sum();
        0.5 * (r as f64 * self.inverse_v.ln() - log_det) - self.regression.power() * self.energy.ln()
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
        self.append(self.members.len() - 1);
    }

    /// Takes column `k` out of the model: the rows after its own are computed again.
    pub fn remove(&mut self, k: usize) {
        let place = self.position[k];
        self.members.remove(place);
        self.position[k] = OUTSIDE;
        self.outside[k] = 1.0;
        self.refactor(place);
    }

    /// Inclusion probability of each column outside the model given all others, into `out` (padded), from the
    /// lanes of column `from` on. `odds` is `(1 - p0) / p0`.
    ///
    /// The entries of the members have no meaning; see [`Self::keep_probability`].
    pub fn inclusion(&self, odds: f64, from: usize, out: &mut [f64]) {
        let from = from / simd::LANES * simd::LANES;
        simd::inclusion(
            &self.schur[from..],
            &self.residual[from..],
            self.inverse_v,
            1.0 / self.energy,
            self.ceiling(self.energy),
            self.regression.power(),
            odds / self.inverse_v.sqrt(),
            &mut out[from..],
        );
    }

    /// Probability that member number `place` stays in the model given all others.
    pub fn keep_probability(&self, place: usize, odds: f64) -> f64 {
        let (s, mu) = self.marginal(place);
        let gain = mu * mu / (s * self.energy);
        1.0 / (1.0 + odds * (-self.regression.power() * gain.ln_1p()).exp() / (s * self.inverse_v).sqrt())
    }

    /// `S_kk` and `mu_k` of member number `place`: variance over s2, and mean, of its coefficient.
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

    /// Weights of all columns to stand in the place of member number `place`, the others held: proportional to the
    /// evidence of the model with that exchange, zero for the other members. Their sum, and the padded weights.
    pub fn exchange_weights(&mut self, place: usize) -> (f64, &[f64]) {
        let (r, stride, width) = (self.members.len(), self.regression.stride(), self.width());
        let (s, mu) = self.marginal(place);
        for row in place..r {
            self.coefficients[row] = self.inverse[row * width + place];
        }
        let rows = &self.rows[place * stride..r * stride];
        simd::combine_rows(rows, &self.coefficients[place..r], &mut self.effect);
        let power = self.regression.power();
        let energy = self.energy + mu * mu / s;
        let ceiling = self.ceiling(energy);
        simd::exchange_gains(
            &self.effect,
            &self.schur,
            &self.residual,
            1.0 / s,
            mu / s,
            self.inverse_v,
            1.0 / energy,
            ceiling,
            power,
            &mut self.gains,
            &mut self.weights,
        );
        let member = self.members[place];
        self.gains[member] = -power * simd::ln_one_minus((mu * mu / (s * energy)).min(ceiling));
        self.weights[member] = s.sqrt();
        self.outside[member] = 1.0;
        let sum = simd::exchange_weights(&self.outside, &self.gains, &mut self.weights);
        self.outside[member] = 0.0;
        (sum, &self.weights)
    }

    /// Energy never falls below `2 b_s`, so no column can explain a larger share of it than this.
    fn ceiling(&self, energy: f64) -> f64 {
        1.0 - 2.0 * self.regression.prior().b_s / energy
    }

    fn width(&self) -> usize {
        self.regression.n_usable()
    }

    /// Computes the rows from number `from` on again, and what hangs on all of them.
    fn refactor(&mut self, from: usize) {
        let stride = self.regression.stride();
        for (schur, diagonal) in self.schur.iter_mut().zip(self.regression.diagonal()) {
            *schur = diagonal + self.inverse_v;
        }
        self.residual.copy_from_slice(self.regression.moment());
        self.energy = 2.0 * self.regression.prior().b_s + self.regression.yy();
        for place in 0..from {
            let z = self.z[place];
            self.energy -= z * z;
            let row = &self.rows[place * stride..(place + 1) * stride];
            simd::apply_row(row, z, &mut self.schur, &mut self.residual);
        }
        for place in from..self.members.len() {
            self.append(place);
        }
    }

    /// Computes row `place` of the factor from the rows before it.
    fn append(&mut self, place: usize) {
        let (stride, width) = (self.regression.stride(), self.width());
        let k = self.members[place];
        // In exact arithmetic the Schur complement is at least 1/v; near-copies lose that to rounding.
        let inverse_pivot = 1.0 / self.schur[k].max(self.inverse_v).sqrt();
        let z = self.residual[k] * inverse_pivot;
        let (former, rest) = self.rows.split_at_mut(place * stride);
        for (row, coefficient) in former.chunks_exact(stride).zip(&mut self.coefficients) {
            *coefficient = row[k];
        }
        let coefficients = &self.coefficients[..place];
        simd::append_row(
            self.regression.gram_row(k),
            former,
            coefficients,
            inverse_pivot,
            z,
            &mut rest[..stride],
            &mut self.schur,
            &mut self.residual,
        );
        let (former, rest) = self.inverse.split_at_mut(place * width);
        let inverse = &mut rest[..=place];
        inverse.fill(0.0);
        for (row, (former, coefficient)) in former.chunks_exact(width).zip(coefficients).enumerate() {
            for (inverse, former) in inverse.iter_mut().zip(&former[..=row]) {
                *inverse -= coefficient * former;
            }
        }
        for inverse in inverse.iter_mut() {
            *inverse *= inverse_pivot;
        }
        inverse[place] = inverse_pivot;
        self.z[place] = z;
        self.energy = (self.energy - z * z).max(2.0 * self.regression.prior().b_s);
        self.position[k] = place;
        self.outside[k] = 0.0;
        self.rows_computed += 1;
    }
}
