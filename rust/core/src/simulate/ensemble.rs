//! Ensembles: blocks of paths that advance together, in struct-of-arrays layout, one block to a thread at a time.

use ndarray::{ArrayView2, ArrayView3};
use rayon::prelude::*;

use super::coefficients::{Coefficients, Increments};
use super::covariance::root_of_covariance;
use super::normals::{Normals, PER_BLOCK, STREAMS};
use super::scheme::Scheme;
use crate::control::Control;
use crate::program::{Code, Program, Scratch};
use crate::{Error, Result};

/// Working memory of a block in bytes, about what the first-level cache holds beside the rest.
const MEMORY: usize = 24 << 10;
/// Fewest and most paths in a block, if there are that many.
const WIDTHS: (usize, usize) = (32, 128);
/// Rows of samples that are gathered before they are written to their paths: each path is another place in memory,
/// where a long stretch costs little more than a short one.
const GATHERED: usize = 256;
/// Steps of the scheme between two looks at the control.
const WATCHED: usize = 512;
/// Paths that are written together: a line of the cache.
const TILE: usize = 8;
/// Paths, and rows of gathered samples, that are transposed in vector registers.
const SQUARE: usize = 4;

/// Steps of a scheme for one system, compiled: as many in a row as use up whole blocks of normals.
#[derive(Debug, Clone)]
pub struct Stepper {
    code: Code,
    n_steps: usize,
    n_states: usize,
    n_parameters: usize,
    /// What drives the system from outside: values of every step.
    n_inputs: usize,
    /// Inputs that the caller's noise gives, and inputs that are drawn, standard normal.
    n_given: usize,
    n_drawn: usize,
    /// The length of a step whose noise is given by its covariance: the outputs are then the state after a step without
    /// noise, and the lower triangle of the covariance.
    covariance: Option<f64>,
}

impl Stepper {
    /// Compiles a step of length `h`.
    ///
    /// `n_given` is the number of columns of the caller's noise: 0; n increments `dW`; or, for a scheme that needs
    /// them, 2n, `dW` and then `dZ`. What is not given is made from standard normals `N`, per step first those of
    /// `dW = sqrt(h) N`, then those of `dZ = h/2 (dW + sqrt(h/3) N)`. The last `n_inputs` parameters of the system have a
    /// value in every step.
    ///
    /// # Errors
    /// [`Error::Argument`] if the scheme does not fit the noise, or for another number of columns.
    pub fn new(
        mut system: Coefficients,
        scheme: Scheme,
        h: f64,
        n_given: usize,
        n_inputs: usize,
    ) -> Result<Self> {
        scheme.check(system.structure())?;
        let (m, n, n_parameters) = (system.n_states(), system.n_noise(), system.n_parameters());
        let n_needed = if scheme.needs_dz() { 2 * n } else { n };
        if ![0, n, n_needed].contains(&n_given) {
            let allowed =
                if n_needed > n { format!("{n} or {n_needed} columns") } else { format!("{n} columns") };
            return Err(Error::argument("noise", format!("{n_given} columns"), allowed));
        }
        if let Some(gamma) = system.gamma.take() {
            let start = (0..m).map(|k| system.graph.input(k)).collect();
            let mut roots =
                super::euler_maruyama::step(&mut system, &Increments { h, dw: vec![], dz: vec![] }, start);
            roots.extend(gamma);
            let code = Program::compile(system.graph, roots).code().clone();
            let n_drawn = n - n_given;
            return Ok(Self {
                code,
                n_steps: 1,
                n_states: m,
                n_parameters: n_parameters - n_inputs,
                n_inputs,
                n_given,
                n_drawn,
                covariance: Some(h),
            });
        }
        let mut increments = Increments { h, dw: Vec::new(), dz: Vec::new() };
        let graph = &mut system.graph;
        for j in 0..n {
            let input = graph.input(m + n_parameters + j);
            let spread = graph.constant(if n_given == 0 { h.sqrt() } else { 1.0 });
            increments.dw.push(graph.multiply(spread, input));
        }
        for j in 0..n_needed - n {
            let input = graph.input(m + n_parameters + n + j);
            increments.dz.push(if n_given == n_needed {
                input
            } else {
                let spread = graph.constant((h / 3.0).sqrt());
                let rest = graph.multiply(spread, input);
                let twice = graph.add(increments.dw[j], rest);
                let half = graph.constant(h / 2.0);
                graph.multiply(half, twice)
            });
        }
        let step = scheme.step(&mut system, &increments);
        let n_drawn = n_needed - n_given;
        let n_steps = (1..)
            .find(|times| (times * n_drawn).is_multiple_of(PER_BLOCK))
            .expect("the block divides itself");
        let n_steps = if n_drawn == 0 { PER_BLOCK } else { n_steps };
        let n_parameters = n_parameters - n_inputs;
        let groups = [n_inputs, n_given, n_drawn];
        let code = Program::compile(system.graph, step).code().repeated(n_steps, n_parameters, &groups);
        Ok(Self { code, n_steps, n_states: m, n_parameters, n_inputs, n_given, n_drawn, covariance: None })
    }

    /// Simulates paths into `samples`, `(n_paths, n_kept, m)` in row-major order, and returns how many samples of
    /// each path are finite; what follows them is NaN.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    ///
    /// # Panics
    /// If `x0`, the parameters, the noise or `samples` have other shapes than the run says.
    pub fn simulate(&self, run: &Run<'_>, samples: &mut [f64], control: &Control) -> Result<Vec<i64>> {
        let n_paths = run.x0.nrows();
        assert_eq!(run.x0.ncols(), self.n_states);
        assert_eq!(run.parameters.dim(), (n_paths, self.n_parameters));
        assert_eq!(run.inputs.dim(), (run.n_steps * run.substeps, self.n_inputs));
        assert_eq!(samples.len(), n_paths * run.n_kept() * self.n_states);
        if let Some(noise) = &run.noise {
            assert_eq!(noise.dim(), (n_paths, run.n_steps * run.substeps, self.n_given));
        }
        let mut lengths = vec![0; n_paths];
        if n_paths == 0 {
            return Ok(lengths);
        }
        let width = self.width(n_paths);
        let samples = samples.par_chunks_mut(width * run.n_kept() * self.n_states);
        samples.zip(lengths.par_chunks_mut(width)).enumerate().try_for_each(|(i, (samples, lengths))| {
            PathBlock::new(self, run, i * width, width).simulate(samples, lengths, control)
        })?;
        Ok(lengths)
    }

    /// Paths in a block: what the memory holds, and equal blocks for all threads where there are not many.
    fn width(&self, n_paths: usize) -> usize {
        let most = (MEMORY / (8 * self.code.n_rows())).clamp(WIDTHS.0, WIDTHS.1);
        let n_blocks = n_paths.div_ceil(most).next_multiple_of(rayon::current_num_threads());
        n_paths.div_ceil(n_blocks).next_multiple_of(STREAMS)
    }
}

/// What to simulate.
#[derive(Debug, Clone)]
pub struct Run<'a> {
    /// Starts, `(n_paths, m)`.
    pub x0: ArrayView2<'a, f64>,
    /// Values of the parameters of each path, `(n_paths, n_parameters)`.
    pub parameters: ArrayView2<'a, f64>,
    /// Values of the inputs in every step of the scheme, `(n_steps * substeps, n_inputs)`.
    pub inputs: ArrayView2<'a, f64>,
    /// Steps, each made of `substeps` steps of the scheme; every `keep_every`-th is kept.
    pub n_steps: usize,
    /// Steps of the scheme in a step.
    pub substeps: usize,
    /// Steps from one sample to the next.
    pub keep_every: usize,
    /// Seed of the streams, one per path.
    pub seed: u64,
    /// The caller's increments, `(n_paths, n_steps * substeps, n_given)`.
    pub noise: Option<ArrayView3<'a, f64>>,
}

impl Run<'_> {
    /// Samples of each path, the start among them.
    pub fn n_kept(&self) -> usize {
        self.n_steps / self.keep_every + 1
    }
}

/// Paths that advance together: lane `l` is path `first + l`.
struct PathBlock<'a, 'data> {
    stepper: &'a Stepper,
    run: &'a Run<'data>,
    first: usize,
    width: usize,
    scratch: Scratch,
    normals: Normals,
    /// Normals of the next steps whose noise is given by its covariance.
    kicks: Vec<f64>,
}

impl<'a, 'data> PathBlock<'a, 'data> {
    fn new(stepper: &'a Stepper, run: &'a Run<'data>, first: usize, width: usize) -> Self {
        let scratch = stepper.code.scratch(width);
        let normals = Normals::new(run.seed, first as u64, width);
        let n_kicks = if stepper.covariance.is_some() { PER_BLOCK * stepper.n_drawn } else { 0 };
        Self { stepper, run, first, width, scratch, normals, kicks: vec![0.0; n_kicks * width] }
    }

    fn simulate(mut self, samples: &mut [f64], lengths: &mut [i64], control: &Control) -> Result<()> {
        let (m, run) = (self.stepper.n_states, self.run);
        let n_paths = lengths.len();
        let mut paths = Paths { samples, lengths, path_len: run.n_kept() * m, n_states: m, written: 0 };
        for k in 0..m {
            for l in 0..n_paths {
                self.scratch.input_mut(k)[l] = run.x0[[self.first + l, k]];
            }
        }
        for k in 0..self.stepper.n_parameters {
            for l in 0..n_paths {
                self.scratch.input_mut(m + k)[l] = run.parameters[[self.first + l, k]];
            }
        }
        paths.write(&self.scratch.inputs_mut()[..m * self.width], self.width);
        let n_fine = run.n_steps * run.substeps;
        let stride = run.substeps * run.keep_every;
        let mut gathered = Vec::with_capacity(2 * GATHERED * self.width);
        let (mut n, mut reported, mut watched) = (0, 0, 0);
        while n < n_fine {
            let n_new = self.stepper.n_steps.min(n_fine - n);
            self.advance(n, n_new, n_paths);
            let states = self.scratch.outputs().chunks_exact(m * self.width).take(n_new);
            for (state, _) in states.zip(n + 1..).filter(|(_, n)| n.is_multiple_of(stride)) {
                gathered.extend_from_slice(state);
            }
            if gathered.len() >= GATHERED * self.width {
                paths.write(&gathered, self.width);
                gathered.clear();
            }
            n += n_new;
            watched += n_new;
            if watched >= WATCHED || n == n_fine {
                control.check()?;
                control.advance(((n / run.substeps - reported) * n_paths) as u64);
                (reported, watched) = (n / run.substeps, 0);
            }
        }
        paths.write(&gathered, self.width);
        Ok(())
    }

    /// Steps of the scheme from step `n` on, in all lanes; `n_new` of them have noise.
    fn advance(&mut self, n: usize, n_new: usize, n_paths: usize) {
        let Stepper { n_states: m, n_parameters, n_inputs, n_given, n_drawn, n_steps, .. } = *self.stepper;
        let driven = m + n_parameters;
        for (step, j) in (0..n_new).flat_map(|step| (0..n_inputs).map(move |j| (step, j))) {
            self.scratch.input_mut(driven + step * n_inputs + j).fill(self.run.inputs[[n + step, j]]);
        }
        if let Some(h) = self.stepper.covariance {
            return self.kick(n, n_paths, h);
        }
        let fixed = driven + n_steps * n_inputs;
        if let Some(noise) = &self.run.noise {
            for (step, j) in (0..n_new).flat_map(|step| (0..n_given).map(move |j| (step, j))) {
                let row = self.scratch.input_mut(fixed + step * n_given + j);
                for (l, lane) in row[..n_paths].iter_mut().enumerate() {
                    *lane = noise[[self.first + l, n + step, j]];
                }
            }
        }
        let (first, end) = (fixed + n_steps * n_given, fixed + n_steps * (n_given + n_drawn));
        let drawn = first * self.width..end * self.width;
        for rows in self.scratch.inputs_mut()[drawn].chunks_exact_mut(PER_BLOCK * self.width) {
            self.normals.fill(rows);
        }
        self.stepper.code.run(&mut self.scratch);
        self.scratch.feed_back(m);
    }
}

impl PathBlock<'_, '_> {
    /// Step `n` of a scheme, with noise of a covariance that depends on the state before it.
    fn kick(&mut self, n: usize, n_paths: usize, h: f64) {
        let (m, width) = (self.stepper.n_states, self.width);
        let at = n % PER_BLOCK;
        if at == 0 {
            for rows in self.kicks.chunks_exact_mut(PER_BLOCK * width) {
                self.normals.fill(rows);
            }
        }
        self.stepper.code.run(&mut self.scratch);
        let mut gamma = vec![0.0; m * (m + 1) / 2];
        let (mut root, mut dw) = (vec![0.0; m * m], vec![0.0; m]);
        for l in 0..n_paths {
            for (e, entry) in gamma.iter_mut().enumerate() {
                *entry = self.scratch.output(m + e)[l];
            }
            root_of_covariance(&gamma, m, &mut root);
            for (j, dw) in dw.iter_mut().enumerate() {
                *dw = match &self.run.noise {
                    Some(noise) => noise[[self.first + l, n, j]],
                    None => h.sqrt() * self.kicks[(at * m + j) * width + l],
                };
            }
            for (k, row) in root.chunks_exact(m).enumerate() {
                self.scratch.output_mut(k)[l] += row.iter().zip(&dw).map(|(b, dw)| b * dw).sum::<f64>();
            }
        }
        self.scratch.feed_first(m);
    }
}

/// Where the samples of a block go: the first `written` of each path are there.
struct Paths<'a> {
    samples: &'a mut [f64],
    lengths: &'a mut [i64],
    path_len: usize,
    n_states: usize,
    written: usize,
}

impl Paths<'_> {
    /// Appends samples; `rows` holds the lanes of each state of each.
    fn write(&mut self, rows: &[f64], width: usize) {
        let (start, n_new) = (self.written * self.n_states, rows.len() / width);
        for (group, paths) in self.samples.chunks_mut(TILE * self.path_len).enumerate() {
            if paths.len() == TILE * self.path_len {
                let mut each = paths.chunks_exact_mut(self.path_len);
                let paths: [&mut [f64]; TILE] = std::array::from_fn(|_| {
                    &mut each.next().expect("a whole group of paths")[start..start + n_new]
                });
                transpose(rows, width, group * TILE, paths);
            } else {
                for (l, path) in paths.chunks_exact_mut(self.path_len).enumerate() {
                    for (value, row) in path[start..].iter_mut().zip(rows.chunks_exact(width)) {
                        *value = row[group * TILE + l];
                    }
                }
            }
        }
        let n_samples = n_new / self.n_states;
        for (path, length) in self.samples.chunks_exact_mut(self.path_len).zip(&mut *self.lengths) {
            let new = &path[start..start + n_new];
            if *length == self.written as i64 {
                let finite = |x: &&[f64]| x.iter().all(|x| x.is_finite());
                let mut samples = new.chunks_exact(self.n_states);
                // A state that is not finite never becomes finite again, since a step adds to it: the last one tells.
                if samples.clone().next_back().is_none_or(|last| finite(&last)) {
                    *length += n_samples as i64;
                    continue;
                }
                *length += samples.by_ref().take_while(finite).count() as i64;
            }
            path[*length as usize * self.n_states..start + n_new].fill(f64::NAN);
        }
        self.written += n_samples;
    }
}

/// Writes the lanes `first`, ... of the rows to one path each.
fn transpose(rows: &[f64], width: usize, first: usize, paths: [&mut [f64]; TILE]) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2.
        return unsafe { transpose_avx2(rows, width, first, paths) };
    }
    transpose_squares(rows, width, first, paths);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn transpose_avx2(rows: &[f64], width: usize, first: usize, paths: [&mut [f64]; TILE]) {
    transpose_squares(rows, width, first, paths);
}

/// In squares that fit the vector registers, side by side, so that whole lines of the cache are read.
#[inline(always)]
fn transpose_squares(rows: &[f64], width: usize, first: usize, mut paths: [&mut [f64]; TILE]) {
    let mut bands = rows.chunks_exact(SQUARE * width);
    for (t, band) in bands.by_ref().enumerate() {
        for start in (0..TILE).step_by(SQUARE) {
            // Loops and no closures: a call into code without the vector instructions costs more than the work.
            let mut square = [[0.0; SQUARE]; SQUARE];
            for r in 0..SQUARE {
                let row = &band[r * width + first + start..][..SQUARE];
                for l in 0..SQUARE {
                    square[l][r] = row[l];
                }
            }
            for (path, square) in paths[start..start + SQUARE].iter_mut().zip(&square) {
                path[t * SQUARE..(t + 1) * SQUARE].copy_from_slice(square);
            }
        }
    }
    let done = (rows.len() / width) / SQUARE * SQUARE;
    for (r, row) in bands.remainder().chunks_exact(width).enumerate() {
        for (l, path) in paths.iter_mut().enumerate() {
            path[done + r] = row[first + l];
        }
    }
}
