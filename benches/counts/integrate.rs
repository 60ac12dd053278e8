//! Kernels of the integrators: normals, and a hundred steps of 64 paths of benchmark systems.

use std::hint::black_box;

use itoscope_benches::{one_thread, starts};
use itoscope_core::control::Control;
use itoscope_core::simulate::{Normals, PER_BLOCK, Scheme, SimulationSettings};
use itoscope_support::problems;

use crate::Work;

const N_PATHS: usize = 64;
const N_STEPS: usize = 100;

/// A hundred blocks of normals.
pub fn normals() -> Work {
    let mut normals = Normals::new(1, 0, N_PATHS);
    let mut out = vec![0.0; PER_BLOCK * N_PATHS];
    Box::new(move || (0..100).for_each(|_| normals.fill(black_box(&mut out))))
}

/// The system of this name, compiled and run.
pub fn simulate(name: &'static str, scheme: Scheme) -> Work {
    let all = problems::all().expect("the defaults are equations");
    let (_, sde, x0) = all.into_iter().find(|(system, ..)| *system == name).expect("a benchmark system");
    let (x0, pool) = (starts(N_PATHS, &x0), one_thread());
    let mut samples = vec![0.0; N_PATHS * (N_STEPS + 1) * x0.ncols()];
    Box::new(move || {
        let settings = SimulationSettings { scheme, seed: 1, ..SimulationSettings::new(1e-3, N_STEPS) };
        let control = Control::default();
        black_box(pool.install(|| sde.simulate_into(x0.view(), &settings, &mut samples, &control).is_ok()));
    })
}
