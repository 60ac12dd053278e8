//! Writes the benchmark systems to the file that the parity test of Python's `itoscope.problems` reads.

use std::error::Error;
use std::fs;

use itoscope_support::{problems, problems_file};

fn main() -> Result<(), Box<dyn Error>> {
    let file = problems_file();
    fs::write(&file, problems::json()?)?;
    println!("wrote {}", file.display());
    Ok(())
}
