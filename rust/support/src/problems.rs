//! Benchmark systems with known truth, every parameter a field; Python's `itoscope.problems` has the same.
//!
//! ```
//! use itoscope_support::problems::{DuffingVanDerPol, Problem};
//!
//! let sde = DuffingVanDerPol { s: 20.0, ..Default::default() }.sde()?;
//! assert_eq!(sde.drift[1], "-1000 x1 + -2 x2 + -100000 x1^3");
//! # Ok::<(), itoscope_core::Error>(())
//! ```

use itoscope_core::simulate::{Noise, Sde};
use itoscope_core::{Error, Result};

/// A system with known truth.
pub trait Problem {
    /// Short name.
    const NAME: &'static str;

    /// Its equation.
    ///
    /// # Errors
    /// [`Error`] for parameters that make no equation.
    fn sde(&self) -> Result<Sde>;

    /// Where its paths start.
    fn x0(&self) -> Vec<f64>;
}

/// Declares the parameters of systems with their defaults, and where their paths start.
macro_rules! problems {
    ($($(#[$doc:meta])* $name:ident($short:literal) { $($field:ident: $kind:ty = $default:expr),* $(,)? }
        from [$($x0:expr),*] $equation:expr;)*) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, PartialEq)]
            #[allow(missing_docs, reason = "the equation above says what each parameter is")]
            pub struct $name { $(pub $field: $kind),* }

            impl Default for $name {
                fn default() -> Self {
                    Self { $($field: $default),* }
                }
            }

            impl Problem for $name {
                const NAME: &'static str = $short;

                fn sde(&self) -> Result<Sde> {
                    let equation: fn(&Self) -> Result<Sde> = $equation;
                    equation(self)
                }

                fn x0(&self) -> Vec<f64> {
                    vec![$($x0),*]
                }
            }
        )*

        /// Name, equation and start of every system with its default parameters.
        ///
        /// # Errors
        /// None: the defaults make equations.
        pub fn all() -> Result<Vec<(&'static str, Sde, Vec<f64>)>> {
            Ok(vec![$({
                let problem = $name::default();
                ($name::NAME, problem.sde()?, problem.x0())
            }),*])
        }
    };
}

problems! {
    /// Geometric Brownian motion: `dX = lam X dt + mu X dB`.
    BlackScholes("black-scholes") { lam: f64 = 2.0, mu: f64 = 1.0 } from [1.0]
    |p| system(&[format!("{} x1", p.lam)], &[&[format!("{} x1", p.mu)]]);

    /// Oscillator under parametric noise: `dX1 = X2 dt`, `dX2 = -(c X2 + k X1 + a X1^3)/m dt + (s/m) X1 dB`.
    DuffingVanDerPol("duffing") { m: f64 = 1.0, c: f64 = 2.0, k: f64 = 1000.0, a: f64 = 1e5, s: f64 = 10.0 }
    from [0.1, 0.0]
    |p| {
        let force = format!("{} x1 + {} x2 + {} x1^3", -p.k / p.m, -p.c / p.m, -p.a / p.m);
        system(&[x(2), force], &[&[zero()], &[format!("{} x1", p.s / p.m)]])
    };

    /// Two-storey building on a base with dry friction; x1, x3 are displacements, x2, x4 velocities:
    /// `dY2 = -((c1+c2) Y2 + mu g m1 sgn Y2 + (k1+k2) Y1 - c2 Y4 - k2 Y3)/m1 dt + s1/m1 dB1`,
    /// `dY4 = -(c2 (Y4-Y2) + k2 (Y3-Y1))/m2 dt + s2/m2 dB2`.
    TwoStoreyBuilding("building") {
        m1: f64 = 1.0, m2: f64 = 1.0, k1: f64 = 4000.0, k2: f64 = 2000.0, c1: f64 = 2.0, c2: f64 = 2.0,
        mu: f64 = 1.0, g: f64 = 9.81, s1: f64 = 10.0, s2: f64 = 10.0,
    } from [0.1, 0.0, 0.1, 0.0]
    |p| {
        let first = format!(
            "{} x1 + {} x2 + {} x3 + {} x4 + {} sgn(x2)",
            -(p.k1 + p.k2) / p.m1, -(p.c1 + p.c2) / p.m1, p.k2 / p.m1, p.c2 / p.m1, -p.mu * p.g
        );
        let (k, c) = (p.k2 / p.m2, p.c2 / p.m2);
        let second = format!("{k} x1 + {c} x2 + {} x3 + {} x4", -k, -c);
        let (s1, s2) = ((p.s1 / p.m1).to_string(), (p.s2 / p.m2).to_string());
        let noise: [&[String]; 4] = [&[zero(), zero()], &[s1, zero()], &[zero(), zero()], &[zero(), s2]];
        system(&[x(2), first, x(4), second], &noise)
    };

    /// Oscillator with hysteresis, x3: `dX1 = X2 dt`, `dX2 = -(c X2 + k lam X1 + k (1-lam) X3)/m dt + s/m dB`,
    /// `dX3 = (-a1 X3 |X2| |X3|^(n-1) - a2 X2 |X3|^n + a3 X2) dt`, `n >= 1`.
    BoucWen("bouc-wen") {
        m: f64 = 1.0, c: f64 = 20.0, k: f64 = 1e4, lam: f64 = 0.5, a1: f64 = 0.5, a2: f64 = 0.5, a3: f64 = 1.0,
        n: f64 = 3.0, s: f64 = 2.0,
    } from [0.55, 0.0, 0.005]
    |p| {
        if p.n.is_nan() || p.n < 1.0 {
            return Err(Error::argument("n", p.n, "a number, 1 or more"));
        }
        let (stiff, soft) = (-p.k * p.lam / p.m, -p.k * (1.0 - p.lam) / p.m);
        let force = format!("{stiff} x1 + {} x2 + {soft} x3", -p.c / p.m);
        let (a1, a2, lower) = (-p.a1, -p.a2, p.n - 1.0);
        let loops = format!("{a1} x3|x2||x3|^{lower} + {a2} x2|x3|^{} + {} x2", p.n, p.a3);
        system(&[x(2), force, loops], &[&[zero()], &[(p.s / p.m).to_string()], &[zero()]])
    };

    /// `dX = theta (mu - X) dt + sigma dB`, with stationary variance `sigma^2 / (2 theta)`.
    OrnsteinUhlenbeck("ornstein-uhlenbeck") { theta: f64 = 1.0, mu: f64 = 0.0, sigma: f64 = 0.5 } from [0.0]
    |p| system(&[format!("{} + {} x1", p.theta * p.mu, -p.theta)], &[&[p.sigma.to_string()]]);

    /// Two states with correlated noise: `dX = -a X dt + g dB`, `g g^T = gamma`, g lower triangular.
    OrnsteinUhlenbeck2d("ornstein-uhlenbeck-2d") {
        a: [[f64; 2]; 2] = [[1.0, -0.5], [0.8, 1.5]], gamma: [[f64; 2]; 2] = [[0.5, 0.2], [0.2, 0.3]],
    } from [0.0, 0.0]
    |p| {
        let drift = p.a.map(|[first, second]| format!("{} x1 + {} x2", -first, -second));
        let first = p.gamma[0][0].sqrt();
        let mixed = p.gamma[1][0] / first;
        let second = (p.gamma[1][1] - mixed * mixed).sqrt();
        system(&drift, &[&[first.to_string(), zero()], &[mixed.to_string(), second.to_string()]])
    };

    /// `dX = (a X - b X^3) dt + g dB`, `g^2 = gamma0 + gamma2 X^2`.
    DoubleWell("double-well") { a: f64 = 1.0, b: f64 = 1.0, gamma0: f64 = 0.5, gamma2: f64 = 0.3 } from [0.0]
    |p| {
        let noise = format!("sqrt({} + {} x1^2)", p.gamma0, p.gamma2);
        system(&[format!("{} x1 + {} x1^3", p.a, -p.b)], &[&[noise]])
    };

    /// Stochastic Lorenz-63, with independent additive noise of strength s in each state.
    Lorenz63("lorenz") { sigma: f64 = 10.0, rho: f64 = 28.0, beta: f64 = 8.0 / 3.0, s: f64 = 1.0 }
    from [1.0, 1.0, 25.0]
    |p| {
        let first = format!("{} x1 + {} x2", -p.sigma, p.sigma);
        let drift = [first, format!("{} x1 - x2 - x1 x3", p.rho), format!("{} x3 + x1 x2", -p.beta)];
        let s = p.s.to_string();
        let noise: [[String; 3]; 3] =
            std::array::from_fn(|i| std::array::from_fn(|j| if i == j { s.clone() } else { zero() }));
        system(&drift, &[&noise[0], &noise[1], &noise[2]])
    };

    /// `dX1 = X2 dt`, `dX2 = (mu (1 - X1^2) X2 - omega^2 X1) dt + s dB`.
    VanDerPol("van-der-pol") { mu: f64 = 2.0, omega: f64 = 1.0, s: f64 = 0.5 } from [1.0, 0.0]
    |p| {
        let force = format!("{} x1 + {} x2 + {} x1^2 x2", -p.omega * p.omega, p.mu, -p.mu);
        system(&[x(2), force], &[&[zero()], &[p.s.to_string()]])
    };

    /// Three storeys of equal mass m, springs k and dampers c below each, pushed by `s dB_i` each; odd states are
    /// displacements: `m dV_i = (r_{i+1} - r_i) dt + s dB_i`, `r_i = k (Y_i - Y_{i-1}) + c (V_i - V_{i-1})`.
    Chain("chain") { m: f64 = 1.0, k: f64 = 2000.0, c: f64 = 2.0, s: f64 = 1.0 }
    from [0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    |p| {
        let (k, c, s) = (p.k / p.m, p.c / p.m, (p.s / p.m).to_string());
        let drift = [
            x(2),
            format!("{} x1 + {} x2 + {k} x3 + {c} x4", -2.0 * k, -2.0 * c),
            x(4),
            format!("{k} x1 + {c} x2 + {} x3 + {} x4 + {k} x5 + {c} x6", -2.0 * k, -2.0 * c),
            x(6),
            format!("{k} x3 + {c} x4 + {} x5 + {} x6", -k, -c),
        ];
        let pushed = |i: usize| -> [String; 3] { std::array::from_fn(|j| if i == j { s.clone() } else { zero() }) };
        let (still, first, second, third) = (pushed(3), pushed(0), pushed(1), pushed(2));
        system(&drift, &[&still, &first, &still, &second, &still, &third])
    };
}

/// Name, states, drift, diffusion and start of every system with its default parameters, as JSON: what the parity test of
/// Python's `itoscope.problems` reads.
///
/// # Errors
/// None: the defaults make equations.
pub fn json() -> Result<String> {
    let entry = |(name, sde, x0): (&str, Sde, Vec<f64>)| {
        let Noise::Diffusion(diffusion) = sde.noise else {
            unreachable!("every system is given by its diffusion")
        };
        // Names, expressions and finite numbers are written by Rust's debug format as by JSON.
        let fields = [
            format!("\"states\": {:?}", sde.states),
            format!("\"drift\": {:?}", sde.drift),
            format!("\"diffusion\": {diffusion:?}"),
            format!("\"x0\": {x0:?}"),
        ];
        format!("  {name:?}: {{\n    {}\n  }}", fields.join(",\n    "))
    };
    let entries: Vec<String> = all()?.into_iter().map(entry).collect();
    Ok(format!("{{\n{}\n}}\n", entries.join(",\n")))
}

fn zero() -> String {
    "0".to_owned()
}

fn x(i: usize) -> String {
    format!("x{i}")
}

/// An equation in the states x1, x2, ...
fn system(drift: &[String], diffusion: &[&[String]]) -> Result<Sde> {
    let diffusion = diffusion.iter().map(|row| row.to_vec()).collect();
    Sde::new(drift.to_vec(), diffusion, (1..=drift.len()).map(x).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use itoscope_core::simulate::Structure;

    #[test]
    fn every_system_is_an_equation_with_noise() {
        let all = all().unwrap();
        assert_eq!(all.len(), 10);
        for (name, sde, x0) in all {
            assert_eq!(x0.len(), sde.states.len(), "{name}");
            assert_ne!(sde.structure().unwrap(), Structure::None, "{name}");
        }
    }

    #[test]
    fn parameters_that_make_no_equation_are_refused() {
        assert!(BoucWen { n: 0.5, ..Default::default() }.sde().is_err());
        assert!(BlackScholes { lam: f64::NAN, ..Default::default() }.sde().is_err());
    }
}
