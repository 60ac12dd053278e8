//! Compiled expressions: a flat list of instructions, run over blocks of lanes in struct-of-arrays layout.
//!
//! One instruction is one loop over the lanes of a block, which the compiler turns into vector code. Rows of the
//! working memory are reused as soon as their value is no longer wanted.
//!
//! ```
//! use itoscope_core::program::Program;
//!
//! let program = Program::new(&["x1^2 x2", "sgn(x2)"], &["x1", "x2"])?;
//! let mut scratch = program.scratch(8);
//! scratch.input_mut(0).fill(3.0);
//! scratch.input_mut(1).fill(-2.0);
//! program.run(&mut scratch);
//! assert_eq!(scratch.output(0)[7], -18.0);
//! assert_eq!(scratch.output(1)[7], -1.0);
//! # Ok::<(), itoscope_core::Error>(())
//! ```

use std::cell::Cell;
use std::collections::HashMap;

use ndarray::{Array2, ArrayView2, Axis};
use rayon::prelude::*;

use crate::control::Control;
use crate::expr::{Function, Graph, Id, Node, parse};
use crate::{Error, Result};

/// Lanes are handled in groups of this many; the width of a block is a multiple of it.
const GROUP: usize = 8;
/// Rows of an `(n, m)` array that one block of [`Program::evaluate`] holds.
const ROWS: usize = 256;

/// What an instruction does with the rows `a`, `b`, `c` and the number `k`.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Op {
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
    /// `a / b`
    Divide,
    /// `a ^ b`
    Power,
    /// `function(a)`
    Call(Function),
}

#[derive(Debug, Clone, Copy)]
struct Instruction {
    op: Op,
    out: usize,
    a: usize,
    b: usize,
    c: usize,
    k: f64,
}

/// Expressions over named inputs, ready to run.
#[derive(Debug, Clone)]
pub struct Program {
    graph: Graph,
    roots: Vec<Id>,
    instructions: Vec<Instruction>,
    /// Rows that hold a number throughout.
    numbers: Vec<(usize, f64)>,
    n_rows: usize,
}

/// Working memory of a [`Program`] for one block: rows of `width` lanes, first the inputs, then the outputs.
#[derive(Debug, Clone)]
pub struct Scratch {
    width: usize,
    n_inputs: usize,
    n_outputs: usize,
    memory: Vec<f64>,
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

    /// Makes output `k` of the last run the next input `i`.
    pub fn feed_back(&mut self, k: usize, i: usize) {
        let (inputs, rest) = self.memory.split_at_mut(self.n_inputs * self.width);
        let output = &rest[k * self.width..(k + 1) * self.width];
        inputs[i * self.width..(i + 1) * self.width].copy_from_slice(output);
    }
}

impl Program {
    /// Compiles `expressions` over the names `inputs`; the grammar is that of [`crate::expr::parse`].
    ///
    /// # Errors
    /// [`Error::Expression`] with the character at fault; [`Error::Argument`] for an input that is no name or comes
    /// twice.
    pub fn new(expressions: &[impl AsRef<str>], inputs: &[impl AsRef<str>]) -> Result<Self> {
        check_names(inputs)?;
        let mut graph = Graph::new(inputs.len());
        let roots = expressions
            .iter()
            .map(|text| parse(text.as_ref(), inputs, &mut graph))
            .collect::<Result<Vec<_>>>()?;
        Ok(Self::compile(graph, roots))
    }

    /// Compiles the nodes `roots` of a graph.
    pub fn compile(graph: Graph, roots: Vec<Id>) -> Self {
        let (instructions, numbers, n_rows) = Compiler::new(&graph, &roots).finish();
        Self { graph, roots, instructions, numbers, n_rows }
    }

    /// Number of inputs, `m`.
    pub fn n_inputs(&self) -> usize {
        self.graph.n_inputs()
    }

    /// Number of outputs, `K`.
    pub fn n_outputs(&self) -> usize {
        self.roots.len()
    }

    /// Number of instructions that one block takes.
    pub fn n_instructions(&self) -> usize {
        self.instructions.len()
    }

    /// The program of all first derivatives; output `k * m + i` is the derivative of output `k` by input `i`.
    pub fn gradient_program(&self) -> Self {
        let mut graph = self.graph.clone();
        let mut roots = Vec::with_capacity(self.roots.len() * graph.n_inputs());
        for &root in &self.roots {
            for input in 0..graph.n_inputs() {
                roots.push(graph.derivative(root, input));
            }
        }
        Self::compile(graph, roots)
    }

    /// Working memory for blocks of at least `lanes` lanes, allocated once and used again and again.
    pub fn scratch(&self, lanes: usize) -> Scratch {
        let width = lanes.max(1).next_multiple_of(GROUP);
        let mut memory = vec![0.0; self.n_rows * width];
        for &(row, number) in &self.numbers {
            memory[row * width..][..width].fill(number);
        }
        Scratch { width, n_inputs: self.n_inputs(), n_outputs: self.n_outputs(), memory }
    }

    /// Computes the outputs of `scratch` from its inputs, in all lanes.
    pub fn run(&self, scratch: &mut Scratch) {
        assert_eq!(scratch.memory.len(), self.n_rows * scratch.width, "scratch of another program");
        let memory = Cell::from_mut(scratch.memory.as_mut_slice()).as_slice_of_cells();
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has AVX2.
            return unsafe { execute_avx2(&self.instructions, memory, scratch.width) };
        }
        execute(&self.instructions, memory, scratch.width);
    }

    /// Values of a block: `inputs` is `m x width`, `out` becomes `K x width`, with the width of `scratch`.
    pub fn evaluate_block(&self, inputs: &[f64], out: &mut [f64], scratch: &mut Scratch) {
        scratch.inputs_mut().copy_from_slice(inputs);
        self.run(scratch);
        out.copy_from_slice(scratch.outputs());
    }

    /// Values `(n, K)` at the rows of `x` `(n, m)`, on all threads of the current pool.
    ///
    /// # Errors
    /// [`Error::Argument`] if `x` has another number of columns, [`Error::Interrupted`].
    pub fn evaluate(&self, x: ArrayView2<'_, f64>, control: &Control) -> Result<Array2<f64>> {
        if x.ncols() != self.n_inputs() {
            let allowed = format!("shape (n, {}), one column per input", self.n_inputs());
            return Err(Error::argument("x", format!("array of shape {:?}", x.dim()), allowed));
        }
        let mut out = Array2::zeros((x.nrows(), self.n_outputs()));
        let blocks = out.axis_chunks_iter_mut(Axis(0), ROWS).into_par_iter();
        blocks.zip(x.axis_chunks_iter(Axis(0), ROWS).into_par_iter()).try_for_each_init(
            || self.scratch(ROWS.min(x.nrows())),
            |scratch, (mut out, x)| {
                control.check()?;
                for (i, column) in x.columns().into_iter().enumerate() {
                    scratch.input_mut(i).iter_mut().zip(column).for_each(|(lane, &value)| *lane = value);
                }
                self.run(scratch);
                for (k, mut column) in out.columns_mut().into_iter().enumerate() {
                    column.iter_mut().zip(scratch.output(k)).for_each(|(value, &lane)| *value = lane);
                }
                control.advance(x.nrows() as u64);
                Ok(())
            },
        )?;
        Ok(out)
    }
}

pub(crate) fn check_names(inputs: &[impl AsRef<str>]) -> Result<()> {
    for (i, input) in inputs.iter().map(AsRef::as_ref).enumerate() {
        let wrong = |allowed| Err(Error::argument(format!("inputs[{i}]"), format!("'{input}'"), allowed));
        let mut chars = input.chars();
        let begins = chars.next().is_some_and(|c| c.is_alphabetic() || c == '_');
        if !(begins && chars.all(|c| c.is_alphanumeric() || c == '_')) {
            return wrong("a name of letters, digits and underscores, no digit first");
        }
        if inputs[..i].iter().any(|other| other.as_ref() == input) {
            return wrong("names that differ from each other");
        }
    }
    Ok(())
}

/// Turns the nodes under some roots into instructions, and gives each a row.
struct Compiler<'a> {
    graph: &'a Graph,
    roots: &'a [Id],
    /// How often each node's value is still to be read.
    uses: Vec<usize>,
    rows: HashMap<Id, usize>,
    free: Vec<usize>,
    instructions: Vec<Instruction>,
    numbers: Vec<(usize, f64)>,
    n_rows: usize,
}

impl<'a> Compiler<'a> {
    fn new(graph: &'a Graph, roots: &'a [Id]) -> Self {
        let n_inputs = graph.n_inputs();
        let mut rows: HashMap<Id, usize> = (0..n_inputs).map(|i| (graph.input(i), i)).collect();
        for (k, &root) in roots.iter().enumerate() {
            rows.entry(root).or_insert(n_inputs + k);
        }
        Self {
            graph,
            roots,
            uses: vec![0; graph.len()],
            rows,
            free: Vec::new(),
            instructions: Vec::new(),
            numbers: Vec::new(),
            n_rows: n_inputs + roots.len(),
        }
    }

    fn finish(mut self) -> (Vec<Instruction>, Vec<(usize, f64)>, usize) {
        let order = self.order();
        for &id in &order {
            for child in self.graph.node(id).children() {
                self.uses[child.index()] += 1;
            }
        }
        // Inputs, outputs and numbers keep their rows.
        for &root in self.roots {
            self.uses[root.index()] = usize::MAX / 2;
        }
        let fused = self.fusible(&order);
        for &id in &order {
            if !fused.contains_key(&id) {
                self.emit(id, &fused);
            }
        }
        let n_inputs = self.graph.n_inputs();
        for (k, root) in self.roots.iter().enumerate() {
            if self.rows[root] != n_inputs + k {
                self.push(Op::Copy, n_inputs + k, [self.rows[root], 0, 0], 0.0);
            }
        }
        (self.instructions, self.numbers, self.n_rows)
    }

    /// Nodes under the roots, children first, each as late as its first use allows, which keeps few rows alive.
    fn order(&self) -> Vec<Id> {
        let mut order = Vec::new();
        let mut seen = vec![false; self.graph.len()];
        let mut stack: Vec<(Id, bool)> = self.roots.iter().rev().map(|&root| (root, false)).collect();
        while let Some((id, ready)) = stack.pop() {
            if ready {
                order.push(id);
            } else if !std::mem::replace(&mut seen[id.index()], true) {
                stack.push((id, true));
                let children: Vec<Id> = self.graph.node(id).children().collect();
                stack.extend(children.into_iter().rev().map(|child| (child, false)));
            }
        }
        order
    }

    /// Products that are read once, by a sum: the sum does them in passing. At most one for each sum.
    fn fusible(&self, order: &[Id]) -> HashMap<Id, Id> {
        let mut fused = HashMap::new();
        for &id in order {
            if let Node::Add(a, b) = self.graph.node(id) {
                let product = |id: &Id| {
                    self.uses[id.index()] == 1 && matches!(self.graph.node(*id), Node::Multiply(..))
                };
                if let Some(product) = [b, a].into_iter().find(product) {
                    fused.insert(product, id);
                }
            }
        }
        fused
    }

    fn emit(&mut self, id: Id, fused: &HashMap<Id, Id>) {
        match self.graph.node(id) {
            Node::Input(_) => {}
            Node::Constant(value) => {
                // Only a root has a row already; most other numbers go into the instructions that use them.
                if let Some(&row) = self.rows.get(&id) {
                    self.numbers.push((row, value));
                }
            }
            Node::Add(a, b) => {
                match [(b, a), (a, b)].into_iter().find(|(product, _)| fused.get(product) == Some(&id)) {
                    Some((product, other)) => self.emit_sum(id, product, other),
                    None => match (self.graph.value(a), self.graph.value(b)) {
                        (Some(k), _) => self.unary(Op::AddNumber, id, b, k),
                        (_, Some(k)) => self.unary(Op::AddNumber, id, a, k),
                        _ => self.binary(Op::Add, id, a, b),
                    },
                }
            }
            Node::Multiply(a, b) => match self.graph.value(b) {
                Some(k) => self.unary(Op::Scale, id, a, k),
                None => self.binary(Op::Multiply, id, a, b),
            },
            Node::Divide(a, b) => self.binary(Op::Divide, id, a, b),
            Node::Power(a, b) => self.binary(Op::Power, id, a, b),
            Node::Call(function, a) => self.unary(Op::Call(function), id, a, 0.0),
        }
    }

    /// The sum of a product, which is not computed by itself, and another node.
    fn emit_sum(&mut self, id: Id, product: Id, other: Id) {
        let Node::Multiply(a, b) = self.graph.node(product) else { unreachable!("only products are fused") };
        let third = self.row(other);
        let (op, operands, rows, k) = match self.graph.value(b) {
            Some(-1.0) => (Op::Subtract, vec![a, other], [third, self.row(a), 0], 0.0),
            Some(k) => (Op::ScaleAdd, vec![a, other], [self.row(a), 0, third], k),
            None => (Op::MultiplyAdd, vec![a, b, other], [self.row(a), self.row(b), third], 0.0),
        };
        self.write(op, id, &operands, rows, k);
    }

    fn unary(&mut self, op: Op, id: Id, a: Id, k: f64) {
        let rows = [self.row(a), 0, 0];
        self.write(op, id, &[a], rows, k);
    }

    fn binary(&mut self, op: Op, id: Id, a: Id, b: Id) {
        let rows = [self.row(a), self.row(b), 0];
        self.write(op, id, &[a, b], rows, 0.0);
    }

    /// The row of an operand; a number that needs one gets it here.
    fn row(&mut self, id: Id) -> usize {
        if let Some(&row) = self.rows.get(&id) {
            return row;
        }
        let value = self.graph.value(id).expect("operands are computed before they are read");
        let row = self.new_row();
        self.numbers.push((row, value));
        self.rows.insert(id, row);
        row
    }

    /// Emits an instruction for `id`; rows of operands that it reads last are free, for its own result already.
    fn write(&mut self, op: Op, id: Id, operands: &[Id], rows: [usize; 3], k: f64) {
        for &operand in operands {
            self.uses[operand.index()] -= 1;
            let computed = !matches!(self.graph.node(operand), Node::Input(_) | Node::Constant(_));
            if self.uses[operand.index()] == 0 && computed {
                self.free.push(self.rows[&operand]);
            }
        }
        let out = match self.rows.get(&id) {
            Some(&row) => row,
            None => self.free.pop().unwrap_or_else(|| self.new_row()),
        };
        self.rows.insert(id, out);
        self.push(op, out, rows, k);
    }

    fn push(&mut self, op: Op, out: usize, [a, b, c]: [usize; 3], k: f64) {
        self.instructions.push(Instruction { op, out, a, b, c, k });
    }

    fn new_row(&mut self) -> usize {
        self.n_rows += 1;
        self.n_rows - 1
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn execute_avx2(instructions: &[Instruction], memory: &[Cell<f64>], width: usize) {
    execute(instructions, memory, width);
}

#[inline(always)]
fn execute(instructions: &[Instruction], memory: &[Cell<f64>], width: usize) {
    let (groups, n_groups) = (memory.as_chunks::<GROUP>().0, width / GROUP);
    let row = |i: usize| &groups[i * n_groups..(i + 1) * n_groups];
    for instruction in instructions {
        let Instruction { op, out, a, b, c, k } = *instruction;
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
            Op::Divide => map2(out, row(a), row(b), |x, y| x / y),
            Op::Power => map2(out, row(a), row(b), f64::powf),
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
