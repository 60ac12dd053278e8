//! How a long computation is watched and stopped: a counter of finished work and a flag that asks it to end.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Shared between the worker threads and whoever waits for them.
#[derive(Debug, Default)]
pub struct Control {
    stop: AtomicBool,
    done: AtomicU64,
}

impl Control {
    /// Asks the workers to end at their next check.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Adds finished units of work.
    pub fn advance(&self, units: u64) {
        self.done.fetch_add(units, Ordering::Relaxed);
    }

    /// Units of work finished so far.
    pub fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    /// An error if the work was asked to end; to be called every few milliseconds of work.
    ///
    /// # Errors
    /// [`crate::Error::Interrupted`].
    pub fn check(&self) -> crate::Result<()> {
        if self.stop.load(Ordering::Relaxed) { Err(crate::Error::Interrupted) } else { Ok(()) }
    }
}
