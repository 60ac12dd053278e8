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
