//! Quantiles of the normal law and of Student's t.

use libm::lgamma;

/// Beyond so many degrees of freedom the Cornish-Fisher expansion serves, whose next term is below 1e-15.
const NEARLY_NORMAL: f64 = 1e5;

/// The quantile of probability `p` of Student's t with `df > 0` degrees of freedom, for `0.5 < p < 1`.
///
/// Newton's iteration on the distribution function, held inside a bracket, from the normal quantile.
pub(super) fn student_quantile(p: f64, df: f64) -> f64 {
    let z = normal_quantile(p);
    if df > NEARLY_NORMAL {
        return z
            + (z.powi(3) + z) / (4.0 * df)
            + (5.0 * z.powi(5) + 16.0 * z.powi(3) + 3.0 * z) / (96.0 * df * df);
    }
    let (mut low, mut high) = (0.0, 1.0);
    while distribution(high, df) < p {
        (low, high) = (high, 2.0 * high);
        if (high * high).is_infinite() {
            return f64::INFINITY;
        }
    }
    let mut t = z.clamp(low, high);
    let log_density = lgamma(0.5 * (df + 1.0)) - lgamma(0.5 * df) - 0.5 * (df * std::f64::consts::PI).ln();
    for _ in 0..200 {
        let excess = distribution(t, df) - p;
        (low, high) = if excess > 0.0 { (low, t) } else { (t, high) };
        let density = (log_density - 0.5 * (df + 1.0) * (t * t / df).ln_1p()).exp();
        let mut following = t - excess / density;
        if !(low < following && following < high) {
            following = low.midpoint(high);
        }
        if (following - t).abs() <= 1e-14 * t.max(1.0) {
            return following;
        }
        t = following;
    }
    t
}

/// `P(T <= t)` for `t >= 0`: `1 - I_x(df/2, 1/2) / 2` with `x = df / (df + t^2)`.
fn distribution(t: f64, df: f64) -> f64 {
    1.0 - 0.5 * incomplete_beta(df / (df + t * t), 0.5 * df, 0.5)
}

/// The regularised incomplete beta function by its continued fraction (modified Lentz).
fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    if x == 0.0 || x == 1.0 {
        return x;
    }
    let log_front = lgamma(a + b) - lgamma(a) - lgamma(b) + a * x.ln() + b * (-x).ln_1p();
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - incomplete_beta(1.0 - x, b, a);
    }
    let away = |value: f64| if value == 0.0 { 1e-300 } else { value };
    let (mut c, mut d) = (1.0, 1.0 / (1.0 - (a + b) * x / (a + 1.0)).max(1e-300));
    let mut fraction = d;
    for m in 1..10_000 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for term in [even, odd] {
            d = 1.0 / away(1.0 + term * d);
            c = away(1.0 + term / c);
            fraction *= c * d;
            change = c * d;
        }
        if (change - 1.0_f64).abs() < 1e-16 {
            break;
        }
    }
    log_front.exp() * fraction / a
}

/// The quantile of the standard normal law: Wichura's algorithm AS 241 to its full sixteen digits.
fn normal_quantile(p: f64) -> f64 {
    let q = p - 0.5;
    let ratio = |r: f64, over: [f64; 8], under: [f64; 8]| {
        let polynomial = |c: [f64; 8]| c.iter().fold(0.0, |sum, c| sum * r + c);
        polynomial(over) / polynomial(under)
    };
    if q.abs() <= 0.425 {
        return q * ratio(0.180625 - q * q, CENTRE.0, CENTRE.1);
    }
    let r = (-p.min(1.0 - p).ln()).sqrt();
    let size = if r <= 5.0 { ratio(r - 1.6, MIDDLE.0, MIDDLE.1) } else { ratio(r - 5.0, TAIL.0, TAIL.1) };
    size.copysign(q)
}

/// Coefficients of a ratio of polynomials, highest power first.
type Ratio = ([f64; 8], [f64; 8]);

const CENTRE: Ratio = (
    [
        2509.0809287301227,
        33430.57558358813,
        67265.7709270087,
        45921.95393154987,
        13731.69376550946,
        1971.5909503065513,
        133.14166789178438,
        3.3871328727963665,
    ],
    [
        5226.495278852854,
        28729.085735721943,
        39307.89580009271,
        21213.794301586597,
        5394.196021424751,
        687.1870074920579,
        42.31333070160091,
        1.0,
    ],
);
const MIDDLE: Ratio = (
    [
        0.0007745450142783414,
        0.022723844989269184,
        0.2417807251774506,
        1.2704582524523684,
        3.6478483247632045,
        5.769497221460691,
        4.630337846156546,
        1.4234371107496835,
    ],
    [
        1.0507500716444169e-9,
        0.0005475938084995345,
        0.015198666563616457,
        0.14810397642748008,
        0.6897673349851,
        1.6763848301838038,
        2.053191626637759,
        1.0,
    ],
);
const TAIL: Ratio = (
    [
        2.0103343992922881e-7,
        2.7115555687434876e-5,
        0.0012426609473880784,
        0.026532189526576124,
        0.29656057182850487,
        1.7848265399172913,
        5.463784911164114,
        6.657904643501103,
    ],
    [
        2.0442631033899397e-15,
        1.421511758316446e-7,
        1.8463183175100548e-5,
        0.0007868691311456133,
        0.014875361290850615,
        0.1369298809227358,
        0.599832206555888,
        1.0,
    ],
);
