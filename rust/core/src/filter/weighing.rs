//! What a sample says of the state: the gain of its readings, and the covariance after them.

use super::small::{cholesky, invert_lower, multiply, multiply_transposed};
use super::square::{Square, apply, apply_transposed, read, sandwich, write};
use super::state_space::StateSpace;

/// Gain and covariance of a sample, and what is kept of it until the next one of its path and phase.
#[derive(Clone)]
pub struct Weighing {
    pub seen: Vec<bool>,
    /// Factors of the noise variances at the sample.
    pub scale: Vec<f64>,
    /// What becomes of the state after it (m x m).
    pub reset: Vec<f64>,
    pub resets: bool,
    pub masked: Vec<f64>,
    pub ph: Vec<f64>,
    pub s: Vec<f64>,
    pub low: Vec<f64>,
    pub inverse: Vec<f64>,
    pub half: Vec<f64>,
    pub r: Vec<f64>,
    pub white: Vec<f64>,
    pub gain: Vec<f64>,
    pub closed: Vec<f64>,
    pub log_det: f64,
    /// The covariance after the sample.
    pub after: Vec<f64>,
    /// Gain, mean and covariance before a reset.
    pub unreset_gain: Vec<f64>,
    pub unreset_mean: Vec<f64>,
    pub unreset_cov: Vec<f64>,
}

impl Weighing {
    /// For `m` states and `q` channels.
    pub fn new(m: usize, q: usize) -> Self {
        let zeros = |n| vec![0.0; n];
        Self {
            seen: vec![false; q],
            scale: vec![1.0; q],
            reset: zeros(m * m),
            resets: false,
            masked: zeros(q * m),
            ph: zeros(m * q),
            s: zeros(q * q),
            low: zeros(q * q),
            inverse: zeros(q * q),
            half: zeros(m * q),
            r: zeros(q),
            white: zeros(q),
            gain: zeros(m * q),
            closed: zeros(m * m),
            log_det: 0.0,
            after: zeros(m * m),
            unreset_gain: zeros(m * q),
            unreset_mean: zeros(m),
            unreset_cov: zeros(m * m),
        }
    }

    /// The gain of what is seen, given the predicted covariance; false where there is none.
    pub fn gain<const N: usize>(&mut self, cov: &[f64], model: &StateSpace<'_>) -> bool {
        let q = model.q();
        multiply_transposed(cov, &self.masked, &mut self.ph, N, N, q);
        multiply(&self.masked, &self.ph, &mut self.s, q, N, q);
        for c in 0..q {
            self.s[c * q + c] += if self.seen[c] { model.noise[c] * self.scale[c] } else { 1.0 };
        }
        for (a, b, shared) in model.covariances(&self.seen, &self.scale) {
            self.s[a * q + b] += shared;
            self.s[b * q + a] += shared;
        }
        let done = cholesky(&self.s, &mut self.low, q);
        if !done {
            self.low.fill(f64::NAN);
        }
        invert_lower(&self.low, &mut self.inverse, q);
        multiply_transposed(&self.ph, &self.inverse, &mut self.half, N, q, q);
        multiply(&self.half, &self.inverse, &mut self.gain, N, q, q);
        multiply(&self.gain, &self.masked, &mut self.closed, N, q, N);
        for (index, value) in self.closed.iter_mut().enumerate() {
            *value = f64::from(u8::from(index / N == index % N)) - *value;
        }
        self.log_det = (0..q).map(|c| self.low[c * q + c].ln()).sum();
        done
    }

    /// The same of a single channel, to the last bit.
    pub fn gain_of_one<const N: usize>(&mut self, cov: &[f64], noise: f64) -> bool {
        let row: [f64; N] = std::array::from_fn(|i| self.masked[i]);
        let ph = apply(&read::<N>(cov), &row);
        let mut s = 0.0;
        (0..N).for_each(|i| s += row[i] * ph[i]);
        s += if self.seen[0] { noise * self.scale[0] } else { 1.0 };
        let done = s > 0.0 && s.is_finite();
        let low = if done { s.sqrt() } else { f64::NAN };
        let inverse = 1.0 / low;
        let gain = ph.map(|ph| ph * inverse * inverse);
        for i in 0..N {
            for j in 0..N {
                self.closed[i * N + j] = f64::from(u8::from(i == j)) - gain[i] * row[j];
            }
        }
        self.gain.copy_from_slice(&gain);
        (self.s[0], self.low[0], self.inverse[0], self.log_det) = (s, low, inverse, low.ln());
        done
    }

    /// The covariance after a sample and a reset, by Joseph's form: it stays positive whatever the rounding of the gain.
    pub fn close<const N: usize>(&mut self, cov: &mut [f64], model: &StateSpace<'_>, lost: &[f64]) {
        let q = model.q();
        let mut next = read::<N>(cov);
        if self.seen.contains(&true) {
            next = sandwich(&read(&self.closed), &next);
        }
        for c in (0..q).filter(|&c| self.seen[c]) {
            let noise = model.noise[c] * self.scale[c] + lost[c];
            for i in 0..N {
                let pulled = self.gain[i * q + c] * noise;
                for j in 0..N {
                    next[i][j] += pulled * self.gain[j * q + c];
                }
            }
        }
        for (a, b, shared) in model.covariances(&self.seen, &self.scale) {
            for i in 0..N {
                for j in 0..N {
                    let turned = self.gain[i * q + b] * self.gain[j * q + a];
                    next[i][j] += shared * (self.gain[i * q + a] * self.gain[j * q + b] + turned);
                }
            }
        }
        if self.resets {
            write(&next, &mut self.unreset_cov);
            self.unreset_gain.copy_from_slice(&self.gain);
            self.lead_past::<N>(&mut next, q);
        }
        write(&next, cov);
        write(&next, &mut self.after);
    }

    /// Takes covariance, gain and what it closes past the reset, whose rows are mostly those of the unit matrix.
    fn lead_past<const N: usize>(&mut self, cov: &mut Square<N>, q: usize) {
        let reset = read::<N>(&self.reset);
        let stays = |i: usize| (0..N).all(|j| reset[i][j] == f64::from(u8::from(i == j)));
        let (before, closed) = (*cov, read::<N>(&self.closed));
        let mut turned = before;
        for i in (0..N).filter(|&i| !stays(i)) {
            turned[i] = apply_transposed(&before, &reset[i]);
            self.closed[i * N..(i + 1) * N].copy_from_slice(&apply_transposed(&closed, &reset[i]));
            for c in 0..q {
                self.gain[i * q + c] = (0..N).map(|l| reset[i][l] * self.unreset_gain[l * q + c]).sum();
            }
        }
        *cov = turned;
        for i in (0..N).filter(|&i| !stays(i)) {
            let column = apply(&turned, &reset[i]);
            (0..N).for_each(|row| cov[row][i] = column[row]);
        }
        for i in (0..N).filter(|&i| !stays(i)) {
            for j in 0..N {
                let mean = 0.5 * (cov[i][j] + cov[j][i]);
                (cov[i][j], cov[j][i]) = (mean, mean);
            }
        }
    }
}
