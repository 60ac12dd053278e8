//! Fixed problems that the benches share, so that every bench times the same work.

use itoscope_core::library;
use itoscope_core::noise::{Draws, Purpose, Stream};
use itoscope_core::program::Program;
use ndarray::Array2;

/// Standard normal samples `(n, m)`, smoothed a little, from a fixed seed.
pub fn samples(n: usize, m: usize) -> Array2<f64> {
    let mut stream = Stream::new(1, Purpose::Path, 0);
    let mut x = vec![0.0; m];
    Array2::from_shape_fn((n, m), |(_, i)| {
        x[i] = 0.9 * x[i] + 0.4 * stream.normal();
        x[i]
    })
}

/// The paper's library of `m` states up to `degree`, with its names.
pub fn paper(m: usize, degree: usize) -> (Vec<String>, Program) {
    let states: Vec<String> = (1..=m).map(|i| format!("x{i}")).collect();
    let names = library::paper(&states, degree);
    let program = Program::new(&names, &states).expect("the paper's library compiles");
    (names, program)
}
