//! Sums of terms with coefficients as text.

/// Terms with a sign and the size of their coefficient, each with its sign before it.
pub(super) fn signed_terms<'a>(parts: impl Iterator<Item = (bool, String, &'a str)>) -> Vec<String> {
    parts
        .enumerate()
        .map(|(place, (negative, size, term))| {
            let body = if term == "1" { size } else { format!("{size} {}", as_factor(term, true)) };
            match (place, negative) {
                (0, false) => body,
                (0, true) => format!("-{body}"),
                (_, false) => format!("+ {body}"),
                (_, true) => format!("- {body}"),
            }
        })
        .collect()
}

/// A term so that something can stand beside it: in brackets if it is a sum, has a sign, or, where a number is to stand
/// `before` it, begins with one.
pub(super) fn as_factor(term: &str, before: bool) -> String {
    let (mut depth, mut open, mut former) = (0_i32, false, ' ');
    let first = term.trim_start().chars().next().unwrap_or(' ');
    for c in term.chars() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            '+' | '-' if depth == 0 && !matches!(former, '^' | '*' | '/' | 'e' | 'E') => open = true,
            _ => {}
        }
        if !c.is_whitespace() {
            former = c;
        }
    }
    let number = before && (first.is_ascii_digit() || first == '.');
    if open || number { format!("({term})") } else { term.to_owned() }
}
