//! What happens to leases, told to Python on the keepers' threads.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use flakeid_core::Error;
use flakeid_lease::LeaseEvent as Core;
use pyo3::prelude::*;

use crate::error::exception;

/// What happened to a lease: what on_event is called with.
///
/// `kind` is 'acquired', 'renewed', 'fenced-off' (another process has the node from the fence on;
/// another one is taken), 'refused' (the store said no), 'store-lost' (it does not answer),
/// 'store-found', 'clock-skew' (this host's clock and the store's are too far apart) or 'released'.
/// What a kind does not have is None. More kinds may come.
#[pyclass(frozen, module = "flakeid", name = "LeaseEvent")]
pub(crate) struct LeaseEvent(Core);

#[pymethods]
impl LeaseEvent {
    /// What happened, in a word.
    #[getter]
    fn kind(&self) -> &'static str {
        match self.0 {
            Core::Acquired { .. } => "acquired",
            Core::Renewed { .. } => "renewed",
            Core::FencedOff { .. } => "fenced-off",
            Core::Refused { .. } => "refused",
            Core::StoreLost { .. } => "store-lost",
            Core::StoreFound => "store-found",
            Core::ClockSkew { .. } => "clock-skew",
            Core::Released { .. } => "released",
            _ => "unknown",
        }
    }

    /// The node that was acquired, renewed, lost or released.
    #[getter]
    fn node(&self) -> Option<u64> {
        match self.0 {
            Core::Acquired { node, .. }
            | Core::Renewed { node, .. }
            | Core::FencedOff { node, .. }
            | Core::Released { node } => Some(node),
            _ => None,
        }
    }

    /// The first tick that may be used, of a node that was acquired.
    #[getter]
    fn start(&self) -> Option<u64> {
        match self.0 {
            Core::Acquired { start, .. } => Some(start),
            _ => None,
        }
    }

    /// The first tick that may not be used, of a node that was acquired or renewed.
    #[getter]
    fn fence(&self) -> Option<u64> {
        match self.0 {
            Core::Acquired { fence, .. } | Core::Renewed { fence, .. } => Some(fence),
            _ => None,
        }
    }

    /// Why, as a FlakeIdError.
    #[getter]
    fn error<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.cause().map(|error| exception(py, error)).transpose()
    }

    fn __repr__(&self) -> String {
        let mut parts = vec![format!("kind='{}'", self.kind())];
        let numbers = [("node", self.node()), ("start", self.start()), ("fence", self.fence())];
        for (name, number) in numbers {
            parts.extend(number.map(|number| format!("{name}={number}")));
        }
        parts.extend(self.cause().map(|error| format!("error='{error}'")));
        format!("LeaseEvent({})", parts.join(", "))
    }
}

impl LeaseEvent {
    fn cause(&self) -> Option<&Error> {
        match &self.0 {
            Core::FencedOff { error, .. }
            | Core::Refused { error }
            | Core::StoreLost { error }
            | Core::ClockSkew { error } => Some(error),
            _ => None,
        }
    }
}

/// Calls of observers that are under way. A thread that waits for the GIL when the interpreter ends
/// would be killed in the middle of Rust.
static CALLS: AtomicUsize = AtomicUsize::new(0);
static ENDING: AtomicBool = AtomicBool::new(false);

/// What calls a Python function with each event. What it raises goes to `sys.unraisablehook`.
pub(crate) fn observer(function: Py<PyAny>) -> impl Fn(&Core) + Send + Sync + 'static {
    move |event| {
        CALLS.fetch_add(1, Ordering::SeqCst);
        if !ENDING.load(Ordering::SeqCst) {
            let event = LeaseEvent(event.clone());
            // Nobody listens in an interpreter that is gone.
            let _ = Python::try_attach(|py| {
                if let Err(raised) = function.call1(py, (event,)) {
                    raised.write_unraisable(py, Some(function.bind(py)));
                }
            });
        }
        CALLS.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Ends all calls of observers, and waits at most `patience` for those that are under way.
pub(crate) fn silence(py: Python<'_>, patience: Duration) {
    ENDING.store(true, Ordering::SeqCst);
    let start = Instant::now();
    py.detach(|| {
        while CALLS.load(Ordering::SeqCst) > 0 && start.elapsed() < patience {
            thread::sleep(Duration::from_millis(1));
        }
    });
}

/// A forked child has none of its parent's threads, and so none of their calls.
#[pyfunction]
#[pyo3(name = "_after_fork")]
pub(crate) fn after_fork() {
    CALLS.store(0, Ordering::SeqCst);
}
