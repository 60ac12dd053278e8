//! Finds `dx = (x - x^3) dt + 0.5 dB` in a path that it simulates, and simulates what it found.
//!
//! `cargo run --release --example double_well`

use itoscope_core::control::Control;
use itoscope_core::path::Path;
use itoscope_core::simulate::{Sde, SimulationSettings};
use itoscope_core::{Discover, Library, discover};
use ndarray::{Axis, array};

fn main() -> itoscope_core::Result<()> {
    // The truth, and 1000 units of time of it.
    let texts = |rows: &[&str]| rows.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
    let truth = Sde::new(texts(&["x - x^3"]), vec![texts(&["0.5"])], texts(&["x"]))?;
    let settings = SimulationSettings { substeps: 10, seed: 1, ..SimulationSettings::new(0.01, 100_000) };
    let (paths, _) = truth.simulate(array![[1.0]].view(), &settings, &Control::default())?;

    // What is behind it, of six candidate terms.
    let recording = Path::even(paths.index_axis(Axis(0), 0), 0.01);
    let library = Library::polynomials(&["x"], 5)?;
    let found = discover(&[recording], &library, &Discover { seed: 1, ..Discover::default() })?;
    println!("{found}");

    // Every candidate, with its probability and its coefficient averaged over the models.
    for term in found.drift("x").into_iter().flatten() {
        println!(
            "{:>4}  {:.3}  {:+.2} ± {:.2}",
            term.name, term.probability, term.averaged_mean, term.averaged_sd
        );
    }

    // The equation goes on from where the recording ended.
    let end = paths.slice(ndarray::s![.., -1, ..]);
    let (onwards, _) =
        found.sde()?.simulate(end, &SimulationSettings::new(0.01, 1000), &Control::default())?;
    println!("\nfrom x = {:.2} to x = {:.2} in 10 units of time", end[[0, 0]], onwards[[0, 1000, 0]]);
    Ok(())
}
