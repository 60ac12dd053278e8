//! Integrators: closed forms, orders, structures of noise, and the same bits on any number of threads.

use itoscope_core::Error;
use itoscope_core::noise::{Draws, Purpose, Stream};
use itoscope_core::simulate::{Scheme, Sde, SimulationSettings, Structure};
use ndarray::{Array2, Array3, ArrayView2, s};

fn texts(rows: &[&str]) -> Vec<String> {
    rows.iter().map(|&text| text.to_owned()).collect()
}

fn sde(drift: &[&str], diffusion: &[&[&str]], states: &[&str]) -> Sde {
    Sde::new(texts(drift), diffusion.iter().map(|row| texts(row)).collect(), texts(states)).unwrap()
}

fn simulate(
    sde: &Sde,
    x0: ArrayView2<'_, f64>,
    settings: &SimulationSettings<'_>,
) -> (Array3<f64>, Vec<i64>) {
    sde.simulate(x0, settings, &Default::default()).unwrap()
}

fn geometric() -> Sde {
    sde(&["1.5 x"], &[&["0.8 x"]], &["x"])
}

/// Increments `dW` and `dZ` of `n_paths` paths with `n_steps` steps of length `h`, as columns.
fn brownian(n_paths: usize, n_steps: usize, h: f64) -> Array3<f64> {
    let mut noise = Array3::zeros((n_paths, n_steps, 2));
    for (i, mut path) in noise.outer_iter_mut().enumerate() {
        let mut stream = Stream::new(17, Purpose::Path, i as u64);
        for mut step in path.outer_iter_mut() {
            let (first, second) = (stream.normal(), stream.normal());
            step[0] = h.sqrt() * first;
            step[1] = 0.5 * h.powf(1.5) * (first + second / 3.0_f64.sqrt());
        }
    }
    noise
}

/// The same Brownian paths in steps twice as long.
fn coarser(noise: &Array3<f64>, h: f64) -> Array3<f64> {
    let (n_paths, n_steps, _) = noise.dim();
    Array3::from_shape_fn((n_paths, n_steps / 2, 2), |(i, n, column)| {
        let (early, late) = (noise.slice(s![i, 2 * n, ..]), noise.slice(s![i, 2 * n + 1, ..]));
        if column == 0 { early[0] + late[0] } else { early[1] + late[1] + early[0] * h }
    })
}

/// Slope of the logarithm of the mean error at time 1 over the logarithm of the step, for shared Brownian paths.
fn strong_order(sde: &Sde, scheme: Scheme, exact: impl Fn(f64) -> f64) -> f64 {
    let (n_paths, finest) = (500, 1024);
    let mut h = 1.0 / finest as f64;
    let mut noise = brownian(n_paths, finest, h);
    let x0 = Array2::ones((n_paths, 1));
    let mut points = Vec::new();
    for _ in 0..6 {
        let n_steps = noise.dim().1;
        let columns = if scheme.needs_dz() { 2 } else { 1 };
        let settings = SimulationSettings {
            scheme,
            noise: Some(noise.slice(s![.., .., ..columns])),
            ..SimulationSettings::new(h, n_steps)
        };
        let (samples, _) = simulate(sde, x0.view(), &settings);
        let error = (0..n_paths).map(|i| {
            let w: f64 = noise.slice(s![i, .., 0]).sum();
            (samples[[i, n_steps, 0]] - exact(w)).abs()
        });
        points.push((h.ln(), (error.sum::<f64>() / n_paths as f64).ln()));
        noise = coarser(&noise, h);
        h *= 2.0;
    }
    let n = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |(x, y), point| (x + point.0 / n, y + point.1 / n));
    let (sxy, sxx) = points
        .iter()
        .fold((0.0, 0.0), |(sxy, sxx), p| (sxy + (p.0 - x) * (p.1 - y), sxx + (p.0 - x).powi(2)));
    sxy / sxx
}

#[test]
fn strong_orders_are_as_declared() {
    let exact = |w: f64| (1.5 - 0.5 * 0.8 * 0.8 + 0.8 * w).exp();
    for scheme in Scheme::ALL {
        let order = strong_order(&geometric(), scheme, exact);
        assert!((order - scheme.strong_order()).abs() < 0.1, "{}: {order}", scheme.name());
    }
    // The Stratonovich limit is another process: no order at all.
    let wrong = strong_order(&geometric(), Scheme::Milstein, |w| (1.5 + 0.8 * w).exp());
    assert!(wrong.abs() < 0.2, "{wrong}");
}

#[test]
fn a_step_of_milstein_with_two_noises_is_that_of_its_formula() {
    let (lam, mu, h, dw) = (0.5, [0.8, -0.6], 0.1, [0.3, 0.2]);
    let two = sde(&["0.5 x"], &[&["0.8 x", "-0.6 x"]], &["x"]);
    let mut noise = Array3::<f64>::zeros((1, 2, 2));
    noise.slice_mut(s![0, 0, ..]).assign(&ndarray::arr1(&dw));
    let settings = SimulationSettings {
        scheme: Scheme::Milstein,
        noise: Some(noise.view()),
        ..SimulationSettings::new(h, 2)
    };
    let (samples, _) = simulate(&two, Array2::ones((1, 1)).view(), &settings);
    let own = (0..2).map(|j| mu[j] * dw[j] + mu[j] * mu[j] * (dw[j] * dw[j] - h) / 2.0).sum::<f64>();
    let expected = 1.0 + lam * h + own + mu[0] * mu[1] * dw[0] * dw[1];
    assert!((samples[[0, 1, 0]] - expected).abs() < 1e-14, "{} {expected}", samples[[0, 1, 0]]);
}

#[test]
fn without_noise_the_schemes_solve_the_ordinary_equation() {
    let oscillator = sde(&["v", "-x"], &[&[], &[]], &["x", "v"]);
    assert_eq!(oscillator.structure().unwrap(), Structure::None);
    for (scheme, tolerance) in
        [(Scheme::EulerMaruyama, 1e-3), (Scheme::Milstein, 1e-3), (Scheme::Taylor15, 1e-6)]
    {
        let settings = SimulationSettings { scheme, ..SimulationSettings::new(1e-3, 1000) };
        let (samples, _) = simulate(&oscillator, Array2::from_elem((1, 2), 1.0).view(), &settings);
        let exact = 1.0_f64.cos() + 1.0_f64.sin();
        assert!((samples[[0, 1000, 0]] - exact).abs() < tolerance);
    }
}

#[test]
fn structures_of_noise() {
    let cases: [(&[&[&str]], Structure); 7] = [
        (&[&["0", "0"], &["0", "0"]], Structure::None),
        (&[&["1", "0"], &["2", "3"]], Structure::Additive),
        (&[&["x y"], &["y"]], Structure::Scalar),
        (&[&["x", "0"], &["0", "y^2"]], Structure::Diagonal),
        (&[&["0", "0"], &["2", "x"]], Structure::Diagonal),
        (&[&["x", "0"], &["y", "x"]], Structure::Commutative),
        (&[&["y", "0"], &["0", "x"]], Structure::General),
    ];
    for (diffusion, structure) in cases {
        assert_eq!(sde(&["0", "0"], diffusion, &["x", "y"]).structure().unwrap(), structure, "{diffusion:?}");
    }
}

#[test]
fn a_scheme_that_does_not_fit_names_one_that_does() {
    let general = sde(&["0", "0"], &[&["y", "0"], &["0", "x"]], &["x", "y"]);
    let x0 = Array2::zeros((1, 2));
    let error =
        general.simulate(x0.view(), &SimulationSettings::new(0.1, 3), &Default::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "scheme = 'milstein': needs additive, scalar, diagonal or commutative noise; the noise of this SDE is \
         general, use 'euler-maruyama'"
    );
    assert!(matches!("heun".parse::<Scheme>(), Err(Error::Argument { .. })));
}

#[test]
fn a_covariance_may_be_semidefinite() {
    let given = |gamma: &[&[&str]]| {
        let gamma = gamma.iter().map(|row| texts(row)).collect();
        Sde::with_covariance(texts(&["0", "0"]), gamma, texts(&["x", "y"])).unwrap()
    };
    let factored = sde(&["0", "0"], &[&["1 + x^2", "0"], &["2 + 2 x^2", "0"]], &["x", "y"]);
    let settings =
        SimulationSettings { scheme: Scheme::EulerMaruyama, seed: 3, ..SimulationSettings::new(0.01, 50) };
    let x0 = Array2::zeros((9, 2));
    let (expected, _) = simulate(&factored, x0.view(), &settings);
    let square = given(&[&["(1 + x^2)^2", "0"], &["2 (1 + x^2)^2", "4 (1 + x^2)^2"]]);
    let (found, _) = simulate(&square, x0.view(), &settings);
    assert!((&found - &expected).iter().all(|difference| difference.abs() < 1e-12));
    let nothing = given(&[&["-1", "0"], &["0", "0"]]);
    assert!(simulate(&nothing, x0.view(), &settings).0.iter().all(|&x| x == 0.0));
}

#[test]
fn threads_and_company_change_no_bit() {
    let sde = sde(&["v", "-100 x - sgn(v)"], &[&["0"], &["1 + x"]], &["x", "v"]);
    let x0 = Array2::from_elem((130, 2), 0.1);
    let settings = SimulationSettings {
        scheme: Scheme::Taylor15,
        substeps: 3,
        seed: 4,
        ..SimulationSettings::new(0.01, 60)
    };
    let on = |n_threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build().unwrap();
        pool.install(|| simulate(&sde, x0.view(), &settings).0)
    };
    let one = on(1);
    assert_eq!(one, on(3));
    let (few, _) = simulate(&sde, x0.slice(s![..3, ..]), &settings);
    assert_eq!(few, one.slice(s![..3, .., ..]));
    let sparse = SimulationSettings { keep_every: 7, ..settings };
    let (kept, _) = simulate(&sde, x0.view(), &sparse);
    assert_eq!(kept, one.slice(s![.., ..;7, ..]));
}

#[test]
fn paths_that_leave_the_finite_range_end_there() {
    let sde = sde(&["x^3"], &[&["0"]], &["x"]);
    let x0 = Array2::from_shape_fn((20, 1), |(i, _)| i as f64 / 4.0);
    let (samples, lengths) = simulate(&sde, x0.view(), &SimulationSettings::new(0.1, 100));
    assert_eq!(lengths[0], 101);
    assert!(lengths[19] < 101);
    for (path, &length) in samples.outer_iter().zip(&lengths) {
        for (n, x) in path.iter().enumerate() {
            assert_eq!(x.is_finite(), n < length as usize);
        }
    }
}

#[test]
fn settings_out_of_range_are_named() {
    let x0 = Array2::ones((2, 1));
    let noise = Array3::zeros((2, 9, 1));
    let wide = Array3::zeros((2, 10, 2));
    let good = || SimulationSettings::new(0.1, 10);
    let cases = [
        ("dt", SimulationSettings { dt: 0.0, ..good() }),
        ("n_steps", SimulationSettings { n_steps: 0, ..good() }),
        ("substeps", SimulationSettings { substeps: 0, ..good() }),
        ("keep_every", SimulationSettings { keep_every: 0, ..good() }),
        ("noise", SimulationSettings { noise: Some(noise.view()), ..good() }),
        ("noise", SimulationSettings { noise: Some(wide.view()), ..good() }),
    ];
    for (argument, settings) in cases {
        match geometric().simulate(x0.view(), &settings, &Default::default()) {
            Err(Error::Argument { name, .. }) => assert_eq!(name, argument),
            other => panic!("{argument}: {other:?}"),
        }
    }
    let error = geometric().simulate((&x0 / 0.0).view(), &good(), &Default::default()).unwrap_err();
    assert!(error.to_string().starts_with("x0 = "));
}

#[test]
fn a_stop_is_heeded() {
    let control = itoscope_core::control::Control::default();
    control.stop();
    let x0 = Array2::ones((10, 1));
    let outcome = geometric().simulate(x0.view(), &SimulationSettings::new(0.1, 10_000), &control);
    assert_eq!(outcome.unwrap_err(), Error::Interrupted);
}
