//! Kernels whose instructions are counted under valgrind: `counts` lists them, `counts NAME` runs one.
//!
//! To add one, write a function that prepares the work and returns it as a closure, in the file of its part, and name it
//! in [`KERNELS`].
//! Only what happens inside the closure is counted, see `check.py`.

mod filter;
mod integrate;
mod regression;
mod sampler;

use itoscope_core::simulate::Scheme;

use filter::Pass;

type Work = Box<dyn FnMut()>;
type Prepare = fn() -> Work;

/// Name and preparation of every kernel.
const KERNELS: &[(&str, Prepare)] = &[
    ("library_values_36", || regression::library(false)),
    ("library_gradients_36", || regression::library(true)),
    ("moments_drift_36", regression::drift),
    ("moments_diffusion_36", regression::diffusion),
    ("moments_projection_36", regression::projection),
    ("evidence_36", sampler::evidence),
    ("factor_insert_36", sampler::factor_insert),
    ("sweep_36", || sampler::sweeps(0, 1)),
    ("sweep_36_without_exchange", || sampler::sweeps(0, 0)),
    ("sweep_59", || sampler::sweeps(1, 1)),
    ("sweep_200", || sampler::sweeps(2, 1)),
    ("enumerate_12", sampler::enumeration),
    ("model_posterior_36", sampler::coefficients),
    ("filter_likelihood", || filter::pass(Pass::Likelihood)),
    ("filter_drift_moments_36", || filter::pass(Pass::DriftMoments)),
    ("filter_noise_moments_36", || filter::pass(Pass::NoiseMoments)),
    ("filter_smooth", || filter::pass(Pass::Smooth)),
    ("normals", integrate::normals),
    ("milstein_black_scholes", || integrate::simulate("black-scholes", Scheme::Milstein)),
    ("milstein_duffing", || integrate::simulate("duffing", Scheme::Milstein)),
    ("milstein_building", || integrate::simulate("building", Scheme::Milstein)),
    ("taylor15_duffing", || integrate::simulate("duffing", Scheme::Taylor15)),
];

/// The boundary of what is counted. Its name is what valgrind is told to look for.
#[inline(never)]
#[unsafe(no_mangle)]
extern "C" fn counted_region(work: &mut &mut dyn FnMut()) {
    work();
}

fn main() {
    let Some(wanted) = std::env::args().nth(1) else {
        KERNELS.iter().for_each(|(name, _)| println!("{name}"));
        return;
    };
    match KERNELS.iter().find(|(name, _)| *name == wanted) {
        Some((_, prepare)) => {
            let mut work = prepare();
            counted_region(&mut (&mut *work as &mut dyn FnMut()));
        }
        None => {
            eprintln!("no kernel is called {wanted:?}; run without an argument for the list");
            std::process::exit(2);
        }
    }
}
