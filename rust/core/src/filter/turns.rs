//! Readings of angles: by how many whole turns each is off what was counted before the filter saw it.

use super::state_space::StateSpace;

/// Doubt about a predicted angle, as a standard deviation over its period, from which the nearest place of a reading is
/// no better than the one that is counted on from the last reading.
const LOST: f64 = 0.5;

/// Standard deviations of that doubt within which the counted place must be.
const CREDIBLE: f64 = 3.0;

/// The turns of a batch of paths, sample by sample.
pub struct Turns {
    /// Of each channel, zero of those that do not wrap; empty where none does.
    periods: Vec<f64>,
    /// What is added to the readings (lanes x q).
    added: Vec<f64>,
    /// Whether the channel has been read (lanes x q).
    begun: Vec<bool>,
    /// Variances of what is predicted to be read (slots x q).
    doubts: Vec<f64>,
    /// Whether what is added is said from outside.
    led: bool,
}

impl Turns {
    /// For a batch of `lanes` paths with so many slots.
    pub fn new(model: &StateSpace<'_>, lanes: usize, slots: usize) -> Self {
        let (periods, q) = (model.periods.clone(), model.periods.len());
        let added = vec![0.0; lanes * q];
        Self {
            periods,
            added,
            begun: vec![false; lanes * q],
            doubts: vec![f64::INFINITY; slots * q],
            led: false,
        }
    }

    /// Whether no channel wraps.
    pub fn is_empty(&self) -> bool {
        self.periods.is_empty()
    }

    /// What is added to the readings of all lanes.
    pub fn added(&self) -> &[f64] {
        &self.added
    }

    /// Takes what is added from another filter of the same paths, for the next sample.
    pub fn follow(&mut self, added: &[f64]) {
        self.led = true;
        self.added.copy_from_slice(added);
    }

    /// What is added to the reading of a channel.
    pub fn of(&self, lane: usize, channel: usize) -> f64 {
        if self.is_empty() { 0.0 } else { self.added[lane * self.periods.len() + channel] }
    }

    /// Looks at the doubt about what the rows of `observation` (q x m) show, given the predicted covariance.
    pub fn doubt(&mut self, slot: usize, observation: &[f64], cov: &[f64]) {
        let q = self.periods.len();
        let m = observation.len() / q;
        for (c, row) in observation.chunks_exact(m).enumerate() {
            let pulled = |cov: &[f64]| cov.iter().zip(row).map(|(a, b)| a * b).sum::<f64>();
            let own: f64 = row.iter().zip(cov.chunks_exact(m)).map(|(a, cov)| a * pulled(cov)).sum();
            self.doubts[slot * q + c] = own;
        }
    }

    /// Chooses the turns of a channel that is seen, given its innovation as counted before the filter.
    ///
    /// The first reading of a path is as it was counted. Of the others the innovation is wrapped to `-p/2 < r <= p/2`,
    /// unless the prediction does not tell that place from others and does not speak against the counted one either.
    pub fn turn(&mut self, (lane, slot): (usize, usize), channel: usize, counted: f64) {
        let (q, period) = (self.periods.len(), self.periods[channel]);
        let at = lane * q + channel;
        let (r, doubt) = (counted + self.added[at], self.doubts[slot * q + channel]);
        let told = doubt < (LOST * period).powi(2) || r * r > CREDIBLE * CREDIBLE * doubt;
        if !self.led && self.begun[at] && period > 0.0 && told {
            self.added[at] -= period * (r / period - 0.5).ceil();
        }
        self.begun[at] = true;
    }
}
