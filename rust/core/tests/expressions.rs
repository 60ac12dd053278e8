//! Expressions: grammar, messages, simplification, derivatives, and that no text makes the parser panic.

use itoscope_core::Error;
use itoscope_core::program::Program;
use ndarray::{Array2, Axis, array};
use proptest::prelude::*;

const INPUTS: [&str; 2] = ["x1", "x2"];

fn evaluate(program: &Program, x: &Array2<f64>) -> Array2<f64> {
    program.evaluate(x.view(), &Default::default()).unwrap()
}

fn value(text: &str, x1: f64, x2: f64) -> f64 {
    evaluate(&Program::new(&[text], &INPUTS).unwrap(), &array![[x1, x2]])[[0, 0]]
}

#[test]
fn the_grammar() {
    let (x1, x2) = (1.5_f64, -2.5_f64);
    let cases = [
        ("x1^2 x2", x1 * x1 * x2),
        ("2 x1", 2.0 * x1),
        ("2x1", 2.0 * x1),
        ("2e1x1", 20.0 * x1),
        ("x1|x2|", x1 * x2.abs()),
        ("||x2||", 2.5),
        ("|x1|x2|x1|", x1.abs() * x2 * x1.abs()),
        ("|(x1|x2|)|", x1 * x2.abs()),
        ("2(x1+1)", 5.0),
        ("(x1)(x2)", x1 * x2),
        ("-x1^2", -2.25),
        ("2^-x1", 2.0_f64.powf(-1.5)),
        ("2^3^2", 512.0),
        ("2**3", 8.0),
        ("1/2 x1", 0.75),
        ("x1 - -x2", x1 + x2),
        ("2 -x1", 0.5),
        ("sgn(x2) + sign(0)", -1.0),
        ("sin(2 x1)", (2.0 * x1).sin()),
        ("pi x1", std::f64::consts::PI * x1),
        (".5 + 1. + 1e-3", 1.501),
        ("x1^0", 1.0),
        ("x1^-2", 1.0 / (x1 * x1)),
        ("x1^0.5", x1.sqrt()),
        ("x1^x2", x1.powf(x2)),
        ("x1^65", x1.powf(65.0)),
        ("(x1 - 100)^3", (x1 - 100.0).powi(3)),
        ("1e200 x1 1e200 / 1e300 / 1e100", x1),
        ("tanh(x1)cosh(x1) - sinh(x1) + exp(0) + log(1) + tan(0) + cos(0)", 2.0),
    ];
    for (text, expected) in cases {
        let found = value(text, x1, x2);
        assert!(
            (found - expected).abs() <= 1e-14 * expected.abs().max(1.0),
            "{text}: {found}, not {expected}"
        );
    }
}

#[test]
fn input_names_win_over_functions_and_may_be_unicode() {
    let program = Program::new(&["sin(exp)", "pi θ_1"], &["sin", "exp", "pi", "θ_1"]).unwrap();
    let values = evaluate(&program, &array![[2.0, 3.0, 5.0, 7.0]]);
    assert_eq!(values, array![[6.0, 35.0]]);
}

#[test]
fn mistakes_are_pointed_at() {
    let functions = "abs, cos, cosh, exp, log, sgn, sign, sin, sinh, sqrt, tan, tanh";
    let unknown = format!("unknown name 'foo'; known are x1, x2 and the functions {functions}");
    let cases = [
        ("", 0, "expected a term"),
        ("  ", 2, "expected a term"),
        ("x1 +", 4, "expected a term"),
        ("x1 + * 2", 5, "expected a term"),
        ("()", 1, "expected a term"),
        ("|x1|x2||", 8, "expected a term"),
        ("x1 * foo", 5, unknown.as_str()),
        ("x1 $ 2", 3, "unexpected character '$'"),
        ("θ", 0, "unknown name 'θ'"),
        (".", 0, "unexpected character '.'"),
        ("(x1", 3, "expected ')'"),
        ("(x1|", 4, "expected a term"),
        ("x1)", 2, "unexpected ')'"),
        ("|x1", 3, "expected a closing '|'"),
        ("|x1)", 3, "expected a closing '|'"),
        ("sin x1", 3, "function 'sin' needs '('"),
        ("sin", 3, "function 'sin' needs '('"),
        ("2e", 1, "unknown name 'e'"),
        ("x1 * -", 6, "expected a term"),
        ("x1^", 3, "expected a term"),
    ];
    for (text, at, begins) in cases {
        match Program::new(&[text], &INPUTS) {
            Err(Error::Expression { position, message, .. }) => {
                assert_eq!(position, at, "{text}");
                assert!(message.starts_with(begins), "{text}: {message}");
            }
            other => panic!("{text}: {other:?}"),
        }
    }
}

#[test]
fn depth_is_limited_and_length_is_not() {
    for text in ["(".repeat(100_000), "-".repeat(100_000), "|".repeat(100_000), "2^".repeat(100_000)] {
        let error = Program::new(&[text], &INPUTS).unwrap_err();
        assert!(error.to_string().contains("nested too deeply"));
    }
    let long = vec!["x1 x2"; 20_000].join(" + ") + &" x1".repeat(1000);
    let program = Program::new(&[long], &INPUTS).unwrap();
    assert_eq!(evaluate(&program, &array![[1.0, 2.0]]), array![[40_000.0]]);
    assert_eq!(evaluate(&program.gradient_program(), &array![[1.0, 2.0]])[[0, 1]], 20_000.0);
}

#[test]
fn inputs_are_checked() {
    for (inputs, message) in
        [(["x", "x"], "inputs[1] = 'x': names that differ"), (["x 1", "y"], "inputs[0] = 'x 1'")]
    {
        let error = Program::new(&["1"], &inputs).unwrap_err();
        assert!(error.to_string().starts_with(message), "{error}");
    }
}

#[test]
fn outputs_may_be_numbers_inputs_and_repeated() {
    let program = Program::new(&["3", "x1", "x2 x1", "x1 x2", "x1", "3 + x1", "0"], &INPUTS).unwrap();
    assert_eq!(evaluate(&program, &array![[2.0, 5.0]]), array![[3.0, 2.0, 10.0, 10.0, 2.0, 5.0, 0.0]]);
}

#[test]
fn derivatives_of_sign_and_absolute_value() {
    let program = Program::new(&["|x1|", "sgn(x1)", "x1|x2|"], &INPUTS).unwrap().gradient_program();
    let gradient = evaluate(&program, &array![[0.0, -3.0], [-2.0, 0.0]]);
    assert_eq!(gradient, array![[0.0, 0.0, 0.0, 0.0, 3.0, 0.0], [-1.0, 0.0, 0.0, 0.0, 0.0, 0.0]]);
}

#[test]
fn a_lower_power_is_shared_with_its_derivative() {
    let program = Program::new(&["x1^6", "6 x1^5"], &INPUTS).unwrap();
    let gradient = Program::new(&["x1^6"], &INPUTS).unwrap().gradient_program();
    assert_eq!(program.n_instructions(), 6);
    let x = array![[1.25, 0.0]];
    assert_eq!(evaluate(&gradient, &x)[[0, 0]], evaluate(&program, &x)[[0, 1]]);
}

#[test]
fn values_do_not_depend_on_the_number_of_rows() {
    let program = Program::new(&["sin(x1) x2^3 / (1 + x1^2)", "x1 - x2"], &INPUTS).unwrap();
    let x = Array2::from_shape_fn((1000, 2), |(i, j)| (i as f64).sin() + j as f64);
    let all = evaluate(&program, &x);
    for i in [0, 255, 256, 999] {
        let one = evaluate(&program, &x.row(i).insert_axis(Axis(0)).to_owned());
        assert_eq!(all.row(i), one.row(0));
    }
    assert_eq!(all, program.evaluate_here(x.view()).unwrap());
}

/// An expression as the test itself understands it, with its text and its value.
#[derive(Debug, Clone)]
enum Tree {
    Number(f64),
    Input(usize),
    Negative(Box<Tree>),
    Binary(char, Box<Tree>, Box<Tree>),
    Juxtaposed(Box<Tree>, Box<Tree>),
    Power(Box<Tree>, i32),
    Call(&'static str, Box<Tree>),
    Bars(Box<Tree>),
}

impl Tree {
    fn text(&self) -> String {
        match self {
            Self::Number(value) => format!("{value}"),
            Self::Input(i) => INPUTS[*i].to_owned(),
            Self::Negative(a) => format!("-({})", a.text()),
            Self::Binary(op, a, b) => format!("({}) {op} ({})", a.text(), b.text()),
            Self::Juxtaposed(a, b) => format!("({})|({})|", a.text(), b.text()),
            Self::Power(a, n) => format!("({})^{n}", a.text()),
            Self::Call(function, a) => format!("{function}({})", a.text()),
            Self::Bars(a) => format!("|({})|", a.text()),
        }
    }

    fn value(&self, x: [f64; 2]) -> f64 {
        match self {
            Self::Number(value) => *value,
            Self::Input(i) => x[*i],
            Self::Negative(a) => -a.value(x),
            Self::Binary('+', a, b) => a.value(x) + b.value(x),
            Self::Binary('-', a, b) => a.value(x) - b.value(x),
            Self::Binary('*', a, b) => a.value(x) * b.value(x),
            Self::Binary(_, a, b) => a.value(x) / b.value(x),
            Self::Juxtaposed(a, b) => a.value(x) * b.value(x).abs(),
            Self::Power(a, n) => a.value(x).powi(*n),
            Self::Call("sin", a) => a.value(x).sin(),
            Self::Call("cos", a) => a.value(x).cos(),
            Self::Call(_, a) => a.value(x).tanh(),
            Self::Bars(a) => a.value(x).abs(),
        }
    }

    /// A magnitude by which the rounding of the value is to be judged.
    fn scale(&self, x: [f64; 2]) -> f64 {
        let own = self.value(x).abs();
        let inner = match self {
            Self::Number(_) | Self::Input(_) => 0.0,
            Self::Negative(a) | Self::Call(_, a) | Self::Bars(a) => a.scale(x),
            Self::Power(a, n) => a.scale(x).powi(*n).max(a.scale(x)),
            Self::Binary('/', a, b) => {
                let divisor = b.value(x).abs();
                let size = (a.scale(x) / divisor).max(a.scale(x) * b.scale(x) / divisor.powi(2));
                // What is divided by infinity is small, but its derivative is no number.
                if divisor.is_finite() { size } else { f64::INFINITY }
            }
            Self::Binary('*', a, b) | Self::Juxtaposed(a, b) => a.scale(x) * b.scale(x),
            Self::Binary(_, a, b) => a.scale(x) + b.scale(x),
        };
        own.max(inner)
    }
}

fn tree() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        (0..40_u8).prop_map(|n| Tree::Number(f64::from(n) / 8.0)),
        (0..2_usize).prop_map(Tree::Input)
    ];
    leaf.prop_recursive(5, 40, 2, |inner| {
        let boxed = inner.prop_map(Box::new).boxed();
        let pair = (boxed.clone(), boxed.clone());
        prop_oneof![
            boxed.clone().prop_map(Tree::Negative),
            (prop::sample::select(vec!['+', '-', '*', '/']), pair.clone())
                .prop_map(|(op, (a, b))| Tree::Binary(op, a, b)),
            pair.prop_map(|(a, b)| Tree::Juxtaposed(a, b)),
            (boxed.clone(), 0..5_i32).prop_map(|(a, n)| Tree::Power(a, n)),
            (prop::sample::select(vec!["sin", "cos", "tanh"]), boxed.clone())
                .prop_map(|(function, a)| Tree::Call(function, a)),
            boxed.prop_map(Tree::Bars),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..Default::default() })]

    #[test]
    fn parsing_what_was_printed_gives_the_same_values(tree in tree(), x1 in -2.0..2.0_f64, x2 in -2.0..2.0_f64) {
        let (expected, scale) = (tree.value([x1, x2]), tree.scale([x1, x2]));
        prop_assume!(scale < 1e6);
        let found = value(&tree.text(), x1, x2);
        prop_assert!((found - expected).abs() <= 1e-11 * scale.max(1.0), "{}: {found}, not {expected}", tree.text());
    }

    #[test]
    fn derivatives_are_slopes(tree in tree(), x1 in -2.0..2.0_f64, x2 in -2.0..2.0_f64) {
        let program = Program::new(&[tree.text()], &INPUTS).unwrap();
        let gradient = evaluate(&program.gradient_program(), &array![[x1, x2]]);
        for i in 0..2 {
            let at = |h: f64| {
                let mut x = [x1, x2];
                x[i] += h;
                tree.value(x)
            };
            let slope = |h: f64| (at(h) - at(-h)) / (2.0 * h);
            let [coarse, slope, fine] = [2e-5, 1e-5, 0.5e-5].map(slope);
            // A kink or a pole within reach, or too much rounding, says nothing about the derivative.
            let size = (slope.abs() + at(0.0).abs()).max(1.0);
            let agree = (slope - coarse).abs().max((slope - fine).abs()) < 1e-6 * size;
            if agree && tree.scale([x1, x2]) < 1e4 {
                let found = gradient[[0, i]];
                prop_assert!((found - slope).abs() <= 1e-4 * size, "{}: {found}, not {slope}", tree.text());
            }
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in "\\PC*") {
        let _ = Program::new(&[text], &INPUTS);
    }

    #[test]
    fn no_near_expression_makes_it_panic(text in "([ x12.e()|^*/+-]|sin|x1|sgn\\(|\\)){0,30}") {
        if let Ok(program) = Program::new(&[text], &INPUTS) {
            evaluate(&program.gradient_program(), &array![[0.5, -0.5]]);
        }
    }
}
