//! A stretch of consecutive samples of one path, turned to one array per state, and the libraries evaluated on it.

use ndarray::{ArrayView2, s};

use crate::path::{Path, Times};
use crate::program::{Program, Scratch};
use crate::{Error, Result};

/// Steps in a block: the values of a wide library on it (36 terms: 74 kB), their copies at both ends of the steps and the
/// products stay in the second-level cache, and one interpreted instruction still serves 32 vectors. Another number is
/// another order of the sums, and so other last bits.
pub(crate) const STEPS: usize = 256;

/// Which stretch of which path: `steps` steps from sample `start` on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stretch {
    pub path: usize,
    pub start: usize,
    pub steps: usize,
}

/// All stretches of all paths, in order, at most [`STEPS`] long; neighbours share one sample.
pub(crate) fn stretches<'a>(paths: &'a [Path<'_>]) -> impl Iterator<Item = Stretch> + 'a {
    paths.iter().enumerate().flat_map(|(path, p)| {
        let n = p.n_steps();
        (0..n).step_by(STEPS).map(move |start| Stretch { path, start, steps: STEPS.min(n - start) })
    })
}

/// Mean length of a step over all paths; of steps of one length this, to the last bit.
pub(crate) fn mean_step(paths: &[Path<'_>]) -> f64 {
    if let Times::Even(first) = paths[0].times
        && paths.iter().all(|path| matches!(path.times, Times::Even(dt) if dt == first))
    {
        return first;
    }
    let steps: usize = paths.iter().map(Path::n_steps).sum();
    paths.iter().map(Path::span).sum::<f64>() / steps as f64
}

/// The samples of a stretch, one array per input.
pub(crate) struct StepBlock<'a> {
    source: Path<'a>,
    pub path: usize,
    pub start: usize,
    pub steps: usize,
    x: Vec<f64>,
    /// Whether no sample is missing; where one is, `seen` says which.
    whole: bool,
    seen: Vec<bool>,
}

impl<'a> StepBlock<'a> {
    /// Room for a block of `n_inputs` inputs.
    pub fn new(source: Path<'a>) -> Self {
        let n_inputs = source.x.ncols();
        Self {
            source,
            path: 0,
            start: 0,
            steps: 0,
            x: vec![0.0; n_inputs * (STEPS + 1)],
            whole: true,
            seen: vec![true; STEPS + 1],
        }
    }

    /// Loads a stretch.
    pub fn load(&mut self, paths: &[Path<'a>], stretch: Stretch) {
        self.source = paths[stretch.path];
        (self.path, self.start, self.steps) = (stretch.path, stretch.start, stretch.steps);
        let samples = self.samples();
        let rows = self.source.x.slice(s![stretch.start..stretch.start + samples, ..]);
        match (rows.ncols(), rows.to_slice()) {
            (2, Some(rows)) => turn::<2>(rows, &mut self.x),
            (3, Some(rows)) => turn::<3>(rows, &mut self.x),
            (4, Some(rows)) => turn::<4>(rows, &mut self.x),
            _ => {
                for (row, column) in self.x.chunks_exact_mut(STEPS + 1).zip(rows.columns()) {
                    row.iter_mut().zip(column).for_each(|(place, value)| *place = *value);
                }
            }
        }
        let missing = self.x.chunks_exact(STEPS + 1).fold(false, |missing, row| {
            missing | row[..samples].iter().fold(false, |missing, value| missing | value.is_nan())
        });
        self.whole = !missing;
        if missing {
            for (seen, row) in self.seen.iter_mut().zip(rows.rows()) {
                *seen = row.iter().all(|value| !value.is_nan());
            }
        }
    }

    /// Whether no sample is missing.
    pub fn whole(&self) -> bool {
        self.whole
    }

    /// Number of samples: one more than steps.
    pub fn samples(&self) -> usize {
        self.steps + 1
    }

    /// Samples of one input.
    pub fn input(&self, i: usize) -> &[f64] {
        &self.x[i * (STEPS + 1)..][..self.samples()]
    }

    /// Number of inputs.
    pub fn n_inputs(&self) -> usize {
        self.x.len() / (STEPS + 1)
    }

    /// The length of every step, if they have one.
    pub fn even(&self) -> Option<f64> {
        match self.source.times {
            Times::Even(dt) => Some(dt),
            Times::Stamps(_) => None,
        }
    }

    /// Length of a step.
    pub fn dt(&self, n: usize) -> f64 {
        self.source.dt(self.start + n)
    }

    /// Whether no input of this sample is missing.
    pub fn seen(&self, n: usize) -> bool {
        self.whole || self.seen[n]
    }
}

/// Samples of `M` inputs in a row become one array per input, in vector code.
fn turn<const M: usize>(rows: &[f64], out: &mut [f64]) {
    let mut arrays = out.chunks_exact_mut(STEPS + 1);
    let mut arrays: [&mut [f64]; M] = std::array::from_fn(|_| arrays.next().expect("an array per input"));
    let rows = rows.as_chunks::<M>().0;
    for (input, array) in arrays.iter_mut().enumerate() {
        for (place, row) in array.iter_mut().zip(rows) {
            *place = row[input];
        }
    }
}

/// A program with room for its values on a block.
pub(crate) struct Values<'a> {
    program: &'a Program,
    scratch: Scratch,
}

impl<'a> Values<'a> {
    /// Room for the values of `program`.
    pub fn new(program: &'a Program) -> Self {
        Self { program, scratch: program.scratch(STEPS + 1) }
    }

    /// Evaluates on all samples of the block.
    pub fn evaluate(&mut self, block: &StepBlock<'_>) {
        for i in 0..block.n_inputs() {
            self.scratch.input_mut(i)[..block.samples()].copy_from_slice(block.input(i));
        }
        self.program.run(&mut self.scratch);
    }

    /// Values of term `k` at the samples, and what happens to lie behind them.
    pub fn term(&self, k: usize) -> &[f64] {
        self.scratch.output(k)
    }

    /// Values of all terms, and from one to the next `stride` values.
    pub fn terms(&self) -> &[f64] {
        self.scratch.outputs()
    }

    /// From a term to the next.
    pub fn stride(&self) -> usize {
        self.scratch.width()
    }

    /// Number of terms.
    pub fn n_terms(&self) -> usize {
        self.program.n_outputs()
    }
}

/// A fitted linear model over a library: `coef u(x)`, one row of `coef` per quantity.
#[derive(Clone, Copy)]
pub struct Fitted<'a> {
    /// The library.
    pub program: &'a Program,
    /// Coefficients `(q, K)`.
    pub coef: ArrayView2<'a, f64>,
}

impl Fitted<'_> {
    /// Checks the shape of the coefficients.
    ///
    /// # Errors
    /// [`Error::Argument`] if there are not `rows` rows of `K` coefficients.
    pub fn check(&self, name: &'static str, rows: usize) -> Result<()> {
        let wanted = (rows, self.program.n_outputs());
        if self.coef.dim() == wanted {
            Ok(())
        } else {
            Err(Error::argument(name, format!("shape {:?}", self.coef.dim()), format!("shape {wanted:?}")))
        }
    }
}

/// Linear combinations of a library on a block: `coef u(x)`, one row per quantity.
pub(crate) struct Combined<'a> {
    values: Values<'a>,
    coef: ndarray::ArrayView2<'a, f64>,
    out: Vec<f64>,
}

impl<'a> Combined<'a> {
    /// Room for the quantities of a fitted model.
    pub fn new(fitted: Fitted<'a>) -> Self {
        Self {
            values: Values::new(fitted.program),
            coef: fitted.coef,
            out: vec![0.0; fitted.coef.nrows() * (STEPS + 1)],
        }
    }

    /// Evaluates on all samples of the block.
    pub fn evaluate(&mut self, block: &StepBlock<'_>) {
        self.values.evaluate(block);
        for (row, out) in self.coef.rows().into_iter().zip(self.out.chunks_exact_mut(STEPS + 1)) {
            out.fill(0.0);
            for (k, &c) in row.iter().enumerate() {
                if c != 0.0 {
                    for (out, u) in out.iter_mut().zip(self.values.term(k)) {
                        *out += c * u;
                    }
                }
            }
        }
    }

    /// One quantity at the samples.
    pub fn row(&self, q: usize) -> &[f64] {
        &self.out[q * (STEPS + 1)..][..STEPS + 1]
    }

    /// Number of quantities.
    pub fn n_rows(&self) -> usize {
        self.coef.nrows()
    }
}
