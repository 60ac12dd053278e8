//! Values and gradients of the paper's libraries at 10 000 samples.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use itoscope_benches::{paper, samples};
use itoscope_core::control::Control;

fn library(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("library");
    for (m, degree) in [(2, 6), (4, 3)] {
        let (names, program) = paper(m, degree);
        let gradient = program.gradient_program();
        let x = samples(10_000, m);
        group.throughput(Throughput::Elements(x.nrows() as u64));
        group.bench_function(format!("values K={}", names.len()), |bencher| {
            bencher.iter(|| program.evaluate(x.view(), &Control::default()));
        });
        group.bench_function(format!("gradients K={}", names.len()), |bencher| {
            bencher.iter(|| gradient.evaluate(x.view(), &Control::default()));
        });
    }
    group.finish();
}

criterion_group!(benches, library);
criterion_main!(benches);
