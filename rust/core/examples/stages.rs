//! Finds `dx = (x - x^3) dt + 0.5 dB` in a path that it simulates by the stages that `discover` consists of: sums of one
//! pass, moments, all models. Sums of several recordings or machines add before they are projected.
//!
//! `cargo run --release --example stages`

use itoscope_core::control::Control;
use itoscope_core::path::{Path, Times};
use itoscope_core::program::Program;
use itoscope_core::regression::{Ensemble, Regression, StepScheme, Target, Weights, project};
use itoscope_core::sampler::{Prior, ScaledRegression, enumerate, model_posterior};
use itoscope_core::simulate::{Sde, SimulationSettings};
use ndarray::{Axis, array};

fn main() -> itoscope_core::Result<()> {
    let control = Control::default();

    // The truth, and 1000 units of time of it.
    let texts = |rows: &[&str]| rows.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
    let sde = Sde::new(texts(&["x - x^3"]), vec![texts(&["0.5"])], texts(&["x"]))?;
    let (dt, n_steps) = (0.01, 100_000);
    let settings = SimulationSettings { substeps: 10, seed: 1, ..SimulationSettings::new(dt, n_steps) };
    let (paths, _) = sde.simulate(array![[1.0]].view(), &settings, &control)?;

    // One pass over the data: the increments of x regressed on six candidate terms.
    let names = texts(&["1", "x", "x^2", "x^3", "x^4", "x^5"]);
    let program = Program::new(&names, &["x"])?;
    let regression = Regression {
        program: &program,
        names: &names,
        target: Target::Drift(0),
        scheme: StepScheme::Trapezoid,
        weights: Weights::Unit,
        ensemble: Ensemble::Pool,
        squares: true,
        given: None,
    };
    let path = Path { x: paths.index_axis(Axis(0), 0), times: Times::Even(dt) };
    let moments = project(&regression.sums(&[path], &control)?);

    // All 2^6 models, each with its evidence; the slab in units of one time constant of the motion, not of one sample.
    let tau = 1.0;
    let prior = Prior { b_v: 0.5 * tau / dt, ..Prior::default() };
    let scaled =
        ScaledRegression::new(moments.gram.view(), moments.moment.view(), moments.yy, moments.n, prior)?;
    let log_mass = enumerate(&scaled, &control)?;
    let highest = log_mass.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mass: Vec<f64> = log_mass.iter().map(|l| (l - highest).exp()).collect();
    let total: f64 = mass.iter().sum();

    let members = |model: usize| (0..names.len()).filter(|k| model >> k & 1 == 1).collect::<Vec<_>>();
    for (k, name) in names.iter().enumerate() {
        let with: f64 =
            mass.iter().enumerate().filter(|(model, _)| model >> k & 1 == 1).map(|(_, m)| m).sum();
        println!("{name:>4}  probability {:.3}", with / total);
    }
    let best = (0..mass.len()).max_by(|&a, &b| mass[a].total_cmp(&mass[b])).unwrap_or(0);
    let posterior = model_posterior(&scaled, &members(best))?;
    for k in members(best) {
        let (mean, sd) = (posterior.mean[k], posterior.cov[[k, k]].sqrt());
        println!("{:>4}  {mean:.3} ± {sd:.3}", names[k]);
    }
    Ok(())
}
