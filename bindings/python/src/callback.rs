//! Python functions that the core calls, in most cases on its own threads.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;

use crate::argument::wrong_type;

/// The number of running calls. Before the interpreter exits, `silence` waits for these calls.
/// Otherwise, the exiting interpreter could kill a thread that requests the GIL, even in the middle
/// of Rust code.
static CALLS: AtomicUsize = AtomicUsize::new(0);
static ENDING: AtomicBool = AtomicBool::new(false);

/// A Python function that the program passed as a handler. The core and the Python object to which
/// the handler was passed share the function, so that the garbage collector can visit and clear it:
/// a handler often refers to the object that calls it.
///
/// Only threads that are attached to the interpreter lock the function, and none detaches while it
/// holds the lock.
pub(crate) struct Callback(Mutex<Option<Py<PyAny>>>);

impl Callback {
    /// Wraps the function that was passed as the argument `name`, and checks that it is callable.
    pub(crate) fn new(name: &str, function: &Bound<'_, PyAny>) -> PyResult<Arc<Self>> {
        if function.is_callable() {
            Ok(Arc::new(Self(Mutex::new(Some(function.clone().unbind())))))
        } else {
            Err(wrong_type(name, "callable", function))
        }
    }

    /// Calls the function, unless it was cleared. Passes exceptions to `sys.unraisablehook`.
    pub(crate) fn call<'a>(
        &self,
        argument: impl for<'py> FnOnce(Python<'py>) -> PyResult<Bound<'py, PyAny>> + 'a,
    ) {
        CALLS.fetch_add(1, Ordering::SeqCst);
        if !ENDING.load(Ordering::SeqCst) {
            // A failure to attach to the interpreter is ignored, because the function cannot be
            // called after the interpreter has shut down.
            let _ = Python::try_attach(|py| {
                let Some(function) = self.function(py) else { return };
                let called = argument(py).and_then(|argument| function.call1((argument,)));
                if let Err(raised) = called {
                    raised.write_unraisable(py, Some(&function));
                }
            });
        }
        CALLS.fetch_sub(1, Ordering::SeqCst);
    }

    fn function<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        let function = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        function.as_ref().map(|function| function.bind(py).clone())
    }

    /// Reports the function to the garbage collector.
    pub(crate) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        // An object that is not visited is kept, which is correct while a thread uses the function.
        self.0.try_lock().map_or(Ok(()), |function| visit.call(&*function))
    }

    /// Drops the function, so that later calls do nothing.
    pub(crate) fn clear(&self) {
        let function = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        // The drop may run Python code, so the lock must be free.
        drop(function);
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
