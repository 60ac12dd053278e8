//! What the sensitivities of a batch are kept in, and the rows that pairs of channels give.

use crate::filter::affine::{Affine, Convergence};
use crate::filter::small::axpy;
use crate::filter::standing::{StandingRows, excess, scale};
use crate::filter::state_space::StateSpace;
use crate::filter::visitor::Update;
use crate::filter::whitened::WhitenedRows;
use crate::filter::wide::padded;

/// How far the sensitivities of a path's covariance have converged, and what holds while they stand.
#[derive(Clone, Default)]
pub enum Settled {
    /// They move.
    #[default]
    Never,
    /// They are looked at.
    Moving(Convergence),
    /// They have converged, and so many samples of the period are still to come.
    Converged(usize),
    /// The slots have what a sample takes.
    Standing,
}

/// What a sample takes while all stands still but the means.
#[derive(Clone)]
pub struct Standing {
    pub phi: Vec<f64>,
    /// `S^(-1/2) H Phi`, then `(I - Kg H) Phi`: (q + m) x m.
    pub stack: Vec<f64>,
    /// What a unit of each whitened innovation adds to the mean's sensitivities: q x m x C.
    pub pull: Vec<f64>,
    /// The covariance's sensitivities before a sample (m x m x C), and what is still to come of it, see [`Lane::closed`].
    pub w: Vec<f64>,
    /// See `w`.
    pub closed: Vec<f64>,
    /// See `w`.
    pub gain: Vec<f64>,
    pub rows: StandingRows,
}

/// What a phase of a path has of its own.
#[derive(Clone)]
pub struct Slot {
    /// What each unit matrix spreads to over a step, as long as that stays the same.
    pub version: u64,
    pub spreads: Vec<f64>,
    /// The covariance's sensitivities a period ago, where the period is more than a step.
    pub before: Vec<f64>,
    pub standing: Option<Box<Standing>>,
}

/// Sensitivities of a batch to the Gamma coefficients and the noises, and the rows they give.
///
/// `C = dP/dc` obeys `C- = Phi C Phi^T + Q(u)`, `C = (I - Kg H) C- (I - Kg H)^T` (plus `Kg E Kg^T` for a noise, `E = dR/dc`);
/// `D = dM/dc` obeys `D- = Phi D`, `D = (I - Kg H) D- + ((I - Kg H) C- H^T - Kg E) S^-1 r`. Rows: `r` on `H D-` with
/// weight `S^-1`, and `r r^T - S` on `H C- H^T + E` with weight `S^-1 (x) S^-1 / 2`. Only `C-` is kept: an observation and
/// the prediction after it are one `C- <- F C- F^T + Phi Kg Kg^T Phi^T + Q(u)` with `F = Phi (I - Kg H)`.
pub struct NoiseMoments<'a> {
    pub columns: &'a [(usize, usize)],
    pub noise: Vec<f64>,
    /// Pairs of channels whose noises are correlated.
    pub shared: &'a [(usize, usize)],
    /// Columns carried: `columns`, the noises, and the Gamma in use, which stands for `sum c_k gamma_k` in the targets.
    pub carried: usize,
    /// The same with padding.
    pub width: usize,
    /// Unit matrices of the pairs, and the range of columns in which theirs lie.
    pub units: Vec<(Vec<f64>, std::ops::Range<usize>)>,
    /// Whether the covariance's sensitivities converge where the covariance does: all terms are numbers.
    pub converges: bool,
    pub m: usize,
    pub q: usize,
    /// lanes x m x m x C
    pub w: Vec<f64>,
    /// lanes x m x C
    pub d: Vec<f64>,
    pub lanes: Vec<Lane>,
    pub slots: Vec<Slot>,
    pub next: Vec<f64>,
    pub turn: Vec<f64>,
    pub part: Vec<f64>,
    pub part_row: Vec<f64>,
    pub values: Vec<f64>,
    pub small: Vec<f64>,
    pub factor: Vec<f64>,
    pub white: Vec<f64>,
    /// The rows of the regression.
    pub rows: WhitenedRows,
}

/// What a path has beside its sensitivities.
#[derive(Clone)]
pub struct Lane {
    /// `I - Kg H` and `Kg`, for noise of unit size, of an observation whose part in the covariance's sensitivities is still to come.
    pub observed: bool,
    pub closed: Vec<f64>,
    pub gain: Vec<f64>,
    pub settled: Settled,
    /// The slot of the last sample, and once all has converged the transition of its step.
    pub last: usize,
    /// See `last`.
    pub phi: Vec<f64>,
}

impl<'a> NoiseMoments<'a> {
    /// For the Gamma coefficients `columns` (pair, term), then all noises, of a batch of `lanes` paths with
    /// so many slots.
    pub fn new(
        model: &'a StateSpace<'_>,
        columns: &'a [(usize, usize)],
        (lanes, slots): (usize, usize),
    ) -> Self {
        let (m, q) = (model.m(), model.q());
        let regressors = columns.len() + model.noise.len();
        let c = padded(regressors + 1);
        let unit = |(pair, &(i, j)): (usize, &(usize, usize))| {
            let mut unit = vec![0.0; m * m];
            unit[i * m + j] = 1.0;
            unit[j * m + i] = 1.0;
            let own = |column: &(usize, usize)| column.0 == pair;
            let first = columns.iter().position(own).unwrap_or(0);
            let last = columns.iter().rposition(own).map_or(0, |last| last + 1);
            (unit, first..last)
        };
        let lane = Lane {
            observed: false,
            closed: vec![0.0; m * m],
            gain: vec![0.0; m * q],
            settled: Settled::default(),
            last: 0,
            phi: Vec::new(),
        };
        let slot = Slot {
            version: 0,
            spreads: vec![0.0; model.pairs.len() * m * m],
            before: Vec::new(),
            standing: None,
        };
        let affine = Affine::of(model);
        Self {
            columns,
            noise: model.noise.to_vec(),
            shared: &model.shared,
            units: model.pairs.iter().enumerate().map(unit).collect(),
            converges: affine.is_some_and(|affine| columns.iter().all(|&(_, k)| affine.is_constant(k))),
            carried: regressors + 1,
            width: c,
            m,
            q,
            w: vec![0.0; lanes * m * m * c],
            d: vec![0.0; lanes * m * c],
            lanes: vec![lane; lanes],
            slots: vec![slot; slots],
            next: vec![0.0; m * m * c],
            turn: vec![0.0; (q + m) * c],
            part: vec![0.0; m * c],
            part_row: vec![0.0; c],
            values: vec![0.0; columns.len()],
            small: vec![0.0; 2 * m * m],
            factor: vec![0.0; m * m],
            white: vec![0.0; q * m],
            rows: WhitenedRows::new(regressors),
        }
    }

    /// Shows `each` the row of every pair of seen channels, target and regressors.
    #[inline]
    pub fn pairs(
        &mut self,
        lane: usize,
        update: &Update<'_>,
        mut each: impl FnMut(&mut WhitenedRows, &[f64], f64),
    ) {
        let (m, q, c, k) = (self.m, self.q, self.width, self.columns.len());
        let w = &self.w[lane * m * m * c..(lane + 1) * m * m * c];
        for a in (0..q).filter(|&a| update.seen[a]) {
            // (inverse observation w)_a, m rows of C
            self.part.fill(0.0);
            for i in 0..m {
                let weight = self.white[a * m + i];
                if weight != 0.0 {
                    axpy(weight, &w[i * m * c..(i + 1) * m * c], &mut self.part);
                }
            }
            for b in (a..q).filter(|&b| update.seen[b]) {
                let row = &mut self.part_row;
                row.fill(0.0);
                for j in 0..m {
                    let weight = scale(a, b) * self.white[b * m + j];
                    if weight != 0.0 {
                        axpy(weight, &self.part[j * c..(j + 1) * c], row);
                    }
                }
                for channel in (0..q).filter(|&channel| update.seen[channel]) {
                    row[k + channel] += update.scale[channel]
                        * scale(a, b)
                        * update.inverse[a * q + channel]
                        * update.inverse[b * q + channel];
                }
                for (place, size, (one, other)) in both(self.shared, update.seen, update.scale) {
                    let straight = update.inverse[a * q + one] * update.inverse[b * q + other];
                    let turned = update.inverse[a * q + other] * update.inverse[b * q + one];
                    row[k + q + place] += size * scale(a, b) * (straight + turned);
                }
                each(&mut self.rows, row, scale(a, b) * excess(update.white, a, b));
            }
        }
    }
}

/// The pairs of channels with correlated noises that are both seen: number, factor of the covariance, channels.
pub fn both<'a>(
    shared: &'a [(usize, usize)],
    seen: &'a [bool],
    scale: &'a [f64],
) -> impl Iterator<Item = (usize, f64, (usize, usize))> + 'a {
    let there = |&(_, &(a, b)): &(usize, &(usize, usize))| seen[a] && seen[b];
    shared.iter().enumerate().filter(there).map(|(at, &(a, b))| (at, (scale[a] * scale[b]).sqrt(), (a, b)))
}

/// Adds a row of carried columns: the last one and the noises at their values join the target.
pub fn push(rows: &mut WhitenedRows, carried: &[f64], noise: &[f64], residual: f64) {
    let c = carried.len() - 1;
    let row = rows.next();
    row[..c].copy_from_slice(&carried[..c]);
    row[c] = residual + base(carried, noise);
    rows.n += 1.0;
}

/// What the Gamma and the noises in use have in the target.
pub fn base(carried: &[f64], noise: &[f64]) -> f64 {
    let c = carried.len() - 1;
    let noises: f64 = carried[c - noise.len()..c].iter().zip(noise).map(|(x, noise)| x * noise).sum();
    carried[c] + noises
}
