//! What benches and integration tests share: benchmark systems with known truth, and the paper's library.
//!
//! The core itself has neither: the catalogue of systems and the recipes of libraries that users see are Python's.

pub mod library;
pub mod problems;

use std::path::PathBuf;

/// The file with the systems that the parity test of Python's `itoscope.problems` reads.
pub fn problems_file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/parity/problems.json")
}
