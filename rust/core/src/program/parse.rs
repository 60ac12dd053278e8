//! Text to graph: a recursive-descent parser whose errors point at the character.
//!
//! ```text
//! expr  := term (('+' | '-') term)*
//! term  := unary (('*' | '/') unary | power)*          a juxtaposed power multiplies, at the precedence of '*'
//! unary := ('-' | '+') unary | power                    -x^2 is -(x^2)
//! power := atom (('^' | '**') unary)?                   2^3^2 is 2^(3^2)
//! atom  := number | name | function '(' expr ')' | '(' expr ')' | '|' expr '|'
//! ```
//!
//! A `|` where an operand is expected opens a bar. Where an operand has just ended it closes the bar that is the
//! innermost open group, or else begins an implicit product: `x1|x2|` is `x1 * |x2|`.

use super::graph::{Function, Graph, Id};
use crate::{Error, Result};

/// Deepest nesting of groups, signs and exponents.
const MAX_DEPTH: usize = 200;

/// Parses `text` into `graph`; `names[i]` is the name of input `i` and wins over a function of that name.
///
/// # Errors
/// [`Error::Expression`] with the character at fault.
///
/// # Panics
/// If the graph has fewer inputs than there are names.
pub fn parse(text: &str, names: &[impl AsRef<str>], graph: &mut Graph) -> Result<Id> {
    parse_naming(text, names, graph).map(|(id, _)| id)
}

/// The same, and whether the text names each of the inputs: what it names may have vanished from the graph, as from
/// `0 x` and `x - x`.
pub fn parse_naming(text: &str, names: &[impl AsRef<str>], graph: &mut Graph) -> Result<(Id, Vec<bool>)> {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    let (chars, named) = (text.chars().collect(), vec![false; names.len()]);
    let mut parser = Parser { text, chars, at: 0, names, named, graph, depth: 0, in_bar: false };
    let id = parser.expr()?;
    match parser.peek()? {
        None => Ok((id, parser.named)),
        // Anything else either begins an operand, and so an implicit product, or is an operator.
        Some(_) => Err(parser.error(parser.at, "unexpected ')'")),
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Token {
    Plus,
    Minus,
    Times,
    Over,
    Power,
    Open,
    Close,
    Bar,
    Number,
    Name,
}

struct Parser<'a> {
    text: &'a str,
    chars: Vec<char>,
    at: usize,
    names: Vec<&'a str>,
    /// Whether each was met.
    named: Vec<bool>,
    graph: &'a mut Graph,
    depth: usize,
    /// Whether the innermost open group is a bar.
    in_bar: bool,
}

impl Parser<'_> {
    fn error(&self, position: usize, message: impl Into<String>) -> Error {
        Error::Expression { text: self.text.to_owned(), position, message: message.into() }
    }

    /// Skips white space and says what begins there.
    fn peek(&mut self) -> Result<Option<Token>> {
        while self.chars.get(self.at).is_some_and(|c| c.is_whitespace()) {
            self.at += 1;
        }
        let Some(&c) = self.chars.get(self.at) else { return Ok(None) };
        let next_is = |wanted: fn(char) -> bool| self.chars.get(self.at + 1).is_some_and(|&c| wanted(c));
        Ok(Some(match c {
            '+' => Token::Plus,
            '-' => Token::Minus,
            '*' if next_is(|c| c == '*') => Token::Power,
            '*' => Token::Times,
            '/' => Token::Over,
            '^' => Token::Power,
            '(' => Token::Open,
            ')' => Token::Close,
            '|' => Token::Bar,
            '0'..='9' => Token::Number,
            '.' if next_is(|c| c.is_ascii_digit()) => Token::Number,
            c if c.is_alphabetic() || c == '_' => Token::Name,
            _ => return Err(self.error(self.at, format!("unexpected character '{c}'"))),
        }))
    }

    /// Steps over an operator, which is two characters long only as `**`.
    fn skip(&mut self) {
        self.at += if self.chars[self.at..].starts_with(&['*', '*']) { 2 } else { 1 };
    }

    /// Runs a rule one level deeper.
    fn deeper<T>(&mut self, rule: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth == MAX_DEPTH {
            return Err(self.error(self.at, "the expression is nested too deeply"));
        }
        self.depth += 1;
        let result = rule(self);
        self.depth -= 1;
        result
    }

    fn expr(&mut self) -> Result<Id> {
        let mut sum = self.term()?;
        while let Some(sign @ (Token::Plus | Token::Minus)) = self.peek()? {
            self.skip();
            let term = self.term()?;
            sum =
                if sign == Token::Plus { self.graph.add(sum, term) } else { self.graph.subtract(sum, term) };
        }
        Ok(sum)
    }

    fn term(&mut self) -> Result<Id> {
        let mut product = self.unary()?;
        loop {
            product = match self.peek()? {
                Some(Token::Times) => {
                    self.skip();
                    let factor = self.unary()?;
                    self.graph.multiply(product, factor)
                }
                Some(Token::Over) => {
                    self.skip();
                    let divisor = self.unary()?;
                    self.graph.divide(product, divisor)
                }
                Some(Token::Bar) if self.in_bar => return Ok(product),
                Some(Token::Number | Token::Name | Token::Open | Token::Bar) => {
                    let factor = self.power()?;
                    self.graph.multiply(product, factor)
                }
                _ => return Ok(product),
            };
        }
    }

    fn unary(&mut self) -> Result<Id> {
        match self.peek()? {
            Some(Token::Minus) => {
                let operand = self.deeper(|parser| {
                    parser.skip();
                    parser.unary()
                })?;
                Ok(self.graph.negate(operand))
            }
            Some(Token::Plus) => self.deeper(|parser| {
                parser.skip();
                parser.unary()
            }),
            _ => self.power(),
        }
    }

    fn power(&mut self) -> Result<Id> {
        let base = self.atom()?;
        if self.peek()? != Some(Token::Power) {
            return Ok(base);
        }
        let exponent = self.deeper(|parser| {
            parser.skip();
            parser.unary()
        })?;
        Ok(self.graph.power(base, exponent))
    }

    fn atom(&mut self) -> Result<Id> {
        match self.peek()? {
            Some(Token::Number) => self.number(),
            Some(Token::Name) => self.name(),
            Some(Token::Open) => self.group(Token::Close, "expected ')'"),
            Some(Token::Bar) => {
                let inside = self.group(Token::Bar, "expected a closing '|'")?;
                Ok(self.graph.call(Function::Abs, inside))
            }
            _ => Err(self.error(self.at, "expected a term")),
        }
    }

    /// An expression between the opening token that is next and `closing`.
    fn group(&mut self, closing: Token, missing: &str) -> Result<Id> {
        self.deeper(|parser| {
            parser.skip();
            let outer = std::mem::replace(&mut parser.in_bar, closing == Token::Bar);
            let inside = parser.expr()?;
            parser.in_bar = outer;
            if parser.peek()? != Some(closing) {
                return Err(parser.error(parser.at, missing));
            }
            parser.skip();
            Ok(inside)
        })
    }

    fn number(&mut self) -> Result<Id> {
        let start = self.at;
        self.digits();
        if self.chars.get(self.at) == Some(&'.') {
            self.at += 1;
            self.digits();
        }
        if let Some('e' | 'E') = self.chars.get(self.at) {
            // Without digits behind it, the letter begins a name.
            let mantissa = self.at;
            self.at += 1;
            if let Some('+' | '-') = self.chars.get(self.at) {
                self.at += 1;
            }
            if !self.digits() {
                self.at = mantissa;
            }
        }
        let digits: String = self.chars[start..self.at].iter().collect();
        let value = digits.parse().expect("digits, point and exponent make a number");
        Ok(self.graph.constant(value))
    }

    /// Steps over digits and says whether there were any.
    fn digits(&mut self) -> bool {
        let start = self.at;
        while self.chars.get(self.at).is_some_and(char::is_ascii_digit) {
            self.at += 1;
        }
        self.at > start
    }

    fn name(&mut self) -> Result<Id> {
        let start = self.at;
        while self.chars.get(self.at).is_some_and(|&c| c.is_alphanumeric() || c == '_') {
            self.at += 1;
        }
        let name: String = self.chars[start..self.at].iter().collect();
        if let Some(input) = self.names.iter().position(|known| *known == name) {
            self.named[input] = true;
            return Ok(self.graph.input(input));
        }
        if name == "pi" {
            return Ok(self.graph.constant(std::f64::consts::PI));
        }
        let Some(function) = Function::named(&name) else {
            return Err(self.error(start, self.unknown(&name)));
        };
        let end = self.at;
        if self.peek()? != Some(Token::Open) {
            return Err(self.error(end, format!("function '{name}' needs '('")));
        }
        let argument = self.group(Token::Close, "expected ')'")?;
        Ok(self.graph.call(function, argument))
    }

    fn unknown(&self, name: &str) -> String {
        let functions: Vec<&str> = Function::NAMES.iter().map(|&(name, _)| name).collect();
        let inputs = if self.names.is_empty() { String::new() } else { self.names.join(", ") + " and " };
        format!("unknown name '{name}'; known are {inputs}the functions {}", functions.join(", "))
    }
}
