//! `discover`: what it finds is what the Python package finds, its intervals hold, its errors name what was asked, and
//! threads change nothing.

use itoscope_core::control::Control;
use itoscope_core::discovery::{Diffusion, Equation, Sampler, SlabUnit};
use itoscope_core::path::Path;
use itoscope_core::regression::StepScheme;
use itoscope_core::sampler::Prior;
use itoscope_core::simulate::{Scheme, Sde, SimulationSettings};
use itoscope_core::{Discover, Discovery, Error, Library, discover};
use ndarray::{Array1, Array2, Array3, Axis, array};
use serde_json::Value;

/// How far numbers of both sides may be apart, in standard deviations of the coefficient or in probability: rounding of
/// sums that are added in another order.
const ROUNDING: f64 = 1e-9;

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

/// Paths of an equation, `(n_paths, n_steps + 1, m)`, by steps of a fifth of `dt`.
fn simulated(sde: &Sde, x0: &Array2<f64>, dt: f64, n_steps: usize, seed: u64) -> Array3<f64> {
    let settings = SimulationSettings { substeps: 5, seed, ..SimulationSettings::new(dt, n_steps) };
    sde.simulate(x0.view(), &settings, &Control::default()).expect("a simulation").0
}

fn recordings(samples: &Array3<f64>, dt: f64) -> Vec<Path<'_>> {
    samples.axis_iter(Axis(0)).map(|x| Path::even(x, dt)).collect()
}

mod python {
    //! What the Python package found: `python tests/parity/discovered.py` writes it.

    use super::*;

    fn file() -> Value {
        serde_json::from_str(include_str!("fixtures/discovered.json")).expect("JSON")
    }

    fn texts(value: &Value) -> Vec<String> {
        value.as_array().expect("a list").iter().map(|v| v.as_str().expect("a text").to_owned()).collect()
    }

    fn numbers(value: &Value) -> Vec<f64> {
        value.as_array().expect("a list").iter().map(|v| v.as_f64().expect("a number")).collect()
    }

    fn count(value: &Value) -> usize {
        value.as_u64().expect("a count") as usize
    }

    /// The prior with the fields that are named.
    fn prior(value: &Value) -> Prior {
        let usual = Prior::default();
        let number = |name: &str, usual: f64| value[name].as_f64().unwrap_or(usual);
        Prior {
            a_p: number("a_p", usual.a_p),
            b_p: number("b_p", usual.b_p),
            a_v: number("a_v", usual.a_v),
            b_v: number("b_v", usual.b_v),
            a_s: number("a_s", usual.a_s),
            b_s: number("b_s", usual.b_s),
            slab_start: number("slab_start", usual.slab_start),
            p0_start: number("p0_start", usual.p0_start),
            standardize: value["standardize"].as_bool().unwrap_or(usual.standardize),
            empty: value["empty"].as_f64(),
        }
    }

    /// The options that are named, the others as usual.
    fn asked(options: &Value) -> Discover {
        let mut asked = Discover::default();
        for (name, value) in options.as_object().expect("options") {
            match (name.as_str(), value.as_str().unwrap_or("")) {
                ("seed", _) => asked.seed = value.as_u64().expect("a seed"),
                ("sampler", "auto") => asked.sampler = Sampler::Auto,
                ("sampler", "gibbs") => asked.sampler = Sampler::Gibbs,
                ("scheme", "euler") => asked.scheme = StepScheme::Euler,
                ("weights", word) => asked.weighted = word == "auto",
                ("diffusion", "full") => asked.diffusion = Diffusion::Full,
                ("diffusion", "diagonal") => asked.diffusion = Diffusion::Diagonal,
                ("diffusion", "constant") => asked.diffusion = Diffusion::Constant,
                ("diffusion", "none") => asked.diffusion = Diffusion::None,
                ("n_chains", _) => asked.n_chains = count(value),
                ("n_samples", _) => asked.n_samples = count(value),
                ("n_burn", _) => asked.n_burn = count(value),
                ("max_rounds", _) => asked.max_rounds = count(value),
                ("threshold", _) => asked.threshold = value.as_f64().expect("a share"),
                ("weight_floor", _) => asked.weight_floor = value.as_f64().expect("a share"),
                ("prior", _) => {
                    asked.prior = prior(value);
                    if value["slab_unit"] == "sample" {
                        asked.slab_unit = SlabUnit::Sample;
                    }
                }
                ("diffusion", _) => {
                    let rows = value.as_object().expect("rows").iter();
                    asked.without_noise = rows
                        .map(|(state, word)| (word == "none").then(|| state.clone()))
                        .collect::<Option<_>>()
                        .expect("none");
                }
                ("known_drift", _) => {
                    asked.known_drift = value
                        .as_object()
                        .expect("rows")
                        .iter()
                        .map(|(state, drift)| (state.clone(), drift.as_str().expect("a text").to_owned()))
                        .collect();
                }
                (name, word) => panic!("no option {name} = {word}"),
            }
        }
        asked
    }

    fn same(equation: &Equation, python: &Value, at: &str) {
        let terms = equation.terms();
        assert_eq!(terms.iter().map(|t| t.name.clone()).collect::<Vec<_>>(), texts(&python["terms"]), "{at}");
        assert_eq!(equation.is_exact(), python["exact"].as_bool().expect("a flag"), "{at}");
        let (pip, mean, sd) =
            (numbers(&python["probability"]), numbers(&python["mean"]), numbers(&python["sd"]));
        let averaged = numbers(&python["averaged"]);
        for (k, term) in terms.iter().enumerate() {
            let near = |ours: f64, theirs: f64, unit: f64, what: &str| {
                let apart = (ours - theirs).abs();
                assert!(apart <= ROUNDING * unit, "{at}, {}: {what} {ours} and {theirs}", term.name);
            };
            let interval = numbers(&python["interval"][k]);
            let unit = sd[k].max(averaged[k].abs()).max(interval[1] - interval[0]);
            assert_eq!(
                term.selected,
                python["selected"][k].as_bool().expect("a flag"),
                "{at}, {}",
                term.name
            );
            near(term.probability, pip[k], 1.0, "probability");
            near(term.mean, mean[k], unit, "mean");
            near(term.sd, sd[k], unit, "sd");
            near(term.averaged_mean, averaged[k], unit, "averaged");
            near(term.interval.0, interval[0], unit, "low");
            near(term.interval.1, interval[1], unit, "high");
        }
        for (model, python) in equation.models().iter().zip(python["models"].as_array().expect("models")) {
            assert_eq!(model.terms, texts(&python["terms"]), "{at}");
            assert!((model.probability - python["probability"].as_f64().expect("a share")).abs() < ROUNDING);
        }
    }

    #[test]
    fn usual_options_are_those_of_python() {
        let file = file();
        let options = &file["defaults"];
        assert_eq!(Discover::default(), asked(options));
        assert_eq!(options["prior"].as_object().expect("fields").len(), 11, "another field of the prior");
    }

    #[test]
    fn monomials_are_those_of_python() {
        let library = Library::polynomials(&["x", "y", "z"], 3).expect("a library");
        assert_eq!(library.terms(), texts(&file()["polynomials"]));
    }

    #[test]
    fn the_same_is_found_in_the_same_recordings() {
        let file = file();
        for (name, question) in file["questions"].as_object().expect("questions") {
            let system = &question["system"];
            let states = texts(&system["states"]);
            let diffusion = system["diffusion"].as_array().expect("rows").iter().map(texts).collect();
            let sde = Sde::new(texts(&system["drift"]), diffusion, states.clone()).expect("a system");
            let starts: Vec<f64> = system["x0"].as_array().expect("rows").iter().flat_map(numbers).collect();
            let x0 = Array2::from_shape_vec((starts.len() / states.len(), states.len()), starts).expect("x0");
            let (dt, n_steps) =
                (question["simulation"][0].as_f64().expect("dt"), count(&question["simulation"][1]));
            let seed = question["simulation"][2].as_u64().expect("a seed");
            let mut samples = simulated(&sde, &x0, dt, n_steps, seed);
            let done = &question["done"];
            let mut times = None;
            if !done["missing"].is_null() {
                let (missing, out) = (count(&done["missing"]), count(&done["left_out"]));
                for n in (4..samples.len_of(Axis(1))).step_by(missing) {
                    samples.index_axis_mut(Axis(1), n).fill(f64::NAN);
                }
                let kept: Vec<usize> = (0..=n_steps).filter(|n| n % out != 1).collect();
                samples = samples.select(Axis(1), &kept);
                times = Some(kept.iter().map(|&n| n as f64 * dt).collect::<Array1<f64>>());
            }
            let paths: Vec<Path<'_>> = samples
                .axis_iter(Axis(0))
                .map(|x| times.as_ref().map_or_else(|| Path::even(x, dt), |t| Path::stamped(x, t.view())))
                .collect();
            let library = Library::expressions(&states, &texts(&question["terms"])).expect("a library");
            let found = discover(&paths, &library, &asked(&question["options"])).expect("a discovery");
            let python = &question["found"];
            let equations = python["equations"].as_object().expect("equations");
            assert_eq!(found.equations().count(), equations.len(), "{name}");
            for equation in found.equations() {
                let at = format!("{name}, {}", equation.label());
                same(equation, &equations[equation.label()], &at);
            }
            assert_eq!(found.rounds(), count(&python["rounds"]), "{name}");
            let page = found.to_string();
            let parts: Vec<&str> = page.trim_end().split("\n\n").take(3).collect();
            assert_eq!(parts.join("\n\n"), python["page"].as_str().expect("a page"), "{name}");
        }
    }
}

/// A system, how it is asked for, and the true coefficients by equation and term.
struct Known {
    sde: Sde,
    x0: Array2<f64>,
    dt: f64,
    n_steps: usize,
    library: Library,
    asked: Discover,
    truth: Vec<(&'static str, Vec<(&'static str, f64)>)>,
}

fn known() -> [Known; 3] {
    let double_well = Known {
        sde: Sde::new(owned(&["x - x^3"]), vec![owned(&["0.5"])], owned(&["x"])).expect("a system"),
        x0: array![[1.0]],
        dt: 0.01,
        n_steps: 40_000,
        library: Library::polynomials(&["x"], 3).expect("a library"),
        asked: Discover::default(),
        truth: vec![("dx", vec![("x", 1.0), ("x^3", -1.0)]), ("Gamma[x, x]", vec![("1", 0.25)])],
    };
    let pulled = Known {
        sde: Sde::new(
            owned(&["-x + y", "-2 y"]),
            vec![owned(&["0.5", "0"]), owned(&["0.2", "0.4"])],
            owned(&["x", "y"]),
        )
        .expect("a system"),
        x0: array![[0.0, 0.0]],
        dt: 0.01,
        n_steps: 40_000,
        library: Library::polynomials(&["x", "y"], 2).expect("a library"),
        asked: Discover::default(),
        truth: vec![
            ("dx", vec![("x", -1.0), ("y", 1.0)]),
            ("dy", vec![("y", -2.0)]),
            ("Gamma[x, x]", vec![("1", 0.25)]),
            ("Gamma[y, y]", vec![("1", 0.2)]),
            ("Gamma[x, y]", vec![("1", 0.1)]),
        ],
    };
    let oscillator = Known {
        sde: Sde::new(owned(&["v", "-4 x - v"]), vec![owned(&["0"]), owned(&["0.5"])], owned(&["x", "v"]))
            .expect("a system"),
        x0: array![[0.0, 0.0]],
        dt: 0.01,
        n_steps: 40_000,
        library: Library::polynomials(&["x", "v"], 3).expect("a library"),
        asked: Discover { known_drift: vec![("x".into(), "v".into())], ..Discover::default() },
        truth: vec![("dv", vec![("x", -4.0), ("v", -1.0)]), ("Gamma[v, v]", vec![("1", 0.25)])],
    };
    [double_well, pulled, oscillator]
}

fn found_in(known: &Known, seed: u64) -> Discovery {
    let samples = simulated(&known.sde, &known.x0, known.dt, known.n_steps, seed);
    let asked = Discover { seed, ..known.asked.clone() };
    discover(&recordings(&samples, known.dt), &known.library, &asked).expect("a discovery")
}

/// 95 % intervals hold the truth as often as they say, two-sided at a false alarm of 1e-3; those of half the width do it
/// too rarely, those of twice the width too often. All true terms are found, and of false ones less than one in twenty.
#[test]
fn the_equation_is_found_and_intervals_hold() {
    let seeds = 1..=12;
    let (mut held, mut all, mut false_terms, mut candidates, mut missed) = ([0; 3], 0, 0, 0, 0);
    for known in known() {
        for seed in seeds.clone() {
            let found = found_in(&known, seed);
            for equation in found.equations() {
                let (_, truth) =
                    known.truth.iter().find(|(label, _)| *label == equation.label()).expect("known");
                for term in equation {
                    let Some((_, value)) = truth.iter().find(|(name, _)| *name == term.name) else {
                        false_terms += usize::from(term.selected);
                        candidates += 1;
                        continue;
                    };
                    missed += usize::from(!term.selected);
                    let (low, high) = term.interval;
                    let (centre, half) = (0.5 * (low + high), 0.5 * (high - low));
                    all += 1;
                    for (held, width) in held.iter_mut().zip([0.5, 1.0, 2.0]) {
                        *held += usize::from((value - centre).abs() <= width * half);
                    }
                }
            }
        }
    }
    // Of so many independent ones the binomial law leaves 3.3 standard deviations to either side.
    let expected = 0.95 * all as f64;
    let spread = 3.3 * (0.95 * 0.05 * all as f64).sqrt();
    let inside = |held: usize| (held as f64 - expected).abs() <= spread;
    assert_eq!(all, 12 * (3 + 6 + 3));
    assert!(inside(held[1]), "{held:?} of {all}");
    assert!(!inside(held[0]), "{held:?} of {all}");
    assert!(held[2] > held[1] && held[2] as f64 >= 0.99 * all as f64, "{held:?} of {all}");
    assert_eq!(missed, 0);
    assert!(20 * false_terms <= candidates, "{false_terms} of {candidates}");
}

#[test]
fn threads_change_nothing() {
    let [double_well, ..] = known();
    let asked = Discover { sampler: Sampler::Gibbs, n_samples: 200, ..double_well.asked.clone() };
    let known = Known { n_steps: 20_000, asked, ..double_well };
    let page = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
        let found = pool.install(|| found_in(&known, 3));
        let bits: Vec<u64> = found.equations().flat_map(|e| e.draws().to_owned()).map(f64::to_bits).collect();
        (found.to_string(), bits)
    };
    let one = page(1);
    assert_eq!(one, page(2));
    assert_eq!(one, page(5));
}

/// What was found can be simulated: its second moments are those of the truth within 15 %.
#[test]
fn what_is_found_can_be_simulated() {
    for known in known() {
        let found = found_in(&known, 1).sde().expect("an equation");
        let second = |sde: &Sde, seed| {
            let scheme = Scheme::EulerMaruyama;
            let settings = SimulationSettings { scheme, seed, ..SimulationSettings::new(0.005, 400_000) };
            let x = sde.simulate(known.x0.view(), &settings, &Control::default()).expect("a simulation").0;
            (x.mapv(|x| x * x).mean_axis(Axis(1)).expect("samples"), x)
        };
        let ((ours, path), (theirs, _)) = (second(&found, 1), second(&known.sde, 2));
        assert!(path.iter().all(|x| x.is_finite()));
        for (ours, theirs) in ours.iter().zip(&theirs) {
            assert!((ours / theirs - 1.0).abs() < 0.15, "{ours} and {theirs}");
        }
    }
}

/// The example of the README prints the page that follows it.
#[test]
fn the_readme_shows_what_its_example_prints() {
    let sde =
        Sde::new(owned(&["v", "-4 x - 0.5 v"]), vec![owned(&["0"]), owned(&["0.5"])], owned(&["x", "v"]));
    let samples = simulated(&sde.expect("a system"), &array![[1.0, 0.0]], 0.01, 40_000, 1);
    let library = Library::polynomials(&["x", "v"], 3).expect("a library");
    let asked = Discover { known_drift: vec![("x".into(), "v".into())], seed: 1, ..Discover::default() };
    let found = discover(&recordings(&samples, 0.01), &library, &asked).expect("a discovery");
    let mut page = format!("{found}");
    for term in found.drift("v").expect("sought").selected() {
        page += &format!(
            "\n{}: {:.3} ± {:.3}, probability {:.3}",
            term.name, term.mean, term.sd, term.probability
        );
    }
    let shown =
        include_str!("../README.md").split("```text\n").nth(1).and_then(|rest| rest.split("\n```").next());
    assert_eq!(shown.expect("a page"), page, "\n{page}");
}

#[test]
fn rows_without_noise_are_fitted_as_such() {
    let [.., oscillator] = known();
    let asked = Discover { without_noise: vec!["x".into()], ..Discover::default() };
    let found = found_in(&Known { asked, ..oscillator }, 1);
    let terms: Vec<&str> =
        found.drift("x").expect("sought").selected().map(|term| term.name.as_str()).collect();
    assert!(terms.contains(&"v"), "{terms:?}");
    assert!(found.diffusion("x", "x").is_none() && found.diffusion("v", "v").is_some());
}

#[test]
fn errors_name_the_argument_its_value_and_what_is_allowed() {
    let x = Array2::from_shape_fn((50, 1), |(n, _)| (n as f64).sin());
    let library = Library::polynomials(&["x"], 2).expect("a library");
    let usual = Discover::default;
    let message = |x: &Array2<f64>, dt: f64, asked: Discover| {
        discover(&[Path::even(x.view(), dt)], &library, &asked).map(|_| ()).expect_err("refused").to_string()
    };
    let told = |asked| message(&x, 0.1, asked);
    assert_eq!(told(Discover { n_chains: 0, ..usual() }), "n_chains = 0: a whole number, at least 1");
    assert_eq!(told(Discover { n_samples: 0, ..usual() }), "n_samples = 0: a whole number, at least 1");
    let share = "a number between 0 and 1, both excluded";
    assert_eq!(told(Discover { threshold: 1.0, ..usual() }), format!("threshold = 1: {share}"));
    assert_eq!(told(Discover { weight_floor: f64::NAN, ..usual() }), format!("weight_floor = NaN: {share}"));
    assert_eq!(
        told(Discover { seed: u64::MAX, ..usual() }),
        format!("seed = {}: a whole number from 0 to 2^63 - 1", u64::MAX)
    );
    let given = |state: &str, drift: &str| vec![(state.to_owned(), drift.to_owned())];
    assert_eq!(told(Discover { known_drift: given("y", "x"), ..usual() }), "known_drift = y: a state: x");
    assert!(told(Discover { known_drift: given("x", "x"), ..usual() }).starts_with("known_drift = all rows"));
    assert_eq!(told(Discover { without_noise: owned(&["v"]), ..usual() }), "without_noise = v: a state: x");
    assert!(
        told(Discover { prior: Prior { a_p: -1.0, ..Prior::default() }, ..usual() })
            .starts_with("a_p = -1: ")
    );
    let other = Library::polynomials(&["y"], 1).expect("a library");
    let told_of = told(Discover { diffusion_library: Some(other), ..usual() });
    assert_eq!(told_of, "diffusion_library = y: one of the states of the drift's library, x");
    assert_eq!(message(&x, 0.0, usual()), "dt = 0: a positive, finite number");
    let wide = Array2::zeros((50, 2));
    assert_eq!(message(&wide, 0.1, usual()), "recording 0 has 2 columns: the library has 1 states (x)");
    assert!(
        message(&Array2::zeros((50, 1)), 0.1, usual()).starts_with("x never changes, it is 0 throughout")
    );
    let mut broken = x.clone();
    broken[[7, 0]] = f64::NEG_INFINITY;
    let told_of = message(&broken, 0.1, usual());
    assert_eq!(told_of, "recording 0, sample 7, x = -inf: samples are finite, or NaN where one is missing");
    assert!(discover(&[], &library, &usual()).is_err());
    let stamps = array![0.0, 1.0, 1.0];
    let few = array![[0.0], [1.0], [0.5]];
    let told_of = discover(&[Path::stamped(few.view(), stamps.view())], &library, &usual());
    assert_eq!(
        told_of.expect_err("refused").to_string(),
        "recording 0, stamp 2 = 1 after 1: stamps are finite and strictly increasing"
    );
    let wide = Library::polynomials(&["x", "y"], 6).expect("a library");
    let [_, pulled, _] = known();
    let samples = simulated(&pulled.sde, &pulled.x0, 0.1, 500, 1);
    let asked = Discover { sampler: Sampler::Exact, ..usual() };
    let told_of = discover(&recordings(&samples, 0.1), &wide, &asked).map(|_| ()).expect_err("refused");
    assert!(matches!(told_of, Error::Argument { .. }), "{told_of}");
}

#[test]
fn libraries_refuse_what_is_no_library() {
    let told = |library: Result<Library, Error>| library.expect_err("refused").to_string();
    assert!(told(Library::polynomials(&["x"; 0], 2)).starts_with("states = []"));
    assert!(told(Library::polynomials(&["x", "y", "z"], 60)).starts_with("degree = 60: "));
    assert!(told(Library::polynomials(&["x"], usize::MAX)).starts_with("degree = "));
    assert!(told(Library::expressions(&["x"], &["x", "x"])).starts_with("terms = x: each term once"));
    assert!(matches!(Library::expressions(&["x"], &["x +"]), Err(Error::Expression { .. })));
    assert!(matches!(Library::expressions(&["x", "x"], &["x"]), Err(Error::Argument { .. })));
    let some = Library::expressions(&["x"], &["x"]).and_then(|library| library.and(&["x", "x^2"]));
    assert_eq!(some.expect("a library").terms(), ["x", "x^2"]);
}
