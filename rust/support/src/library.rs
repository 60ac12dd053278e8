//! Candidate terms as expressions, in the paper's order: a library is a list of texts for [`itoscope_core::program::Program`].

/// All monomials of the states up to `degree`, the constant first, then by degree in combinations-with-replacement
/// order: `1`, `x1`, `x2`, `x1^2`, `x1 x2`, `x2^2`, ...
pub fn polynomials(states: &[impl AsRef<str>], degree: usize) -> Vec<String> {
    let mut terms = vec!["1".to_owned()];
    // Exponents of each monomial of the degree at hand, and the last state in it.
    let mut monomials = vec![(vec![0; states.len()], 0)];
    for _ in 0..degree {
        let higher = |(exponents, last): &(Vec<usize>, usize)| {
            (*last..exponents.len())
                .map(|state| {
                    let mut exponents = exponents.clone();
                    exponents[state] += 1;
                    (exponents, state)
                })
                .collect::<Vec<_>>()
        };
        monomials = monomials.iter().flat_map(higher).collect();
        terms.extend(monomials.iter().map(|(exponents, _)| monomial(states, exponents)));
    }
    terms
}

fn monomial(states: &[impl AsRef<str>], exponents: &[usize]) -> String {
    let factors = states.iter().zip(exponents).filter_map(|(state, exponent)| match exponent {
        0 => None,
        1 => Some(state.as_ref().to_owned()),
        _ => Some(format!("{}^{exponent}", state.as_ref())),
    });
    factors.collect::<Vec<_>>().join(" ")
}

/// The paper's library: monomials up to `degree`, then `sgn(x_i)`, `|x_i|`, and `x_i|x_j|` for all `i`, `j`.
///
/// It has 10 terms for one state and degree 6, 36 for two states and degree 6, 59 for four states and degree 3.
pub fn paper(states: &[impl AsRef<str>], degree: usize) -> Vec<String> {
    let mut terms = polynomials(states, degree);
    let names = || states.iter().map(AsRef::as_ref);
    terms.extend(names().map(|x| format!("sgn({x})")));
    terms.extend(names().map(|x| format!("|{x}|")));
    terms.extend(names().flat_map(|x| names().map(move |y| format!("{x}|{y}|"))));
    terms
}

#[cfg(test)]
mod tests {
    use super::*;
    use itoscope_core::program::Program;

    const STATES: [&str; 4] = ["x1", "x2", "x3", "x4"];

    #[test]
    fn counts_are_the_papers() {
        let count = |states: usize, degree| paper(&STATES[..states], degree).len();
        assert_eq!([count(1, 6), count(2, 6), count(4, 3)], [10, 36, 59]);
    }

    #[test]
    fn names_read_as_mathematics() {
        let names = paper(&STATES[..2], 2);
        let expected = [
            "1", "x1", "x2", "x1^2", "x1 x2", "x2^2", "sgn(x1)", "sgn(x2)", "|x1|", "|x2|", "x1|x1|",
            "x1|x2|", "x2|x1|", "x2|x2|",
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn a_monomial_costs_one_multiplication() {
        // One instruction for each term but the constant, which costs none; a state is a copy.
        for (states, degree, n_terms) in [(1, 6, 10), (2, 6, 36), (4, 3, 59)] {
            let program = Program::new(&paper(&STATES[..states], degree), &STATES[..states]).unwrap();
            assert_eq!(program.n_instructions(), n_terms - 1);
        }
    }
}
