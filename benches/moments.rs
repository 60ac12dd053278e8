//! Regression sums of 100 000 samples and their projection.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use itoscope_benches::Setup;
use itoscope_core::control::Control;
use itoscope_core::regression::project;

const N_SAMPLES: usize = 100_000;

fn moments(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("moments");
    group.sample_size(20);
    for (m, degree) in [(2, 6), (4, 3)] {
        let setup = Setup::new(m, degree, N_SAMPLES);
        let (k, paths, control) = (setup.names.len(), setup.paths(), Control::default());
        group.throughput(Throughput::Elements(N_SAMPLES as u64));
        group.bench_function(format!("drift K={k}"), |bencher| {
            bencher.iter(|| setup.drift().sums(&paths, &control));
        });
        group.bench_function(format!("weighted diffusion K={k}"), |bencher| {
            bencher.iter(|| setup.diffusion().sums(&paths, &control));
        });
        let sums = setup.drift().sums(&paths, &control).expect("finite samples");
        group.bench_function(format!("projection K={k}"), |bencher| bencher.iter(|| project(&sums)));
    }
    group.finish();
}

criterion_group!(benches, moments);
criterion_main!(benches);
