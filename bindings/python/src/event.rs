//! Lease events, which the threads that renew leases report to Python.

use std::sync::Arc;

use flakeid::LeaseEvent as Core;
use pyo3::prelude::*;

use crate::callback::Callback;
use crate::error::exception;

/// A lease event, which is passed to the on_event function.
///
/// `kind` is one of these strings, and later versions may add more:
///
/// - 'acquired', 'released': A node was granted or released.
/// - 'renewed': The window was extended.
/// - 'fenced-off': The node is lost from its fence onward, usually to another process. This process
///   then requests a node again, unless the lost node is fixed and another process has taken it
///   over.
/// - 'refused': The store refused a request.
/// - 'store-lost', 'store-found': The store does not respond, or responds again.
/// - 'clock-skew': This host's clock and the store's clock are too far apart.
///
/// Properties that do not apply to the kind of event are None.
#[pyclass(frozen, module = "flakeid", name = "LeaseEvent")]
pub(crate) struct LeaseEvent(Core);

#[pymethods]
impl LeaseEvent {
    /// The kind of the event.
    #[getter]
    fn kind(&self) -> &'static str {
        self.0.kind()
    }

    /// The node that was acquired, renewed, lost or released.
    #[getter]
    fn node(&self) -> Option<u64> {
        self.0.node()
    }

    /// The first tick that may be used, if a node was acquired.
    #[getter]
    fn start(&self) -> Option<u64> {
        self.0.start()
    }

    /// The first tick that must not be used, if a node was acquired or renewed.
    #[getter]
    fn fence(&self) -> Option<u64> {
        self.0.fence()
    }

    /// The reason for the event, as a FlakeIdError.
    #[getter]
    fn error<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.0.error().map(|error| exception(py, error)).transpose()
    }

    fn __repr__(&self) -> String {
        let mut parts = vec![format!("kind='{}'", self.kind())];
        let numbers = [("node", self.node()), ("start", self.start()), ("fence", self.fence())];
        for (name, number) in numbers {
            parts.extend(number.map(|number| format!("{name}={number}")));
        }
        parts.extend(self.0.error().map(|error| format!("error='{error}'")));
        format!("LeaseEvent({})", parts.join(", "))
    }
}

/// Returns an observer that calls a Python function for each event.
pub(crate) fn observer(function: Arc<Callback>) -> impl Fn(&Core) + Send + Sync + 'static {
    move |event| {
        function.call(|py| Ok(Bound::new(py, LeaseEvent(event.clone()))?.into_any()));
    }
}
