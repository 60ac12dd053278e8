//! Whitened innovations and log densities of every sample, kept as the filter goes.

use ndarray::Array2;

use super::visitor::{Step, Update, Visitor};

/// Keeps `S^(-1/2) r` of every sample, NaN where nothing was seen and at the first sample.
pub struct Innovations {
    q: usize,
    paths: Vec<Vec<f64>>,
}

impl Innovations {
    /// For `q` channels and paths of these lengths.
    pub fn new(q: usize, lengths: impl Iterator<Item = usize>) -> Self {
        Self { q, paths: lengths.map(|n| vec![f64::NAN; n * q]).collect() }
    }

    /// Innovations `(n, q)` of every path.
    pub fn finish(self) -> Vec<Array2<f64>> {
        let q = self.q;
        let shaped = |values: Vec<f64>| {
            let n = values.len().checked_div(q).unwrap_or(0);
            Array2::from_shape_vec((n, q), values).expect("n x q values")
        };
        self.paths.into_iter().map(shaped).collect()
    }
}

impl Visitor for Innovations {
    fn predicted(&mut self, _: usize, _: &Step<'_>) {}

    fn updated(&mut self, lane: usize, update: &Update<'_>) {
        // the first innovation tells of the prior, not of the model
        if update.n == 0 {
            return;
        }
        for channel in (0..self.q).filter(|&channel| update.seen[channel]) {
            self.paths[lane][update.n * self.q + channel] = update.white[channel];
        }
    }
}

/// Keeps the log density of every sample given those before it; NaN where nothing was seen and at the first sample.
pub struct Densities {
    paths: Vec<Vec<f64>>,
}

impl Densities {
    /// For paths of these lengths.
    pub fn new(lengths: impl Iterator<Item = usize>) -> Self {
        Self { paths: lengths.map(|n| vec![f64::NAN; n]).collect() }
    }

    /// Log densities of every path.
    pub fn finish(self) -> Vec<Vec<f64>> {
        self.paths
    }
}

impl Visitor for Densities {
    fn predicted(&mut self, _: usize, _: &Step<'_>) {}

    fn updated(&mut self, lane: usize, update: &Update<'_>) {
        if update.n > 0 && update.seen.contains(&true) {
            self.paths[lane][update.n] = update.gained;
        }
    }
}
