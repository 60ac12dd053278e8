//! Symbolic derivatives on the graph; what they share with the expressions themselves stays shared.

use super::graph::{Function, Graph, Id, Node};

impl Graph {
    /// Derivative of a node by an input. `d|x| = sgn(x)` and `d sgn(x) = 0`, also at 0.
    pub fn derivative(&mut self, of: Id, input: usize) -> Id {
        if let Some(&known) = self.derivatives.get(&(of, input)) {
            return known;
        }
        for id in self.reachable(&[of], |graph, id| !graph.derivatives.contains_key(&(id, input))) {
            let derivative = self.differentiate(id, input);
            self.derivatives.insert((id, input), derivative);
        }
        self.derivatives[&(of, input)]
    }

    /// The wanted nodes under `roots`, children before parents; nothing is looked for below an unwanted node.
    pub fn reachable(&self, roots: &[Id], wanted: impl Fn(&Self, Id) -> bool) -> Vec<Id> {
        let mut found = Vec::new();
        let mut seen = vec![false; self.len()];
        let mut stack = roots.to_vec();
        while let Some(id) = stack.pop() {
            if !std::mem::replace(&mut seen[id.index()], true) && wanted(self, id) {
                found.push(id);
                stack.extend(self.node(id).children());
            }
        }
        found.sort_unstable();
        found
    }

    /// One step of the chain rule; the derivatives of the children are known.
    fn differentiate(&mut self, id: Id, input: usize) -> Id {
        let zero = self.zero();
        match self.node(id) {
            Node::Constant(_) => zero,
            Node::Input(i) => {
                if i as usize == input {
                    self.one()
                } else {
                    zero
                }
            }
            Node::Add(a, b) => {
                let (da, db) = (self.derivatives[&(a, input)], self.derivatives[&(b, input)]);
                self.add(da, db)
            }
            Node::Multiply(a, b) => {
                let (da, db) = (self.derivatives[&(a, input)], self.derivatives[&(b, input)]);
                let (left, right) = (self.multiply(da, b), self.multiply(a, db));
                self.add(left, right)
            }
            Node::Divide(a, b) => {
                // d(a/b) = (da - (a/b) db) / b
                let (da, db) = (self.derivatives[&(a, input)], self.derivatives[&(b, input)]);
                let change = self.multiply(id, db);
                let numerator = self.subtract(da, change);
                self.divide(numerator, b)
            }
            Node::Power(a, b) => {
                // d(a^b) = b a^(b-1) da + a^b log(a) db
                let (da, db) = (self.derivatives[&(a, input)], self.derivatives[&(b, input)]);
                let mut derivative = zero;
                if da != zero {
                    let lower = self.subtract(b, self.one());
                    let power = self.power(a, lower);
                    let slope = self.multiply(b, power);
                    derivative = self.multiply(slope, da);
                }
                if db != zero {
                    let log = self.call(Function::Log, a);
                    let slope = self.multiply(id, log);
                    let change = self.multiply(slope, db);
                    derivative = self.add(derivative, change);
                }
                derivative
            }
            Node::Call(function, a) => {
                let da = self.derivatives[&(a, input)];
                if da == zero {
                    return zero;
                }
                let slope = self.slope(function, a, id);
                self.multiply(slope, da)
            }
        }
    }

    /// Derivative of `function` at `a`, where its value is `value`.
    fn slope(&mut self, function: Function, a: Id, value: Id) -> Id {
        let one = self.one();
        match function {
            Function::Abs => self.call(Function::Sgn, a),
            Function::Cos => {
                let sin = self.call(Function::Sin, a);
                self.negate(sin)
            }
            Function::Cosh => self.call(Function::Sinh, a),
            Function::Exp => value,
            Function::Log => self.divide(one, a),
            Function::Sgn => self.zero(),
            Function::Sin => self.call(Function::Cos, a),
            Function::Sinh => self.call(Function::Cosh, a),
            Function::Sqrt => {
                let half = self.constant(0.5);
                self.divide(half, value)
            }
            Function::Tan => {
                let square = self.multiply(value, value);
                self.add(one, square)
            }
            Function::Tanh => {
                let square = self.multiply(value, value);
                self.subtract(one, square)
            }
        }
    }
}
