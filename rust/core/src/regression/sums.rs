//! The additive sums of a regression: those of two data sets add to those of both.

use std::ops::AddAssign;

use ndarray::{Array1, Array2};
use rayon::prelude::*;

use super::targets::StepScheme;
use crate::program::{Extended, Squares};

/// `Om = w L L^T, A = w L Lt^T, B = w Lt Lt^T, c = w L y, d = w Lt y, s = w y^2`, summed over `n` steps.
///
/// `L` is the instrument, the library at the start of a step; `Lt` the regressor. Sums of two data sets add to those of
/// both.
#[derive(Debug, Clone, PartialEq)]
pub struct Sums {
    /// Instruments with instruments, `(K, K)`.
    pub omega: Array2<f64>,
    /// Instruments (rows) with regressors (columns).
    pub cross: Array2<f64>,
    /// Regressors with regressors.
    pub inner: Array2<f64>,
    /// Instruments with the target, `(K,)`.
    pub c: Array1<f64>,
    /// Regressors with the target.
    pub d: Array1<f64>,
    /// Target with itself.
    pub s: f64,
    /// Sum of the targets, without weights.
    pub total: f64,
    /// Number of steps.
    pub n: u64,
}

impl Sums {
    /// Whether the products of the library and the target stayed in the finite range.
    pub(super) fn is_finite(&self) -> bool {
        self.s.is_finite()
            && [&self.omega, &self.cross, &self.inner].iter().all(|m| m.iter().all(|v| v.is_finite()))
            && self.d.iter().all(|v| v.is_finite())
    }
}

impl AddAssign<&Self> for Sums {
    fn add_assign(&mut self, other: &Self) {
        self.omega += &other.omega;
        self.cross += &other.cross;
        self.inner += &other.inner;
        self.c += &other.c;
        self.d += &other.d;
        self.s += other.s;
        self.total += other.total;
        self.n += other.n;
    }
}

/// Products of the library `L` at the start and `R` at the end of the steps, of which [`Sums`] are linear combinations.
#[derive(Debug, Clone)]
pub(super) struct Products {
    /// `w L L^T` of blocks whose `w R R^T` differs from it by first and last sample alone; of this and of the other
    /// symmetric ones the diagonal and what is above.
    pub even: Array2<f64>,
    /// `w L L^T` of other blocks.
    pub start: Array2<f64>,
    /// `w L R^T`.
    pub across: Array2<f64>,
    /// `w R R^T`, less what `even` has of it.
    pub end: Array2<f64>,
    /// What would be in `even`, `start` and `end`, where the products that differ are summed in place of those of all
    /// pairs of terms.
    pub distinct: [Array1<f64>; 3],
    /// `w L y`.
    pub start_line: Array1<f64>,
    /// `w R y`.
    pub end_line: Array1<f64>,
    /// `w y^2` and `y`.
    pub target: [f64; 2],
    /// Number of steps.
    pub n: u64,
}

/// Arrays that [`Products`] have.
const LINES: usize = 10;

impl Products {
    /// Products of no step with `k` terms, so many of them distinct where these are summed.
    pub fn zeros(k: usize, n_distinct: usize) -> Self {
        let (square, line) = (Array2::zeros((k, k)), Array1::zeros(k));
        Self {
            even: square.clone(),
            start: square.clone(),
            across: square.clone(),
            end: square,
            distinct: std::array::from_fn(|_| Array1::zeros(n_distinct)),
            start_line: line.clone(),
            end_line: line,
            target: [0.0; 2],
            n: 0,
        }
    }

    /// Those of no step.
    pub fn clear(&mut self) {
        self.lines_mut().into_iter().for_each(|line| line.fill(0.0));
        self.n = 0;
    }

    /// The sums that they make: `L` regresses itself with Euler's scheme, `(L + R) / 2` with the trapezoid.
    pub fn sums(mut self, scheme: StepScheme, squares: Option<&Extended>) -> Sums {
        if let Some(extended) = squares {
            self.spread(&extended.squares);
        }
        let (even, end) = (mirrored(&self.even), mirrored(&self.end));
        let omega = &even + &mirrored(&self.start);
        let [s, total] = self.target;
        let (cross, inner, d) = match scheme {
            StepScheme::Euler => (omega.clone(), omega.clone(), self.start_line.clone()),
            StepScheme::Trapezoid => (
                (&omega + &self.across) * 0.5,
                (&omega + &self.across + self.across.t() + &even + &end) * 0.25,
                (&self.start_line + &self.end_line) * 0.5,
            ),
        };
        Sums { omega, cross, inner, c: self.start_line, d, s, total, n: self.n }
    }

    /// Adds the distinct products to those of the pairs of terms that they are.
    fn spread(&mut self, squares: &Squares) {
        for (pairs, distinct) in
            [&mut self.even, &mut self.start, &mut self.end].into_iter().zip(&self.distinct)
        {
            let mut of_pair = squares.of_pair.iter();
            for (i, mut row) in pairs.rows_mut().into_iter().enumerate() {
                for (pair, &(place, number)) in row.iter_mut().skip(i).zip(&mut of_pair) {
                    *pair += number * distinct[place];
                }
            }
        }
    }

    fn lines_mut(&mut self) -> [&mut [f64]; LINES] {
        let Self { even, start, across, end, distinct, start_line, end_line, target, .. } = self;
        let squares = [even, start, across, end].map(|m| m.as_slice_mut().expect("made in order"));
        let [even, start, across, end] = squares;
        let [a, b, c] = distinct;
        let lines = [a, b, c, start_line, end_line].map(|line| line.as_slice_mut().expect("made in order"));
        let [a, b, c, start_line, end_line] = lines;
        [even, start, across, end, a, b, c, start_line, end_line, target]
    }
}

/// The symmetric matrix that has these entries on the diagonal and above.
fn mirrored(upper: &Array2<f64>) -> Array2<f64> {
    Array2::from_shape_fn(upper.dim(), |(i, j)| upper[[i.min(j), i.max(j)]])
}

/// A running sum of [`Products`] that keeps what rounding takes away, so that a billion steps lose nothing.
pub(super) struct RunningSum {
    sum: Products,
    lost: Products,
}

impl RunningSum {
    /// The sum of nothing with `k` terms.
    pub fn zeros(k: usize, n_distinct: usize) -> Self {
        Self { sum: Products::zeros(k, n_distinct), lost: Products::zeros(k, n_distinct) }
    }

    /// Adds parts one after the other, by Neumaier's sum in each entry; the matrices in parallel.
    pub fn add_all(&mut self, parts: &mut [Products]) {
        self.sum.n += parts.iter().map(|part| part.n).sum::<u64>();
        let mut lines: [Vec<&[f64]>; LINES] = Default::default();
        for part in parts {
            lines.iter_mut().zip(part.lines_mut()).for_each(|(lines, line)| lines.push(line));
        }
        let sums = self.sum.lines_mut().into_par_iter().zip(self.lost.lines_mut());
        sums.zip(lines).for_each(|((sum, lost), lines)| {
            for line in lines {
                for ((sum, lost), part) in sum.iter_mut().zip(lost.iter_mut()).zip(line) {
                    let whole = *sum + *part;
                    let (large, small) = if sum.abs() >= part.abs() { (*sum, *part) } else { (*part, *sum) };
                    *lost += (large - whole) + small;
                    *sum = whole;
                }
            }
        });
    }

    /// The sum.
    pub fn finish(mut self) -> Products {
        for (sum, lost) in self.sum.lines_mut().into_iter().zip(self.lost.lines_mut()) {
            sum.iter_mut().zip(lost).for_each(|(sum, lost)| *sum += *lost);
        }
        self.sum
    }
}
