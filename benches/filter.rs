//! Passes of the filter over 20 noisy records of 1000 samples: likelihood, moments of all candidates, states.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use itoscope_benches::Recording;
use itoscope_core::control::Control;
use itoscope_core::filter;

fn passes(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("filter");
    let recording = Recording::new(20, 1000);
    let (model, paths, control) = (recording.model(), recording.paths(), Control::default());
    group.sample_size(10);
    group.throughput(Throughput::Elements(20_000));
    group.bench_function("likelihood", |bencher| bencher.iter(|| filter::loglik(&model, &paths, &control)));
    group.bench_function("drift moments K=36", |bencher| {
        bencher.iter(|| filter::drift_moments(&model, &paths, &recording.candidates(1), None, &control));
    });
    group.bench_function("noise moments K=36", |bencher| {
        bencher.iter(|| filter::noise_moments(&model, &paths, &recording.candidates(0), None, &control));
    });
    group.bench_function("smoothed states", |bencher| {
        bencher.iter(|| filter::smooth(&model, &paths, &control));
    });
    group.finish();
}

criterion_group!(benches, passes);
criterion_main!(benches);
