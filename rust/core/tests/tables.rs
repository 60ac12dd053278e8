//! No text makes the reader of tables panic; what it answers has a row for each line.

use itoscope_core::table::{Column, Fault, Kind, Layout, read};
use proptest::prelude::*;

fn layout() -> impl Strategy<Value = Layout> {
    let delimiter = prop::sample::select(vec![None, Some(b','), Some(b';'), Some(b'\t')]);
    (delimiter, any::<bool>()).prop_map(|(delimiter, decimal_comma)| Layout { delimiter, decimal_comma })
}

fn kinds() -> impl Strategy<Value = Vec<Kind>> {
    prop::collection::vec(prop::sample::select(vec![Kind::Skip, Kind::Number, Kind::Text]), 0..5)
}

/// All columns have as many rows, or the fault is in a line that is there.
fn sound(text: &[u8], found: &Result<Vec<Column>, Fault>) -> bool {
    let lines = text.split(|&byte| byte == b'\n').count();
    match found {
        Ok(columns) => {
            let mut rows = columns.iter().filter_map(|column| match column {
                Column::Skipped => None,
                Column::Numbers(values) => Some(values.len()),
                Column::Text(bytes, ends) => {
                    assert!(ends.iter().all(|&end| end <= bytes.len()));
                    Some(ends.len())
                }
            });
            let first = rows.next().unwrap_or(0);
            first <= lines && rows.all(|count| count == first)
        }
        Err(Fault::Cells { line, .. } | Fault::Number { line, .. }) => *line < lines,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..Default::default() })]

    #[test]
    fn any_bytes(text in prop::collection::vec(any::<u8>(), 0..300), layout in layout(), kinds in kinds()) {
        prop_assert!(sound(&text, &read(&text, layout, &kinds)));
    }

    #[test]
    fn near_tables(text in "([0-9]{1,3}|[.,;\t \"#\n-]|1e9|na|\r\n){0,60}", layout in layout(), kinds in kinds()) {
        prop_assert!(sound(text.as_bytes(), &read(text.as_bytes(), layout, &kinds)));
    }
}

#[test]
fn a_fault_is_found_in_its_line() {
    let layout = Layout { delimiter: Some(b','), decimal_comma: false };
    let found = read(b"1,2\n3,x\n", layout, &[Kind::Number; 2]);
    assert!(matches!(found, Err(Fault::Number { line: 1, .. })), "{found:?}");
}
