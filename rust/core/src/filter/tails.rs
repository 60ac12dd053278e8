//! Noise that is not normal: a sum of normal laws over nodes, and how much a reading of it is believed.

use super::state_space::MAX_STATES;

pub(super) const LOG_2PI: f64 = 1.837_877_066_409_345_3;

/// Nodes of the sum over sizes of Student's law: trapezoids in the logarithm of the precision, whose error falls
/// exponentially.
const NODES: usize = 40;

/// Exponent at which a tail of the law of sizes is left out.
const LEFT_OUT: f64 = 20.0;

/// Logarithm of the largest variance over the scale.
const WIDEST: f64 = 40.0;

/// Standard deviations of the logarithm of the precision that the nodes reach.
const REACH: f64 = 5.0;

/// A law of noise as normal laws: their variances over the scale, the widest first, and logarithms of their shares.
#[derive(Debug, Clone, Default)]
pub struct Nodes {
    variances: Vec<f64>,
    shares: Vec<f64>,
}

/// An innovation of such noise: its log density, the precision by which the state follows, and the one that it gains.
#[derive(Debug, Clone, Copy)]
pub struct Believed {
    pub log_density: f64,
    pub precision: f64,
    pub gained: f64,
}

impl Nodes {
    /// Of no number a normal law; of one that of Student, one over the degrees of freedom; of two the share of wide
    /// readings and their standard deviation over that of the others.
    pub fn of(tail: &[f64]) -> Self {
        match *tail {
            [heaviness] => Self::student(heaviness),
            [share, width] => Self {
                variances: vec![(width * width).max(1.0), 1.0],
                shares: vec![share.ln(), (-share).ln_1p()],
            },
            _ => Self::default(),
        }
    }

    fn student(heaviness: f64) -> Self {
        let (nu, sd) = (1.0 / heaviness, (2.0 * heaviness).sqrt());
        let left = (2.0 * LEFT_OUT * heaviness + REACH * sd).min(WIDEST);
        let right = (1.0 + REACH * sd + 2.0 * REACH * heaviness).ln();
        let at = |k: usize| (left + right) * k as f64 / (NODES - 1) as f64 - left;
        let shares: Vec<f64> = (0..NODES).map(at).map(|u| 0.5 * nu * (u - u.exp() + 1.0)).collect();
        let total = shares.iter().map(|share| share.exp()).sum::<f64>().ln();
        Self {
            variances: (0..NODES).map(|k| (-at(k)).exp()).collect(),
            shares: shares.iter().map(|share| share - total).collect(),
        }
    }

    /// Whether the law is normal.
    pub fn is_normal(&self) -> bool {
        self.variances.is_empty()
    }

    /// An innovation `r` whose part from the state has the variance `own`, with noise of the scale `noise`.
    ///
    /// With `S_k = own + noise v_k` and `p_k ~ w_k N(r; 0, S_k)`: the mean of the state moves by `P H^T r sum p_k / S_k`,
    /// its covariance falls by `P H^T H P` times that less `r^2 Var_p(1 / S_k)`.
    pub fn believe(&self, r: f64, own: f64, noise: f64) -> Believed {
        let precision = |variance: f64| 1.0 / (own + noise * variance);
        let least = 0.5 * r * r * precision(self.variances[0]);
        let (mut total, mut first, mut second) = (0.0, 0.0, 0.0);
        for (&variance, &share) in self.variances.iter().zip(&self.shares) {
            let precision = precision(variance);
            let density = precision.sqrt() * (share + least - 0.5 * r * r * precision).exp();
            total += density;
            first += density * precision;
            second += density * precision * precision;
        }
        let (first, second) = (first / total, second / total);
        Believed {
            log_density: total.ln() - least - 0.5 * LOG_2PI,
            precision: first,
            gained: first - r * r * (second - first * first),
        }
    }
}

/// How a sample is read where noise has tails, the channels taken one by one, those with a tail last.
#[derive(Debug, Clone)]
pub struct Reading {
    order: Vec<usize>,
    nodes: Vec<Nodes>,
    mean: [f64; MAX_STATES],
    cov: [f64; MAX_STATES * MAX_STATES],
    /// How much less the covariance falls than with normal noise that leads as far, over the square of the gain (q).
    pub lost: Vec<f64>,
    /// What the log-likelihood has beside that of normal noise.
    pub beside: f64,
}

impl Reading {
    /// For `q` channels whose noise has these tails.
    pub fn new(tails: &[Vec<f64>], q: usize) -> Self {
        let nodes: Vec<Nodes> = tails.iter().map(|tail| Nodes::of(tail)).collect();
        let mut order: Vec<usize> = (0..nodes.len()).collect();
        order.sort_by_key(|&c| !nodes[c].is_normal());
        let (mean, cov) = ([0.0; MAX_STATES], [0.0; MAX_STATES * MAX_STATES]);
        Self { order, nodes, mean, cov, lost: vec![0.0; q], beside: 0.0 }
    }

    /// Whether all noise is normal.
    pub fn is_normal(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Turns the factors `scale` of the variances `noise` into those by which normal noise leads the mean as far.
    ///
    /// `observation` has a row of zeros for what is missing.
    pub fn read(
        &mut self,
        y: impl Fn(usize) -> f64,
        (seen, observation): (&[bool], &[f64]),
        (noise, scale): (&[f64], &mut [f64]),
        (mean, cov): (&[f64], &[f64]),
    ) {
        let m = mean.len();
        self.mean[..m].copy_from_slice(mean);
        self.cov[..m * m].copy_from_slice(cov);
        self.lost.fill(0.0);
        self.beside = 0.0;
        for &c in self.order.iter().filter(|&&c| seen[c]) {
            let row = &observation[c * m..(c + 1) * m];
            let mut pulled = [0.0; MAX_STATES];
            for (i, pulled) in pulled[..m].iter_mut().enumerate() {
                *pulled = self.cov[i * m..(i + 1) * m].iter().zip(row).map(|(a, b)| a * b).sum();
            }
            let own: f64 = pulled.iter().zip(row).map(|(a, b)| a * b).sum();
            let r = y(c) - row.iter().zip(&self.mean).map(|(a, b)| a * b).sum::<f64>();
            let size = noise[c] * scale[c];
            let mut precision = 1.0 / (own + size);
            if !self.nodes[c].is_normal() {
                let found = self.nodes[c].believe(r, own.max(0.0), size);
                precision = found.precision;
                scale[c] = (1.0 / precision - own).max(f64::MIN_POSITIVE) / noise[c];
                self.lost[c] = (precision - found.gained) / (precision * precision);
                self.beside += found.log_density - 0.5 * (precision.ln() - LOG_2PI - r * r * precision);
            }
            for i in 0..m {
                self.mean[i] += pulled[i] * precision * r;
                for j in 0..m {
                    self.cov[i * m + j] -= pulled[i] * precision * pulled[j];
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Log density of `r` where the state has the variance `own`, by an integral over the state.
    fn by_sum(density: impl Fn(f64) -> f64, r: f64, own: f64) -> f64 {
        let (n, reach) = (40_000, 12.0 * own.sqrt());
        let step = 2.0 * reach / f64::from(n);
        let law = |x: f64| (-0.5 * x * x / own).exp() / (2.0 * std::f64::consts::PI * own).sqrt();
        let at = |k: i32| f64::from(k) * step - reach;
        (0..=n).map(|k| law(at(k)) * density(r - at(k)) * step).sum::<f64>().ln()
    }

    #[test]
    fn a_reading_of_students_law_has_the_density_of_the_integral() {
        // four degrees of freedom: density 3/8 (1 + x^2/4)^(-5/2)
        let student = |x: f64| 0.375 * (1.0 + x * x / 4.0).powf(-2.5);
        let nodes = Nodes::of(&[0.25]);
        for r in [0.0, 0.7, 3.0, 20.0] {
            let found = nodes.believe(r, 0.5, 1.0).log_density;
            let wanted = by_sum(student, r, 0.5);
            assert!((found - wanted).abs() < 1e-6, "{r}: {found}, not {wanted}");
        }
    }

    #[test]
    fn precisions_are_slopes_of_the_log_density() {
        for nodes in [Nodes::of(&[0.3]), Nodes::of(&[0.02, 25.0])] {
            for r in [0.4, 2.0, 4.0, 30.0] {
                let at = |r: f64| nodes.believe(r, 0.3, 1.7).log_density;
                let found = nodes.believe(r, 0.3, 1.7);
                let (h, l) = (1e-4, at(r));
                let slope = -(at(r + h) - at(r - h)) / (2.0 * h);
                let bend = -(at(r + h) - 2.0 * l + at(r - h)) / (h * h);
                assert!((found.precision * r - slope).abs() < 1e-6, "{r}: {found:?} {slope}");
                assert!((found.gained - bend).abs() < 1e-5, "{r}: {found:?} {bend}");
            }
        }
    }

    #[test]
    fn a_share_of_none_is_normal() {
        let found = Nodes::of(&[1e-300, 10.0]).believe(2.0, 0.5, 1.5);
        assert!((found.precision - 0.5).abs() < 1e-14 && (found.gained - 0.5).abs() < 1e-14);
        assert!((found.log_density + 0.5 * (LOG_2PI + 2.0_f64.ln() + 2.0)).abs() < 1e-14);
    }
}
