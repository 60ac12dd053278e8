//! Time of the sampler: one evidence, one sweep, 3000 sweeps, and how a sweep grows with the number of columns.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use itoscope_benches::{SAMPLER_SIZES, regression};
use itoscope_core::control::Control;
use itoscope_core::noise::{Purpose, Stream};
use itoscope_core::sampler::{
    ChainSettings, Gibbs, Start, enumerate, greedy_start, model_posterior, run_chain,
};

fn evidence(c: &mut Criterion) {
    let regression = regression(1000, 36, 3);
    c.bench_function("evidence/36", |b| {
        b.iter(|| regression.log_evidence(black_box(&[0, 1, 2]), black_box(2.0)))
    });
    c.bench_function("model_posterior/36", |b| {
        b.iter(|| model_posterior(&regression, black_box(&[0, 1, 2])))
    });
}

fn sweep(c: &mut Criterion) {
    let mut group = c.benchmark_group("sweep");
    for (n, k, r) in
        SAMPLER_SIZES.into_iter().chain([(5000, 50, 10), (5000, 100, 10), (5000, 500, 10), (5000, 1000, 10)])
    {
        let regression = regression(n, k, r);
        for exchanges in [0, 1] {
            let mut gibbs = Gibbs::new(&regression, &greedy_start(&regression), exchanges);
            let mut draws = Stream::new(1, Purpose::Chain, 0);
            (0..100).for_each(|_| gibbs.sweep(&mut draws));
            let name = format!("K={k}, r={r}, n={n}");
            group.bench_function(BenchmarkId::new(name, format!("{exchanges} exchanges")), |b| {
                b.iter(|| gibbs.sweep(&mut draws));
            });
        }
    }
}

fn chain(c: &mut Criterion) {
    let mut group = c.benchmark_group("3000 sweeps");
    let settings = ChainSettings { n_chains: 1, n_samples: 2000, n_burn: 1000, thin: 1, exchanges: 1 };
    // The second has the same columns and a thousand times the samples: the cost must not depend on n.
    for (n, k, r) in [(1000, 36, 3), (1_000_000, 36, 3), (10_000, 59, 3), (5000, 200, 5)] {
        let regression = regression(n, k, r);
        group.bench_function(format!("K={k}, r={r}, n={n}"), |b| {
            b.iter(|| {
                let mut draws = Stream::new(1, Purpose::Chain, 0);
                run_chain(&regression, &settings, Start::Search, &mut draws, &Control::default())
            });
        });
    }
}

fn exact(c: &mut Criterion) {
    let regression = regression(1000, 12, 3);
    c.bench_function("enumerate/12", |b| b.iter(|| enumerate(&regression, &Control::default())));
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(20).warm_up_time(std::time::Duration::from_millis(500))
        .measurement_time(std::time::Duration::from_secs(2));
    targets = evidence, sweep, chain, exact
}
criterion_main!(benches);
