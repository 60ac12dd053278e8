//! Compiled code: a flat list of instructions on rows of lanes, and its working memory.
//!
//! One instruction is one loop over the lanes of a block, which the compiler turns into vector code. Rows of the
//! working memory are, in this order, inputs, outputs, and the rest.

use std::cell::Cell;

use super::graph::{Function, power};
use super::memory::Memory;

/// Lanes are handled in groups of this many; the width of a block is a multiple of it.
const GROUP: usize = 8;

/// What an instruction does with the rows `a`, `b`, `c` and the numbers `k`, `l`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Op {
    /// `a`
    Copy,
    /// `a + b`
    Add,
    /// `a + k`
    AddNumber,
    /// `a - b`
    Subtract,
    /// `a b`
    Multiply,
    /// `k a`
    Scale,
    /// `a b + c`, rounded twice
    MultiplyAdd,
    /// `k a + c`, rounded twice
    ScaleAdd,
    /// `k a + (l b + c)`, rounded four times
    ScaleAddTwice,
    /// `a / b`
    Divide,
    /// `a ^ b`
    Power,
    /// `function(a)`
    Call(Function),
}

impl Op {
    /// Which of the rows `a`, `b`, `c` it reads.
    fn operands(self) -> &'static [usize] {
        match self {
            Self::Copy | Self::AddNumber | Self::Scale | Self::Call(_) => &[0],
            Self::Add | Self::Subtract | Self::Multiply | Self::Divide | Self::Power => &[0, 1],
            Self::ScaleAdd => &[0, 2],
            Self::MultiplyAdd | Self::ScaleAddTwice => &[0, 1, 2],
        }
    }
}

/// One operation on whole rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Instruction {
    pub op: Op,
    pub out: usize,
    pub a: usize,
    pub b: usize,
    pub c: usize,
    pub k: f64,
    pub l: f64,
}

impl Instruction {
    /// An operation on the rows `a`, `b`, `c`.
    pub fn new(op: Op, [a, b, c]: [usize; 3]) -> Self {
        Self { op, out: 0, a, b, c, k: 0.0, l: 0.0 }
    }
}

/// Instructions that compute outputs from inputs, in all lanes of a block.
#[derive(Debug, Clone)]
pub struct Code {
    pub(crate) instructions: Vec<Instruction>,
    /// Rows that hold a number throughout.
    pub(crate) numbers: Vec<(usize, f64)>,
    pub(crate) n_inputs: usize,
    pub(crate) n_outputs: usize,
    /// Rows of working memory.
    pub(crate) n_rows: usize,
}

impl Code {
    /// Number of instructions that one block takes.
    pub fn n_instructions(&self) -> usize {
        self.instructions.len()
    }

    /// Rows of working memory that it needs.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Working memory for blocks of at least `lanes` lanes, allocated once and used again and again.
    pub fn scratch(&self, lanes: usize) -> Scratch {
        let width = lanes.max(1).next_multiple_of(GROUP);
        let mut memory = Memory::zeros(self.n_rows * width);
        for &(row, number) in &self.numbers {
            memory[row * width..][..width].fill(number);
        }
        Scratch { width, n_inputs: self.n_inputs, n_outputs: self.n_outputs, memory }
    }

    /// Computes the outputs of `scratch` from its inputs, in all lanes.
    ///
    /// # Panics
    /// If the working memory was made for other code.
    pub fn run(&self, scratch: &mut Scratch) {
        assert_eq!(scratch.memory.len(), self.n_rows * scratch.width, "scratch of other code");
        let memory = Cell::from_mut(&mut *scratch.memory).as_slice_of_cells();
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx512f") {
            // SAFETY: the processor has AVX-512.
            return unsafe { execute_avx512(&self.instructions, memory, scratch.width) };
        }
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2.
            return unsafe { execute_avx2(&self.instructions, memory, scratch.width) };
        }
        execute(&self.instructions, memory, scratch.width);
    }

    /// The code for `times` steps of a map: the outputs are the first inputs of the next step, the `n_fixed` inputs
    /// after them are the same in all steps, and the others come in `groups` of so many each.
    ///
    /// Inputs are then the start, the fixed ones, and for each group the inputs of step 1, of step 2, ...; outputs those
    /// of step 1, of step 2, ...
    pub fn repeated(&self, times: usize, n_fixed: usize, groups: &[usize]) -> Self {
        let (m, n_old) = (self.n_outputs, self.n_inputs + self.n_outputs);
        let n_inputs = m + n_fixed + times * groups.iter().sum::<usize>();
        let n_outputs = times * m;
        let row_at = |step: usize, row: usize| {
            if row < m {
                return if step == 0 { row } else { n_inputs + (step - 1) * m + row };
            }
            if row < m + n_fixed {
                return row;
            }
            if row >= n_old {
                return n_inputs + n_outputs + row - n_old;
            }
            if row >= self.n_inputs {
                return n_inputs + step * m + row - self.n_inputs;
            }
            let (mut first, mut member) = (m + n_fixed, row - m - n_fixed);
            for &size in groups {
                if member < size {
                    return first + step * size + member;
                }
                member -= size;
                first += times * size;
            }
            unreachable!("no instruction reads an input outside the groups")
        };
        let mut code = Self {
            instructions: Vec::with_capacity(times * self.instructions.len()),
            numbers: Vec::new(),
            n_inputs,
            n_outputs,
            n_rows: self.n_rows - n_old + n_inputs + n_outputs,
        };
        for step in 0..times {
            code.numbers.extend(self.numbers.iter().map(|&(row, number)| (row_at(step, row), number)));
            code.instructions.extend(self.instructions.iter().map(|instruction| {
                let reads = instruction.op.operands();
                // Operands that the operation does not have are no rows.
                let operand = |which: usize, row| if reads.contains(&which) { row_at(step, row) } else { 0 };
                Instruction {
                    out: row_at(step, instruction.out),
                    a: operand(0, instruction.a),
                    b: operand(1, instruction.b),
                    c: operand(2, instruction.c),
                    ..*instruction
                }
            }));
        }
        code
    }
}

/// Working memory of a program for one block: rows of `width` lanes, first the inputs, then the outputs.
#[derive(Debug, Clone)]
pub struct Scratch {
    width: usize,
    n_inputs: usize,
    n_outputs: usize,
    memory: Memory,
}

impl Scratch {
    /// Lanes of a block: the number asked for, rounded up to a multiple of eight.
    pub fn width(&self) -> usize {
        self.width
    }

    /// All inputs, `n_inputs x width`.
    pub fn inputs_mut(&mut self) -> &mut [f64] {
        &mut self.memory[..self.n_inputs * self.width]
    }

    /// The lanes of input `i`.
    pub fn input_mut(&mut self, i: usize) -> &mut [f64] {
        let width = self.width;
        &mut self.inputs_mut()[i * width..(i + 1) * width]
    }

    /// All outputs of the last run, `n_outputs x width`.
    pub fn outputs(&self) -> &[f64] {
        &self.memory[self.n_inputs * self.width..][..self.n_outputs * self.width]
    }

    /// The lanes of output `k` of the last run.
    pub fn output(&self, k: usize) -> &[f64] {
        &self.outputs()[k * self.width..(k + 1) * self.width]
    }

    /// The lanes of output `k`, to be changed.
    pub fn output_mut(&mut self, k: usize) -> &mut [f64] {
        &mut self.memory[(self.n_inputs + k) * self.width..][..self.width]
    }

    /// Makes the first `n` outputs the first inputs of the next run.
    pub fn feed_first(&mut self, n: usize) {
        let start = self.n_inputs * self.width;
        self.memory.copy_within(start..start + n * self.width, 0);
    }

    /// Makes the last outputs of the last run, `n` of them, the first inputs of the next.
    pub fn feed_back(&mut self, n: usize) {
        let outputs_end = (self.n_inputs + self.n_outputs) * self.width;
        self.memory.copy_within(outputs_end - n * self.width..outputs_end, 0);
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn execute_avx2(instructions: &[Instruction], memory: &[Cell<f64>], width: usize) {
    execute(instructions, memory, width);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn execute_avx512(instructions: &[Instruction], memory: &[Cell<f64>], width: usize) {
    execute(instructions, memory, width);
}

#[inline(always)]
fn execute(instructions: &[Instruction], memory: &[Cell<f64>], width: usize) {
    let (groups, n_groups) = (memory.as_chunks::<GROUP>().0, width / GROUP);
    let row = |i: usize| &groups[i * n_groups..(i + 1) * n_groups];
    for instruction in instructions {
        let Instruction { op, out, a, b, c, k, l } = *instruction;
        let out = row(out);
        match op {
            Op::Copy => map(out, row(a), |x| x),
            Op::Add => map2(out, row(a), row(b), |x, y| x + y),
            Op::AddNumber => map(out, row(a), |x| x + k),
            Op::Subtract => map2(out, row(a), row(b), |x, y| x - y),
            Op::Multiply => map2(out, row(a), row(b), |x, y| x * y),
            Op::Scale => map(out, row(a), |x| k * x),
            Op::MultiplyAdd => map3(out, row(a), row(b), row(c), |x, y, z| x * y + z),
            Op::ScaleAdd => map2(out, row(a), row(c), |x, z| k * x + z),
            Op::ScaleAddTwice => map3(out, row(a), row(b), row(c), |x, y, z| k * x + (l * y + z)),
            Op::Divide => map2(out, row(a), row(b), |x, y| x / y),
            Op::Power => map2(out, row(a), row(b), power),
            // One loop for each function that is a vector instruction or two.
            Op::Call(Function::Abs) => map(out, row(a), f64::abs),
            Op::Call(Function::Sgn) => map(out, row(a), |x| Function::Sgn.apply(x)),
            Op::Call(Function::Sqrt) => map(out, row(a), f64::sqrt),
            Op::Call(function) => map(out, row(a), |x| function.apply(x)),
        }
    }
}

/// Lanes of a row in groups. Cells, because a result may take the row of an operand: a group is read before it is
/// written.
type Row<'a> = &'a [[Cell<f64>; GROUP]];

#[inline(always)]
fn read(group: &[Cell<f64>; GROUP]) -> [f64; GROUP] {
    std::array::from_fn(|i| group[i].get())
}

#[inline(always)]
fn write(group: &[Cell<f64>; GROUP], values: [f64; GROUP]) {
    for (cell, value) in group.iter().zip(values) {
        cell.set(value);
    }
}

#[inline(always)]
fn map(out: Row<'_>, a: Row<'_>, f: impl Fn(f64) -> f64) {
    for (out, a) in out.iter().zip(a) {
        let a = read(a);
        write(out, std::array::from_fn(|i| f(a[i])));
    }
}

#[inline(always)]
fn map2(out: Row<'_>, a: Row<'_>, b: Row<'_>, f: impl Fn(f64, f64) -> f64) {
    for ((out, a), b) in out.iter().zip(a).zip(b) {
        let (a, b) = (read(a), read(b));
        write(out, std::array::from_fn(|i| f(a[i], b[i])));
    }
}

#[inline(always)]
fn map3(out: Row<'_>, a: Row<'_>, b: Row<'_>, c: Row<'_>, f: impl Fn(f64, f64, f64) -> f64) {
    for (((out, a), b), c) in out.iter().zip(a).zip(b).zip(c) {
        let (a, b, c) = (read(a), read(b), read(c));
        write(out, std::array::from_fn(|i| f(a[i], b[i], c[i])));
    }
}
