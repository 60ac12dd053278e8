//! Working memory that starts at a cache line, so that no vector of a row of whole groups lies across two.

use std::ops::{Deref, DerefMut};

/// Bytes of a cache line.
const LINE: usize = 64;

/// Numbers from the start of a cache line on.
#[derive(Debug)]
pub(crate) struct Memory {
    values: Vec<f64>,
    first: usize,
    len: usize,
}

impl Memory {
    /// `len` zeros.
    pub fn zeros(len: usize) -> Self {
        let values = vec![0.0; len + LINE / size_of::<f64>() - 1];
        // Where no place is known to be aligned any other is as good, but for speed.
        let first = values.as_ptr().align_offset(LINE).min(values.len() - len);
        Self { values, first, len }
    }
}

impl Clone for Memory {
    fn clone(&self) -> Self {
        let mut copy = Self::zeros(self.len);
        copy.copy_from_slice(self);
        copy
    }
}

impl Deref for Memory {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        &self.values[self.first..self.first + self.len]
    }
}

impl DerefMut for Memory {
    fn deref_mut(&mut self) -> &mut [f64] {
        &mut self.values[self.first..self.first + self.len]
    }
}
