//! Phases of a path: where sensors look between samples too, steps and readings come again every few moments.

use super::state_space::StateSpace;
use crate::path::Path;

/// Longest period that is looked for: a sample, and where the exposures of two sensors start, or that of one starts and ends.
const LONGEST: usize = 4;

/// Share of the moments that are like those a period before, from which a path has it: gaps in a recording are few.
const MOST: f64 = 0.9;

/// Rounding of time stamps, beside the latest of them, within which two steps are one.
const SAME: f64 = 4.0 * f64::EPSILON;

/// The phases of the paths of a batch: each has a slot of its own for what stands still while its covariance does.
#[derive(Debug, Clone)]
pub struct Phases {
    /// Of each path.
    pub periods: Vec<usize>,
    /// How far two steps may differ and be one.
    pub slack: Vec<f64>,
    /// The longest period.
    pub most: usize,
}

impl Phases {
    /// Of the paths of a batch.
    pub fn of(model: &StateSpace<'_>, affine: bool, paths: &[Path<'_>]) -> Self {
        let periods: Vec<usize> =
            paths.iter().map(|path| if affine { period(model, path) } else { 1 }).collect();
        let slack = paths.iter().map(|path| slack(model, path)).collect();
        Self { most: periods.iter().copied().max().unwrap_or(1), periods, slack }
    }

    /// One phase for each of so many paths.
    pub fn one(lanes: usize) -> Self {
        Self { periods: vec![1; lanes], slack: vec![0.0; lanes], most: 1 }
    }

    /// The slot of a sample.
    pub fn slot(&self, lane: usize, n: usize) -> usize {
        lane * self.most + n % self.periods[lane]
    }

    /// Slots of all paths.
    pub fn slots(&self) -> usize {
        self.periods.len() * self.most
    }
}

/// After how many moments step, readings and resets of a path come again: one, unless the states are reset.
fn period(model: &StateSpace<'_>, path: &Path<'_>) -> usize {
    let (q, x, slack) = (model.q(), &path.x, slack(model, path));
    if model.resets.is_empty() || !model.tails.is_empty() {
        return 1;
    }
    let alike = |n: usize, before: usize| {
        let mut columns = x.row(n).into_iter().zip(x.row(before)).enumerate();
        (path.dt(n - 1) - path.dt(before - 1)).abs() <= slack
            && columns.all(|(c, (now, then))| if c < q { now.is_nan() == then.is_nan() } else { now == then })
    };
    let has = |period: &usize| {
        let others = (1.0 - MOST) * path.len().saturating_sub(period + 1) as f64;
        let all = period + 1..path.len();
        !all.is_empty() && all.filter(|&n| !alike(n, n - period)).nth(others as usize).is_none()
    };
    (1..=LONGEST).find(has).unwrap_or(1)
}

/// How much the steps of a path may differ and be one: not at all, unless the states are reset, at moments that are rounded.
fn slack(model: &StateSpace<'_>, path: &Path<'_>) -> f64 {
    if model.resets.is_empty() || path.is_empty() { 0.0 } else { SAME * path.latest() }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array1, Array2};

    use super::super::tests::Toy;
    use super::*;

    /// Period of 60 moments that come again every `every`, of readings at the last and resets at the first of them, with
    /// the moments `gone` unread and the stamps from `late` on later by 0.01.
    fn found(every: usize, gone: fn(usize) -> bool, late: usize, reset: bool) -> usize {
        let (toy, n) = (Toy::new(), 60);
        let mut model = toy.model();
        model.resets = if reset { vec![Array2::eye(2)] } else { Vec::new() };
        let mut x = Array2::zeros((n, model.q() + model.resets.len()));
        let mut t = Array1::zeros(n);
        for i in 0..n {
            if i % every != every - 1 || gone(i) {
                x[[i, 0]] = f64::NAN;
            }
            if reset && i % every == 0 {
                x[[i, 2]] = 1.0;
            }
            t[i] = 7.0 + (i / every) as f64 + 0.3 * (i % every) as f64 + if i >= late { 0.01 } else { 0.0 };
        }
        Phases::of(&model, true, &[Path::stamped(x.view(), t.view())]).periods[0]
    }

    #[test]
    fn moments_come_again_after_the_shortest_period() {
        for every in 1..=LONGEST {
            assert_eq!(found(every, |_| false, 60, true), every);
        }
        assert_eq!(found(LONGEST + 1, |_| false, 60, true), 1, "longer ones are not looked for");
        assert_eq!(found(3, |_| false, 60, false), 1, "without resets all moments are alike");
    }

    #[test]
    fn a_gap_leaves_the_period_and_many_do_not() {
        assert_eq!(found(2, |i| i == 21, 40, true), 2);
        assert_eq!(found(2, |i| i % 6 == 5, 60, true), 1);
    }
}
