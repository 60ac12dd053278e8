//! The sizes of steps by a law, and the modes in which a filter remembers the last large ones.

/// Sizes of Student's law, evenly spaced in their logarithm.
const NODES: usize = 7;

/// Exponent at which the tail of large sizes is left out.
const LEFT_OUT: f64 = 6.0;

/// Standard deviations of the logarithm that the sizes reach.
const REACH: f64 = 2.0;

/// How many of them are large, and steps for which these are remembered.
const LARGE: usize = 3;

/// See `LARGE`.
const REMEMBERED: usize = 2;

/// Steps for which a jump is remembered.
const JUMP_REMEMBERED: usize = 4;

/// A step of Student's law is a jump where its size is the square of this.
const FAR: f64 = 3.0;

/// Sizes, the largest first, and modes: the first is that without a large step of late, each other that of the last
/// large one and how long ago it was.
#[derive(Debug, Clone)]
pub struct Modes {
    /// Factors of the covariance of the noise.
    pub sizes: Vec<f64>,
    /// Logarithms of how often a step has them.
    pub shares: Vec<f64>,
    /// How far each counts as that of a jump.
    pub wide: Vec<f64>,
    /// The mode after a step of each size from each mode (modes x sizes).
    pub after: Vec<usize>,
    /// How many there are.
    pub count: usize,
}

impl Modes {
    /// Of one number, one over its degrees of freedom, those of Student's law; of two the share of jumps and the root of
    /// their size.
    pub fn of(law: &[f64]) -> Self {
        match *law {
            [share, width] => {
                let sizes = vec![(width * width).max(1.0), 1.0];
                Self::with(sizes, vec![share.ln(), (-share).ln_1p()], vec![1.0, 0.0], 1, JUMP_REMEMBERED)
            }
            _ => Self::student(law[0]),
        }
    }

    fn student(heaviness: f64) -> Self {
        let sd = (2.0 * heaviness).sqrt();
        let left = 2.0 * LEFT_OUT * heaviness + REACH * sd;
        let right = (1.0 + REACH * sd + 2.0 * REACH * heaviness).ln();
        let spacing = (left + right) / (NODES - 1) as f64;
        let at: Vec<f64> = (0..NODES).map(|k| k as f64 * spacing - left).collect();
        let shares: Vec<f64> = at.iter().map(|u| 0.5 / heaviness * (u - u.exp() + 1.0)).collect();
        let total = shares.iter().map(|share| share.exp()).sum::<f64>().ln();
        Self::with(
            at.iter().map(|u| (-u).exp()).collect(),
            shares.iter().map(|share| share - total).collect(),
            at.iter().map(|u| ((-u - 2.0 * FAR.ln()) / spacing + 0.5).clamp(0.0, 1.0)).collect(),
            LARGE,
            REMEMBERED,
        )
    }

    fn with(sizes: Vec<f64>, shares: Vec<f64>, wide: Vec<f64>, large: usize, remembered: usize) -> Self {
        let (k, count) = (sizes.len(), 1 + large * remembered);
        let onward = |mode: usize| if mode.is_multiple_of(remembered) { 0 } else { mode + 1 };
        let next = |mode: usize, size: usize| match size {
            size if size < large => 1 + size * remembered,
            _ if mode == 0 => 0,
            _ => onward(mode),
        };
        let after = (0..count * k).map(|index| next(index / k, index % k)).collect();
        Self { sizes, shares, wide, after, count }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jump_is_remembered_for_its_steps() {
        let modes = Modes::of(&[0.01, 20.0]);
        assert_eq!(modes.after, [1, 0, 1, 2, 1, 3, 1, 4, 1, 0]);
        assert_eq!(modes.sizes, [400.0, 1.0]);
    }

    #[test]
    fn sizes_of_students_law_have_its_density() {
        // three degrees of freedom: density 2 / (pi sqrt 3 (1 + x^2 / 3)^2)
        let modes = Modes::of(&[1.0 / 3.0]);
        for x in [0.0, 1.0, 3.0, 9.0] {
            let each = modes.sizes.iter().zip(&modes.shares);
            let found: f64 = each.map(|(v, share)| (share - 0.5 * x * x / v).exp() / v.sqrt()).sum::<f64>()
                / (2.0 * std::f64::consts::PI).sqrt();
            let wanted = 2.0 / (std::f64::consts::PI * 3f64.sqrt() * (1.0 + x * x / 3.0).powi(2));
            assert!((found / wanted - 1.0).abs() < 0.06, "{x}: {found}, not {wanted}");
        }
        let mass: f64 = modes.shares.iter().map(|share| share.exp()).sum();
        assert!((mass - 1.0).abs() < 1e-12);
    }
}
