//! Moments of the regression of Gamma and the noise variances: sensitivities of covariance and mean.

use super::small::{axpy, multiply, multiply_transposed, multiply_wide};
use super::square::{read, with_size, write};
use super::state_space::{MAX_STATES, StateSpace};
use super::visitor::{Step, Update, Visitor};
use super::whitened::WhitenedRows;

/// Sensitivities of a batch to the Gamma coefficients and the noise variances, and the rows they give.
///
/// `C = dP/dc` obeys `C- = Phi C Phi^T + Q(u)`, `C = (I - Kg H) C- (I - Kg H)^T` (plus `Kg Kg^T` for a noise variance);
/// `D = dM/dc` obeys `D- = Phi D`, `D = (I - Kg H) D- + ((I - Kg H) C- H^T - Kg E) S^-1 r`. Rows: `r` on `H D-` with
/// weight `S^-1`, and `r r^T - S` on `H C- H^T + E` with weight `S^-1 (x) S^-1 / 2`.
pub struct NoiseMoments<'a> {
    columns: &'a [(usize, usize)],
    noise: Vec<f64>,
    /// Columns carried: `columns`, the noises, and the Gamma in use, which stands for `sum c_k gamma_k` in the targets.
    carried: usize,
    /// Unit matrices of the pairs, and the range of columns in which theirs lie.
    units: Vec<(Vec<f64>, std::ops::Range<usize>)>,
    m: usize,
    q: usize,
    /// lanes x m x m x C
    w: Vec<f64>,
    /// lanes x m x C
    d: Vec<f64>,
    next: Vec<f64>,
    turn: Vec<f64>,
    part: Vec<f64>,
    part_row: Vec<f64>,
    small: Vec<f64>,
    white: Vec<f64>,
    /// The rows of the regression.
    pub rows: WhitenedRows,
}

impl<'a> NoiseMoments<'a> {
    /// For the Gamma coefficients `columns` (pair, term), then all noise variances, of a batch of `lanes` paths.
    pub fn new(model: &StateSpace<'_>, columns: &'a [(usize, usize)], lanes: usize) -> Self {
        let (m, q) = (model.m(), model.q());
        let regressors = columns.len() + q;
        let c = regressors + 1;
        let unit = |(pair, &(i, j)): (usize, &(usize, usize))| {
            let mut unit = vec![0.0; m * m];
            unit[i * m + j] = 1.0;
            unit[j * m + i] = 1.0;
            let own = |column: &(usize, usize)| column.0 == pair;
            let first = columns.iter().position(own).unwrap_or(0);
            let last = columns.iter().rposition(own).map_or(0, |last| last + 1);
            (unit, first..last)
        };
        Self {
            columns,
            noise: model.noise.to_vec(),
            units: model.pairs.iter().enumerate().map(unit).collect(),
            carried: c,
            m,
            q,
            w: vec![0.0; lanes * m * m * c],
            d: vec![0.0; lanes * m * c],
            next: vec![0.0; m * m * c],
            turn: vec![0.0; m * c],
            part: vec![0.0; m * c],
            part_row: vec![0.0; c],
            small: vec![0.0; 2 * m * m],
            white: vec![0.0; q * m],
            rows: WhitenedRows::new(regressors),
        }
    }

    /// `w = a w a^T` for every column, of the path in `lane`.
    fn sandwich(&mut self, lane: usize, a: &[f64]) {
        let (m, c) = (self.m, self.carried);
        let w = &mut self.w[lane * m * m * c..(lane + 1) * m * m * c];
        multiply_wide(a, w, &mut self.next, m, m, m * c);
        for i in 0..m {
            for j in i..m {
                let row = &mut w[(i * m + j) * c..][..c];
                row.fill(0.0);
                for l in 0..m {
                    axpy(a[j * m + l], &self.next[(i * m + l) * c..][..c], row);
                }
            }
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
        let (m, q, c, k) = (self.m, self.q, self.carried, self.columns.len());
        let w = &self.w[lane * m * m * c..(lane + 1) * m * m * c];
        let d = &self.d[lane * m * c..(lane + 1) * m * c];
        let white = &self.white;
        for a in 0..q {
            if !update.seen[a] {
                continue;
            }
            let row = &mut self.part_row;
            row.fill(0.0);
            for i in 0..m {
                axpy(white[a * m + i], &d[i * c..(i + 1) * c], row);
            }
            push(&mut self.rows, row, &self.noise, update.white[a]);
            // (inverse observation w)_a, m rows of C
            self.part.fill(0.0);
            for i in 0..m {
                let weight = white[a * m + i];
                if weight != 0.0 {
                    axpy(weight, &w[i * m * c..(i + 1) * m * c], &mut self.part);
                }
            }
            for b in a..q {
                if !update.seen[b] {
                    continue;
                }
                let scale = if a == b { 0.5_f64.sqrt() } else { 1.0 };
                let row = &mut self.part_row;
                row.fill(0.0);
                for j in 0..m {
                    axpy(scale * white[b * m + j], &self.part[j * c..(j + 1) * c], row);
                }
                for channel in (0..q).filter(|&channel| update.seen[channel]) {
                    row[k + channel] +=
                        scale * update.inverse[a * q + channel] * update.inverse[b * q + channel];
                }
                let excess = update.white[a] * update.white[b] - f64::from(u8::from(a == b));
                push(&mut self.rows, row, &self.noise, scale * excess);
            }
        }
    }

    /// The sensitivities after an observation.
    #[inline]
    fn close(&mut self, lane: usize, update: &Update<'_>) {
        let (m, q, c, k) = (self.m, self.q, self.carried, self.columns.len());
        let w = &self.w[lane * m * m * c..(lane + 1) * m * m * c];
        let d = &mut self.d[lane * m * c..(lane + 1) * m * c];
        // the mean: D = closed (D + C H^T S^-1 r) - Kg E S^-1 r
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
        d.copy_from_slice(&self.turn);
        for channel in (0..q).filter(|&channel| update.seen[channel]) {
            for i in 0..m {
                d[i * c + k + channel] -= update.gain[i * q + channel] * solved[channel];
            }
        }
        self.sandwich(lane, update.closed);
        let w = &mut self.w[lane * m * m * c..(lane + 1) * m * m * c];
        for channel in (0..q).filter(|&channel| update.seen[channel]) {
            for i in 0..m {
                for j in 0..m {
                    w[(i * m + j) * c + k + channel] +=
                        update.gain[i * q + channel] * update.gain[j * q + channel];
                }
            }
        }
    }
}

/// Adds a row of carried columns: the last one and the noises at their values join the target.
fn push(rows: &mut WhitenedRows, carried: &[f64], noise: &[f64], residual: f64) {
    let c = carried.len() - 1;
    let row = rows.next();
    row[..c].copy_from_slice(&carried[..c]);
    let noises: f64 = carried[c - noise.len()..c].iter().zip(noise).map(|(x, noise)| x * noise).sum();
    row[c] = residual + carried[c] + noises;
    rows.n += 1.0;
}

impl Visitor for NoiseMoments<'_> {
    fn predicted(&mut self, lane: usize, step: &Step<'_>) {
        let (m, c) = (self.m, self.carried);
        self.sandwich(lane, step.transition.phi());
        let d = &mut self.d[lane * m * c..(lane + 1) * m * c];
        multiply_wide(step.transition.phi(), d, &mut self.turn, m, m, c);
        d.copy_from_slice(&self.turn);
        let w = &mut self.w[lane * m * m * c..(lane + 1) * m * m * c];
        let (product, moved) = self.small.split_at_mut(m * m);
        for (pair, (unit, range)) in self.units.iter().enumerate() {
            if range.is_empty() {
                continue;
            }
            let own = &self.columns[range.clone()];
            let values = &mut self.part_row[..own.len()];
            let transition = step.transition;
            with_size!(m, write(&transition.spread::<N>(&read(unit)), moved));
            for node in 0..=transition.nodes().len() {
                // the integral of the values at the start is exact, that of their changes a sum over nodes
                for (value, &(of, k)) in values.iter_mut().zip(own) {
                    *value = match (of == pair, node) {
                        (false, _) => 0.0,
                        (true, 0) => step.terms[k * step.width],
                        (true, node) => transition.nodes()[node - 1].weight * step.change(k, node - 1),
                    };
                }
                if node > 0 {
                    let onward = transition.onward(node - 1);
                    multiply(onward, unit, product, m, m, m);
                    multiply_transposed(product, onward, moved, m, m, m);
                }
                for (index, &factor) in moved.iter().enumerate() {
                    if factor != 0.0 {
                        axpy(factor, values, &mut w[index * c + range.start..][..own.len()]);
                    }
                }
            }
        }
        for index in 0..m * m {
            w[index * c + c - 1] += step.spread[index];
        }
    }

    fn updated(&mut self, lane: usize, update: &Update<'_>) {
        self.whiten(update);
        if update.n > 0 {
            self.add_rows(lane, update);
        }
        self.close(lane, update);
    }
}
