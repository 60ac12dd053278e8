//! What a model is without a slab: where its slab variance is proposed, and how much evidence it can have at most.

use super::evidence::ScaledRegression;
use super::special::LogProduct;

/// Models that are remembered; a power of two.
const REMEMBERED: usize = 1024;
/// A pivot below this share of its diagonal is mostly rounding, and bounds nothing.
const SOUND: f64 = 1e-8;

/// The inverse gamma law that the slab variance of a model is proposed from, and bounds on the evidence of the model.
#[derive(Debug, Clone, Copy)]
pub struct Proposal {
    pub shape: f64,
    pub scale: f64,
    pub log_scale: f64,
    /// Log evidence, but for a constant, less what the determinant takes, without a slab.
    fit: f64,
    /// `log det G_rr`; minus infinity where rounding hides it.
    log_det: f64,
}

impl Proposal {
    /// No more is the log evidence, but for a constant, at the slab variance `v`; `sizes` is `r log v`.
    ///
    /// A slab keeps coefficients small, so the energy is least without one, and `v^r det(G_rr + I/v)` is neither below
    /// 1 nor below `v^r det G_rr`.
    pub fn most_evidence(&self, sizes: f64) -> f64 {
        self.fit - 0.5 * (sizes + self.log_det).max(0.0)
    }
}

/// `log det(G_rr + ridge I)` and `2 b_s + yy - b_r.mu` of a model.
#[derive(Debug, Clone, Copy)]
pub struct Factored {
    pub log_det: f64,
    pub energy: f64,
    sound: bool,
}

/// Room for the triangular factor of a model: `L D L^T`, without square roots, and one division a row.
#[derive(Debug, Clone)]
pub struct Triangle {
    /// `L`, its rows one after the other, and a row of `L D`.
    lower: Vec<f64>,
    row: Vec<f64>,
    inverse_pivots: Vec<f64>,
    /// `L y = b`, later the coefficients.
    y: Vec<f64>,
}

impl Triangle {
    /// Room for models of `k` columns.
    pub fn new(k: usize) -> Self {
        let line = vec![0.0; k];
        Self { lower: vec![0.0; k * k], row: line.clone(), inverse_pivots: line.clone(), y: line }
    }

    /// Factors `G_rr + ridge I`; `None` where that is not positive definite.
    pub fn factor(
        &mut self,
        regression: &ScaledRegression,
        members: &[usize],
        ridge: f64,
    ) -> Option<Factored> {
        let r = members.len();
        let (row, inverse_pivots, y) = (&mut self.row[..r], &mut self.inverse_pivots[..r], &mut self.y[..r]);
        let (mut determinant, mut energy, mut sound) = (LogProduct::new(), regression.yy(), true);
        for (i, &member) in members.iter().enumerate() {
            let gram = regression.gram_row(member);
            let (above, rest) = self.lower.split_at_mut(i * r);
            let own = &mut rest[..r];
            let (mut pivot, mut residual) = (gram[member] + ridge, regression.moment()[member]);
            let diagonal = pivot;
            for j in 0..i {
                let mut w = gram[members[j]];
                for (w_c, l_c) in row[..j].iter().zip(&above[j * r..]) {
                    w -= w_c * l_c;
                }
                let l = w * inverse_pivots[j];
                (row[j], own[j]) = (w, l);
                pivot -= w * l;
                residual -= l * y[j];
            }
            if pivot.is_nan() || pivot <= 0.0 {
                return None;
            }
            sound &= pivot > SOUND * diagonal;
            inverse_pivots[i] = 1.0 / pivot;
            y[i] = residual;
            energy -= residual * residual * inverse_pivots[i];
            determinant.push(pivot);
        }
        let energy = 2.0 * regression.prior().b_s + energy.max(0.0);
        Some(Factored { log_det: determinant.log(), energy, sound })
    }

    /// Where the slab variance of a model is proposed; `None` where its columns are dependent.
    pub fn proposal(&mut self, regression: &ScaledRegression, members: &[usize]) -> Option<Proposal> {
        let (prior, power, r) = (regression.prior(), regression.power(), members.len());
        let Factored { log_det, energy, sound } = self.factor(regression, members, 0.0)?;
        let mut square = 0.0;
        for row in (0..r).rev() {
            let mut value = self.y[row] * self.inverse_pivots[row];
            for later in row + 1..r {
                value -= self.lower[later * r + row] * self.y[later];
            }
            self.y[row] = value;
            square += value * value;
        }
        let noise = energy / (2.0 * power);
        let scale = prior.b_v + 0.5 * square / noise;
        Some(Proposal {
            shape: prior.a_v + 0.5 * r as f64,
            scale,
            log_scale: scale.ln(),
            fit: -power * (0.5 * energy).ln(),
            log_det: if sound { log_det } else { f64::NEG_INFINITY },
        })
    }
}

/// Proposals of models that were met: a chain comes back to few. Each model has one place, and the last one there stays.
#[derive(Debug, Clone)]
pub struct Known {
    /// Numbers of 64 bits that a set of columns takes.
    words: usize,
    /// The sets that are remembered, and the one that is asked for.
    sets: Vec<u64>,
    asked: Vec<u64>,
    found: Vec<Option<Option<Proposal>>>,
}

impl Known {
    /// Room for models of `k` columns.
    pub fn new(k: usize) -> Self {
        let words = k.div_ceil(64);
        Self {
            words,
            sets: vec![0; words * REMEMBERED],
            asked: vec![0; words],
            found: vec![None; REMEMBERED],
        }
    }

    /// The proposal of a model, made by `make` if it is not known.
    pub fn of(&mut self, members: &[usize], make: impl FnOnce() -> Option<Proposal>) -> Option<Proposal> {
        self.asked.fill(0);
        for member in members {
            self.asked[member / 64] |= 1 << (member % 64);
        }
        // Steele, Lea & Flood's multiplier spreads the bits.
        let mixed = |hash: u64, word: &u64| (hash ^ word).wrapping_mul(0xbf58_476d_1ce4_e5b9).rotate_left(29);
        let place = (self.asked.iter().fold(0, mixed) % REMEMBERED as u64) as usize;
        let set = &mut self.sets[place * self.words..][..self.words];
        match self.found[place] {
            Some(found) if *set == *self.asked => found,
            _ => {
                set.copy_from_slice(&self.asked);
                *self.found[place].insert(make())
            }
        }
    }
}
