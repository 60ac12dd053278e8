//! Loops of the sampler over all columns at once, written so that the compiler turns them into vector code.
//!
//! Every kernel is compiled twice on x86-64, for the baseline and for AVX2, and the wider one is taken where the
//! processor has it. None contracts a product and a sum, so both give the same bits.

use std::f64::consts::LOG2_E;

/// Columns are padded to a multiple of this many, so that no kernel has a remainder loop.
pub const LANES: usize = 8;

/// Number of columns rounded up to a whole number of lanes.
pub const fn padded(n: usize) -> usize {
    n.div_ceil(LANES) * LANES
}

/// Declares a function that is compiled for the baseline and for AVX2.
macro_rules! vectorised {
    ($($(#[$doc:meta])* pub fn $name:ident($($arg:ident: $kind:ty),* $(,)?) $(-> $out:ty)? $body:block)*) => {$(
        $(#[$doc])*
        #[allow(clippy::too_many_arguments)]
        #[inline]
        pub fn $name($($arg: $kind),*) $(-> $out)? {
            #[allow(clippy::too_many_arguments)]
            #[inline(always)]
            fn body($($arg: $kind),*) $(-> $out)? $body
            #[cfg(target_arch = "x86_64")]
            {
                #[allow(clippy::too_many_arguments)]
                #[target_feature(enable = "avx2")]
                fn wide($($arg: $kind),*) $(-> $out)? { body($($arg),*) }
                if std::arch::is_x86_feature_detected!("avx2") {
                    // SAFETY: the processor was just asked whether it has AVX2.
                    return unsafe { wide($($arg),*) };
                }
            }
            body($($arg),*)
        }
    )*};
}

const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// `ln(y + lost)` for a normal `y > 0` and a `lost` below its last place, without a branch, to about one unit in
/// the last place.
///
/// The argument is reduced to `2^k (1 + f)` with `1 + f` between `sqrt(1/2)` and `sqrt(2)`; series in
/// `s = f / (2 + f)` of fdlibm's `log`.
#[inline(always)]
fn ln_with(y: f64, lost: f64) -> f64 {
    const ROOT_HALF: u64 = 0x3fe6_a09e_667f_3bcd;
    const SERIES: [f64; 7] = [
        6.666_666_666_666_735e-1,
        3.999_999_999_940_942e-1,
        2.857_142_874_366_239e-1,
        2.222_219_843_214_978_4e-1,
        1.818_357_216_161_805e-1,
        1.531_383_769_920_937_3e-1,
        1.479_819_860_511_658_6e-1,
    ];
    let biased = y.to_bits().wrapping_add(0x3ff0_0000_0000_0000 - ROOT_HALF);
    // The exponent as a double, through the mantissa of 2^52: there is no vector conversion of 64-bit integers.
    let exponent = (biased >> 52) | 0x4330_0000_0000_0000;
    let k = f64::from_bits(exponent) - (4_503_599_627_370_496.0 + 1023.0);
    let mantissa = (biased & 0x000f_ffff_ffff_ffff).wrapping_add(ROOT_HALF);
    let down = f64::from_bits(0x7fe0_0000_0000_0000_u64.wrapping_sub((biased >> 52) << 52));
    let f = (f64::from_bits(mantissa) - 1.0) + lost * down;
    let s = f / (2.0 + f);
    let z = s * s;
    let mut tail = SERIES[6];
    for term in SERIES[..6].iter().rev() {
        tail = tail * z + term;
    }
    let half_square = 0.5 * f * f;
    k * LN2_HIGH - ((half_square - (s * (half_square + z * tail) + k * LN2_LOW)) - f)
}

/// Natural logarithm of a normal, positive number without a branch.
#[inline(always)]
pub fn ln(y: f64) -> f64 {
    ln_with(y, 0.0)
}

/// `ln(1 - x)` for `0 <= x < 1` without a branch; the rounding error of `1 - x` is not lost.
#[inline(always)]
pub fn ln_one_minus(x: f64) -> f64 {
    let y = 1.0 - x;
    ln_with(y, (1.0 - y) - x)
}

/// `exp(x)` for `x <= 0` without a branch; below -708 the value at -708, which is 3e-308.
#[inline(always)]
pub fn exp_negative(x: f64) -> f64 {
    const SHIFT: f64 = 6_755_399_441_055_744.0; // 1.5 * 2^52 rounds to an integer
    const INVERSE_FACTORIALS: [f64; 14] = [
        1.0,
        1.0,
        0.5,
        1.0 / 6.0,
        1.0 / 24.0,
        1.0 / 120.0,
        1.0 / 720.0,
        1.0 / 5040.0,
        1.0 / 40_320.0,
        1.0 / 362_880.0,
        1.0 / 3_628_800.0,
        1.0 / 39_916_800.0,
        1.0 / 479_001_600.0,
        1.0 / 6_227_020_800.0,
    ];
    let x = if x > -708.0 { x } else { -708.0 };
    let shifted = x * LOG2_E + SHIFT;
    let k = shifted - SHIFT;
    let r = (x - k * LN2_HIGH) - k * LN2_LOW;
    let mut sum = INVERSE_FACTORIALS[13];
    for term in INVERSE_FACTORIALS[..13].iter().rev() {
        sum = sum * r + term;
    }
    sum * f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52)
}

/// The larger of two numbers as one vector instruction; `b` if `a` is NaN.
#[inline(always)]
fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// The smaller of two numbers as one vector instruction; `b` if `a` is NaN.
#[inline(always)]
fn smaller(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

vectorised! {
    /// Appends one row to a Cholesky factor that is extended over all columns, and updates what hangs on it.
    ///
    /// `row = (gram_row - sum_j coefficients[j] rows[j]) / pivot`, `schur -= row^2`, `residual -= row z`.
    /// `rows` holds the former rows, each as long as `row`.
    pub fn append_row(
        gram_row: &[f64], rows: &[f64], coefficients: &[f64], inverse_pivot: f64, z: f64,
        row: &mut [f64], schur: &mut [f64], residual: &mut [f64],
    ) {
        let stride = row.len();
        let (gram_row, schur, residual) = (&gram_row[..stride], &mut schur[..stride], &mut residual[..stride]);
        for start in (0..stride).step_by(LANES) {
            let mut sum = [0.0; LANES];
            sum.copy_from_slice(&gram_row[start..start + LANES]);
            for (former, &coefficient) in rows.chunks_exact(stride).zip(coefficients) {
                let former = &former[start..start + LANES];
                for lane in 0..LANES {
                    sum[lane] -= coefficient * former[lane];
                }
            }
            let row = &mut row[start..start + LANES];
            let schur = &mut schur[start..start + LANES];
            let residual = &mut residual[start..start + LANES];
            for lane in 0..LANES {
                let w = sum[lane] * inverse_pivot;
                row[lane] = w;
                schur[lane] -= w * w;
                residual[lane] -= w * z;
            }
        }
    }

    /// `schur -= row^2`, `residual -= row z`: what [`append_row`] does for a row that is already there.
    pub fn apply_row(row: &[f64], z: f64, schur: &mut [f64], residual: &mut [f64]) {
        for ((w, schur), residual) in row.iter().zip(schur).zip(residual) {
            *schur -= w * w;
            *residual -= w * z;
        }
    }

    /// Inclusion probabilities of columns outside the model, `1 / (1 + odds (1 - x)^power sqrt(d))`, with
    /// `x = c^2 inverse_energy / d` held to `x <= ceiling` and `d >= floor`.
    pub fn inclusion(
        schur: &[f64], residual: &[f64], floor: f64, inverse_energy: f64, ceiling: f64, power: f64, odds: f64,
        out: &mut [f64],
    ) {
        for ((&d, &c), out) in schur.iter().zip(residual).zip(out) {
            let d = larger(d, floor);
            let x = smaller(c * c / d * inverse_energy, ceiling);
            *out = 1.0 / (1.0 + odds * exp_negative(power * ln_one_minus(x)) * d.sqrt());
        }
    }

    /// Gains of replacing one member of the model by each other column.
    ///
    /// `effect` is the row of the member in `S G`; without the member the column has Schur complement
    /// `d = schur + effect^2 / s` and residual `c = residual + effect mu / s`. Writes the logarithm
    /// `-power ln(1 - c^2 inverse_energy / d)` and `d^-1/2`, whose product is the weight of the column.
    pub fn exchange_gains(
        effect: &[f64], schur: &[f64], residual: &[f64], inverse_s: f64, mu_by_s: f64, floor: f64,
        inverse_energy: f64, ceiling: f64, power: f64, log_gain: &mut [f64], root: &mut [f64],
    ) {
        for ((((&t, &d), &c), gain), root) in effect.iter().zip(schur).zip(residual).zip(log_gain).zip(root) {
            let d = larger(d + t * t * inverse_s, floor);
            let c = c + t * mu_by_s;
            let inverse = 1.0 / d;
            let x = smaller(c * c * inverse * inverse_energy, ceiling);
            *gain = -power * ln_one_minus(x);
            *root = inverse.sqrt();
        }
    }

    /// `root = mask root exp(log_gain - max(mask log_gain))`; returns the sum. Gains are zero or positive.
    pub fn exchange_weights(mask: &[f64], log_gain: &[f64], root: &mut [f64]) -> f64 {
        let mut most = [0.0; LANES];
        for (mask, gain) in mask.chunks_exact(LANES).zip(log_gain.chunks_exact(LANES)) {
            for lane in 0..LANES {
                most[lane] = larger(most[lane], mask[lane] * gain[lane]);
            }
        }
        let largest = most.iter().fold(0.0, |largest, &lane| larger(largest, lane));
        let mut sums = [0.0; LANES];
        for ((mask, gain), root) in
            mask.chunks_exact(LANES).zip(log_gain.chunks_exact(LANES)).zip(root.chunks_exact_mut(LANES))
        {
            for lane in 0..LANES {
                let below = smaller(gain[lane] - largest, 0.0);
                root[lane] *= mask[lane] * exp_negative(below);
                sums[lane] += root[lane];
            }
        }
        sums.iter().sum()
    }

    /// Lanes are nodes of a quadrature: one row of the factor over one column, and that column's Schur complement and
    /// residual after it. `gram` is the Gram entry of the new member and the column; `coefficients` and `former` hold the
    /// former rows at the member and at the column, one block of nodes after the other, `stride` apart.
    pub fn append_nodes(
        gram: f64, coefficients: &[f64], former: &[f64], stride: usize, inverse_pivot: &[f64], z: &[f64],
        schur: &[f64], residual: &[f64], row: &mut [f64], new_schur: &mut [f64], new_residual: &mut [f64],
    ) {
        let nodes = row.len();
        let n_former = coefficients.len() / nodes;
        for start in (0..nodes).step_by(LANES) {
            let lanes = start..start + LANES;
            let mut sum = [gram; LANES];
            for j in 0..n_former {
                let coefficient = &coefficients[j * nodes..][lanes.clone()];
                let former = &former[j * stride..][lanes.clone()];
                for lane in 0..LANES {
                    sum[lane] -= coefficient[lane] * former[lane];
                }
            }
            let (inverse_pivot, z) = (&inverse_pivot[lanes.clone()], &z[lanes.clone()]);
            let (schur, residual) = (&schur[lanes.clone()], &residual[lanes.clone()]);
            let (row, new_schur) = (&mut row[lanes.clone()], &mut new_schur[lanes.clone()]);
            let new_residual = &mut new_residual[lanes];
            for lane in 0..LANES {
                let w = sum[lane] * inverse_pivot[lane];
                row[lane] = w;
                new_schur[lane] = schur[lane] - w * w;
                new_residual[lane] = residual[lane] - w * z[lane];
            }
        }
    }

    /// Lanes are nodes: the pivot of a new member and its effect on the energy and on `log det`.
    ///
    /// `inverse_pivot = d^-1/2`, `z = c inverse_pivot`, `energy -= z^2` (not below `lowest`), `log_det += ln d`, where
    /// `d` is held above `floor` (which is `1/v`).
    pub fn pivot_nodes(
        schur: &[f64], residual: &[f64], floor: &[f64], lowest: f64, energy: &[f64], log_det: &[f64],
        inverse_pivot: &mut [f64], z: &mut [f64], new_energy: &mut [f64], new_log_det: &mut [f64],
    ) {
        let nodes = schur.len();
        let (residual, floor) = (&residual[..nodes], &floor[..nodes]);
        let (energy, log_det) = (&energy[..nodes], &log_det[..nodes]);
        let (inverse_pivot, z) = (&mut inverse_pivot[..nodes], &mut z[..nodes]);
        let (new_energy, new_log_det) = (&mut new_energy[..nodes], &mut new_log_det[..nodes]);
        for node in 0..nodes {
            let d = larger(schur[node], floor[node]);
            inverse_pivot[node] = 1.0 / d.sqrt();
            z[node] = residual[node] * inverse_pivot[node];
            new_energy[node] = larger(energy[node] - z[node] * z[node], lowest);
            new_log_det[node] = log_det[node] + ln(d);
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
                let term = log_weight[q] - half_size * log_v[q] - 0.5 * log_det[q] - power * ln(energy[q]);
                terms[q] = term;
                most[lane] = larger(term, most[lane]);
            }
        }
        let largest = most.iter().fold(f64::NEG_INFINITY, |largest, &lane| larger(lane, largest));
        let mut sums = [0.0; LANES];
        for terms in terms.chunks_exact(LANES) {
            for lane in 0..LANES {
                sums[lane] += exp_negative(terms[lane] - largest);
            }
        }
        largest + sums.iter().sum::<f64>().ln()
    }

    /// Linear combination of rows: `out = sum_j coefficients[j] rows[j]`.
    pub fn combine_rows(rows: &[f64], coefficients: &[f64], out: &mut [f64]) {
        let stride = out.len();
        for start in (0..stride).step_by(LANES) {
            let mut sum = [0.0; LANES];
            for (row, &coefficient) in rows.chunks_exact(stride).zip(coefficients) {
                let row = &row[start..start + LANES];
                for lane in 0..LANES {
                    sum[lane] += coefficient * row[lane];
                }
            }
            out[start..start + LANES].copy_from_slice(&sum);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithm_and_exponential_are_accurate() {
        let mut worst = (0.0_f64, 0.0_f64);
        for i in 1..20_000 {
            let x = (i as f64 / 20_000.0).powi(3);
            let (ours, exact) = (ln_one_minus(x), (-x).ln_1p());
            worst.0 = worst.0.max((ours / exact - 1.0).abs());
            assert!((ln(1e9 * x) - (1e9 * x).ln()).abs() <= 1e-15 * (1e9 * x).ln().abs().max(1.0));
            let y = -700.0 * x;
            worst.1 = worst.1.max((exp_negative(y) / y.exp() - 1.0).abs());
        }
        assert!(worst.0 < 1e-15 && worst.1 < 1e-15, "{worst:?}");
        assert!((ln_one_minus(1e-17) / -1e-17 - 1.0).abs() < 1e-15);
        assert_eq!(ln_one_minus(0.0), 0.0);
        assert_eq!(exp_negative(0.0), 1.0);
        assert!(exp_negative(f64::NEG_INFINITY) < 1e-307);
        let nearly_one = 1.0 - 1e-12;
        assert!((ln_one_minus(nearly_one) / (-nearly_one).ln_1p() - 1.0).abs() < 1e-15);
    }
}
