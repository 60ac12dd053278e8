//! Arithmetic in lanes: functions without a branch, written so that the compiler turns loops over them into vector code.

use std::f64::consts::LOG2_E;

use crate::vectorised::fused;

/// Columns are padded to a multiple of this many, so that no kernel has a remainder loop.
pub const LANES: usize = 8;

/// Number of columns rounded up to a whole number of lanes.
pub const fn padded(n: usize) -> usize {
    n.div_ceil(LANES) * LANES
}

const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// `ln(y + lost)` for a normal `y > 0` and a `lost` below its last place, without a branch, to about one unit in
/// the last place.
///
/// The argument is reduced to `2^k (1 + f)` with `1 + f` between `sqrt(1/2)` and `sqrt(2)`; series in
/// `s = f / (2 + f)` of fdlibm's `log`.
#[inline(always)]
fn ln_with<const FMA: bool>(y: f64, lost: f64) -> f64 {
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
    let f = fused::<FMA>(lost, down, f64::from_bits(mantissa) - 1.0);
    let s = f / (2.0 + f);
    let z = s * s;
    let mut tail = SERIES[6];
    for term in SERIES[..6].iter().rev() {
        tail = fused::<FMA>(tail, z, *term);
    }
    let half_square = 0.5 * f * f;
    let low = fused::<FMA>(s, fused::<FMA>(z, tail, half_square), k * LN2_LOW);
    fused::<FMA>(k, LN2_HIGH, f - (half_square - low))
}

/// Natural logarithm of a normal, positive number without a branch.
#[inline(always)]
pub fn ln<const FMA: bool>(y: f64) -> f64 {
    ln_with::<FMA>(y, 0.0)
}

/// `ln(1 - x)` for `0 <= x < 1` without a branch; the rounding error of `1 - x` is not lost.
#[inline(always)]
pub fn ln_one_minus<const FMA: bool>(x: f64) -> f64 {
    let y = 1.0 - x;
    ln_with::<FMA>(y, (1.0 - y) - x)
}

/// `exp(x)` for `x <= 0` without a branch; below -708 the value at -708, which is 3e-308.
#[inline(always)]
pub fn exp_negative<const FMA: bool>(x: f64) -> f64 {
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
    let shifted = fused::<FMA>(x, LOG2_E, SHIFT);
    let k = shifted - SHIFT;
    let r = fused::<FMA>(-k, LN2_LOW, fused::<FMA>(-k, LN2_HIGH, x));
    let mut sum = INVERSE_FACTORIALS[13];
    for term in INVERSE_FACTORIALS[..13].iter().rev() {
        sum = fused::<FMA>(sum, r, *term);
    }
    sum * f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52)
}

/// A padded slice as groups of lanes.
#[inline(always)]
pub fn groups_of(slice: &[f64]) -> &[[f64; LANES]] {
    slice.as_chunks().0
}

/// A padded slice as groups of lanes.
#[inline(always)]
pub fn groups_mut(slice: &mut [f64]) -> &mut [[f64; LANES]] {
    slice.as_chunks_mut().0
}

/// Sum of the lanes, in pairs.
#[inline(always)]
pub fn sum(lanes: &[f64; LANES]) -> f64 {
    let pairs = [0, 1, 2, 3].map(|lane| lanes[lane] + lanes[lane + 4]);
    (pairs[0] + pairs[2]) + (pairs[1] + pairs[3])
}

/// The larger of two numbers as one vector instruction; `b` if `a` is NaN.
#[inline(always)]
pub fn larger(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// The smaller of two numbers as one vector instruction; `b` if `a` is NaN.
#[inline(always)]
pub fn smaller(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithm_and_exponential_are_accurate() {
        let mut worst = (0.0_f64, 0.0_f64);
        for i in 1..20_000 {
            let x = (i as f64 / 20_000.0).powi(3);
            let (ours, exact) = (ln_one_minus::<false>(x), (-x).ln_1p());
            worst.0 = worst.0.max((ours / exact - 1.0).abs());
            assert!((ln::<false>(1e9 * x) - (1e9 * x).ln()).abs() <= 1e-15 * (1e9 * x).ln().abs().max(1.0));
            assert!((ln_one_minus::<true>(x) / exact - 1.0).abs() < 1e-15);
            let y = -700.0 * x;
            assert!((exp_negative::<true>(y) / y.exp() - 1.0).abs() < 1e-15);
            worst.1 = worst.1.max((exp_negative::<false>(y) / y.exp() - 1.0).abs());
        }
        assert!(worst.0 < 1e-15 && worst.1 < 1e-15, "{worst:?}");
        assert!((ln_one_minus::<false>(1e-17) / -1e-17 - 1.0).abs() < 1e-15);
        assert_eq!(ln_one_minus::<true>(0.0), 0.0);
        assert_eq!(exp_negative::<true>(0.0), 1.0);
        assert!(exp_negative::<true>(f64::NEG_INFINITY) < 1e-307);
        let nearly_one = 1.0 - 1e-12;
        assert!((ln_one_minus::<true>(nearly_one) / (-nearly_one).ln_1p() - 1.0).abs() < 1e-15);
    }
}
