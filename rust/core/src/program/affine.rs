//! Which roots of a graph are affine in the inputs, and their coefficients.

use super::graph::{Graph, Id, Node};

impl Graph {
    /// Of each root that is affine by its form its value at the origin and its slopes, `1 + m` numbers.
    pub fn affine(&self, roots: &[Id]) -> Vec<Option<Vec<f64>>> {
        let m = self.n_inputs();
        let mut forms: Vec<Option<Vec<f64>>> = vec![None; self.len()];
        for id in self.reachable(roots, |_, _| true) {
            let of = |id: Id| forms[id.index()].as_ref();
            let number = |value: f64| {
                let mut form = vec![0.0; 1 + m];
                form[0] = value;
                form
            };
            let scaled = |form: &Vec<f64>, factor: f64| form.iter().map(|x| factor * x).collect();
            let form = match self.node(id) {
                Node::Constant(value) => Some(number(value)),
                Node::Input(i) => {
                    let mut form = number(0.0);
                    form[1 + i as usize] = 1.0;
                    Some(form)
                }
                Node::Add(a, b) => {
                    of(a).zip(of(b)).map(|(a, b)| a.iter().zip(b).map(|(a, b)| a + b).collect())
                }
                Node::Multiply(a, b) => {
                    let factor = |one, other| Some(scaled(of(other)?, self.value(one)?));
                    factor(b, a).or_else(|| factor(a, b))
                }
                Node::Divide(a, b) => of(a).zip(self.value(b)).map(|(a, b)| scaled(a, 1.0 / b)),
                Node::Power(..) | Node::Call(..) => None,
            };
            forms[id.index()] = form.filter(|form| form.iter().all(|value| value.is_finite()));
        }
        roots.iter().map(|root| forms[root.index()].clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::program::Program;

    #[test]
    fn affine_outputs_are_told_from_others() {
        let texts =
            ["1", "x", "2 - 3 (y - x / 4)", "x y", "x^2 / x", "sgn(x)", "sin(0) + y", "x - x", "1 / 0 + x"];
        let found = Program::new(&texts, &["x", "y"]).unwrap().affine();
        let wanted = [
            Some(vec![1.0, 0.0, 0.0]),
            Some(vec![0.0, 1.0, 0.0]),
            Some(vec![2.0, 0.75, -3.0]),
            None,
            None,
            None,
            Some(vec![0.0, 0.0, 1.0]),
            Some(vec![0.0, 0.0, 0.0]),
            None,
        ];
        for (text, (found, wanted)) in texts.iter().zip(found.into_iter().zip(wanted)) {
            assert_eq!(found, wanted, "{text}");
        }
    }
}
