//! From a graph to code: which instructions, in which order, and in which row each value lies.
//!
//! A row is reused as soon as its value is no longer wanted, and a product that is read once, by a sum, is computed
//! together with the sum.

use std::collections::HashMap;

use super::code::{Code, Instruction, Op};
use super::graph::{Graph, Id, Node};

/// Code whose inputs are those of the graph, and whose outputs are the values of `roots`.
pub(crate) fn compile(graph: &Graph, roots: &[Id]) -> Code {
    Compiler::new(graph, roots).finish()
}

/// A sum of a product, which is not computed by itself, and another node.
#[derive(Debug, Clone, Copy)]
struct Sum {
    product: Id,
    other: Id,
    /// Whether the other node is a sum that is not computed by itself either.
    pair: bool,
}

/// Turns the nodes under some roots into instructions, and gives each a row.
struct Compiler<'a> {
    graph: &'a Graph,
    roots: &'a [Id],
    /// How often each node's value is still to be read.
    uses: Vec<usize>,
    sums: HashMap<Id, Sum>,
    /// Nodes that a sum computes in passing.
    passed_over: Vec<bool>,
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
            sums: HashMap::new(),
            passed_over: vec![false; graph.len()],
            rows,
            free: Vec::new(),
            instructions: Vec::new(),
            numbers: Vec::new(),
            n_rows: n_inputs + roots.len(),
        }
    }

    fn finish(mut self) -> Code {
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
        self.plan(&order);
        for &id in &order {
            if !self.passed_over[id.index()] {
                self.emit(id);
            }
        }
        let n_inputs = self.graph.n_inputs();
        for (k, root) in self.roots.iter().enumerate() {
            if self.rows[root] != n_inputs + k {
                let copy =
                    Instruction { out: n_inputs + k, ..Instruction::new(Op::Copy, [self.rows[root], 0, 0]) };
                self.instructions.push(copy);
            }
        }
        Code {
            instructions: self.instructions,
            numbers: self.numbers,
            n_inputs,
            n_outputs: self.roots.len(),
            n_rows: self.n_rows,
        }
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

    /// Finds what sums do in passing, and with it what is not computed by itself: a product that is read once, by the
    /// sum, and another sum of a multiple that is read once, by a sum of a multiple.
    fn plan(&mut self, order: &[Id]) {
        for &id in order {
            let Node::Add(a, b) = self.graph.node(id) else { continue };
            let once = |id: Id| self.uses[id.index()] == 1;
            let product = |id: Id| once(id) && matches!(self.graph.node(id), Node::Multiply(..));
            let Some((product, other)) = [(b, a), (a, b)].into_iter().find(|&(id, _)| product(id)) else {
                continue;
            };
            let pair = self.multiple(product).is_some()
                && once(other)
                && matches!(self.sums.get(&other), Some(sum) if !sum.pair && self.multiple(sum.product).is_some());
            self.passed_over[product.index()] = true;
            self.passed_over[other.index()] |= pair;
            self.sums.insert(id, Sum { product, other, pair });
        }
    }

    /// A product with a number, as its other factor and the number.
    fn multiple(&self, product: Id) -> Option<(Id, f64)> {
        let Node::Multiply(a, b) = self.graph.node(product) else { return None };
        Some((a, self.graph.value(b)?))
    }

    fn emit(&mut self, id: Id) {
        match self.graph.node(id) {
            Node::Input(_) => {}
            Node::Constant(value) => {
                // Only a root has a row already; most other numbers go into the instructions that use them.
                if let Some(&row) = self.rows.get(&id) {
                    self.numbers.push((row, value));
                }
            }
            Node::Add(a, b) => {
                match (self.sums.get(&id).copied(), self.graph.value(a), self.graph.value(b)) {
                    (Some(sum), ..) => self.emit_sum(id, sum),
                    (_, Some(k), _) => self.unary(Op::AddNumber, id, b, k),
                    (.., Some(k)) => self.unary(Op::AddNumber, id, a, k),
                    _ => self.binary(Op::Add, id, a, b),
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

    fn emit_sum(&mut self, id: Id, Sum { product, other, pair }: Sum) {
        if pair {
            let inner = self.sums[&other];
            let multiples = self.multiple(product).zip(self.multiple(inner.product));
            let ((a, k), (b, l)) = multiples.expect("pairs are of multiples");
            let rows = [self.row(a), self.row(b), self.row(inner.other)];
            let instruction = Instruction { k, l, ..Instruction::new(Op::ScaleAddTwice, rows) };
            return self.write(instruction, id, &[a, b, inner.other]);
        }
        let Node::Multiply(a, b) = self.graph.node(product) else { unreachable!("a product was planned") };
        let third = self.row(other);
        match self.graph.value(b) {
            Some(-1.0) => {
                let rows = [third, self.row(a), 0];
                self.write(Instruction::new(Op::Subtract, rows), id, &[a, other]);
            }
            Some(k) => {
                let rows = [self.row(a), 0, third];
                self.write(Instruction { k, ..Instruction::new(Op::ScaleAdd, rows) }, id, &[a, other]);
            }
            None => {
                let rows = [self.row(a), self.row(b), third];
                self.write(Instruction::new(Op::MultiplyAdd, rows), id, &[a, b, other]);
            }
        }
    }

    fn unary(&mut self, op: Op, id: Id, a: Id, k: f64) {
        let rows = [self.row(a), 0, 0];
        self.write(Instruction { k, ..Instruction::new(op, rows) }, id, &[a]);
    }

    fn binary(&mut self, op: Op, id: Id, a: Id, b: Id) {
        let rows = [self.row(a), self.row(b), 0];
        self.write(Instruction::new(op, rows), id, &[a, b]);
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
    fn write(&mut self, instruction: Instruction, id: Id, operands: &[Id]) {
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
        self.instructions.push(Instruction { out, ..instruction });
    }

    fn new_row(&mut self) -> usize {
        self.n_rows += 1;
        self.n_rows - 1
    }
}
