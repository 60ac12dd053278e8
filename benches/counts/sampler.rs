//! Kernels of the sampler: evidence, factor, sweeps, enumeration, coefficients.

use std::hint::black_box;

use itoscope_benches::{SAMPLER_SIZES, one_thread, regression};
use itoscope_core::control::Control;
use itoscope_core::noise::{Purpose, Stream};
use itoscope_core::sampler::{Factor, Gibbs, enumerate, greedy_start, model_posterior};

use crate::Work;

/// Log evidence of the true model, factored from nothing.
pub fn evidence() -> Work {
    let (n, k, r) = SAMPLER_SIZES[0];
    let regression = regression(n, k, r);
    Box::new(move || {
        for _ in 0..1000 {
            black_box(regression.log_evidence(black_box(&[0, 1, 2]), black_box(2.0)).is_ok());
        }
    })
}

/// Ten columns inserted one after the other into the maintained factor, then removed.
pub fn factor_insert() -> Work {
    let (n, k, r) = SAMPLER_SIZES[0];
    let regression = regression(n, k, r);
    Box::new(move || {
        let mut factor = Factor::new(&regression, 2.0);
        for _ in 0..100 {
            (0..10).for_each(|column| factor.insert(column));
            (0..10).for_each(|column| factor.remove(column));
        }
        black_box(factor.energy());
    })
}

/// A thousand sweeps in stationarity.
pub fn sweeps(size: usize, exchanges: usize) -> Work {
    let (n, k, r) = SAMPLER_SIZES[size];
    let regression = Box::leak(Box::new(regression(n, k, r)));
    let mut gibbs = Gibbs::new(regression, &greedy_start(regression), exchanges);
    let mut draws = Stream::new(1, Purpose::Chain, 0);
    (0..100).for_each(|_| gibbs.sweep(&mut draws));
    Box::new(move || {
        (0..1000).for_each(|_| gibbs.sweep(&mut draws));
        black_box(gibbs.parameters());
    })
}

/// All models of twelve columns.
pub fn enumeration() -> Work {
    let regression = regression(1000, 12, 3);
    let pool = Box::leak(Box::new(one_thread()));
    Box::new(move || {
        black_box(pool.install(|| enumerate(&regression, &Control::default()).is_ok()));
    })
}

/// Coefficients of the true model, slab variance integrated out.
pub fn coefficients() -> Work {
    let (n, k, r) = SAMPLER_SIZES[0];
    let regression = regression(n, k, r);
    Box::new(move || {
        black_box(model_posterior(&regression, &[0, 1, 2]).is_ok());
    })
}
