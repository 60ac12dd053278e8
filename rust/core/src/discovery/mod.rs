//! `discover`: from recordings of measured states and a library of candidate terms to the equation, in one call.
//!
//! The model is `dX = f(X) dt + g(X) dB` with the drift `f_i = sum_k theta_ik u_k` and `Gamma_ij = (g g^T)_ij` over a
//! library of candidate terms `u_k`. The states must be measured, without noise of a sensor: a motion of second order has
//! columns for positions and velocities and the row `("x", "v")` in [`Discover::known_drift`]. Noisy and partly seen
//! recordings are for [`filter`](crate::filter), by stages; checks of the residuals are those of
//! [`regression`](crate::regression).

mod along;
mod columns;
mod correlation;
mod equation;
mod found;
mod library;
mod numbers;
mod posterior;
mod recordings;
mod regressions;
mod rounds;
mod settings;
mod still;
mod student;
mod sums;
mod words;

use crate::control::Control;
use crate::path::{Path, Times};
use crate::program::Program;
use crate::{Error, Result};

pub use equation::{Equation, Model, Term};
pub use found::Discovery;
pub use library::Library;
use regressions::{CONSTANT, Candidates, Measured};
pub use settings::{Diffusion, Discover, Sampler, SlabUnit};

/// Finds the stochastic differential equation behind recordings of measured states.
///
/// The drift is regressed on the library, what is left over on that of `Gamma`, and both again with weights until the
/// terms stay the same; each regression has a spike-and-slab posterior over its models, by enumeration or by chains.
///
/// ```
/// use itoscope_core::control::Control;
/// use itoscope_core::path::Path;
/// use itoscope_core::simulate::{Sde, SimulationSettings};
/// use itoscope_core::{Discover, Library, discover};
/// use ndarray::{Axis, array};
///
/// // A recording: here 200 units of time of dx = -x dt + 0.5 dB.
/// let sde = Sde::new(vec!["-x".into()], vec![vec!["0.5".into()]], vec!["x".into()])?;
/// let settings = SimulationSettings { substeps: 5, seed: 1, ..SimulationSettings::new(0.02, 10_000) };
/// let (samples, _) = sde.simulate(array![[0.0]].view(), &settings, &Control::default())?;
///
/// let recording = Path::even(samples.index_axis(Axis(0), 0), 0.02);
/// let library = Library::polynomials(&["x"], 3)?;
/// let found = discover(&[recording], &library, &Discover { seed: 1, ..Discover::default() })?;
/// println!("{found}");
/// let drift = found.drift("x").expect("x is sought");
/// assert_eq!(drift.selected().map(|term| term.name.as_str()).collect::<Vec<_>>(), ["x"]);
/// for term in drift {
///     println!("{} {:.3} {:.3} ± {:.3}", term.name, term.probability, term.mean, term.sd);
/// }
/// # Ok::<(), itoscope_core::Error>(())
/// ```
///
/// # Errors
/// [`Error::Argument`] names the option outside its range, its value and what is allowed; [`Error::Data`] for recordings
/// that break a rule and for a term that is not finite on them; [`Error::Expression`] for a given row that does not
/// parse; [`Error::Numerical`] where the arithmetic overflows.
pub fn discover(recordings: &[Path<'_>], library: &Library, asked: &Discover) -> Result<Discovery> {
    discover_watched(recordings, library, asked, &Control::default())
}

/// [`discover`] that counts its steps and sweeps in `control` and ends when this asks for it.
///
/// # Errors
/// As for [`discover`], and [`Error::Interrupted`].
pub fn discover_watched(
    recordings: &[Path<'_>],
    library: &Library,
    asked: &Discover,
    control: &Control,
) -> Result<Discovery> {
    asked.check()?;
    recordings::check(recordings, library.states())?;
    let states = library.states();
    let given = given_rows(asked, states)?;
    let rows: Vec<usize> = (0..states.len()).filter(|row| !given.contains(row)).collect();
    if rows.is_empty() {
        return Err(Error::argument("known_drift", "all rows", "a row that is left to find"));
    }
    let quiet = quiet_rows(asked, states, &rows)?;
    let noisy: Vec<usize> = match asked.diffusion {
        Diffusion::None => Vec::new(),
        _ => rows.iter().copied().filter(|row| !quiet.contains(row)).collect(),
    };
    let candidates = [
        Candidates { terms: library.terms().to_vec(), program: library.program()? },
        diffusion_candidates(asked, library)?,
    ];
    let mut measured = Measured::new(recordings, asked, candidates, rows, &noisy, control);
    let fit = rounds::fit(&mut measured)?;
    let (fit, notes) = still::settle(&mut measured, fit, states)?;
    assembled(&measured, states, fit, notes)
}

/// Rows that are given.
fn given_rows(asked: &Discover, states: &[String]) -> Result<Vec<usize>> {
    let mut found = Vec::new();
    for (state, drift) in &asked.known_drift {
        let row = row_of("known_drift", state, states)?;
        if found.contains(&row) {
            return Err(Error::argument("known_drift", state, "each state once"));
        }
        Program::new(&[drift], states)?;
        found.push(row);
    }
    Ok(found)
}

/// Rows that are sought and carry no noise.
fn quiet_rows(asked: &Discover, states: &[String], rows: &[usize]) -> Result<Vec<usize>> {
    let sought: Vec<String> = rows.iter().map(|&row| states[row].clone()).collect();
    let place = |state: &String| row_of("without_noise", state, &sought).map(|place| rows[place]);
    asked.without_noise.iter().map(place).collect()
}

fn row_of(option: &'static str, state: &str, states: &[String]) -> Result<usize> {
    let allowed = || Error::argument(option, state, format!("a state: {}", states.join(", ")));
    states.iter().position(|name| name == state).ok_or_else(allowed)
}

/// The terms of `Gamma`.
fn diffusion_candidates(asked: &Discover, library: &Library) -> Result<Candidates> {
    let terms = match (&asked.diffusion_library, asked.diffusion) {
        (_, Diffusion::Constant) => vec![CONSTANT.to_owned()],
        (None, _) => library.terms().to_vec(),
        (Some(other), _) if other.states() == library.states() => other.terms().to_vec(),
        (Some(other), _) => {
            let allowed =
                format!("one of the states of the drift's library, {}", library.states().join(", "));
            return Err(Error::argument("diffusion_library", other.states().join(", "), allowed));
        }
    };
    let program = Program::new(&terms, library.states())?;
    Ok(Candidates { terms, program })
}

/// The equations under their names, with the warnings of all.
fn assembled(
    measured: &Measured<'_, '_>,
    states: &[String],
    fit: rounds::Fit,
    notes: Vec<String>,
) -> Result<Discovery> {
    let settled = fit.unstable.is_none();
    let mut warnings: Vec<String> = fit.unstable.into_iter().chain(notes).collect();
    let drift = measured.rows.iter().zip(fit.drift).map(|(&row, found)| {
        let name = &states[row];
        Ok((name.clone(), Equation::new(format!("d{name}"), &measured.drift.terms, found)?))
    });
    let drift: Vec<(String, Equation)> = drift.collect::<Result<_>>()?;
    let diffusion = measured.pairs.iter().zip(fit.diffusion).map(|(&(i, j), found)| {
        let (a, b) = (states[i].clone(), states[j].clone());
        let label = format!("Gamma[{a}, {b}]");
        Ok(((a, b), Equation::new(label, &measured.gamma.terms, found)?))
    });
    let diffusion: Vec<((String, String), Equation)> = diffusion.collect::<Result<_>>()?;
    let all = drift.iter().map(|(_, e)| e).chain(diffusion.iter().map(|(_, e)| e));
    let mut about: Vec<(&str, Vec<&str>)> = Vec::new();
    for (equation, sentence) in all.flat_map(|e| e.warnings().iter().map(move |warning| (e, warning))) {
        match about.iter_mut().find(|(known, _)| *known == sentence.as_str()) {
            Some((_, labels)) => labels.push(equation.label()),
            None => about.push((sentence, vec![equation.label()])),
        }
    }
    warnings.extend(about.iter().map(|(sentence, labels)| format!("{}: {sentence}", labels.join(", "))));
    let paths = measured.paths;
    let dt = match paths[0].times {
        Times::Even(first)
            if paths.iter().all(|path| matches!(path.times, Times::Even(dt) if dt == first)) =>
        {
            Some(first)
        }
        _ => None,
    };
    Ok(Discovery {
        states: states.to_vec(),
        known_drift: measured.asked.known_drift.clone(),
        drift,
        diffusion,
        rounds: fit.rounds,
        settled,
        warnings,
        n_paths: paths.len(),
        n_steps: paths.iter().map(Path::n_steps).sum(),
        dt,
    })
}
