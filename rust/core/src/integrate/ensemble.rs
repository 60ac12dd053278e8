//! Ensembles: blocks of paths that advance together, in struct-of-arrays layout, one block to a thread at a time.

use ndarray::{ArrayView2, ArrayView3};
use rayon::prelude::*;

use super::{Coefficients, Increments, Scheme};
use crate::control::Control;
use crate::normals::{Normals, PER_BLOCK};
use crate::program::{Program, Scratch};
use crate::{Error, Result};

/// Most paths in a block; small enough that the working memory of a block stays in the first-level cache.
const WIDTH: usize = 64;
/// Widths are multiples of this.
const LANES: usize = 8;
/// Paths, and rows of gathered samples, that are transposed together.
const TILE: usize = 4;
/// About how many rows of samples are gathered before they are written to their paths.
const GATHERED: usize = 32;
/// Steps of the scheme between two looks at the control.
const WATCHED: usize = 512;

/// One step of a scheme for one system, compiled.
#[derive(Debug, Clone)]
pub struct Stepper {
    program: Program,
    n_states: usize,
    /// Inputs that the caller's noise gives, and inputs that are drawn, standard normal.
    n_given: usize,
    n_drawn: usize,
}

impl Stepper {
    /// Compiles a step of length `h`.
    ///
    /// `n_given` is the number of columns of the caller's noise: 0; n increments `dW`; or, for a scheme that needs
    /// them, 2n, `dW` and then `dZ`. What is not given is made from standard normals `N`, per step first those of
    /// `dW = sqrt(h) N`, then those of `dZ = h/2 (dW + sqrt(h/3) N)`.
    ///
    /// # Errors
    /// [`Error::Argument`] if the scheme does not fit the noise, or for another number of columns.
    pub fn new(mut system: Coefficients, scheme: Scheme, h: f64, n_given: usize) -> Result<Self> {
        scheme.check(system.structure())?;
        let (m, n) = (system.n_states(), system.n_noise());
        let n_needed = if scheme.needs_dz() { 2 * n } else { n };
        if ![0, n, n_needed].contains(&n_given) {
            let allowed =
                if n_needed > n { format!("{n} or {n_needed} columns") } else { format!("{n} columns") };
            return Err(Error::argument("noise", format!("{n_given} columns"), allowed));
        }
        let mut increments = Increments { h, dw: Vec::new(), dz: Vec::new() };
        let graph = &mut system.graph;
        for j in 0..n {
            let input = graph.input(m + j);
            let spread = graph.constant(if n_given == 0 { h.sqrt() } else { 1.0 });
            increments.dw.push(graph.multiply(spread, input));
        }
        for j in 0..n_needed - n {
            let input = graph.input(m + n + j);
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
        let program = Program::compile(system.graph, step);
        Ok(Self { program, n_states: m, n_given, n_drawn: n_needed - n_given })
    }

    /// Number of instructions of a step.
    pub fn n_instructions(&self) -> usize {
        self.program.n_instructions()
    }

    /// Simulates paths into `samples`, `(n_paths, n_kept, m)` in row-major order, and returns how many samples of
    /// each path are finite; what follows them is NaN.
    ///
    /// # Errors
    /// [`Error::Interrupted`].
    ///
    /// # Panics
    /// If `x0`, the noise or `samples` have other shapes than the run says.
    pub fn simulate(&self, run: &Run<'_>, samples: &mut [f64], control: &Control) -> Result<Vec<i64>> {
        let n_paths = run.x0.nrows();
        assert_eq!(run.x0.ncols(), self.n_states);
        assert_eq!(samples.len(), n_paths * run.n_kept() * self.n_states);
        if let Some(noise) = &run.noise {
            assert_eq!(noise.dim(), (n_paths, run.n_steps * run.substeps, self.n_given));
        }
        let mut lengths = vec![0; n_paths];
        let width = block_width(n_paths);
        let samples = samples.par_chunks_mut(width * run.n_kept() * self.n_states);
        samples.zip(lengths.par_chunks_mut(width)).enumerate().try_for_each(|(i, (samples, lengths))| {
            Block::new(self, run, i * width, width).simulate(samples, lengths, control)
        })?;
        Ok(lengths)
    }
}

/// Equal blocks for all threads, where there are not many.
fn block_width(n_paths: usize) -> usize {
    let n_threads = rayon::current_num_threads();
    let n_blocks = n_paths.div_ceil(WIDTH).next_multiple_of(n_threads);
    n_paths.div_ceil(n_blocks).next_multiple_of(LANES)
}

/// What to simulate.
#[derive(Debug, Clone)]
pub struct Run<'a> {
    /// Starts, `(n_paths, m)`.
    pub x0: ArrayView2<'a, f64>,
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
struct Block<'a, 'data> {
    stepper: &'a Stepper,
    run: &'a Run<'data>,
    first: usize,
    width: usize,
    scratch: Scratch,
    normals: Normals,
    /// Normals not yet used, `PER_BLOCK x width`, from this row on.
    drawn: Vec<f64>,
    next_drawn: usize,
    /// Samples not yet written, a row for each state of each.
    gathered: Vec<f64>,
    n_gathered: usize,
}

impl<'a, 'data> Block<'a, 'data> {
    fn new(stepper: &'a Stepper, run: &'a Run<'data>, first: usize, width: usize) -> Self {
        Self {
            stepper,
            run,
            first,
            width,
            scratch: stepper.program.scratch(width),
            normals: Normals::new(run.seed, first as u64, width),
            drawn: vec![0.0; PER_BLOCK * width],
            next_drawn: PER_BLOCK,
            gathered: vec![0.0; GATHERED.next_multiple_of(stepper.n_states) * width],
            n_gathered: 0,
        }
    }

    fn simulate(mut self, samples: &mut [f64], lengths: &mut [i64], control: &Control) -> Result<()> {
        let (m, run) = (self.stepper.n_states, self.run);
        let n_paths = lengths.len();
        let path_len = run.n_kept() * m;
        for (l, path) in samples.chunks_exact_mut(path_len).enumerate() {
            for k in 0..m {
                path[k] = run.x0[[self.first + l, k]];
                self.scratch.input_mut(k)[l] = path[k];
            }
        }
        lengths.fill(1);
        let (mut written, mut unseen) = (1, 0);
        for step in 0..run.n_steps {
            for substep in 0..run.substeps {
                self.step(step * run.substeps + substep, n_paths);
            }
            if (step + 1) % run.keep_every == 0 {
                self.gather();
                if self.n_gathered * self.width == self.gathered.len() {
                    written = self.write(samples, lengths, written);
                }
            }
            unseen += 1;
            if unseen * run.substeps >= WATCHED || step + 1 == run.n_steps {
                control.check()?;
                control.advance((unseen * n_paths) as u64);
                unseen = 0;
            }
        }
        self.write(samples, lengths, written);
        Ok(())
    }

    /// One step of the scheme, in all lanes.
    fn step(&mut self, n: usize, n_paths: usize) {
        let (m, given) = (self.stepper.n_states, self.stepper.n_given);
        if let Some(noise) = &self.run.noise {
            for j in 0..given {
                for (l, lane) in self.scratch.input_mut(m + j)[..n_paths].iter_mut().enumerate() {
                    *lane = noise[[self.first + l, n, j]];
                }
            }
        }
        for j in 0..self.stepper.n_drawn {
            if self.next_drawn == PER_BLOCK {
                self.normals.fill(&mut self.drawn);
                self.next_drawn = 0;
            }
            let row = &self.drawn[self.next_drawn * self.width..][..self.width];
            self.scratch.input_mut(m + given + j).copy_from_slice(row);
            self.next_drawn += 1;
        }
        self.stepper.program.run(&mut self.scratch);
        for k in 0..m {
            self.scratch.feed_back(k, k);
        }
    }

    /// Keeps the present state as a sample.
    fn gather(&mut self) {
        let len = self.stepper.n_states * self.width;
        self.gathered[self.n_gathered * self.width..][..len].copy_from_slice(self.scratch.outputs());
        self.n_gathered += self.stepper.n_states;
    }

    /// Writes the gathered samples to their paths behind the `written` ones; says how many these are then.
    fn write(&mut self, samples: &mut [f64], lengths: &mut [i64], written: usize) -> usize {
        let m = self.stepper.n_states;
        let path_len = self.run.n_kept() * m;
        let (start, n_new) = (written * m, self.n_gathered);
        let rows = &self.gathered[..n_new * self.width];
        self.n_gathered = 0;
        for (group, paths) in samples.chunks_mut(TILE * path_len).enumerate() {
            if paths.len() == TILE * path_len {
                let (first, rest) = paths.split_at_mut(path_len);
                let (second, rest) = rest.split_at_mut(path_len);
                let (third, fourth) = rest.split_at_mut(path_len);
                let paths = [first, second, third, fourth].map(|path| &mut path[start..start + n_new]);
                transpose(rows, self.width, group * TILE, paths);
            } else {
                for (l, path) in paths.chunks_exact_mut(path_len).enumerate() {
                    for (value, row) in path[start..].iter_mut().zip(rows.chunks_exact(self.width)) {
                        *value = row[group * TILE + l];
                    }
                }
            }
        }
        for (path, length) in samples.chunks_exact_mut(path_len).zip(lengths) {
            let new = &mut path[start..start + n_new];
            // A state that is not finite never becomes finite again, since a step adds to it.
            if *length == written as i64 {
                // Without a way out in the middle, this is vector code.
                if new.iter().fold(true, |finite, x| finite & x.is_finite()) {
                    *length += (n_new / m) as i64;
                    continue;
                }
                *length += new.chunks_exact(m).take_while(|x| x.iter().all(|x| x.is_finite())).count() as i64;
            }
            path[*length as usize * m..start + n_new].fill(f64::NAN);
        }
        written + n_new / m
    }
}

/// Writes the lanes `first`, ..., `first + 3` of the rows to one path each, in square tiles of vector registers.
fn transpose(rows: &[f64], width: usize, first: usize, mut paths: [&mut [f64]; TILE]) {
    let mut tiles = rows.chunks_exact(TILE * width);
    for (t, tile) in tiles.by_ref().enumerate() {
        let tile: [[f64; TILE]; TILE] =
            std::array::from_fn(|r| std::array::from_fn(|l| tile[r * width + first + l]));
        for (l, path) in paths.iter_mut().enumerate() {
            path[t * TILE..(t + 1) * TILE]
                .copy_from_slice(&std::array::from_fn::<_, TILE, _>(|r| tile[r][l]));
        }
    }
    let done = (rows.len() / width) / TILE * TILE;
    for (r, row) in tiles.remainder().chunks_exact(width).enumerate() {
        for (l, path) in paths.iter_mut().enumerate() {
            path[done + r] = row[first + l];
        }
    }
}
