//! Randomness as an argument: one counter-based stream per chain or path, and tapes that replay recorded draws.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Beta, Distribution, Gamma, StandardNormal, StandardUniform};

/// What a stream is for; streams of different purpose never overlap for the same seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// One chain of the sampler.
    Chain,
    /// One simulated path.
    Path,
}

impl Purpose {
    pub(crate) const fn salt(self) -> u64 {
        match self {
            Self::Chain => 0x6368_6169_6e00_0001,
            Self::Path => 0x7061_7468_0000_0002,
        }
    }
}

/// The kinds of draw that the sampler needs; implemented by [`Stream`] and by [`Tape`].
pub trait Draws {
    /// Uniform on [0, 1).
    fn uniform(&mut self) -> f64;
    /// Standard normal.
    fn normal(&mut self) -> f64;
    /// Gamma with the given shape and unit scale.
    fn gamma(&mut self, shape: f64) -> f64;
    /// Beta(a, b).
    fn beta(&mut self, a: f64, b: f64) -> f64;

    /// One uniform after the other.
    fn fill_uniform(&mut self, out: &mut [f64]) {
        for value in out {
            *value = self.uniform();
        }
    }
}

/// A counter-based random stream: ChaCha with eight rounds, the stream number being the index of a chain or path.
///
/// The numbers depend on `(seed, purpose, index)` alone, so they are the same for any number of threads.
#[derive(Debug, Clone)]
pub struct Stream(ChaCha8Rng);

impl Stream {
    /// The stream of `index` for `purpose` under `seed`.
    pub fn new(seed: u64, purpose: Purpose, index: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed ^ purpose.salt());
        rng.set_stream(index);
        Self(rng)
    }
}

impl Draws for Stream {
    #[inline]
    fn uniform(&mut self) -> f64 {
        StandardUniform.sample(&mut self.0)
    }

    #[inline]
    fn normal(&mut self) -> f64 {
        StandardNormal.sample(&mut self.0)
    }

    fn gamma(&mut self, shape: f64) -> f64 {
        Gamma::new(shape, 1.0).expect("a positive, finite shape").sample(&mut self.0)
    }

    fn beta(&mut self, a: f64, b: f64) -> f64 {
        Beta::new(a, b).expect("positive, finite shapes").sample(&mut self.0)
    }

    /// In bulk: the generator is asked for blocks of bytes, not for one word after the other.
    fn fill_uniform(&mut self, out: &mut [f64]) {
        const WORDS: usize = 32;
        let mut bytes = [0; 8 * WORDS];
        for out in out.chunks_mut(WORDS) {
            let bytes = &mut bytes[..8 * out.len()];
            self.0.fill_bytes(bytes);
            for (value, word) in out.iter_mut().zip(bytes.as_chunks().0) {
                // 52 random bits behind the exponent of one: vector code has no conversion of 64-bit integers.
                *value = f64::from_bits(u64::from_le_bytes(*word) >> 12 | 1.0_f64.to_bits()) - 1.0;
            }
        }
    }
}

/// The kind of one draw on a [`Tape`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// Uniform on [0, 1).
    Uniform,
    /// Standard normal.
    Normal,
    /// Unit-scale gamma of this shape.
    Gamma(f64),
    /// Beta of these shapes.
    Beta(f64, f64),
}

impl Kind {
    fn agrees(self, other: Self) -> bool {
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.abs().max(b.abs());
        match (self, other) {
            (Self::Uniform, Self::Uniform) | (Self::Normal, Self::Normal) => true,
            (Self::Gamma(a), Self::Gamma(b)) => near(a, b),
            (Self::Beta(a, b), Self::Beta(c, d)) => near(a, c) && near(b, d),
            _ => false,
        }
    }
}

/// Recorded draws, replayed in order. The first draw whose kind or shape differs from the record stops the replay.
///
/// After a disagreement every draw is NaN and [`Tape::finish`] returns the error, so the hot loops need no `Result`.
#[derive(Debug, Clone)]
pub struct Tape {
    draws: Vec<(Kind, f64)>,
    next: usize,
    mismatch: Option<String>,
}

impl Tape {
    /// A tape of recorded draws.
    pub fn new(draws: Vec<(Kind, f64)>) -> Self {
        Self { draws, next: 0, mismatch: None }
    }

    /// The number of draws used, or where and how the replay left the record.
    pub fn finish(self) -> crate::Result<usize> {
        match self.mismatch {
            None => Ok(self.next),
            Some(message) => Err(crate::Error::Numerical(message)),
        }
    }

    fn take(&mut self, wanted: Kind) -> f64 {
        if self.mismatch.is_some() {
            return f64::NAN;
        }
        match self.draws.get(self.next) {
            Some(&(kind, value)) if kind.agrees(wanted) => {
                self.next += 1;
                value
            }
            found => {
                self.mismatch =
                    Some(format!("draw {}: wanted {wanted:?}, the tape has {found:?}", self.next));
                f64::NAN
            }
        }
    }
}

impl Draws for Tape {
    fn uniform(&mut self) -> f64 {
        self.take(Kind::Uniform)
    }

    fn normal(&mut self) -> f64 {
        self.take(Kind::Normal)
    }

    fn gamma(&mut self, shape: f64) -> f64 {
        self.take(Kind::Gamma(shape))
    }

    fn beta(&mut self, a: f64, b: f64) -> f64 {
        self.take(Kind::Beta(a, b))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_of_different_index_or_purpose_differ_and_repeat() {
        let first = |seed, purpose, index| Stream::new(seed, purpose, index).uniform();
        assert_eq!(first(1, Purpose::Chain, 0), first(1, Purpose::Chain, 0));
        assert_ne!(first(1, Purpose::Chain, 0), first(1, Purpose::Chain, 1));
        assert_ne!(first(1, Purpose::Chain, 0), first(1, Purpose::Path, 0));
        assert_ne!(first(1, Purpose::Chain, 0), first(2, Purpose::Chain, 0));
    }

    #[test]
    fn a_tape_refuses_a_draw_of_another_kind() {
        let mut tape = Tape::new(vec![(Kind::Uniform, 0.25), (Kind::Gamma(2.0), 1.0)]);
        assert_eq!(tape.uniform(), 0.25);
        assert!(tape.gamma(3.0).is_nan());
        assert!(tape.finish().is_err());
    }
}
