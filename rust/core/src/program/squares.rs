//! The distinct products of a program's outputs, two and two. Those of monomials are few: of two inputs up to degree 6,
//! 28 outputs with 406 pairs, 91 of them differ.
//!
//! Each output is a number times a product of powers of factors. With some factors set apart, a distinct product is a
//! *base*, free of them, times a *column*, made of them alone: so the sums of all distinct products are dot products of few
//! rows.

use std::collections::{BTreeMap, HashMap};

use super::graph::{Function, Graph, Id, Node};

/// What a row that is no output costs, in products that it saves: it is read, computed and stored.
const ROW: usize = 4;

/// A factor of an output: a node, or the sign of one, of which `|x| = sgn(x) x` is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Factor {
    Node(Id),
    Sign(Id),
}

/// Powers of factors, in order.
type Powers = Vec<(Factor, u32)>;

/// Which products of outputs differ, and rows that make them.
#[derive(Debug, Clone)]
pub(crate) struct Squares {
    /// Outputs, and behind them what else is needed.
    pub n_rows: usize,
    /// Number of distinct products.
    pub n_distinct: usize,
    /// Of outputs `i <= j`, row by row, which distinct product and how many times.
    pub of_pair: Vec<(usize, f64)>,
    /// Outputs that are the bases.
    pub bases: Vec<usize>,
    /// All dot products.
    pub strips: Vec<Strip>,
}

/// Dot products of one base or two with some columns.
#[derive(Debug, Clone)]
pub(crate) struct Strip {
    /// Numbers of the bases, the same one twice where it stands alone.
    pub bases: [usize; 2],
    /// Outputs that are the columns.
    pub columns: Vec<usize>,
    /// Which distinct product each base makes with each column, if any.
    pub places: Vec<[Option<usize>; 2]>,
}

impl Squares {
    /// The distinct products of `roots`, where it is less work to sum them than to sum those of all pairs; with it the
    /// graph of the rows, and the rows.
    pub fn of(graph: &Graph, roots: &[Id]) -> Option<(Self, Graph, Vec<Id>)> {
        let outputs: Vec<(f64, Powers)> =
            roots.iter().map(|&root| monomial(graph, root)).collect::<Option<_>>()?;
        let k = outputs.len();
        let (mut numbers, mut of_pair) = (HashMap::new(), Vec::with_capacity(k * (k + 1) / 2));
        for (i, (left, first)) in outputs.iter().enumerate() {
            for (right, second) in &outputs[i..] {
                let next = numbers.len();
                of_pair.push((*numbers.entry(product(first, second)).or_insert(next), left * right));
            }
            if 2 * numbers.len() > k * (k + 1) / 2 {
                return None;
            }
        }
        let mut factors: Vec<Factor> = numbers.keys().flatten().map(|&(factor, _)| factor).collect();
        factors.sort_unstable();
        factors.dedup();
        // One factor more is set apart as long as that makes it less work.
        let (mut apart, mut best): (Vec<Factor>, Option<(usize, Plan)>) = (Vec::new(), None);
        loop {
            let rest = factors.iter().filter(|factor| !apart.contains(factor));
            let plans = rest.map(|&factor| {
                let plan = Plan::new(&numbers, [apart.as_slice(), &[factor]].concat());
                (plan.cost(graph, roots), plan)
            });
            let Some((cost, plan)) = plans.min_by_key(|&(cost, _)| cost) else { break };
            if best.as_ref().is_some_and(|&(least, _)| least <= cost) {
                break;
            }
            apart.clone_from(&plan.apart);
            best = Some((cost, plan));
        }
        let (cost, plan) = best?;
        (cost < of_pair.len()).then(|| plan.carried_out(graph.clone(), roots, numbers.len(), of_pair))
    }
}

/// A base with its columns, and the distinct product that it makes with each.
type Based = (Powers, BTreeMap<Powers, usize>);

/// Rows and strips for one choice of the factors that are set apart.
struct Plan {
    apart: Vec<Factor>,
    bases: Vec<Based>,
}

impl Plan {
    fn new(numbers: &HashMap<Powers, usize>, apart: Vec<Factor>) -> Self {
        let mut bases: BTreeMap<Powers, BTreeMap<Powers, usize>> = BTreeMap::new();
        for (powers, &number) in numbers {
            let (column, base) = powers.iter().partition(|(factor, _)| apart.contains(factor));
            bases.entry(base).or_default().insert(column, number);
        }
        let mut bases: Vec<_> = bases.into_iter().collect();
        // Neighbours share a strip: those with the same columns, or nearly so.
        bases.sort_by(|(_, a), (_, b)| b.len().cmp(&a.len()).then_with(|| a.keys().cmp(b.keys())));
        Self { apart, bases }
    }

    /// The columns of one base or several.
    fn columns(bases: &[Based]) -> Vec<&Powers> {
        let mut columns: Vec<&Powers> = bases.iter().flat_map(|(_, columns)| columns.keys()).collect();
        columns.sort_unstable();
        columns.dedup();
        columns
    }

    /// Products of vectors that it takes, and what the rows cost.
    fn cost(&self, graph: &Graph, roots: &[Id]) -> usize {
        let rows = self.rows(&mut graph.clone(), roots);
        let products: usize = self.bases.chunks(2).map(|pair| pair.len() * Self::columns(pair).len()).sum();
        products + ROW * (rows.0.len() - roots.len())
    }

    /// The outputs and what else is needed; which are the bases, and which the columns.
    fn rows(&self, graph: &mut Graph, roots: &[Id]) -> (Vec<Id>, Vec<usize>, HashMap<&Powers, usize>) {
        let (mut all, mut known) = (roots.to_vec(), HashMap::new());
        for (number, &root) in roots.iter().enumerate() {
            known.entry(root).or_insert(number);
        }
        let mut row = |powers: &Powers| {
            let id = node(graph, powers);
            *known.entry(id).or_insert_with(|| {
                all.push(id);
                all.len() - 1
            })
        };
        let bases = self.bases.iter().map(|(base, _)| row(base)).collect();
        let columns = Self::columns(&self.bases).into_iter().map(|column| (column, row(column))).collect();
        (all, bases, columns)
    }

    fn carried_out(
        &self,
        mut graph: Graph,
        roots: &[Id],
        n_distinct: usize,
        of_pair: Vec<(usize, f64)>,
    ) -> (Squares, Graph, Vec<Id>) {
        let (rows, bases, numbers) = self.rows(&mut graph, roots);
        let strips = self.bases.chunks(2).enumerate().map(|(number, pair)| {
            let columns = Self::columns(pair);
            let place = |which: usize, column| pair.get(which).and_then(|(_, of)| of.get(column)).copied();
            Strip {
                bases: [2 * number, 2 * number + pair.len() - 1],
                columns: columns.iter().map(|column| numbers[column]).collect(),
                places: columns.iter().map(|column| [0, 1].map(|which| place(which, *column))).collect(),
            }
        });
        let squares = Squares { n_rows: rows.len(), n_distinct, of_pair, bases, strips: strips.collect() };
        (squares, graph, rows)
    }
}

/// A node as a number times powers of factors; `None` where the number is zero or not finite.
fn monomial(graph: &Graph, root: Id) -> Option<(f64, Powers)> {
    let (number, factors) = graph.factors(root);
    let mut powers = Powers::new();
    for id in factors {
        match graph.node(id) {
            Node::Call(Function::Sgn, of) => powers = product(&powers, &[(Factor::Sign(of), 1)]),
            Node::Call(Function::Abs, of) => {
                let of = [(Factor::Node(of), 1), (Factor::Sign(of), 1)];
                powers = product(&powers, &of);
            }
            _ => powers = product(&powers, &[(Factor::Node(id), 1)]),
        }
    }
    (number != 0.0 && number.is_finite()).then_some((number, powers))
}

/// The product of two; of signs `s^3 = s`, and `s^2 x = x` where `s` is that of `x`.
fn product(a: &[(Factor, u32)], b: &[(Factor, u32)]) -> Powers {
    let mut powers: BTreeMap<Factor, u32> = a.iter().copied().collect();
    for &(factor, power) in b {
        *powers.entry(factor).or_default() += power;
    }
    let present: Vec<Factor> = powers.keys().copied().collect();
    for (factor, power) in &mut powers {
        if let Factor::Sign(of) = factor
            && *power > 1
        {
            *power = if *power % 2 == 1 { 1 } else { 2 };
            if *power == 2 && present.binary_search(&Factor::Node(*of)).is_ok() {
                *power = 0;
            }
        }
    }
    powers.into_iter().filter(|&(_, power)| power > 0).collect()
}

/// The node of a product.
fn node(graph: &mut Graph, powers: &[(Factor, u32)]) -> Id {
    let mut whole = graph.one();
    for &(factor, power) in powers {
        let factor = match factor {
            Factor::Node(id) => id,
            Factor::Sign(of) => graph.call(Function::Sgn, of),
        };
        whole = (0..power).fold(whole, |lower, _| graph.multiply(lower, factor));
    }
    whole
}

#[cfg(test)]
mod tests {
    use crate::program::{Extended, Program};

    const DEGREE: usize = 6;

    fn monomials() -> Vec<String> {
        let both = (0..=DEGREE).flat_map(|total| (0..=total).map(move |a| (total - a, a)));
        both.map(|(a, b)| format!("x^{a} y^{b}")).collect()
    }

    #[test]
    fn monomials_of_two_inputs_have_91_products() {
        let program = Program::new(&monomials(), &["x", "y"]).unwrap();
        let Extended { program: extended, squares } = program.squares().unwrap();
        assert_eq!((program.n_outputs(), squares.of_pair.len(), squares.n_distinct), (28, 406, 91));
        // Six more powers of each.
        assert_eq!((squares.n_rows, extended.n_outputs()), (28 + 12, 28 + 12));
    }

    #[test]
    fn distinct_products_make_those_of_all_pairs() {
        let mut texts = monomials();
        let more =
            ["sgn(x)", "|x|", "y |x|", "|y|", "x|y|", "y|y|", "sgn(y)", "-2 x", "sin(x)", "|x - 1|", "x|x|"];
        texts.extend(more.map(String::from));
        let program = Program::new(&texts, &["x", "y"]).unwrap();
        let Extended { program: extended, squares } = program.squares().unwrap();
        assert!(2 * squares.n_distinct < squares.of_pair.len());
        for (x, y) in [(0.7, -1.3), (0.0, 2.0), (-0.4, 0.0), (1.0, 0.3)] {
            let at = |program: &Program| -> Vec<f64> {
                let mut scratch = program.scratch(8);
                scratch.input_mut(0).fill(x);
                scratch.input_mut(1).fill(y);
                program.run(&mut scratch);
                (0..program.n_outputs()).map(|k| scratch.output(k)[3]).collect()
            };
            let (u, rows) = (at(&program), at(extended));
            assert_eq!(u, rows[..u.len()]);
            let mut distinct = vec![f64::NAN; squares.n_distinct];
            for strip in &squares.strips {
                for (&column, places) in strip.columns.iter().zip(&strip.places) {
                    for (base, place) in strip.bases.into_iter().zip(places) {
                        if let Some(place) = *place {
                            distinct[place] = rows[squares.bases[base]] * rows[column];
                        }
                    }
                }
            }
            let mut pairs = squares.of_pair.iter();
            for i in 0..u.len() {
                for j in i..u.len() {
                    let &(place, number) = pairs.next().unwrap();
                    let (found, wanted) = (number * distinct[place], u[i] * u[j]);
                    assert!((found - wanted).abs() <= 1e-14 * wanted.abs(), "{} {}", texts[i], texts[j]);
                }
            }
        }
    }

    #[test]
    fn other_libraries_are_left_alone() {
        for texts in [vec!["x", "y"], vec!["sin(x)", "cos(x)", "exp(y)", "x"], vec!["0", "x"]] {
            assert!(Program::new(&texts, &["x", "y"]).unwrap().squares().is_none(), "{texts:?}");
        }
    }
}
