//! The file of the parity test says what the systems are now.

use std::fs;

use itoscope_support::{problems, problems_file};

#[test]
fn the_file_of_the_parity_test_is_up_to_date() {
    let written = fs::read_to_string(problems_file()).expect("tests/parity/problems.json is there");
    let now = problems::json().expect("the defaults are equations");
    assert_eq!(written, now, "run `cargo run --package itoscope-support` and commit the file");
}
