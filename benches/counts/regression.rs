//! Kernels before the sampler: the library, regression sums and their projection.

use std::hint::black_box;

use itoscope_benches::{Setup, one_thread, paper, samples};
use itoscope_core::control::Control;
use itoscope_core::regression::project;

use crate::Work;

const N_SAMPLES: usize = 2000;

/// Values of the paper's library of two states, or their gradients.
pub fn library(gradients: bool) -> Work {
    let (_, values) = paper(2, 6);
    let program = if gradients { values.gradient_program() } else { values };
    let (x, pool) = (samples(N_SAMPLES, 2), one_thread());
    Box::new(move || {
        black_box(pool.install(|| program.evaluate(x.view(), &Control::default()).is_ok()));
    })
}

/// Sums of the drift, unweighted.
pub fn drift() -> Work {
    let (setup, pool) = (Setup::new(2, 6, N_SAMPLES), one_thread());
    Box::new(move || {
        black_box(pool.install(|| setup.drift().sums(&setup.paths(), &Control::default()).is_ok()));
    })
}

/// Sums of the diffusion, with the drift taken off and weights.
pub fn diffusion() -> Work {
    let (setup, pool) = (Setup::new(2, 6, N_SAMPLES), one_thread());
    Box::new(move || {
        black_box(pool.install(|| setup.diffusion().sums(&setup.paths(), &Control::default()).is_ok()));
    })
}

/// From sums to moments.
pub fn projection() -> Work {
    let setup = Setup::new(2, 6, N_SAMPLES);
    let sums = setup.drift().sums(&setup.paths(), &Control::default()).expect("finite samples");
    Box::new(move || {
        black_box(project(&sums).n);
    })
}
