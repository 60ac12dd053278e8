//! Moments of the drift regression: sensitivities of the mean, carried through the closed loop.

use super::small::{axpy, multiply};
use super::state_space::StateSpace;
use super::transition::PLACES;
use super::visitor::{Step, Update, Visitor};
use super::whitened::WhitenedRows;
use super::wide::{add_scaled, multiply_wide, padded};

/// What a drift does in a step: it leads on from the start, and changes by each of the nodes.
const WAYS: usize = 1 + PLACES.len();

/// Sensitivities `D = dM / dtheta` of a batch and the rows they give.
///
/// `D- = Phi D + Psi e_i u_k + sum_n w_n Phi_n e_i du_k(s_n)`, `D = (I - Kg H) D-`, with `Psi` the integral of the
/// exponential, nodes `s_n` of weight `w_n` and the change `du_k` of a term by then; target `r + H D- theta` on
/// regressors `H D-` with weight `S^-1`.
pub struct DriftMoments {
    /// Columns of one row of the drift that follow each other: the row, the first of them and the end.
    runs: Vec<(usize, usize, usize)>,
    terms: Vec<usize>,
    theta: Vec<f64>,
    m: usize,
    q: usize,
    /// Columns with padding.
    width: usize,
    /// lanes x m x C
    d: Vec<f64>,
    /// What a step takes of each slot while the covariance stands still.
    standing: Vec<Option<Box<Standing>>>,
    /// What the terms of the columns do in the last step of each path (lanes x ways x C).
    inputs: Vec<f64>,
    next: Vec<f64>,
    seen: Vec<f64>,
    /// The rows of the regression.
    pub rows: WhitenedRows,
}

/// What a sample takes of a slot whose covariance stands still: `Phi`, `Psi` and the `Phi_n` (m x m each), the same with
/// `S^(-1/2) H` above `I - Kg H` before them ((q + m) x m), and how the terms change along the drift,
/// `w_n du_k(s_n) = along_nk . f`.
struct Standing {
    step: [Vec<f64>; 1 + WAYS],
    sample: Option<[Vec<f64>; 1 + WAYS]>,
    along: Vec<f64>,
}

impl DriftMoments {
    /// For the drift coefficients `columns` (row, term) of a batch of `lanes` paths with so many slots.
    pub fn new(model: &StateSpace<'_>, columns: &[(usize, usize)], (lanes, slots): (usize, usize)) -> Self {
        let (m, q, c) = (model.m(), model.q(), padded(columns.len()));
        let mut runs: Vec<(usize, usize, usize)> = Vec::new();
        for (column, &(i, _)) in columns.iter().enumerate() {
            match runs.last_mut() {
                Some((row, _, end)) if *row == i => *end = column + 1,
                _ => runs.push((i, column, column + 1)),
            }
        }
        Self {
            runs,
            terms: columns.iter().map(|&(_, k)| k).collect(),
            theta: columns.iter().map(|&column| model.drift[column]).collect(),
            m,
            q,
            width: c,
            d: vec![0.0; lanes * m * c],
            standing: (0..slots).map(|_| None).collect(),
            inputs: vec![0.0; lanes * WAYS * c],
            next: vec![0.0; (q + m) * c],
            seen: vec![0.0; c],
            rows: WhitenedRows::new(columns.len()),
        }
    }

    /// What the terms do in a step.
    fn enter(&mut self, lane: usize, step: &Step<'_>) {
        let c = self.width;
        let inputs = &mut self.inputs[lane * WAYS * c..(lane + 1) * WAYS * c];
        for (column, &k) in self.terms.iter().enumerate() {
            inputs[column] = step.terms[k * step.width];
            for (node, at) in step.transition.nodes().iter().enumerate() {
                inputs[(1 + node) * c + column] = at.weight * step.change(k, node);
            }
        }
    }

    /// The same while all stands still.
    fn enter_along(&mut self, lane: usize, along: &[f64], step: &Step<'_>) {
        let (m, c) = (self.m, self.width);
        let inputs = &mut self.inputs[lane * WAYS * c..(lane + 1) * WAYS * c];
        for (column, &k) in self.terms.iter().enumerate() {
            inputs[column] = step.terms[k * step.width];
        }
        multiply_wide(step.field, along, &mut inputs[c..], 1, m, PLACES.len() * c);
    }

    /// Adds to `rows` of all columns what the inputs do through the matrices `ways`, of as many rows.
    fn add(&self, lane: usize, ways: &[&[f64]], rows: &mut [f64]) {
        let (m, c) = (self.m, self.width);
        for (way, matrix) in ways.iter().enumerate() {
            let input = &self.inputs[(lane * WAYS + way) * c..][..c];
            if input.iter().all(|&value| value == 0.0) {
                continue;
            }
            for (row, weights) in rows.chunks_exact_mut(c).zip(matrix.chunks_exact(m)) {
                for &(i, start, end) in &self.runs {
                    if weights[i] != 0.0 {
                        add_scaled(weights[i], &input[start..end], &mut row[start..end]);
                    }
                }
            }
        }
    }

    /// What holds from a step on that is like those before.
    fn stand(&self, step: &Step<'_>) -> Standing {
        let (m, c, transition) = (self.m, self.width, step.transition);
        let mut along = vec![0.0; m * PLACES.len() * c];
        for (node, at) in transition.nodes().iter().enumerate() {
            let lead = transition.lead_to(node);
            for (column, &k) in self.terms.iter().enumerate() {
                for j in 0..m {
                    let slope = |i: usize| step.gradient[(k * m + i) * step.width];
                    let change: f64 = (0..m).map(|i| slope(i) * lead[i * m + j]).sum();
                    along[(j * PLACES.len() + node) * c + column] = at.weight * change;
                }
            }
        }
        let step = std::array::from_fn(|part| match part {
            0 => transition.phi().to_vec(),
            1 => transition.lead().to_vec(),
            part => transition.onward(part - 2).to_vec(),
        });
        Standing { step, sample: None, along }
    }

    /// The sensitivities through a step whose inputs are there.
    fn carry(&mut self, lane: usize, matrices: [&[f64]; 1 + WAYS]) {
        let (m, c) = (self.m, self.width);
        let mut next = std::mem::take(&mut self.next);
        let d = &mut self.d[lane * m * c..(lane + 1) * m * c];
        multiply_wide(matrices[0], d, &mut next, m, m, c);
        self.add(lane, &matrices[1..], &mut next[..m * c]);
        self.d[lane * m * c..(lane + 1) * m * c].copy_from_slice(&next[..m * c]);
        self.next = next;
    }

    /// A step and an observation while all stands still.
    fn sample(&mut self, lane: usize, matrices: &[Vec<f64>; 1 + WAYS], update: &Update<'_>) {
        let (m, q, c) = (self.m, self.q, self.width);
        let mut next = std::mem::take(&mut self.next);
        let d = &mut self.d[lane * m * c..(lane + 1) * m * c];
        multiply_wide(&matrices[0], d, &mut next, q + m, m, c);
        self.add(lane, &std::array::from_fn::<_, WAYS, _>(|way| &*matrices[1 + way]), &mut next);
        for channel in (0..q).filter(|&channel| update.seen[channel]) {
            push(&mut self.rows, &next[channel * c..], &self.theta, update.white[channel]);
        }
        self.d[lane * m * c..(lane + 1) * m * c].copy_from_slice(&next[q * c..]);
        self.next = next;
    }

    /// The rows of an observation, and the sensitivities after it.
    fn observe(&mut self, lane: usize, update: &Update<'_>) {
        let (m, q, c) = (self.m, self.q, self.width);
        let d = &mut self.d[lane * m * c..(lane + 1) * m * c];
        for channel in (0..q).filter(|&channel| update.n > 0 && update.seen[channel]) {
            // row of (inverse observation) d
            self.seen.fill(0.0);
            for i in 0..m {
                let weight: f64 = (0..=channel)
                    .map(|l| update.inverse[channel * q + l] * update.observation[l * m + i])
                    .sum();
                if weight != 0.0 {
                    axpy(weight, &d[i * c..(i + 1) * c], &mut self.seen);
                }
            }
            push(&mut self.rows, &self.seen, &self.theta, update.white[channel]);
        }
        multiply_wide(update.closed, d, &mut self.next, m, m, c);
        d.copy_from_slice(&self.next[..m * c]);
    }
}

/// Adds a row of the regression.
fn push(rows: &mut WhitenedRows, regressors: &[f64], theta: &[f64], white: f64) {
    let c = theta.len();
    let row = rows.next();
    row[..c].copy_from_slice(&regressors[..c]);
    row[c] = white + regressors.iter().zip(theta).map(|(x, theta)| x * theta).sum::<f64>();
    rows.n += 1.0;
}

impl Standing {
    /// Makes the matrices of a step and the observation after it.
    fn close(&mut self, update: &Update<'_>, (m, q): (usize, usize)) {
        let mut white = vec![0.0; q * m];
        multiply(update.inverse, update.observation, &mut white, q, q, m);
        self.sample = Some(std::array::from_fn(|part| {
            let mut stack = vec![0.0; (q + m) * m];
            multiply(&white, &self.step[part], &mut stack, q, m, m);
            multiply(update.closed, &self.step[part], &mut stack[q * m..], m, m, m);
            stack
        }));
    }
}

impl Visitor for DriftMoments {
    const TERMS: bool = true;

    fn predicted(&mut self, lane: usize, step: &Step<'_>) {
        let standing = self.standing[step.slot].take().filter(|_| step.steady);
        if let Some(standing) = standing {
            self.enter_along(lane, &standing.along, step);
            self.standing[step.slot] = Some(standing);
            return;
        }
        self.enter(lane, step);
        let transition = step.transition;
        self.carry(
            lane,
            std::array::from_fn(|part| match part {
                0 => transition.phi(),
                1 => transition.lead(),
                part if part - 2 < transition.nodes().len() => transition.onward(part - 2),
                _ => &[],
            }),
        );
        self.standing[step.slot] = step.steady.then(|| Box::new(self.stand(step)));
    }

    fn updated(&mut self, lane: usize, update: &Update<'_>) {
        let mut standing = self.standing[update.slot].take();
        match standing.as_deref_mut() {
            Some(Standing { sample: Some(sample), .. }) if update.steady => self.sample(lane, sample, update),
            Some(of @ Standing { sample: None, .. }) if update.steady => {
                self.observe(lane, update);
                of.close(update, (self.m, self.q));
            }
            other => {
                // something is missing after a step that was left out
                if let Some(Standing { step, sample: Some(_), .. }) = other {
                    self.carry(lane, std::array::from_fn(|part| &*step[part]));
                }
                self.observe(lane, update);
                return;
            }
        }
        self.standing[update.slot] = standing;
    }
}
