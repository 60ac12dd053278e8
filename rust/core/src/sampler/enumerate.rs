//! The exact posterior over all models of a few columns.
//!
//! The inclusion rate is integrated analytically (beta-binomial), the slab variance by the trapezoid rule on one grid that
//! serves all models. The models are walked depth first: a model is its parent plus one later column, so its factor is
//! the parent's plus one row, and that row is needed over the later columns only. All nodes of the grid go together,
//! as the lanes of the vector code.

use rayon::prelude::*;

use super::evidence::ScaledRegression;
use super::greedy::greedy_start;
use super::kernels::{self, ColumnNodes, FormerNodes, PivotNodes};
use super::lanes::padded;
use super::slab::{Grid, log_prior};
use crate::control::Control;
use crate::{Error, Result};

/// The most columns whose models are enumerated.
pub const MAX_COLUMNS: usize = 20;

/// Columns that are decided before the work is handed to the threads.
const SHARED_DEPTH: usize = 6;

/// Share of the mass that the last node of the grid may have.
const EDGE: f64 = 1e-12;

/// Log prior probability of one model of size `r`, inclusion rate integrated out.
pub fn log_model_prior(regression: &ScaledRegression, r: usize) -> f64 {
    regression.prior().log_model(r, regression.n_usable())
}

/// Log joint mass `log p(y, model)` of every model; bit `k` of the index says whether usable column `k` is in it.
///
/// # Errors
/// [`Error::Argument`] for more than [`MAX_COLUMNS`] usable columns, [`Error::Interrupted`], [`Error::Numerical`].
pub fn enumerate(regression: &ScaledRegression, control: &Control) -> Result<Vec<f64>> {
    let k = regression.n_usable();
    if k > MAX_COLUMNS {
        let allowed = format!("at most {MAX_COLUMNS} for exact enumeration; use the sampler \"gibbs\"");
        return Err(Error::argument("number of columns", k, allowed));
    }
    let mut probes: Vec<Vec<usize>> = (0..k).map(|column| vec![column]).collect();
    probes.push((0..k).collect());
    probes.push(greedy_start(regression));
    probes.retain(|members| !members.is_empty());
    let mut grid = Grid::for_models(regression, &probes, k)?;
    loop {
        let log_mass = walk_all(regression, &grid, control)?;
        // The best model would show it if the grid ended too early.
        let best = (0..log_mass.len()).max_by(|&a, &b| log_mass[a].total_cmp(&log_mass[b])).unwrap_or(0);
        let members: Vec<usize> = (0..k).filter(|column| best >> column & 1 == 1).collect();
        let edge = grid.high;
        if members.is_empty() || {
            let end = log_prior(regression.prior(), edge) + regression.log_evidence(&members, edge.exp())?;
            end + log_model_prior(regression, members.len()) < log_mass[best] + EDGE.ln()
        } {
            return Ok(log_mass);
        }
        grid.high += (grid.high - grid.low).min(20.0);
    }
}

fn walk_all(regression: &ScaledRegression, grid: &Grid, control: &Control) -> Result<Vec<f64>> {
    let k = regression.n_usable();
    let depth = SHARED_DEPTH.min(k);
    let branches = (0..1_usize << depth)
        .into_par_iter()
        .map_init(
            || Walk::new(regression, grid),
            |walk, branch| {
                control.check()?;
                let masses = walk.branch(branch, depth);
                control.advance(masses.len() as u64);
                Ok(masses)
            },
        )
        .collect::<Result<Vec<Vec<f64>>>>()?;
    Ok((0..1_usize << k).map(|model| branches[model & ((1 << depth) - 1)][model >> depth]).collect())
}

/// Storage of one walk: for each number of members the arrays of the model that has so many, nodes innermost.
struct Walk<'a> {
    regression: &'a ScaledRegression,
    nodes: usize,
    log_v: Vec<f64>,
    log_weight: Vec<f64>,
    inverse_v: Vec<f64>,
    log_prior: Vec<f64>,
    /// Row `r` of the factor at column `k`: `[(r * K + k) * nodes ..]`.
    rows: Vec<f64>,
    /// Schur complements and residuals after `r` members at column `k`, laid out alike.
    schur: Vec<f64>,
    residual: Vec<f64>,
    /// Energy and log determinant after `r` members.
    energy: Vec<f64>,
    log_det: Vec<f64>,
    coefficients: Vec<f64>,
    inverse_pivot: Vec<f64>,
    z: Vec<f64>,
    terms: Vec<f64>,
    out: Vec<f64>,
    depth: usize,
}

impl<'a> Walk<'a> {
    fn new(regression: &'a ScaledRegression, grid: &Grid) -> Self {
        let (k, prior) = (regression.n_usable(), regression.prior());
        let mut log_v = grid.nodes();
        let real_nodes = log_v.len();
        let nodes = padded(real_nodes);
        log_v.resize(nodes, log_v[real_nodes - 1]);
        let log_step = grid.step.ln() + regression.log_constant() + regression.power() * 2.0_f64.ln();
        let log_weight = log_v
            .iter()
            .enumerate()
            .map(|(q, &u)| if q < real_nodes { log_prior(prior, u) + log_step } else { f64::NEG_INFINITY })
            .collect();
        let inverse_v: Vec<f64> = log_v.iter().map(|u| (-u).exp()).collect();
        let mut walk = Self {
            regression,
            nodes,
            log_weight,
            log_prior: (0..=k).map(|r| log_model_prior(regression, r)).collect(),
            rows: vec![0.0; k * k * nodes],
            schur: vec![0.0; (k + 1) * k * nodes],
            residual: vec![0.0; (k + 1) * k * nodes],
            energy: vec![0.0; (k + 1) * nodes],
            log_det: vec![0.0; (k + 1) * nodes],
            coefficients: vec![0.0; k * nodes],
            inverse_pivot: vec![0.0; nodes],
            z: vec![0.0; nodes],
            terms: vec![0.0; nodes],
            out: Vec::new(),
            depth: 0,
            log_v,
            inverse_v,
        };
        for column in 0..k {
            let block = column * nodes..(column + 1) * nodes;
            walk.residual[block.clone()].fill(regression.moment()[column]);
            for (schur, inverse_v) in walk.schur[block].iter_mut().zip(&walk.inverse_v) {
                *schur = regression.diagonal()[column] + inverse_v;
            }
        }
        walk.energy[..nodes].fill(2.0 * prior.b_s + regression.yy());
        walk
    }

    /// Masses of all models that agree with `branch` in their first `depth` columns; the index is the other columns.
    fn branch(&mut self, branch: usize, depth: usize) -> Vec<f64> {
        self.depth = depth;
        self.out = vec![f64::NEG_INFINITY; 1 << (self.regression.n_usable() - depth)];
        let mut r = 0;
        for column in (0..depth).filter(|column| branch >> column & 1 == 1) {
            self.insert(column, r);
            r += 1;
        }
        self.record(0, r);
        self.descend(depth, r, 0);
        std::mem::take(&mut self.out)
    }

    /// Visits every model that adds columns from `first` on to the current one of `r` members.
    fn descend(&mut self, first: usize, r: usize, model: usize) {
        for column in first..self.regression.n_usable() {
            self.insert(column, r);
            let model = model | 1 << (column - self.depth);
            self.record(model, r + 1);
            self.descend(column + 1, r + 1, model);
        }
    }

    fn record(&mut self, model: usize, r: usize) {
        let nodes = self.nodes;
        let integral = if r == 0 {
            let energy = self.regression.prior().b_s + 0.5 * self.regression.yy();
            self.regression.log_constant() - self.regression.power() * energy.ln()
        } else {
            kernels::log_sum_nodes(
                &self.log_weight,
                &self.log_v,
                0.5 * r as f64,
                &self.log_det[r * nodes..(r + 1) * nodes],
                self.regression.power(),
                &self.energy[r * nodes..(r + 1) * nodes],
                &mut self.terms,
            )
        };
        self.out[model] = self.log_prior[r] + integral;
    }

    /// Makes `column` member number `r`; only what later columns need is computed.
    fn insert(&mut self, column: usize, r: usize) {
        let (k, nodes) = (self.regression.n_usable(), self.nodes);
        let at = |r: usize, column: usize| (r * k + column) * nodes..(r * k + column + 1) * nodes;
        let (energy, new_energy) = self.energy.split_at_mut((r + 1) * nodes);
        let (log_det, new_log_det) = self.log_det.split_at_mut((r + 1) * nodes);
        kernels::pivot_nodes(
            &ColumnNodes { schur: &self.schur[at(r, column)], residual: &self.residual[at(r, column)] },
            &self.inverse_v,
            2.0 * self.regression.prior().b_s,
            (&energy[r * nodes..], &log_det[r * nodes..]),
            &mut self.inverse_pivot,
            &mut self.z,
            new_energy,
            new_log_det,
        );
        if column + 1 == k {
            return;
        }
        for row in 0..r {
            self.coefficients[row * nodes..(row + 1) * nodes].copy_from_slice(&self.rows[at(row, column)]);
        }
        let (schur, new_schur) = self.schur.split_at_mut((r + 1) * k * nodes);
        let (residual, new_residual) = self.residual.split_at_mut((r + 1) * k * nodes);
        let (former, rows) = self.rows.split_at_mut(r * k * nodes);
        for later in column + 1..k {
            let here = at(0, later);
            kernels::append_nodes(
                self.regression.gram_row(column)[later],
                &FormerNodes {
                    coefficients: &self.coefficients[..r * nodes],
                    rows: former.get(here.start..).unwrap_or(&[]),
                    stride: k * nodes,
                },
                &PivotNodes { inverse_pivot: &self.inverse_pivot, z: &self.z },
                &ColumnNodes { schur: &schur[at(r, later)], residual: &residual[at(r, later)] },
                &mut rows[here.clone()],
                &mut new_schur[here.clone()],
                &mut new_residual[here],
            );
        }
    }
}

#[cfg(test)]
mod tests;
