//! Python functions that the core calls, in most cases on its own threads.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::prelude::*;

use crate::argument::wrong_type;

/// The number of running calls. Before the interpreter exits, `silence` waits for these calls.
/// Otherwise, the exiting interpreter could kill a thread that requests the GIL, even in the middle
/// of Rust code.
static CALLS: AtomicUsize = AtomicUsize::new(0);
static ENDING: AtomicBool = AtomicBool::new(false);

/// A Python function that the program passed as a handler.
pub(crate) struct Callback(Py<PyAny>);

impl Callback {
    /// Wraps the function that was passed as the argument `name`, and checks that it is callable.
    pub(crate) fn new(name: &str, function: &Bound<'_, PyAny>) -> PyResult<Self> {
        if function.is_callable() {
            Ok(Self(function.clone().unbind()))
        } else {
            Err(wrong_type(name, "callable", function))
        }
    }

    /// Calls the function. Passes exceptions to `sys.unraisablehook`.
    pub(crate) fn call<'a>(
        &self,
        argument: impl for<'py> FnOnce(Python<'py>) -> PyResult<Bound<'py, PyAny>> + 'a,
    ) {
        CALLS.fetch_add(1, Ordering::SeqCst);
        if !ENDING.load(Ordering::SeqCst) {
            // A failure to attach to the interpreter is ignored, because the function cannot be
            // called after the interpreter has shut down.
            let _ = Python::try_attach(|py| {
                let called = argument(py).and_then(|argument| self.0.call1(py, (argument,)));
                if let Err(raised) = called {
                    raised.write_unraisable(py, Some(self.0.bind(py)));
                }
            });
        }
        CALLS.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Prevents further calls, and waits at most `timeout` for running calls to return.
pub(crate) fn silence(py: Python<'_>, timeout: Duration) {
    ENDING.store(true, Ordering::SeqCst);
    let start = Instant::now();
    py.detach(|| {
        while CALLS.load(Ordering::SeqCst) > 0 && start.elapsed() < timeout {
            thread::sleep(Duration::from_millis(1));
        }
    });
}

/// Resets the number of running calls in a forked child, because the parent's threads do not exist
/// in the child.
#[pyfunction]
#[pyo3(name = "_after_fork")]
pub(crate) fn after_fork() {
    CALLS.store(0, Ordering::SeqCst);
}
