//! Detached runs: the interpreter lock released, work on the threads of this process, Ctrl-C and progress served.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use itoscope_core::control::Control;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rayon::ThreadPool;

use crate::errors::to_py;

/// How often the waiting thread looks for Ctrl-C and reports progress.
const TICK: Duration = Duration::from_millis(50);

static THREADS: AtomicUsize = AtomicUsize::new(0);

/// Sets how many threads later calls use; 0 means one per available core.
#[pyfunction]
pub fn set_threads(n_threads: usize) {
    THREADS.store(n_threads, Ordering::Relaxed);
}

/// Threads, and for whom they were started.
struct Started {
    process: u32,
    n_threads: usize,
    pool: Arc<ThreadPool>,
}

static STARTED: Mutex<Option<Started>> = Mutex::new(None);

/// The pool of this process for the number of threads in force, made at the first call and kept.
///
/// A forked child has the memory of its parent's pool but none of its threads, so it makes its own and forgets the
/// other: to drop it would be to wait for threads that are not there. The lock is held under the interpreter's lock
/// only, and whoever forks holds that, so no child finds it taken.
fn pool(_attached: Python<'_>) -> PyResult<Arc<ThreadPool>> {
    let (process, n_threads) = (process::id(), THREADS.load(Ordering::Relaxed));
    let mut started = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
    match started.take() {
        Some(inherited) if inherited.process != process => std::mem::forget(inherited),
        Some(own) if own.n_threads == n_threads => return Ok(started.insert(own).pool.clone()),
        _ => {}
    }
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(n_threads)
        .build()
        .map_err(|problem| PyRuntimeError::new_err(format!("no threads could be started: {problem}")))?;
    Ok(started.insert(Started { process, n_threads, pool: Arc::new(pool) }).pool.clone())
}

/// Runs `work` without the interpreter lock, on the threads of this process: see [`pool`]. Nothing that runs in parallel
/// may be called outside, where it would start threads that a forked child waits for in vain.
///
/// `progress`, a Python callable or `None`, receives the units of work done so far. If it raises, or if a signal
/// handler does, the work is asked to stop and that exception is returned.
pub fn detached<T: Send>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Control) -> itoscope_core::Result<T> + Send,
) -> PyResult<T> {
    let pool = pool(py)?;
    let progress = progress.map(|callable| callable.clone().unbind());
    let control = Control::default();
    let outcome = py.detach(|| {
        let (finished, wait) = channel::<()>();
        let mut result = None;
        let raised = catch_unwind(AssertUnwindSafe(|| {
            pool.in_place_scope(|scope| {
                scope.spawn(|_| {
                    let _finished = finished;
                    result = Some(work(&control));
                });
                watch(&wait, &control, progress.as_ref())
            })
        }));
        (raised, result)
    });
    match outcome {
        (Ok(Some(raised)), _) => Err(raised),
        (Ok(None), Some(Ok(value))) => {
            if let Some(callable) = &progress {
                callable.call1(py, (control.done(),))?;
            }
            Ok(value)
        }
        (Ok(None), Some(Err(error))) => Err(to_py(py, error)),
        _ => Err(PyRuntimeError::new_err("a worker thread panicked; please report this")),
    }
}

/// Waits until the work has let go of its end of the channel. What a signal handler or `progress` raised meanwhile stops
/// the work, and is returned.
fn watch(wait: &Receiver<()>, control: &Control, progress: Option<&Py<PyAny>>) -> Option<PyErr> {
    let mut raised = None;
    while let Err(RecvTimeoutError::Timeout) = wait.recv_timeout(TICK) {
        if raised.is_none() {
            raised = Python::attach(|py| {
                py.check_signals()?;
                if let Some(callable) = progress {
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
    raised
}
