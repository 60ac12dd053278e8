//! Regression sums of 100 000 samples and their projection.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use itoscope_benches::{paper, samples};
use itoscope_core::control::Control;
use itoscope_core::gram::{Ensemble, Regression};
use itoscope_core::moments::project;
use itoscope_core::path::{Path, Times};
use itoscope_core::targets::{Fitted, Scheme, Target, Weights};
use ndarray::Array2;

fn moments(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("moments");
    group.sample_size(20);
    for (m, degree) in [(2, 6), (4, 3)] {
        let (names, program) = paper(m, degree);
        let k = names.len();
        let x = samples(100_000, m);
        let paths = [Path { x: x.view(), times: Times::Even(1e-3) }];
        let coef = Array2::from_elem((3, k), 0.1);
        let fitted = |rows: usize| Fitted { program: &program, coef: coef.slice(ndarray::s![..rows, ..]) };
        let drift = Regression {
            program: &program,
            names: &names,
            target: Target::Drift(1),
            scheme: Scheme::Trapezoid,
            weights: Weights::Unit,
            ensemble: Ensemble::Pool,
        };
        let diffusion = Regression {
            target: Target::Diffusion { pair: (1, 1), drift: Some(fitted(2)) },
            weights: Weights::Variance { gamma: fitted(3), floors: [0.1, 0.1] },
            ..drift
        };
        group.throughput(Throughput::Elements(x.nrows() as u64));
        group.bench_function(format!("drift K={k}"), |bencher| {
            bencher.iter(|| drift.sums(&paths, &Control::default()));
        });
        group.bench_function(format!("weighted diffusion K={k}"), |bencher| {
            bencher.iter(|| diffusion.sums(&paths, &Control::default()));
        });
        let sums = drift.sums(&paths, &Control::default()).expect("finite samples");
        group.bench_function(format!("projection K={k}"), |bencher| bencher.iter(|| project(&sums)));
    }
    group.finish();
}

criterion_group!(benches, moments);
criterion_main!(benches);
