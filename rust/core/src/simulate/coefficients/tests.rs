//! The operators of Ito calculus as nodes, the factor of a covariance, and the structure of the noise.

use super::*;

fn system(drift: &[&str], diffusion: &[&[&str]]) -> Coefficients {
    let rows: Vec<Vec<&str>> = diffusion.iter().map(|row| row.to_vec()).collect();
    Coefficients::new(drift, &rows, &["x", "y"][..drift.len()]).unwrap()
}

/// The node that a text is in the graph of a system.
fn node(system: &mut Coefficients, text: &str) -> Id {
    let names = &["x", "y"][..system.n_states()];
    parse(text, names, &mut system.graph).unwrap()
}

#[test]
fn the_operators_are_those_of_ito() {
    // L0 x^2 = 2 x a + b^2, L1 x^2 = 2 x b.
    let mut geometric = system(&["-3 x"], &[&["0.5 x"]]);
    let square = node(&mut geometric, "x^2");
    let (found, wanted) = (geometric.along_drift(square), node(&mut geometric, "-6 x^2 + 0.25 x^2"));
    assert!(geometric.same(found, wanted));
    let (found, wanted) = (geometric.along_noise(0, square), node(&mut geometric, "x^2"));
    assert!(geometric.same(found, wanted));
    // Two states: the mixed derivative counts with the covariance of both.
    let mut both = system(&["y", "-x"], &[&["1", "0.5"], &["0", "x"]]);
    let product = node(&mut both, "x y^2");
    let (found, wanted) = (both.along_drift(product), node(&mut both, "y^3 - 2 x^2 y + x^3 + x y"));
    assert!(both.same(found, wanted));
}

#[test]
fn two_nodes_are_the_same_if_their_values_are() {
    let mut system = system(&["x"], &[&["1"]]);
    let (one, other) = (node(&mut system, "sin(x)^2 + cos(x)^2"), node(&mut system, "1 + 0 x"));
    assert!(system.same(one, other));
    let near = node(&mut system, "1 + 1e-6 x");
    assert!(!system.same(one, near));
}

#[test]
fn the_structure_of_the_noise_is_the_first_that_fits() {
    let cases: [(&[&[&str]], Structure); 6] = [
        (&[&["0"], &["0"]], Structure::None),
        (&[&["1", "0"], &["2", "3"]], Structure::Additive),
        (&[&["x"], &["y"]], Structure::Scalar),
        (&[&["x", "0"], &["0", "y"]], Structure::Diagonal),
        (&[&["x", "2 x"], &["y", "2 y"]], Structure::Commutative),
        (&[&["1", "0"], &["0", "x"]], Structure::General),
    ];
    for (diffusion, structure) in cases {
        assert_eq!(system(&["0", "0"], diffusion).structure(), structure, "{diffusion:?}");
    }
    let gamma = [vec!["1", "0"], vec!["0", "1"]];
    let mut factored = Coefficients::with_covariance(&["0", "0"], &gamma, &["x", "y"]).unwrap();
    assert_eq!(factored.structure(), Structure::General, "no scheme differentiates a factor");
}

#[test]
fn a_covariance_is_factored_even_where_it_is_singular() {
    let gamma = [vec!["4 x^2", "0"], vec!["2 x y", "y^2 + sgn(y)^2"]];
    let mut system = Coefficients::with_covariance(&["0", "0"], &gamma, &["x", "y"]).unwrap();
    let entries: Vec<Id> = system.diffusion.iter().flatten().copied().collect();
    let program = Program::compile(std::mem::replace(&mut system.graph, Graph::new(0)), entries);
    let mut scratch = program.scratch(1);
    for (x, y) in [(0.5, -2.0), (0.0, 3.0), (-1.0, 0.0), (0.0, 0.0)] {
        scratch.input_mut(0).fill(x);
        scratch.input_mut(1).fill(y);
        program.run(&mut scratch);
        let b: [f64; 4] = std::array::from_fn(|entry| scratch.output(entry)[0]);
        assert_eq!(b[1], 0.0);
        let one = f64::from(u8::from(y != 0.0));
        let wanted = [4.0 * x * x, 2.0 * x * y, y * y + one];
        let found = [b[0] * b[0], b[2] * b[0], b[2] * b[2] + b[3] * b[3]];
        // Where x is 0 the mixed entry is as well, and where it were not, it would be cut off.
        for (found, wanted) in found.into_iter().zip(wanted) {
            assert!((found - wanted).abs() < 1e-12, "at ({x}, {y}): {found}, not {wanted}");
        }
    }
}
