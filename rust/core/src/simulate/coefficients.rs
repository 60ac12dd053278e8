//! Drift and diffusion on one graph, the operators `L0` and `Lj` on them, and the structure of the noise.

use super::structure::Structure;
use crate::noise::{Draws, Purpose, Stream};
use crate::program::{Graph, Id, Program, check_names, parse};
use crate::{Error, Result};

/// `dX = a dt + sum_j b^j dW_j`, with `a` and `b` as nodes of a graph.
///
/// The inputs of the graph are the m states, the parameters, and then two for each noise, which the integrators feed.
#[derive(Debug, Clone)]
pub struct Coefficients {
    pub(super) graph: Graph,
    pub(super) drift: Vec<Id>,
    /// `diffusion[k][j]` is the coefficient of noise `j` in state `k`.
    pub(super) diffusion: Vec<Vec<Id>>,
    n_noise: usize,
    n_parameters: usize,
    /// The lower triangle of the covariance in rows, where that is given in place of the diffusion.
    pub(super) gamma: Option<Vec<Id>>,
}

/// One step of the time and of each noise, as nodes: `dZ_j` is the integral over the step of `W_j(s) - W_j(start)`.
pub struct Increments {
    pub h: f64,
    pub dw: Vec<Id>,
    pub dz: Vec<Id>,
}

impl Coefficients {
    /// Parses the m expressions of the drift and the m x n of the diffusion, over the m `states` and, after them in
    /// `names`, parameters, which each path has its own of.
    ///
    /// # Errors
    /// [`Error::Expression`] with the character at fault, [`Error::Argument`] for shapes that do not fit.
    pub fn new(
        drift: &[impl AsRef<str>],
        diffusion: &[Vec<impl AsRef<str>>],
        names: &[impl AsRef<str>],
    ) -> Result<Self> {
        let n_noise = diffusion.first().map_or(0, Vec::len);
        let mut system = Self::without_noise(drift, names, n_noise)?;
        system.diffusion = system.matrix("diffusion", diffusion, names, n_noise)?;
        Ok(system)
    }

    /// The same with the covariance `gamma = b b^T`, m x m, of which the lower triangle is read; its root is taken anew
    /// at every step, see `covariance.rs`.
    ///
    /// # Errors
    /// As for [`Self::new`].
    pub fn with_covariance(
        drift: &[impl AsRef<str>],
        gamma: &[Vec<impl AsRef<str>>],
        names: &[impl AsRef<str>],
    ) -> Result<Self> {
        let mut system = Self::without_noise(drift, names, drift.len())?;
        let gamma = system.matrix("gamma", gamma, names, drift.len())?;
        system.gamma = Some(gamma.iter().zip(1..).flat_map(|(row, n)| &row[..n]).copied().collect());
        Ok(system)
    }

    fn without_noise(drift: &[impl AsRef<str>], names: &[impl AsRef<str>], n_noise: usize) -> Result<Self> {
        check_names(names)?;
        if drift.is_empty() || drift.len() > names.len() {
            let allowed = format!("{} expressions, one per state", names.len());
            return Err(Error::argument("drift", format!("{} expressions", drift.len()), allowed));
        }
        let n_parameters = names.len() - drift.len();
        let mut graph = Graph::new(names.len() + 2 * n_noise);
        let drift =
            drift.iter().map(|text| parse(text.as_ref(), names, &mut graph)).collect::<Result<_>>()?;
        Ok(Self { graph, drift, diffusion: Vec::new(), n_noise, n_parameters, gamma: None })
    }

    fn matrix(
        &mut self,
        name: &'static str,
        rows: &[Vec<impl AsRef<str>>],
        names: &[impl AsRef<str>],
        n_columns: usize,
    ) -> Result<Vec<Vec<Id>>> {
        if rows.len() != self.n_states() || rows.iter().any(|row| row.len() != n_columns) {
            let value = format!("rows of {:?} expressions", rows.iter().map(Vec::len).collect::<Vec<_>>());
            return Err(Error::argument(name, value, format!("{} rows of one length", self.n_states())));
        }
        let mut parsed = |text: &str| parse(text, names, &mut self.graph);
        rows.iter().map(|row| row.iter().map(|text| parsed(text.as_ref())).collect()).collect()
    }

    /// Number of states, m.
    pub fn n_states(&self) -> usize {
        self.drift.len()
    }

    /// Number of parameters.
    pub fn n_parameters(&self) -> usize {
        self.n_parameters
    }

    /// Number of noises, n.
    pub fn n_noise(&self) -> usize {
        self.n_noise
    }

    /// `L0 u = sum_k a_k d_k u + 1/2 sum_ik (b b^T)_ik d_i d_k u`.
    pub(super) fn along_drift(&mut self, u: Id) -> Id {
        let mut sum = self.graph.zero();
        for k in 0..self.n_states() {
            let du = self.graph.derivative(u, k);
            let term = self.graph.multiply(self.drift[k], du);
            sum = self.graph.add(sum, term);
        }
        let half = self.graph.constant(0.5);
        for i in 0..self.n_states() {
            let du = self.graph.derivative(u, i);
            for k in 0..self.n_states() {
                let ddu = self.graph.derivative(du, k);
                if ddu == self.graph.zero() {
                    continue;
                }
                for j in 0..self.n_noise {
                    let covariance = self.graph.multiply(self.diffusion[i][j], self.diffusion[k][j]);
                    let term = self.graph.multiply(covariance, ddu);
                    let term = self.graph.multiply(half, term);
                    sum = self.graph.add(sum, term);
                }
            }
        }
        sum
    }

    /// `Lj u = sum_k b_kj d_k u`.
    pub(super) fn along_noise(&mut self, j: usize, u: Id) -> Id {
        let mut sum = self.graph.zero();
        for k in 0..self.n_states() {
            let du = self.graph.derivative(u, k);
            let term = self.graph.multiply(self.diffusion[k][j], du);
            sum = self.graph.add(sum, term);
        }
        sum
    }

    /// The structure of the noise.
    pub fn structure(&mut self) -> Structure {
        if self.gamma.is_some() {
            return Structure::General;
        }
        let zero = self.graph.zero();
        let (m, n) = (self.n_states(), self.n_noise);
        let entries: Vec<(Id, usize)> =
            self.diffusion.iter().flat_map(|row| row.iter().copied().zip(0..)).collect();
        if entries.iter().all(|&(b, _)| b == zero) {
            return Structure::None;
        }
        let constant = |graph: &Graph, b: Id| graph.value(b).is_some();
        let mut still =
            |b: Id| constant(&self.graph, b) || (0..m).all(|k| self.graph.derivative(b, k) == zero);
        if entries.iter().all(|&(b, _)| still(b)) {
            return Structure::Additive;
        }
        if n == 1 {
            return Structure::Scalar;
        }
        let mut untouched = |i: usize, b: Id, j: usize| {
            let own = self.along_noise(j, b);
            self.along_noise(i, b) == zero && self.along_noise(i, own) == zero
        };
        if entries.iter().all(|&(b, j)| (0..n).all(|i| i == j || untouched(i, b, j))) {
            return Structure::Diagonal;
        }
        let commutes = (0..m).all(|k| {
            (0..n).all(|j| {
                (0..j).all(|i| {
                    let left = self.along_noise(i, self.diffusion[k][j]);
                    let right = self.along_noise(j, self.diffusion[k][i]);
                    self.same(left, right)
                })
            })
        });
        if commutes { Structure::Commutative } else { Structure::General }
    }

    /// Whether two nodes are one function, judged by their values at random points.
    fn same(&self, a: Id, b: Id) -> bool {
        if a == b {
            return true;
        }
        let program = Program::compile(self.graph.clone(), vec![a, b]);
        let mut scratch = program.scratch(32);
        let mut stream = Stream::new(5, Purpose::Path, 0);
        scratch.inputs_mut().fill_with(|| stream.normal());
        program.run(&mut scratch);
        let known = || scratch.output(0).iter().zip(scratch.output(1)).filter(|(u, v)| (*u * *v).is_finite());
        known().count() > 0 && known().all(|(u, v)| (u - v).abs() <= 1e-9 * (u.abs() + v.abs()))
    }
}

#[cfg(test)]
mod tests;
