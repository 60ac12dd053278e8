//! The rows of a regression: library at both ends, target and weight of the steps of one block, and their products.

use ndarray::Array1;

use super::block::{Combined, STEPS, StepBlock, Stretch, Values};
use super::distinct::Distinct;
use super::products::{GROUP, Rows, STRIDE, Shape, View, add_line, add_outer, add_product, dot};
use super::sums::Products;
use super::targets::{Regression, StepScheme, Target, Weights, step_targets, step_weights};
use crate::path::Path;
use crate::program::Extended;

const ONES: [f64; STEPS] = [1.0; STEPS];

/// Library at the start and the end, target and weight of the usable steps of one block, one row per term.
pub(crate) struct StepRows<'r, 'a, 'd> {
    regression: &'r Regression<'a>,
    /// Where distinct products are summed; the library is then the first of the rows that are evaluated.
    distinct: Option<Distinct<'a>>,
    /// Number of terms.
    k: usize,
    dt_mean: f64,
    pub block: StepBlock<'d>,
    /// Whether each usable step ends where the next one starts.
    neighbours: bool,
    /// Whether the library is read where it was evaluated: the block is whole.
    in_place: bool,
    library: Values<'a>,
    drift: Option<Combined<'a>>,
    gamma: Option<Combined<'a>>,
    usable: Vec<usize>,
    left: Rows,
    right: Rows,
    weighted: Rows,
    y: Rows,
    weighted_y: Rows,
    w: Vec<f64>,
    /// A line that is not asked for.
    unused: Array1<f64>,
}

impl<'r, 'a, 'd> StepRows<'r, 'a, 'd> {
    pub fn new(
        regression: &'r Regression<'a>,
        squares: Option<&'a Extended>,
        paths: &[Path<'d>],
        dt_mean: f64,
    ) -> Self {
        let k = regression.program.n_outputs();
        let program = squares.map_or(regression.program, |extended| &extended.program);
        let n_rows = program.n_outputs();
        let drift = match regression.target {
            Target::Diffusion { drift, .. } => drift.map(Combined::new),
            Target::Drift(_) => None,
        };
        let gamma = match regression.weights {
            Weights::Variance { gamma, .. } => Some(Combined::new(gamma)),
            _ => None,
        };
        Self {
            regression,
            distinct: squares.map(|extended| Distinct::new(&extended.squares)),
            k,
            dt_mean,
            block: StepBlock::new(paths[0]),
            neighbours: false,
            in_place: false,
            library: Values::new(program),
            drift,
            gamma,
            usable: Vec::with_capacity(STEPS),
            left: Rows::new(n_rows),
            right: Rows::new(n_rows),
            weighted: Rows::new(k),
            y: Rows::new(1),
            weighted_y: Rows::new(1),
            w: vec![0.0; STEPS],
            unused: Array1::zeros(k),
        }
    }

    pub fn load(&mut self, paths: &[Path<'d>], stretch: Stretch) {
        self.block.load(paths, stretch);
        self.library.evaluate(&self.block);
        let steps = stretch.steps;
        let fitted = self.drift.as_mut().map(|drift| {
            drift.evaluate(&self.block);
            [drift.row(0), drift.row(1)]
        });
        let y = &mut self.y.row_mut(0)[..steps];
        if let Some(given) = self.regression.given {
            let own = given[stretch.path].iter().skip(stretch.start);
            y.iter_mut().zip(own).for_each(|(y, given)| *y = *given);
        } else {
            step_targets(&self.block, fitted, &self.regression.target, self.regression.scheme, y);
        }
        let mut predicted: Vec<&[f64]> = Vec::new();
        if let Some(gamma) = self.gamma.as_mut() {
            gamma.evaluate(&self.block);
            predicted.extend((0..gamma.n_rows()).map(|q| gamma.row(q)));
        }
        let weights = &self.regression.weights;
        step_weights(
            &self.block,
            &predicted,
            self.dt_mean,
            &self.regression.target,
            weights,
            &mut self.w[..steps],
        );
        self.usable.clear();
        if self.block.whole() {
            self.usable.extend(0..steps);
        } else {
            self.usable.extend((0..steps).filter(|&n| self.block.seen(n) && self.block.seen(n + 1)));
        }
        self.gather();
    }

    /// Copies the usable steps side by side.
    fn gather(&mut self) {
        let n_usable = self.usable.len();
        if n_usable < self.block.steps {
            let y = self.y.row_mut(0);
            for (p, &n) in self.usable.iter().enumerate() {
                (y[p], self.w[p]) = (y[n], self.w[n]);
            }
        }
        self.y.cut(n_usable);
        self.neighbours = n_usable == self.block.steps;
        self.in_place = self.neighbours && n_usable.is_multiple_of(GROUP) && self.library.stride() == STRIDE;
        if self.in_place {
            return;
        }
        for k in 0..self.library.n_terms() {
            let u = self.library.term(k);
            self.left.set(k, self.usable.iter().map(|&n| u[n]));
            if self.regression.scheme == StepScheme::Trapezoid {
                self.right.set(k, self.usable.iter().map(|&n| u[n + 1]));
            }
        }
    }

    /// Empties the rows, to be filled by [`StepRows::accumulate`].
    pub fn clear(&mut self) {
        self.usable.clear();
        (self.neighbours, self.in_place) = (false, false);
        self.w.fill(0.0);
        [&mut self.left, &mut self.right, &mut self.y].into_iter().for_each(Rows::clear);
    }

    /// Adds the rows of one path, step by step.
    pub fn accumulate(&mut self, one: &StepRows<'_, '_, '_>, count: &mut [f64]) {
        for (p, &n) in one.usable.iter().enumerate() {
            self.w[n] += one.w[p];
            count[n] += 1.0;
        }
        let [left, right] = ends(one.in_place, &one.library, &one.left, &one.right);
        self.y.add_at(one.y.view(), &one.usable);
        self.left.add_at(left, &one.usable);
        self.right.add_at(right, &one.usable);
    }

    /// Turns sums over `count` paths into means and drops the steps that no path has.
    pub fn divide(&mut self, count: &[f64]) {
        self.usable.extend((0..STEPS).filter(|&n| count[n] > 0.0));
        for (p, &n) in self.usable.iter().enumerate() {
            self.w[p] = self.w[n] / count[n];
        }
        [&mut self.y, &mut self.left, &mut self.right]
            .into_iter()
            .for_each(|rows| rows.divide_at(count, &self.usable));
    }

    /// Adds the products of the block: `w L L^T`, with the trapezoid `w L R^T` and `w R R^T`, if these are wanted, and
    /// those with the target.
    ///
    /// Where all weights are equal and no step is left out, `w R R^T` is `w L L^T` but for the first and the last sample.
    pub fn add_products(&mut self, sums: &mut Products) {
        let (n, trapezoid) = (self.usable.len(), self.regression.scheme == StepScheme::Trapezoid);
        if n == 0 {
            return;
        }
        let (y, w) = (&self.y.row(0)[..n], &self.w[..n]);
        sums.n += n as u64;
        sums.target[1] += dot(y, &ONES[..n]);
        self.weighted_y.set(0, w.iter().zip(y).map(|(w, y)| w * y));
        sums.target[0] += dot(&self.weighted_y.row(0)[..n], y);
        let target = self.weighted_y.view();
        let even = self.neighbours && w.iter().fold(true, |even, weight| even & (*weight == w[0]));
        let plain = even && w[0] == 1.0;
        let k = self.k;
        let rows = ends(self.in_place, &self.library, &self.left, &self.right);
        let [left, right] = rows.map(|rows| rows.first(k));
        if !self.regression.squares {
            add_line(left, target, n, &mut sums.start_line);
            if trapezoid {
                add_line(right, target, n, &mut sums.end_line);
            }
            return;
        }
        // Distinct products weigh what they are made of.
        let unweighted = plain || (self.distinct.is_some() && !trapezoid);
        let weighted = if unweighted { left } else { self.weighted.weigh(left, 0..k, w) };
        let [of_even, of_start, of_end] = &mut sums.distinct;
        if let Some(distinct) = &mut self.distinct {
            distinct.add(rows[0], w, even, if even { of_even } else { of_start });
            add_line(left, target, n, &mut sums.start_line);
        } else {
            let out = if even { &mut sums.even } else { &mut sums.start };
            add_product(weighted, left, target, n, Shape::Symmetric, out, &mut sums.start_line);
        }
        if !trapezoid {
            return;
        }
        add_product(weighted, right, target, n, Shape::General, &mut sums.across, &mut sums.end_line);
        if even {
            add_outer(right, n - 1, w[0], &mut sums.end);
            add_outer(left, 0, -w[0], &mut sums.end);
        } else if let Some(distinct) = &mut self.distinct {
            distinct.add(rows[1], w, false, of_end);
        } else {
            let weighted = self.weighted.weigh(right, 0..k, w);
            // The line is there already.
            add_product(weighted, right, target, n, Shape::Symmetric, &mut sums.end, &mut self.unused);
        }
    }
}

/// Library at the start and at the end of the usable steps: where it was evaluated, or gathered.
fn ends<'v>(in_place: bool, library: &'v Values<'_>, left: &'v Rows, right: &'v Rows) -> [View<'v>; 2] {
    if in_place {
        [0, 1].map(|shift| View::new(library.n_terms(), &library.terms()[shift..]))
    } else {
        [left.view(), right.view()]
    }
}
