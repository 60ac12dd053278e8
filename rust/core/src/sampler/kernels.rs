//! Loops of the sampler over all columns, or over all nodes of a quadrature, at once.

use super::lanes::{LANES, exp_negative, groups_mut, groups_of, larger, ln, ln_one_minus, smaller, sum};
use crate::vectorised::{fused, vectorised};

/// A Cholesky factor extended over all columns, and what hangs on it: Schur complements and residuals; `mask` is 1 for the
/// columns outside the model and 0 elsewhere.
///
/// The rows of each group of lanes lie together: group `g` of row `j` is `rows[g capacity + j]`. Kernels that write take
/// these slices one by one, since the compiler knows of arguments, and not of fields, that they do not overlap.
pub struct Columns<'a> {
    pub rows: &'a [[f64; LANES]],
    pub capacity: usize,
    pub schur: &'a [f64],
    pub residual: &'a [f64],
    pub mask: &'a [f64],
}

/// The factor on the members alone: inverses of the diagonal of `L`, and `z = L^-1 b`.
pub struct Pivots<'a> {
    pub inverse: &'a [f64],
    pub z: &'a [f64],
}

/// The regression: one row of the Gram matrix per column, its diagonal with the `ridge` that is added, the moment.
pub struct System<'a> {
    pub gram: &'a [f64],
    pub diagonal: &'a [f64],
    pub ridge: f64,
    pub moment: &'a [f64],
}

/// What holds rounding in bounds: Schur complements are at least `floor`, and the share `c^2 inverse_energy / d` of the
/// energy that a column explains is at most `ceiling`.
#[derive(Clone, Copy)]
pub struct Bounds {
    pub floor: f64,
    pub inverse_energy: f64,
    pub ceiling: f64,
}

/// A member that may leave: `1 / S_kk` and `mu_k / S_kk`.
#[derive(Clone, Copy)]
pub struct Leaving {
    pub inverse_s: f64,
    pub mu_by_s: f64,
}

/// Former rows at a new member and at another column, one block of nodes after the other, those of the column `stride`
/// apart.
pub struct FormerNodes<'a> {
    pub coefficients: &'a [f64],
    pub rows: &'a [f64],
    pub stride: usize,
}

/// Schur complement and residual of a column, one lane per node.
pub struct ColumnNodes<'a> {
    pub schur: &'a [f64],
    pub residual: &'a [f64],
}

/// The pivot of a new member and its `z`, one lane per node.
pub struct PivotNodes<'a> {
    pub inverse_pivot: &'a [f64],
    pub z: &'a [f64],
}

vectorised! { true;
    /// Appends one row to a Cholesky factor that is extended over all columns, and updates what hangs on it.
    ///
    /// `row = (gram_row - sum_j coefficients[j] rows[j]) inverse_pivot`, `schur -= row^2`, `residual -= row z`. The
    /// rows lie as in [`Columns`].
    pub fn append_row(
        gram_row: &[f64], coefficients: &[f64], inverse_pivot: f64, z: f64, rows: &mut [[f64; LANES]],
        capacity: usize, schur: &mut [f64], residual: &mut [f64],
    ) {
        let place = coefficients.len();
        let groups = groups_mut(schur).iter_mut().zip(groups_mut(residual));
        let blocks = rows.chunks_exact_mut(capacity);
        for ((gram, block), (schur, residual)) in groups_of(gram_row).iter().zip(blocks).zip(groups) {
            let (former, rest) = block.split_at_mut(place);
            let mut w = *gram;
            for (former, &coefficient) in former.iter().zip(coefficients) {
                for lane in 0..LANES {
                    w[lane] = fused::<FMA>(-coefficient, former[lane], w[lane]);
                }
            }
            for lane in 0..LANES {
                w[lane] *= inverse_pivot;
                schur[lane] = fused::<FMA>(-w[lane], w[lane], schur[lane]);
                residual[lane] = fused::<FMA>(-w[lane], z, residual[lane]);
            }
            rest[0] = w;
        }
    }

    /// Solves `L W = G_members` for the rows of `W` from number `from` on, one group of lanes after the other, and
    /// computes `schur = diagonal + ridge - sum_j W_j^2`, `residual = moment - sum_j W_j z_j`.
    ///
    /// `lower` is `L` below its diagonal, its rows `capacity` apart; the rows of `W` lie as in [`Columns`].
    pub fn solve_rows(
        system: &System<'_>, members: &[usize], from: usize, lower: &[f64], pivots: &Pivots<'_>,
        rows: &mut [[f64; LANES]], capacity: usize, schur: &mut [f64], residual: &mut [f64],
    ) {
        let &System { gram, diagonal, ridge, moment } = system;
        let (gram, n_groups, r) = (groups_of(gram), schur.len() / LANES, members.len());
        let (z, inverse_pivots) = (&pivots.z[..r], &pivots.inverse[..r]);
        assert!(r <= capacity && r * capacity <= lower.len() && n_groups * capacity <= rows.len());
        assert!(members.iter().all(|member| (member + 1) * n_groups <= gram.len()));
        let start = groups_of(diagonal).iter().zip(groups_of(moment));
        let end = groups_mut(schur).iter_mut().zip(groups_mut(residual));
        for (group, ((diagonal, moment), (schur, residual))) in start.zip(end).enumerate() {
            let mut d = diagonal.map(|diagonal| diagonal + ridge);
            let mut c = *moment;
            for place in 0..r {
                // SAFETY: `place < r`, `group < n_groups` and `j < place`, so the assertions above hold every index
                // inside its slice. The checks would cost more than the arithmetic.
                let w = unsafe {
                    let block = rows.as_mut_ptr().add(group * capacity);
                    if place >= from {
                        let mut sum = *gram.get_unchecked(members.get_unchecked(place) * n_groups + group);
                        let lower = lower.as_ptr().add(place * capacity);
                        for j in 0..place {
                            let (former, coefficient) = (&*block.add(j), *lower.add(j));
                            for lane in 0..LANES {
                                sum[lane] = fused::<FMA>(-coefficient, former[lane], sum[lane]);
                            }
                        }
                        *block.add(place) = sum.map(|sum| sum * inverse_pivots[place]);
                    }
                    *block.add(place)
                };
                for lane in 0..LANES {
                    d[lane] = fused::<FMA>(-w[lane], w[lane], d[lane]);
                    c[lane] = fused::<FMA>(-w[lane], z[place], c[lane]);
                }
            }
            *schur = d;
            *residual = c;
        }
    }

    /// Inclusion probabilities `1 / (1 + odds (1 - x)^power sqrt(d))`, with `x` the share that a column explains, `d` its
    /// Schur complement.
    pub fn inclusion(schur: &[f64], residual: &[f64], bounds: &Bounds, power: f64, odds: f64, out: &mut [f64]) {
        let &Bounds { floor, inverse_energy, ceiling } = bounds;
        for ((&d, &c), out) in schur.iter().zip(residual).zip(out) {
            let d = larger(d, floor);
            let x = smaller(c * c / d * inverse_energy, ceiling);
            let against = odds * exp_negative::<FMA>(power * ln_one_minus::<FMA>(x));
            *out = 1.0 / fused::<FMA>(against, d.sqrt(), 1.0);
        }
    }

    /// First column from `from` on whose uniform asks for another state than it is in; the length if there is none.
    ///
    /// A column is wanted in if `uniform < probability`, and is in if `outside` is zero.
    pub fn first_flip(uniform: &[f64], probability: &[f64], outside: &[f64], from: usize) -> usize {
        let groups = groups_of(uniform).iter().zip(groups_of(probability)).zip(groups_of(outside)).enumerate();
        for (group, ((uniform, probability), outside)) in groups.skip(from / LANES) {
            let mut flips = [0.0; LANES];
            for lane in 0..LANES {
                let stays_in = 1.0 - outside[lane];
                flips[lane] = if uniform[lane] < probability[lane] { outside[lane] } else { stays_in };
            }
            if sum(&flips) > 0.0 {
                let start = group * LANES;
                for lane in from.saturating_sub(start)..LANES {
                    if flips[lane] > 0.0 {
                        return start + lane;
                    }
                }
            }
        }
        uniform.len()
    }

    /// What every other column would be in the place of one member of the model.
    ///
    /// The row of the member in `S G` is `t = sum_j coefficients[j] rows[from + j]`; without the member a column has Schur
    /// complement `d = schur + t^2 / s` and residual `c = residual + t mu / s`. Writes the share of the energy that the
    /// column would explain, and `1 / d`, both zero where the mask is, and returns the largest of each.
    pub fn exchange_candidates(
        columns: &Columns<'_>, from: usize, coefficients: &[f64], member: &Leaving, bounds: &Bounds,
        share: &mut [f64], inverse: &mut [f64],
    ) -> (f64, f64) {
        let &Columns { rows, capacity, schur, residual, mask } = columns;
        let (&Leaving { inverse_s, mu_by_s }, &Bounds { floor, inverse_energy, ceiling }) = (member, bounds);
        let (mut most_share, mut most_inverse) = ([0.0; LANES], [0.0; LANES]);
        let given = groups_of(mask).iter().zip(groups_of(schur)).zip(groups_of(residual));
        let out = groups_mut(share).iter_mut().zip(groups_mut(inverse));
        for ((block, ((mask, schur), residual)), (share, inverse)) in rows.chunks_exact(capacity).zip(given).zip(out) {
            let mut t = [0.0; LANES];
            for (row, &coefficient) in block[from..].iter().zip(coefficients) {
                for lane in 0..LANES {
                    t[lane] = fused::<FMA>(coefficient, row[lane], t[lane]);
                }
            }
            for lane in 0..LANES {
                let d = larger(fused::<FMA>(t[lane] * t[lane], inverse_s, schur[lane]), floor);
                let c = fused::<FMA>(t[lane], mu_by_s, residual[lane]);
                let inverse_d = mask[lane] / d;
                let x = smaller(c * c * inverse_d * inverse_energy, ceiling);
                (share[lane], inverse[lane]) = (x, inverse_d);
                most_share[lane] = larger(x, most_share[lane]);
                most_inverse[lane] = larger(inverse_d, most_inverse[lane]);
            }
        }
        let largest = |lanes: [f64; LANES]| lanes.into_iter().fold(0.0, larger);
        (largest(most_share), largest(most_inverse))
    }

    /// Weights `(1 - share)^-power inverse^1/2`, in units of `exp(-power log_unit)`, into `inverse`; the sums of each
    /// group of lanes go into `sums`. `log_unit` is `ln(1 - x)` of the largest share.
    pub fn exchange_weights(share: &[f64], log_unit: f64, power: f64, inverse: &mut [f64], sums: &mut [f64]) {
        for ((share, weight), total) in groups_of(share).iter().zip(groups_mut(inverse)).zip(sums) {
            for lane in 0..LANES {
                let log = power * smaller(log_unit - ln_one_minus::<FMA>(share[lane]), 0.0);
                weight[lane] = weight[lane].sqrt() * exp_negative::<FMA>(log);
            }
            *total = sum(weight);
        }
    }

    /// Lanes are nodes of a quadrature: one row of the factor over one column, and that column's Schur complement and
    /// residual after it. `gram` is the Gram entry of the new member and the column.
    pub fn append_nodes(
        gram: f64, former: &FormerNodes<'_>, pivot: &PivotNodes<'_>, column: &ColumnNodes<'_>,
        row: &mut [f64], new_schur: &mut [f64], new_residual: &mut [f64],
    ) {
        let &FormerNodes { coefficients, rows: former, stride } = former;
        let (&PivotNodes { inverse_pivot, z }, &ColumnNodes { schur, residual }) = (pivot, column);
        let nodes = row.len();
        let n_former = coefficients.len() / nodes;
        for start in (0..nodes).step_by(LANES) {
            let lanes = start..start + LANES;
            let mut sum = [gram; LANES];
            for j in 0..n_former {
                let coefficient = &coefficients[j * nodes..][lanes.clone()];
                let former = &former[j * stride..][lanes.clone()];
                for lane in 0..LANES {
                    sum[lane] = fused::<FMA>(-coefficient[lane], former[lane], sum[lane]);
                }
            }
            let (inverse_pivot, z) = (&inverse_pivot[lanes.clone()], &z[lanes.clone()]);
            let (schur, residual) = (&schur[lanes.clone()], &residual[lanes.clone()]);
            let (row, new_schur) = (&mut row[lanes.clone()], &mut new_schur[lanes.clone()]);
            let new_residual = &mut new_residual[lanes];
            for lane in 0..LANES {
                let w = sum[lane] * inverse_pivot[lane];
                row[lane] = w;
                new_schur[lane] = fused::<FMA>(-w, w, schur[lane]);
                new_residual[lane] = fused::<FMA>(-w, z[lane], residual[lane]);
            }
        }
    }

    /// Lanes are nodes: the pivot of a new member and its effect on the energy and on `log det`.
    ///
    /// `inverse_pivot = d^-1/2`, `z = c inverse_pivot`, `energy - z^2` (not below `lowest`) and `log_det + ln d`, of a
    /// `height` of energy and log determinant; `d` is held above `floor` (which is `1/v`).
    pub fn pivot_nodes(
        column: &ColumnNodes<'_>, floor: &[f64], lowest: f64, height: (&[f64], &[f64]),
        inverse_pivot: &mut [f64], z: &mut [f64], new_energy: &mut [f64], new_log_det: &mut [f64],
    ) {
        let (&ColumnNodes { schur, residual }, (energy, log_det)) = (column, height);
        let nodes = schur.len();
        let (residual, floor) = (&residual[..nodes], &floor[..nodes]);
        let (energy, log_det) = (&energy[..nodes], &log_det[..nodes]);
        let (inverse_pivot, z) = (&mut inverse_pivot[..nodes], &mut z[..nodes]);
        let (new_energy, new_log_det) = (&mut new_energy[..nodes], &mut new_log_det[..nodes]);
        for node in 0..nodes {
            let d = larger(schur[node], floor[node]);
            inverse_pivot[node] = 1.0 / d.sqrt();
            z[node] = residual[node] * inverse_pivot[node];
            new_energy[node] = larger(fused::<FMA>(-z[node], z[node], energy[node]), lowest);
            new_log_det[node] = log_det[node] + ln::<FMA>(d);
        }
    }

    /// Lanes are nodes: `ln sum_q exp(log_weight_q - size/2 log_v_q - log_det_q/2 - power ln energy_q)`. `terms` is scratch.
    pub fn log_sum_nodes(
        log_weight: &[f64], log_v: &[f64], half_size: f64, log_det: &[f64], power: f64, energy: &[f64],
        terms: &mut [f64],
    ) -> f64 {
        let mut most = [f64::NEG_INFINITY; LANES];
        for start in (0..terms.len()).step_by(LANES) {
            for lane in 0..LANES {
                let q = start + lane;
                let term = log_weight[q] - half_size * log_v[q] - 0.5 * log_det[q] - power * ln::<FMA>(energy[q]);
                terms[q] = term;
                most[lane] = larger(term, most[lane]);
            }
        }
        let largest = most.iter().fold(f64::NEG_INFINITY, |largest, &lane| larger(lane, largest));
        let mut sums = [0.0; LANES];
        for terms in terms.chunks_exact(LANES) {
            for lane in 0..LANES {
                sums[lane] += exp_negative::<FMA>(terms[lane] - largest);
            }
        }
        largest + sums.iter().sum::<f64>().ln()
    }
}
