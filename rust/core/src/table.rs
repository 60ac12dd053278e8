//! Text tables: the cells of some columns as numbers, of others as they stand, in one pass over the bytes.

use std::borrow::Cow;

use rayon::prelude::*;

/// How a text table is written.
#[derive(Debug, Clone, Copy)]
pub struct Layout {
    /// The sign between two cells; `None` stands for blanks and tabs, several of which are one.
    pub delimiter: Option<u8>,
    /// Whether `1,5` is a number; a point then parts thousands.
    pub decimal_comma: bool,
}

/// What becomes of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Nothing; its cells may hold anything.
    Skip,
    /// Numbers; an empty cell, `NA` and its like are NaN.
    Number,
    /// The bytes of the cells.
    Text,
}

/// The first row that is no row of this table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// It has another count of cells.
    Cells {
        /// Number of the line, from 0.
        line: usize,
        /// How many cells it has.
        found: usize,
    },
    /// A cell of a column of numbers is none.
    Number {
        /// Number of the line, from 0.
        line: usize,
        /// Number of the column, from 0.
        column: usize,
        /// What stands there.
        cell: String,
    },
}

/// What was read of one column.
#[derive(Debug, Clone, PartialEq)]
pub enum Column {
    /// Of [`Kind::Skip`].
    Skipped,
    /// Of [`Kind::Number`].
    Numbers(Vec<f64>),
    /// Of [`Kind::Text`]: the cells one after the other, and where each ends.
    Text(Vec<u8>, Vec<usize>),
}

impl Fault {
    /// The same fault so many lines further down.
    fn below(self, lines: usize) -> Self {
        match self {
            Self::Cells { line, found } => Self::Cells { line: line + lines, found },
            Self::Number { line, column, cell } => Self::Number { line: line + lines, column, cell },
        }
    }
}

impl Column {
    fn rows(&self) -> usize {
        match self {
            Self::Skipped => 0,
            Self::Numbers(values) => values.len(),
            Self::Text(_, ends) => ends.len(),
        }
    }

    /// Makes room for so many rows in all.
    fn reserve(&mut self, rows: usize) {
        match self {
            Self::Skipped => {}
            Self::Numbers(values) => values.reserve_exact(rows - values.len()),
            Self::Text(_, ends) => ends.reserve_exact(rows - ends.len()),
        }
    }

    fn append(&mut self, more: Self) {
        match (self, more) {
            (Self::Numbers(values), Self::Numbers(more)) => values.extend_from_slice(&more),
            (Self::Text(bytes, ends), Self::Text(more, more_ends)) => {
                ends.extend(more_ends.iter().map(|end| end + bytes.len()));
                bytes.extend_from_slice(&more);
            }
            _ => {}
        }
    }
}

/// Words, in small letters, that stand for a missing number.
const MISSING: [&[u8]; 14] =
    [b"", b"na", b"n/a", b"#n/a", b"<na>", b"nan", b"null", b"none", b"nil", b"-", b"--", b"---", b"?", b"."];
/// Bytes of the longest of them.
const LONGEST: usize = 5;

/// Bytes that are worth a thread of their own.
const PIECE: usize = 1 << 20;

/// Reads whole lines, those of long texts in parallel; blank lines and those that start with `#` are left out.
///
/// # Errors
/// [`Fault`] for the first row that does not fit.
pub fn read(text: &[u8], layout: Layout, kinds: &[Kind]) -> Result<Vec<Column>, Fault> {
    let pieces = pieces(text);
    let read: Vec<_> = pieces.par_iter().map(|piece| read_piece(piece, layout, kinds)).collect();
    let mut parts = Vec::with_capacity(pieces.len());
    for (place, part) in read.into_iter().enumerate() {
        let lines_before = || pieces[..place].iter().map(|piece| count_lines(piece)).sum();
        parts.push(part.map_err(|fault| fault.below(lines_before()))?);
    }
    Ok(joined(parts))
}

/// The columns of all pieces, one below the other.
fn joined(mut parts: Vec<Vec<Column>>) -> Vec<Column> {
    let rows: Vec<usize> =
        (0..parts[0].len()).map(|c| parts.iter().map(|part| part[c].rows()).sum()).collect();
    let rest = parts.split_off(1);
    let mut found = parts.remove(0);
    for (column, rows) in found.iter_mut().zip(rows) {
        column.reserve(rows);
    }
    for part in rest {
        for (column, end) in found.iter_mut().zip(part) {
            column.append(end);
        }
    }
    found
}

fn count_lines(text: &[u8]) -> usize {
    text.iter().filter(|&&byte| byte == b'\n').count()
}

/// A text cut behind ends of lines.
fn pieces(text: &[u8]) -> Vec<&[u8]> {
    let mut found = Vec::new();
    let mut rest = text;
    while rest.len() > 2 * PIECE {
        let Some(end) = rest[PIECE..].iter().position(|&byte| byte == b'\n') else { break };
        let (piece, after) = rest.split_at(PIECE + end + 1);
        found.push(piece);
        rest = after;
    }
    found.push(rest);
    found
}

fn read_piece(text: &[u8], layout: Layout, kinds: &[Kind]) -> Result<Vec<Column>, Fault> {
    let room = text.len() / 16 / kinds.len().max(1);
    let mut columns: Vec<Column> = kinds
        .iter()
        .map(|kind| match kind {
            Kind::Skip => Column::Skipped,
            Kind::Number => Column::Numbers(Vec::with_capacity(room)),
            Kind::Text => Column::Text(Vec::new(), Vec::new()),
        })
        .collect();
    let mut cells = Cells { text, layout, at: 0 };
    let mut line = 0;
    while cells.at < text.len() {
        cells.skip_blanks();
        match cells.peek() {
            None => break,
            Some(b'\n') => cells.at += 1,
            Some(b'#') => cells.skip_line(),
            Some(_) => read_row(&mut cells, &mut columns, line)?,
        }
        line += 1;
    }
    Ok(columns)
}

/// One line that holds data, its end included.
fn read_row(cells: &mut Cells<'_>, columns: &mut [Column], line: usize) -> Result<(), Fault> {
    let mut found = 0;
    loop {
        let (cell, more) = cells.next();
        match columns.get_mut(found) {
            Some(Column::Numbers(values)) => match number(&cell, cells.layout.decimal_comma) {
                Some(value) => values.push(value),
                None => {
                    // A row of another count of cells is the plainer mistake.
                    let total = found + 1 + if more { cells.count() } else { 0 };
                    if total != columns.len() {
                        return Err(Fault::Cells { line, found: total });
                    }
                    let cell = String::from_utf8_lossy(&cell).into_owned();
                    return Err(Fault::Number { line, column: found, cell });
                }
            },
            Some(Column::Text(bytes, ends)) => {
                bytes.extend_from_slice(&cell);
                ends.push(bytes.len());
            }
            Some(Column::Skipped) | None => {}
        }
        found += 1;
        if !more {
            break;
        }
    }
    if found == columns.len() { Ok(()) } else { Err(Fault::Cells { line, found }) }
}

/// A place in the text.
struct Cells<'a> {
    text: &'a [u8],
    layout: Layout,
    at: usize,
}

impl<'a> Cells<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn is_blank(&self, byte: u8) -> bool {
        byte == b' ' || byte == b'\r' || (byte == b'\t' && self.layout.delimiter != Some(b'\t'))
    }

    fn skip_blanks(&mut self) {
        while self.peek().is_some_and(|byte| self.is_blank(byte)) {
            self.at += 1;
        }
    }

    fn skip_line(&mut self) {
        while self.peek().is_some_and(|byte| byte != b'\n') {
            self.at += 1;
        }
        self.at += 1;
    }

    /// How many cells are left of the line.
    fn count(&mut self) -> usize {
        let mut left = 0;
        loop {
            left += 1;
            if !self.next().1 {
                return left;
            }
        }
    }

    /// The next cell without blanks around it, and whether the line goes on.
    fn next(&mut self) -> (Cow<'a, [u8]>, bool) {
        self.skip_blanks();
        if self.peek() == Some(b'"') {
            return self.quoted();
        }
        let start = self.at;
        let rest = &self.text[start..];
        let length = match self.layout.delimiter {
            Some(sign) => find(rest, sign),
            None => rest
                .iter()
                .position(|&byte| byte == b' ' || byte == b'\t' || byte == b'\n')
                .unwrap_or(rest.len()),
        };
        self.at += length;
        (Cow::Borrowed(trim(&rest[..length])), self.goes_on())
    }

    /// A cell within quotes; two quotes inside are one.
    fn quoted(&mut self) -> (Cow<'a, [u8]>, bool) {
        let mut cell = Vec::new();
        self.at += 1;
        while let Some(byte) = self.peek().filter(|&byte| byte != b'\n') {
            self.at += 1;
            if byte == b'"' {
                if self.peek() != Some(b'"') {
                    break;
                }
                self.at += 1;
            }
            cell.push(byte);
        }
        // What stands between the quote and the next sign belongs to no cell.
        while self.peek().is_some_and(|byte| byte != b'\n' && Some(byte) != self.layout.delimiter) {
            if self.layout.delimiter.is_none() && self.peek().is_some_and(|byte| self.is_blank(byte)) {
                break;
            }
            self.at += 1;
        }
        (Cow::Owned(cell), self.goes_on())
    }

    /// Steps over the sign after a cell; false at the end of the line, which it steps over as well.
    fn goes_on(&mut self) -> bool {
        if self.layout.delimiter.is_none() {
            self.skip_blanks();
            if self.peek().is_some_and(|byte| byte != b'\n') {
                return true;
            }
        }
        let sign = self.peek();
        self.at += 1;
        self.layout.delimiter.is_some() && sign == self.layout.delimiter
    }
}

/// Where the sign or the end of the line stands first, eight bytes at a time; the length where neither does.
fn find(text: &[u8], sign: u8) -> usize {
    const ONES: u64 = u64::MAX / 255;
    // The highest bit of each byte that is zero, exactly up to the first of them.
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word & (ONES << 7);
    let (signs, ends) = (ONES * u64::from(sign), ONES * u64::from(b'\n'));
    let mut at = 0;
    while let Some(bytes) = text[at..].first_chunk() {
        let word = u64::from_le_bytes(*bytes);
        let found = zeros(word ^ signs) | zeros(word ^ ends);
        if found != 0 {
            return at + found.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    let rest = text[at..].iter().position(|&byte| byte == sign || byte == b'\n');
    rest.map_or(text.len(), |further| at + further)
}

fn trim(cell: &[u8]) -> &[u8] {
    match cell.last() {
        Some(b' ' | b'\r' | b'\t') => cell.trim_ascii_end(),
        _ => cell,
    }
}

/// The number that a cell holds, NaN for a missing one, `None` for anything else.
fn number(cell: &[u8], decimal_comma: bool) -> Option<f64> {
    if decimal_comma && cell.contains(&b',') {
        let pointed: Vec<u8> = cell
            .iter()
            .filter(|&&byte| byte != b'.')
            .map(|&byte| if byte == b',' { b'.' } else { byte })
            .collect();
        return number(&pointed, false);
    }
    let parsed = std::str::from_utf8(cell).ok().and_then(|text| text.parse().ok());
    parsed.or_else(|| {
        let cell = cell.trim_ascii();
        let missing = cell.len() <= LONGEST && MISSING.contains(&cell.to_ascii_lowercase().as_slice());
        missing.then_some(f64::NAN)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMA: Layout = Layout { delimiter: Some(b','), decimal_comma: false };
    const NUMBERS: [Kind; 2] = [Kind::Number; 2];

    fn numbers(text: &str, layout: Layout) -> Vec<Vec<f64>> {
        let columns = read(text.as_bytes(), layout, &NUMBERS).expect("a table of two columns of numbers");
        columns
            .into_iter()
            .map(|column| match column {
                Column::Numbers(values) => values,
                other => panic!("numbers were asked for: {other:?}"),
            })
            .collect()
    }

    #[test]
    fn every_way_to_write_two_columns() {
        let want = vec![vec![1.0, 3.0], vec![2.5, -4.0]];
        assert_eq!(numbers("1,2.5\n3,-4\n", COMMA), want);
        assert_eq!(numbers(" 1 , 2.5 \r\n\n# note, 1\n  # 7\n3,-4e0", COMMA), want);
        assert_eq!(numbers("\"1\",\"2.5\" \n3,\"-4\"", COMMA), want);
        let semicolon = Layout { delimiter: Some(b';'), decimal_comma: true };
        assert_eq!(numbers("1;2,5\n3,0;-4", semicolon), want);
        assert_eq!(numbers("1.000,5;1", semicolon).concat(), [1000.5, 1.0]);
        let blanks = Layout { delimiter: None, decimal_comma: false };
        assert_eq!(numbers("  1   2.5  \n3\t-4 \n", blanks), want);
        let tab = Layout { delimiter: Some(b'\t'), decimal_comma: false };
        assert_eq!(numbers("1\t2.5\n3\t-4", tab), want);
    }

    #[test]
    fn missing_cells_are_nan_and_stay_in_place() {
        for word in ["", "NA", "nan", "N/A", "null", "--", " "] {
            let found = numbers(&format!("{word},1\n2,{word}\n"), COMMA);
            assert!(found[0][0].is_nan() && found[1][1].is_nan(), "{word:?}");
            assert_eq!((found[0][1], found[1][0]), (2.0, 1.0));
        }
        let tab = Layout { delimiter: Some(b'\t'), decimal_comma: false };
        assert!(numbers("\t1\n2\t3", tab)[0][0].is_nan());
    }

    #[test]
    fn the_first_fault_has_its_line_and_column() {
        let fault = |text: &str| read(text.as_bytes(), COMMA, &NUMBERS).expect_err("a fault");
        assert_eq!(fault("1,2\n\n3\n4,5"), Fault::Cells { line: 2, found: 1 });
        assert_eq!(fault("1,2\n3,4,5\n"), Fault::Cells { line: 1, found: 3 });
        assert_eq!(fault("1,2\n3,x y\n"), Fault::Number { line: 1, column: 1, cell: "x y".into() });
        assert_eq!(fault("one two\n"), Fault::Cells { line: 0, found: 1 });
    }

    #[test]
    fn long_texts_are_read_in_pieces_as_short_ones_are() {
        let rows = 300_000;
        let text: String = (0..rows).map(|k| format!("{k},{}.5\n", k * 7)).collect();
        assert!(pieces(text.as_bytes()).len() > 2);
        let found = numbers(&text, COMMA);
        assert_eq!((found[0].len(), found[0][rows - 1], found[1][200_000]), (rows, 299_999.0, 1_400_000.5));
        let words = read(text.as_bytes(), COMMA, &[Kind::Skip, Kind::Text]).expect("a table");
        let Column::Text(bytes, ends) = &words[1] else { panic!("texts were asked for") };
        assert_eq!(&bytes[ends[199_999]..ends[200_000]], b"1400000.5");
        let broken = text.replace("250000,", "250000;");
        assert_eq!(read(broken.as_bytes(), COMMA, &NUMBERS), Err(Fault::Cells { line: 250_000, found: 1 }));
    }

    #[test]
    fn texts_keep_their_bytes() {
        let kinds = [Kind::Text, Kind::Skip, Kind::Number];
        let found = read("a,?,1\n\"b, \"\"c\"\"\",x,2\n".as_bytes(), COMMA, &kinds).expect("a table");
        assert_eq!(found[0], Column::Text(b"ab, \"c\"".to_vec(), vec![1, 7]));
        assert_eq!(found[1], Column::Skipped);
        assert_eq!(found[2], Column::Numbers(vec![1.0, 2.0]));
    }
}
