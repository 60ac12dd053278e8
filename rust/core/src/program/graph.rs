//! The graph: each distinct subexpression is one node, simplified and put in canonical order when it is made.
//!
//! Canonical form of a product is a chain of sorted factors with the constant last, `((x1 * x1) * x2) * 3`. So equal
//! products are equal nodes, and a monomial costs one multiplication once the next lower one is there.

use std::collections::{HashMap, HashSet};

/// Products of more factors than this are left as they were written.
const MAX_FACTORS: u32 = 128;
/// Integer powers up to this become products.
const MAX_POWER: f64 = 64.0;

/// A function of one argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Function {
    /// Absolute value; its derivative is the sign.
    Abs,
    /// Cosine.
    Cos,
    /// Hyperbolic cosine.
    Cosh,
    /// Exponential.
    Exp,
    /// Natural logarithm.
    Log,
    /// Sign, 0 at 0; its derivative is 0.
    Sgn,
    /// Sine.
    Sin,
    /// Hyperbolic sine.
    Sinh,
    /// Square root.
    Sqrt,
    /// Tangent.
    Tan,
    /// Hyperbolic tangent.
    Tanh,
}

impl Function {
    /// Names as they are written, in alphabetical order.
    pub const NAMES: [(&'static str, Self); 12] = [
        ("abs", Self::Abs),
        ("cos", Self::Cos),
        ("cosh", Self::Cosh),
        ("exp", Self::Exp),
        ("log", Self::Log),
        ("sgn", Self::Sgn),
        ("sign", Self::Sgn),
        ("sin", Self::Sin),
        ("sinh", Self::Sinh),
        ("sqrt", Self::Sqrt),
        ("tan", Self::Tan),
        ("tanh", Self::Tanh),
    ];

    /// The function called `name`.
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|&(_, function)| function)
    }

    /// Value at `x`.
    #[inline(always)]
    pub fn apply(self, x: f64) -> f64 {
        match self {
            Self::Abs => x.abs(),
            Self::Cos => x.cos(),
            Self::Cosh => x.cosh(),
            Self::Exp => x.exp(),
            Self::Log => x.ln(),
            Self::Sgn => sgn(x),
            Self::Sin => x.sin(),
            Self::Sinh => x.sinh(),
            Self::Sqrt => x.sqrt(),
            Self::Tan => x.tan(),
            Self::Tanh => x.tanh(),
        }
    }
}

/// Sign of `x`: 0 at 0, NaN at NaN.
#[inline(always)]
fn sgn(x: f64) -> f64 {
    let nonnegative = if x > 0.0 { 1.0 } else { x + 0.0 };
    if x < 0.0 { -1.0 } else { nonnegative }
}

/// `x ^ y`, NaN where either is: the standard has 1 for `NaN ^ 0` and `1 ^ NaN`.
#[inline(always)]
pub(super) fn power(x: f64, y: f64) -> f64 {
    if x.is_nan() || y.is_nan() { f64::NAN } else { x.powf(y) }
}

/// A node's place in its graph. Children are made before parents, so ids are in topological order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id(u32);

impl Id {
    /// Position in the order of making.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// One operation on the values of other nodes. Negation is multiplication by -1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Node {
    /// A number.
    Constant(f64),
    /// The input of this number.
    Input(u32),
    /// Sum, operands in order of id.
    Add(Id, Id),
    /// Product; the second factor is no product itself, and is the constant if there is one.
    Multiply(Id, Id),
    /// Quotient.
    Divide(Id, Id),
    /// General power.
    Power(Id, Id),
    /// Function value.
    Call(Function, Id),
}

impl Node {
    /// Nodes it is computed from.
    pub fn children(self) -> impl Iterator<Item = Id> {
        let (a, b) = match self {
            Self::Constant(_) | Self::Input(_) => (None, None),
            Self::Add(a, b) | Self::Multiply(a, b) | Self::Divide(a, b) | Self::Power(a, b) => {
                (Some(a), Some(b))
            }
            Self::Call(_, a) => (Some(a), None),
        };
        a.into_iter().chain(b)
    }

    /// What two equal nodes have in common.
    fn key(self) -> (u8, u64, u64) {
        let pair = |kind, a: Id, b: Id| (kind, u64::from(a.0), u64::from(b.0));
        match self {
            Self::Constant(value) => (0, value.to_bits(), 0),
            Self::Input(i) => (1, u64::from(i), 0),
            Self::Add(a, b) => pair(2, a, b),
            Self::Multiply(a, b) => pair(3, a, b),
            Self::Divide(a, b) => pair(4, a, b),
            Self::Power(a, b) => pair(5, a, b),
            Self::Call(function, a) => (6, function as u64, u64::from(a.0)),
        }
    }
}

/// Expressions over numbered inputs, common parts shared.
#[derive(Debug, Clone)]
pub struct Graph {
    nodes: Vec<Node>,
    /// Number of factors of each node that is a canonical product, else 1.
    n_factors: Vec<u32>,
    known: HashMap<(u8, u64, u64), Id>,
    n_inputs: usize,
    pub(super) derivatives: HashMap<(Id, usize), Id>,
}

impl Graph {
    /// A graph whose only nodes are `n_inputs` inputs and the numbers 0 and 1.
    pub fn new(n_inputs: usize) -> Self {
        let mut graph = Self {
            nodes: Vec::new(),
            n_factors: Vec::new(),
            known: HashMap::new(),
            n_inputs,
            derivatives: HashMap::new(),
        };
        for i in 0..n_inputs {
            graph.intern(Node::Input(i as u32));
        }
        graph.constant(0.0);
        graph.constant(1.0);
        graph
    }

    /// Number of inputs.
    pub fn n_inputs(&self) -> usize {
        self.n_inputs
    }

    /// Number of nodes made so far.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The operation of a node.
    pub fn node(&self, id: Id) -> Node {
        self.nodes[id.index()]
    }

    /// The number that a node is, if it is one.
    pub fn value(&self, id: Id) -> Option<f64> {
        if let Node::Constant(value) = self.node(id) { Some(value) } else { None }
    }

    /// The input of this number.
    pub fn input(&self, i: usize) -> Id {
        assert!(i < self.n_inputs, "input {i} of {}", self.n_inputs);
        Id(i as u32)
    }

    /// Calls `found` with each input that a node is computed from, some of them more than once.
    pub fn each_input(&self, root: Id, mut found: impl FnMut(usize)) {
        let (mut waiting, mut seen) = (vec![root], HashSet::from([root]));
        while let Some(id) = waiting.pop() {
            if let Node::Input(i) = self.node(id) {
                found(i as usize);
            }
            waiting.extend(self.node(id).children().filter(|&child| seen.insert(child)));
        }
    }

    /// The number 0.
    pub fn zero(&self) -> Id {
        Id(self.n_inputs as u32)
    }

    /// The number 1.
    pub fn one(&self) -> Id {
        Id(self.n_inputs as u32 + 1)
    }

    /// A number.
    pub fn constant(&mut self, value: f64) -> Id {
        // Adding 0 turns -0 into 0, so that there is one zero.
        self.intern(Node::Constant(value + 0.0))
    }

    /// `a + b`; multiples of the same node are collected.
    pub fn add(&mut self, a: Id, b: Id) -> Id {
        if a == self.zero() {
            return b;
        }
        if b == self.zero() {
            return a;
        }
        let ((of_a, base_a), (of_b, base_b)) = (self.scaled(a), self.scaled(b));
        if base_a == base_b {
            return self.scale(base_a, of_a + of_b);
        }
        self.intern(Node::Add(a.min(b), a.max(b)))
    }

    /// `-a`.
    pub fn negate(&mut self, a: Id) -> Id {
        let (of_a, base) = self.scaled(a);
        self.scale(base, -of_a)
    }

    /// `a - b`.
    pub fn subtract(&mut self, a: Id, b: Id) -> Id {
        let negative = self.negate(b);
        self.add(a, negative)
    }

    /// `a * b`.
    pub fn multiply(&mut self, a: Id, b: Id) -> Id {
        let ((of_a, base_a), (of_b, base_b)) = (self.scaled(a), self.scaled(b));
        let factor = of_a * of_b;
        let numbers = self.value(a).is_some() && self.value(b).is_some();
        if !(numbers || of_a == 0.0 || of_b == 0.0 || factor.is_normal()) {
            // The constants overflow together though the whole product need not.
            let (a, b) = if self.value(a).is_some() { (b, a) } else { (a, b) };
            return self.intern(Node::Multiply(a, b));
        }
        let product = self.product(base_a, base_b);
        self.scale(product, factor)
    }

    /// `a / b`.
    pub fn divide(&mut self, a: Id, b: Id) -> Id {
        if let Some(divisor) = self.value(b) {
            if let Some(dividend) = self.value(a) {
                return self.constant(dividend / divisor);
            }
            let reciprocal = divisor.recip();
            // The reciprocal of a power of two is exact, and multiplication is cheaper.
            if divisor.is_normal() && reciprocal.is_normal() && divisor.to_bits() << 12 == 0 {
                let reciprocal = self.constant(reciprocal);
                return self.multiply(a, reciprocal);
            }
        }
        let (of_a, base) = self.scaled(a);
        if base == self.one() {
            return if of_a == 0.0 { a } else { self.intern(Node::Divide(a, b)) };
        }
        let quotient = self.intern(Node::Divide(base, b));
        self.scale(quotient, of_a)
    }

    /// `base ^ exponent`: small integer exponents by multiplication, 1/2 by the square root, others in general.
    pub fn power(&mut self, base: Id, exponent: Id) -> Id {
        match (self.value(base), self.value(exponent)) {
            (Some(x), Some(y)) => self.constant(power(x, y)),
            (_, Some(y)) if y.fract() == 0.0 && y.abs() <= MAX_POWER => self.integer_power(base, y as i32),
            (_, Some(0.5)) => self.call(Function::Sqrt, base),
            _ => self.intern(Node::Power(base, exponent)),
        }
    }

    fn integer_power(&mut self, base: Id, n: i32) -> Id {
        let one = self.one();
        let positive = (0..n.unsigned_abs()).fold(one, |lower, _| self.multiply(lower, base));
        if n < 0 { self.divide(one, positive) } else { positive }
    }

    /// A function of a node.
    pub fn call(&mut self, function: Function, a: Id) -> Id {
        match (self.value(a), function, self.node(a)) {
            (Some(x), ..) => self.constant(function.apply(x)),
            // The root of a square is a magnitude, whose derivative is known at 0.
            (None, Function::Sqrt, Node::Multiply(x, y)) if x == y => self.call(Function::Abs, x),
            _ => self.intern(Node::Call(function, a)),
        }
    }

    /// A node as `(c, base)` with value `c * base`, no constant factor being left in `base`; a number is `(c, 1)`.
    fn scaled(&self, id: Id) -> (f64, Id) {
        match self.node(id) {
            Node::Constant(value) => (value, self.one()),
            Node::Multiply(base, factor) => match self.value(factor) {
                Some(value) => (value, base),
                None => (1.0, id),
            },
            _ => (1.0, id),
        }
    }

    /// `c * base` for a base without constant factor.
    fn scale(&mut self, base: Id, c: f64) -> Id {
        if c == 0.0 {
            self.zero()
        } else if c == 1.0 {
            base
        } else {
            let factor = self.constant(c);
            if base == self.one() { factor } else { self.intern(Node::Multiply(base, factor)) }
        }
    }

    /// Canonical product of two nodes without constant factors.
    fn product(&mut self, a: Id, b: Id) -> Id {
        if a == self.one() {
            return b;
        }
        if b == self.one() {
            return a;
        }
        if self.n_factors[a.index()] + self.n_factors[b.index()] > MAX_FACTORS {
            return self.intern(Node::Multiply(a.min(b), a.max(b)));
        }
        let mut factors = Vec::new();
        self.gather(a, &mut factors);
        self.gather(b, &mut factors);
        factors.sort_unstable();
        let mut product = factors[0];
        for (n, &factor) in (2..).zip(&factors[1..]) {
            product = self.intern(Node::Multiply(product, factor));
            self.n_factors[product.index()] = n;
        }
        product
    }

    /// Appends the factors of a canonical product.
    fn gather(&self, mut id: Id, factors: &mut Vec<Id>) {
        while self.n_factors[id.index()] > 1 {
            let Node::Multiply(rest, factor) = self.node(id) else {
                unreachable!("only products have factors")
            };
            factors.push(factor);
            id = rest;
        }
        factors.push(id);
    }

    /// A node as a number times factors that are no canonical products themselves; of 1 there are none.
    pub fn factors(&self, id: Id) -> (f64, Vec<Id>) {
        let (number, base) = self.scaled(id);
        let mut factors = Vec::new();
        if base != self.one() {
            self.gather(base, &mut factors);
        }
        (number, factors)
    }

    fn intern(&mut self, node: Node) -> Id {
        let next = Id(u32::try_from(self.nodes.len()).expect("fewer than 2^32 nodes"));
        let id = *self.known.entry(node.key()).or_insert(next);
        if id == next {
            self.nodes.push(node);
            self.n_factors.push(1);
        }
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_of_a_square_is_a_magnitude() {
        let mut graph = Graph::new(2);
        let (x, y) = (graph.input(0), graph.input(1));
        let size = graph.call(Function::Abs, x);
        let (square, product, two) = (graph.multiply(x, x), graph.multiply(x, y), graph.constant(2.0));
        assert_eq!(graph.call(Function::Sqrt, square), size);
        let half = graph.constant(0.5);
        let raised = graph.power(x, two);
        assert_eq!(graph.power(raised, half), size);
        assert_ne!(graph.call(Function::Sqrt, product), size);
    }
}
