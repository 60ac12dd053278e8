//! What the columns of a regression are to each other: which coincide, which are tried, and a sound Gram matrix.

use nalgebra::{DMatrix, SymmetricEigen};
use ndarray::{Array1, Array2};

use crate::regression::{Moments, RANK_TOLERANCE};

/// Columns whose correlation exceeds this in size coincide on the data.
const ALIAS: f64 = 1.0 - 1e-9;
/// A column of which a smaller share is left beside those before it is beyond numerical rank.
const DEPENDENT: f64 = 1e-12;
/// Condition number of the scaled Gram matrix above which the answer may hang on rounding.
const CONDITION: f64 = 1e12;

/// Cosines of the angles between columns; zero for columns that are zero.
pub(super) fn correlation(gram: &Array2<f64>) -> Array2<f64> {
    let size: Array1<f64> =
        gram.diag().iter().map(|&g| if g > 0.0 { g.sqrt() } else { f64::INFINITY }).collect();
    Array2::from_shape_fn(gram.dim(), |(i, j)| gram[[i, j]] / (size[i] * size[j]))
}

/// The regression on these columns only.
pub(super) fn subset(moments: &Moments, columns: &[usize]) -> Moments {
    Moments {
        gram: Array2::from_shape_fn((columns.len(), columns.len()), |(i, j)| {
            moments.gram[[columns[i], columns[j]]]
        }),
        moment: columns.iter().map(|&k| moments.moment[k]).collect(),
        yy: moments.yy,
        n: moments.n,
    }
}

/// The same regression with zeros for these columns.
pub(super) fn without(moments: &Moments, columns: &[usize]) -> Moments {
    let mut left = moments.clone();
    for &column in columns {
        left.gram.row_mut(column).fill(0.0);
        left.gram.column_mut(column).fill(0.0);
        left.moment[column] = 0.0;
    }
    left
}

/// The columns to keep, and for each that stands for others which those are.
///
/// The first of a group that coincides is kept. Of the columns that are left, one that is to rounding a combination of
/// those before it goes as well, to the one that it is closest to.
pub(super) fn aliases(gram: &Array2<f64>) -> (Vec<usize>, Vec<(usize, Vec<usize>)>) {
    let cosine = correlation(gram);
    let k = gram.nrows();
    let (mut gone, mut keep, mut found) = (vec![false; k], Vec::new(), Vec::<(usize, Vec<usize>)>::new());
    for column in 0..k {
        if gone[column] {
            continue;
        }
        let same = |&other: &usize| cosine[[column, other]].abs() > ALIAS && !gone[other];
        let others: Vec<usize> = (column + 1..k).filter(same).collect();
        others.iter().for_each(|&other| gone[other] = true);
        keep.push(column);
        if !others.is_empty() {
            found.push((column, others));
        }
    }
    for column in dependent(&cosine, &keep) {
        keep.retain(|&kept| kept != column);
        let closer = |&a: &usize, &b: &usize| cosine[[column, a]].abs().total_cmp(&cosine[[column, b]].abs());
        // Of equally close ones the first.
        let Some(nearest) = keep.iter().rev().copied().max_by(closer) else { continue };
        let mut more = vec![column];
        if let Some(place) = found.iter().position(|(kept, _)| *kept == column) {
            more.extend(found.remove(place).1);
        }
        match found.iter_mut().find(|(kept, _)| *kept == nearest) {
            Some((_, others)) => others.extend(more),
            None => found.push((nearest, more)),
        }
    }
    (keep, found)
}

/// Columns of which nothing but rounding is left once those before them are taken out.
fn dependent(cosine: &Array2<f64>, columns: &[usize]) -> Vec<usize> {
    let k = columns.len();
    let mut rest = Array2::from_shape_fn((k, k), |(i, j)| cosine[[columns[i], columns[j]]]);
    let mut left_out = Vec::new();
    for place in 0..k {
        let pivot = rest[[place, place]];
        if pivot >= DEPENDENT {
            let row = rest.row(place).mapv(|value| value / pivot);
            let column = rest.column(place).to_owned();
            for (mut line, factor) in rest.rows_mut().into_iter().zip(column) {
                line.scaled_add(-factor, &row);
            }
        } else if cosine[[columns[place], columns[place]]] > 0.0 {
            left_out.push(columns[place]);
        }
    }
    left_out
}

/// The Gram matrix of the used columns at unit length.
struct Scaled {
    used: Vec<usize>,
    size: Vec<f64>,
    eigen: SymmetricEigen<f64, nalgebra::Dyn>,
}

impl Scaled {
    /// None where no column is used.
    fn of(gram: &Array2<f64>) -> Option<Self> {
        let used: Vec<usize> = (0..gram.nrows()).filter(|&k| gram[[k, k]] > 0.0).collect();
        let size: Vec<f64> = used.iter().map(|&k| gram[[k, k]].sqrt()).collect();
        let cosine = DMatrix::from_fn(used.len(), used.len(), |i, j| {
            0.5 * (gram[[used[i], used[j]]] + gram[[used[j], used[i]]]) / (size[i] * size[j])
        });
        (!used.is_empty()).then(|| Self { used, size, eigen: SymmetricEigen::new(cosine) })
    }
}

/// The same regression with a Gram matrix that has a Cholesky factor, whatever columns are chosen.
///
/// On columns of unit length, directions whose eigenvalue is a smaller share of the largest than rounding leaves get
/// this share and no part of the moment: a model pays for them and gains nothing. Where no direction is that small, the
/// regression itself.
pub(super) fn sound(mut moments: Moments) -> Moments {
    let Some(Scaled { used, size, eigen }) = Scaled::of(&moments.gram) else { return moments };
    let r = used.len();
    let largest = eigen.eigenvalues.max();
    let floor = RANK_TOLERANCE.max(4.0 * r as f64 * f64::EPSILON) * largest;
    if eigen.eigenvalues.min() >= floor {
        return moments;
    }
    let along: Vec<f64> = (0..r)
        .map(|d| {
            let part = (0..r).map(|i| eigen.eigenvectors[(i, d)] * moments.moment[used[i]] / size[i]).sum();
            if eigen.eigenvalues[d] < floor { 0.0 } else { part }
        })
        .collect();
    let vectors = &eigen.eigenvectors;
    for i in 0..r {
        for j in 0..r {
            let entry: f64 =
                (0..r).map(|d| vectors[(i, d)] * eigen.eigenvalues[d].max(floor) * vectors[(j, d)]).sum();
            moments.gram[[used[i], used[j]]] = entry * (size[i] * size[j]);
        }
        moments.moment[used[i]] = (0..r).map(|d| vectors[(i, d)] * along[d]).sum::<f64>() * size[i];
    }
    moments
}

/// What a reader should know about the columns that were tried before trusting the answer.
pub(super) fn notes(
    gram: &Array2<f64>,
    tried: &[usize],
    aliases: &[(usize, Vec<usize>)],
    names: &[String],
) -> Vec<String> {
    let mut notes = Vec::new();
    if !aliases.is_empty() {
        let group = |(kept, others): &(usize, Vec<usize>)| {
            let all = std::iter::once(kept).chain(others).map(|&k| names[k].as_str());
            all.collect::<Vec<_>>().join(" = ")
        };
        let groups = aliases.iter().map(group).collect::<Vec<_>>().join("; ");
        notes.push(format!(
            "on these data some terms cannot be told apart, and only the first of each was tried: {groups}"
        ));
    }
    let zero: Vec<&str> = tried
        .iter()
        .enumerate()
        .filter(|&(i, _)| gram[[i, i]] == 0.0)
        .map(|(_, &k)| names[k].as_str())
        .collect();
    if !zero.is_empty() {
        notes.push(format!("zero everywhere on these data and never selected: {}", zero.join(", ")));
    }
    if let Some(Scaled { eigen, .. }) = Scaled::of(gram) {
        let condition = eigen.eigenvalues.max() / eigen.eigenvalues.min().max(1e-300);
        if condition > CONDITION {
            notes.push(format!(
                "the terms are nearly dependent on these data (condition number {:.0e} of their scaled Gram matrix, \
                 over {CONDITION:e}): other sets of terms may fit as well",
                condition.min(1e16)
            ));
        }
    }
    notes
}
