//! Detached runs: the interpreter lock released, work on a thread pool of its own, Ctrl-C and progress served.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use itoscope_core::control::Control;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::errors::to_py;

/// How often the waiting thread looks for Ctrl-C and reports progress.
const TICK: Duration = Duration::from_millis(50);

static THREADS: AtomicUsize = AtomicUsize::new(0);

/// Sets how many threads later calls use; 0 means one per available core.
#[pyfunction]
pub fn set_threads(n_threads: usize) {
    THREADS.store(n_threads, Ordering::Relaxed);
}

/// Runs `work` without the interpreter lock, on a pool made for this call (so that a forked child has its own).
///
/// `progress`, a Python callable or `None`, receives the units of work done so far. If it raises, or if a signal
/// handler does, the work is asked to stop and that exception is returned.
pub fn detached<T: Send>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Control) -> itoscope_core::Result<T> + Send,
) -> PyResult<T> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(THREADS.load(Ordering::Relaxed))
        .build()
        .map_err(|problem| PyRuntimeError::new_err(format!("no threads could be started: {problem}")))?;
    let progress = progress.map(|callable| callable.clone().unbind());
    let control = Control::default();
    let outcome = py.detach(|| {
        std::thread::scope(|scope| {
            let (finished, wait) = channel::<()>();
            let worker = scope.spawn(|| {
                let result = pool.install(|| work(&control));
                drop(finished);
                result
            });
            let mut raised = None;
            while let Err(RecvTimeoutError::Timeout) = wait.recv_timeout(TICK) {
                if raised.is_none() {
                    raised = Python::attach(|py| {
                        py.check_signals()?;
                        if let Some(callable) = &progress {
                            callable.call1(py, (control.done(),))?;
                        }
                        Ok::<(), PyErr>(())
                    })
                    .err();
                    if raised.is_some() {
                        control.stop();
                    }
                }
            }
            (worker.join(), raised)
        })
    });
    match outcome {
        (_, Some(raised)) => Err(raised),
        (Ok(Ok(value)), None) => {
            if let Some(callable) = &progress {
                callable.call1(py, (control.done(),))?;
            }
            Ok(value)
        }
        (Ok(Err(error)), None) => Err(to_py(py, error)),
        (Err(_), None) => Err(PyRuntimeError::new_err("a worker thread panicked; please report this")),
    }
}
