//! A discovery as text: its equations, the table of their terms, near misses, warnings; lines of 100 columns at most.

use std::fmt::{self, Display, Formatter};

use super::equation::{Equation, Model};
use super::found::Discovery;
use super::numbers::{Rounding, number, probability};
use super::sums::{as_factor, signed_terms};

/// No line is wider.
const WIDTH: usize = 100;
/// Equations up to this width have their remarks in one column.
const NARROW: usize = 60;
/// A term that was not selected is worth naming from this inclusion probability on.
const NEAR_MISS: f64 = 0.05;
/// So many of them at most.
const MOST_NEAR: usize = 5;
/// Of an equation in doubt so many models are listed.
const MOST_MODELS: usize = 4;
/// With a probability of at least this.
const LEAST_MASS: f64 = 0.02;
/// Titles of the columns.
const HEAD: [&str; 6] = ["equation", "term", "coefficient", "sd", "95 % interval", "probability"];

impl Display for Discovery {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut parts = vec![headline(self), equations(self).join("\n"), table(self).join("\n")];
        let notes: Vec<String> =
            self.equations().flat_map(near_notes).map(|sentence| wrapped(&sentence)).collect();
        if !notes.is_empty() {
            parts.push(notes.join("\n"));
        }
        parts.extend(self.warnings().iter().map(|sentence| wrapped(&format!("warning: {sentence}"))));
        f.write_str(&parts.join("\n\n"))
    }
}

impl Display for Equation {
    /// `dx = (0.98 ± 0.05) x - (0.99 ± 0.04) x^3`, one standard deviation each.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}", self.label(), sum_words(self).join(" "))
    }
}

fn headline(found: &Discovery) -> String {
    let kind = if found.has_noise() { "Stochastic" } else { "Ordinary" };
    let paths = if found.n_paths() == 1 { "1 path".to_owned() } else { format!("{} paths", found.n_paths()) };
    let step = found.dt().map_or_else(|| "uneven steps".to_owned(), |dt| format!("dt = {}", number(dt)));
    format!("{kind} differential equation from {paths}, {} steps, {step}", found.n_steps())
}

/// The equations below each other, long ones broken between their terms.
fn equations(found: &Discovery) -> Vec<String> {
    let noisy: Vec<&str> = found.noisy().collect();
    let mut lines: Vec<(String, Vec<String>, &str)> = Vec::new();
    for state in found.states() {
        let left = format!("d{state} = ");
        let noise = match noisy.as_slice() {
            _ if !noisy.contains(&state.as_str()) => String::new(),
            [_] => "sqrt(Gamma) dB".into(),
            _ => format!("(g dB)[{state}]"),
        };
        let Some(equation) = found.drift(state) else {
            let given = found.given(state).unwrap_or_default();
            lines.push((left, vec![format!("{} dt", as_factor(given, false))], "given"));
            continue;
        };
        let count = equation.selected().count();
        let mut pieces = if count > 0 || noise.is_empty() { sum_words(equation) } else { Vec::new() };
        if count > 1 {
            pieces[0].insert(0, '[');
        }
        if let Some(last) = pieces.last_mut().filter(|_| count > 0) {
            last.push_str(if count > 1 { "] dt" } else { " dt" });
        }
        if !noise.is_empty() {
            pieces.push(if count > 0 { format!("+ {noise}") } else { noise });
        }
        lines.push((left, pieces, ""));
    }
    for equation in found.gammas() {
        lines.push((format!("{} = ", equation.label()), sum_words(equation), ""));
    }
    let mut shown = aligned(&lines);
    if noisy.len() > 1 {
        shown.push(format!(
            "  g is any matrix with g g^T = Gamma, dB are {} independent Brownian motions",
            noisy.len()
        ));
    }
    shown
}

fn aligned(lines: &[(String, Vec<String>, &str)]) -> Vec<String> {
    let whole: Vec<String> = lines.iter().map(|(left, pieces, _)| left.clone() + &pieces.join(" ")).collect();
    let length = |text: &str| text.chars().count();
    let counted =
        whole.iter().zip(lines).filter(|(line, (.., remark))| !remark.is_empty() || length(line) <= NARROW);
    let width = counted.map(|(line, _)| length(line)).max().unwrap_or(0);
    let mut shown = Vec::new();
    for (line, (left, pieces, remark)) in whole.iter().zip(lines) {
        if length(line) + 2 <= WIDTH {
            shown.push(format!("  {line:<width$}   {remark}").trim_end().to_owned());
            continue;
        }
        let indent = " ".repeat((length(left) + 2).max(3));
        let mut current = format!("  {left}");
        for (place, piece) in pieces.iter().enumerate() {
            if place > 0 && length(&current) + 1 + length(piece) > WIDTH {
                shown.push(std::mem::replace(&mut current, format!("{indent}{piece}")));
            } else {
                current += &format!("{}{piece}", if place > 0 { " " } else { "" });
            }
        }
        shown.push(current);
    }
    shown
}

/// Selected terms as rows of aligned columns.
fn table(found: &Discovery) -> Vec<String> {
    let mut rows: Vec<[String; 6]> = vec![HEAD.map(str::to_owned)];
    for equation in found.equations() {
        let mut label = equation.label().to_owned();
        for term in equation.selected() {
            let rounding = Rounding::of(term.mean, term.sd);
            let write = |value| rounding.write(value);
            let (low, high) = term.interval;
            rows.push([
                std::mem::take(&mut label),
                term.name.clone(),
                write(term.mean),
                write(term.sd),
                format!("{} .. {}", write(low), write(high)),
                probability(term.probability),
            ]);
        }
        if !label.is_empty() {
            rows.push([label, "none".into(), String::new(), String::new(), String::new(), String::new()]);
        }
    }
    let widths: Vec<usize> =
        (0..6).map(|c| rows.iter().map(|row| row[c].chars().count()).max().unwrap_or(0)).collect();
    rows.iter()
        .map(|row| {
            let cells = row.iter().zip(&widths).enumerate().map(|(c, (cell, &width))| {
                if c < 2 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
            });
            format!("  {}", cells.collect::<Vec<_>>().join("  ")).trim_end().to_owned()
        })
        .collect()
}

/// A sentence if the equation has terms which were nearly selected, and one if it is in doubt.
fn near_notes(equation: &Equation) -> Vec<String> {
    let mut near: Vec<_> =
        equation.terms().iter().filter(|term| !term.selected && term.probability > NEAR_MISS).collect();
    near.sort_by(|a, b| b.probability.total_cmp(&a.probability));
    let mut notes = Vec::new();
    let label = equation.label();
    if !near.is_empty() {
        let some = near.iter().take(MOST_NEAR).map(|term| format!("{} ({:.2})", term.name, term.probability));
        let more = near.len().saturating_sub(MOST_NEAR);
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        let named = some.collect::<Vec<_>>().join(", ");
        notes.push(format!("not selected in {label}, but possible (probability): {named}{more}"));
    }
    if equation.is_doubtful() {
        let written = |model: &Model| {
            let terms = if model.terms.is_empty() { "0".to_owned() } else { model.terms.join(", ") };
            format!("{{{terms}}} {:.2}", model.probability)
        };
        let models = equation.models().iter().take(MOST_MODELS);
        let listed: Vec<String> =
            models.filter(|model| model.probability >= LEAST_MASS).map(written).collect();
        notes.push(if listed.is_empty() {
            format!(
                "no model of {label} has as much as {LEAST_MASS} of the probability; intervals are averaged over all"
            )
        } else {
            format!(
                "the models of {label} that lead, with their probability: {}; intervals are averaged over all",
                listed.join(", ")
            )
        });
    }
    notes
}

/// A sentence in lines, the further ones indented.
fn wrapped(sentence: &str) -> String {
    let mut lines = vec![String::from(" ")];
    for word in sentence.split_whitespace() {
        let last = lines.last_mut().expect("one at least");
        if !last.trim().is_empty() && last.chars().count() + 1 + word.chars().count() > WIDTH {
            lines.push(format!("    {word}"));
        } else {
            *last += &format!(" {word}");
        }
    }
    lines.join("\n")
}

/// The right side in pieces, between which a line may be broken: its terms, or `0`.
fn sum_words(equation: &Equation) -> Vec<String> {
    let parts = equation.selected().map(|term| {
        let rounding = Rounding::of(term.mean, term.sd);
        let size = format!("({} ± {})", rounding.write(term.mean.abs()), rounding.write(term.sd));
        (term.mean < 0.0, size, term.name.as_str())
    });
    let found = signed_terms(parts);
    if found.is_empty() { vec!["0".into()] } else { found }
}
