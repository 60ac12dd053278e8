//! Kernels of the filter, on noisy displacements of the Duffing-Van der Pol oscillator.

use std::hint::black_box;

use itoscope_benches::{Recording, one_thread};
use itoscope_core::control::Control;
use itoscope_core::filter;

use crate::Work;

/// A pass over the recording.
#[derive(Clone, Copy)]
pub enum Pass {
    Likelihood,
    DriftMoments,
    NoiseMoments,
    Smooth,
}

pub fn pass(pass: Pass) -> Work {
    let (recording, pool) = (Recording::new(4, 100), one_thread());
    Box::new(move || {
        let (model, paths, control) = (recording.model(), recording.paths(), Control::default());
        black_box(pool.install(|| match pass {
            Pass::Likelihood => filter::loglik(&model, &paths, &control).is_ok(),
            Pass::DriftMoments => {
                filter::drift_moments(&model, &paths, &recording.candidates(1), None, &control).is_ok()
            }
            Pass::NoiseMoments => {
                filter::noise_moments(&model, &paths, &recording.candidates(0), None, &control).is_ok()
            }
            Pass::Smooth => filter::smooth(&model, &paths, &control).is_ok(),
        }));
    })
}
