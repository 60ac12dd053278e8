//! The canonical form of the graph, its derivatives, and the code that it becomes.

use super::*;

#[test]
fn repeated_code_is_the_same_map_again_and_again() {
    let inputs = ["x", "y", "z", "p", "u", "v"];
    let map = Program::new(&["x + 0.5 y u - 2 v + p y", "x", "7"], &inputs).unwrap();
    let code = map.code().repeated(3, 1, &[1, 1]);
    let mut all = code.scratch(8);
    let start = [0.3, -0.4, 0.0, 3.0];
    let (us, vs) = ([1.0, 2.0, 3.0], [0.1, 0.2, 0.3]);
    for (i, &value) in start.iter().chain(&us).chain(&vs).enumerate() {
        all.input_mut(i).fill(value);
    }
    code.run(&mut all);
    let mut one = map.scratch(8);
    for (i, value) in start.into_iter().enumerate() {
        one.input_mut(i).fill(value);
    }
    for step in 0..3 {
        one.input_mut(4).fill(us[step]);
        one.input_mut(5).fill(vs[step]);
        map.run(&mut one);
        assert_eq!(one.outputs(), &all.outputs()[step * 24..][..24]);
        one.feed_back(3);
    }
}

/// The node that a text is, in a graph of two inputs.
fn node(graph: &mut Graph, text: &str) -> Id {
    parse(text, &["x", "y"], graph).unwrap()
}

#[test]
fn what_is_the_same_is_one_node() {
    let mut graph = Graph::new(2);
    let same = [
        ("x y x", "x^2 y"),
        ("y x", "x y"),
        ("2 x 3 y", "6 (x y)"),
        ("x + y", "y + x"),
        ("x + x", "2 x"),
        ("x - x", "0"),
        ("0 sin(x)", "0"),
        ("-(-x)", "x"),
        ("x / 4", "0.25 x"),
        ("x^0.5", "sqrt(x)"),
        ("x^0", "1"),
        ("sqrt(x^2)", "|x|"),
        ("sign(x)", "sgn(x)"),
        ("2^3", "8"),
    ];
    for (one, other) in same {
        assert_eq!(node(&mut graph, one), node(&mut graph, other), "{one} and {other}");
    }
    for (one, other) in [("x / 3", "x * 0.3333"), ("x^3", "x^2"), ("|x|", "x"), ("x^-1", "x")] {
        assert_ne!(node(&mut graph, one), node(&mut graph, other), "{one} and {other}");
    }
}

#[test]
fn derivatives_are_the_nodes_that_one_would_write() {
    let mut graph = Graph::new(2);
    let cases = [
        ("x^3 y", "3 x^2 y"),
        ("sin(2 x)", "2 cos(2 x)"),
        ("exp(x y)", "y exp(x y)"),
        ("|x|", "sgn(x)"),
        ("sgn(x)", "0"),
        ("y^2", "0"),
        ("x + 4 x", "5"),
    ];
    for (text, by_x) in cases {
        let of = node(&mut graph, text);
        let (found, wanted) = (graph.derivative(of, 0), node(&mut graph, by_x));
        assert_eq!(found, wanted, "{text}");
    }
}

#[test]
fn instructions_that_do_two_things_round_as_two() {
    let texts = ["x y + x", "3 x + y", "3 x + (2 y + x)", "x y - 2 x", "(x + y) (x - y) + x"];
    let program = Program::new(&texts, &["x", "y"]).unwrap();
    // A product and a sum in one: fewer instructions than the operations written.
    assert!(program.n_instructions() < 13, "{}", program.n_instructions());
    let x = Array2::from_shape_fn((50, 2), |(n, i)| (1.7 * n as f64 + i as f64).sin() / 3.0);
    let found = program.evaluate_here(x.view()).unwrap();
    for (n, row) in x.rows().into_iter().enumerate() {
        let (x, y) = (row[0], row[1]);
        let wanted = [x * y + x, 3.0 * x + y, 3.0 * x + (2.0 * y + x), x * y - 2.0 * x];
        for (k, wanted) in wanted.into_iter().enumerate() {
            assert_eq!(found[[n, k]], wanted, "{}", texts[k]);
        }
        assert_eq!(found[[n, 4]], (x + y) * (x - y) + x);
    }
}

#[test]
fn rows_of_values_that_are_no_longer_wanted_are_used_again() {
    let long = (0..200).map(|k| format!("sin(x + {k})")).collect::<Vec<_>>().join(" * 0.9 + ");
    let program = Program::new(&[long], &["x"]).unwrap();
    assert!(program.n_instructions() > 400);
    assert!(program.code().n_rows() < 250, "{} rows", program.code().n_rows());
}
