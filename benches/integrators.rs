//! Integrators: a thousand steps of a thousand paths, all samples kept, on one thread and on two; and their parts.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use itoscope_benches::starts;
use itoscope_core::control::Control;
use itoscope_core::simulate::{Normals, PER_BLOCK, Scheme, SimulationSettings};
use itoscope_support::problems::{self, BoucWen, Problem};

const N_PATHS: usize = 1000;
const N_STEPS: usize = 1000;

fn schemes(c: &mut Criterion) {
    let mut group = c.benchmark_group("1000 paths x 1000 steps");
    group.throughput(Throughput::Elements((N_PATHS * N_STEPS) as u64));
    for (name, sde, x0) in problems::all().expect("the defaults are equations") {
        let x0 = starts(N_PATHS, &x0);
        let mut samples = vec![0.0; N_PATHS * (N_STEPS + 1) * x0.ncols()];
        for (scheme, n_threads) in [(Scheme::Milstein, 1), (Scheme::Milstein, 2), (Scheme::Taylor15, 1)] {
            let settings = SimulationSettings { scheme, seed: 1, ..SimulationSettings::new(1e-3, N_STEPS) };
            let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().expect("threads");
            group.bench_function(format!("{name}, {}, {n_threads} threads", scheme.name()), |b| {
                b.iter(|| {
                    let run = || {
                        sde.simulate_into(x0.view(), &settings, black_box(&mut samples), &Control::default())
                    };
                    pool.install(run).expect("the scheme fits")
                });
            });
        }
    }
    group.finish();
}

fn forecast(c: &mut Criterion) {
    let mut group = c.benchmark_group("Bouc-Wen forecast");
    let problem = BoucWen { s: 6.0, ..Default::default() };
    let (sde, x0) = (problem.sde().expect("an equation"), starts(100, &problem.x0()));
    let settings = SimulationSettings { seed: 1, ..SimulationSettings::new(1e-3, 500_000) };
    let mut samples = vec![0.0; 100 * 500_001 * 3];
    group.sample_size(10);
    group.bench_function("100 paths of 500 s at 1 ms", |b| {
        b.iter(|| {
            let control = Control::default();
            sde.simulate_into(x0.view(), &settings, black_box(&mut samples), &control)
                .expect("the scheme fits")
        });
    });
    group.finish();
}

fn parts(c: &mut Criterion) {
    let mut group = c.benchmark_group("parts");
    let width = 128;
    let mut normals = Normals::new(1, 0, width);
    let mut out = vec![0.0; PER_BLOCK * width];
    group.throughput(Throughput::Elements(out.len() as u64));
    group.bench_function("normals", |b| b.iter(|| normals.fill(black_box(&mut out))));
    group.finish();
}

criterion_group! {
    name = benches;
    config = Criterion::default().measurement_time(Duration::from_secs(2)).warm_up_time(Duration::from_millis(500));
    targets = schemes, forecast, parts
}
criterion_main!(benches);
