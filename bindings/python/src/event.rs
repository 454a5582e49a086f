//! What happens to leases, told to Python on the keepers' threads.

use flakeid_core::Error;
use flakeid_lease::LeaseEvent as Core;
use pyo3::prelude::*;

use crate::callback::Callback;
use crate::error::exception;

/// Something that happened to a lease; on_event is called with it.
///
/// `kind` is one of these, and later versions may add more:
///
/// - 'acquired', 'released': A node was granted, or given back.
/// - 'renewed': The window was extended.
/// - 'fenced-off': Another process has the node from the fence on; this one leases another node.
/// - 'refused': The store refused a request.
/// - 'store-lost', 'store-found': The store does not answer; it answers again.
/// - 'clock-skew': This host's clock and the store's are too far apart.
///
/// The properties that a kind does not have are None.
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

/// What calls a Python function with each event.
pub(crate) fn observer(function: Callback) -> impl Fn(&Core) + Send + Sync + 'static {
    move |event| {
        function.call(|py| Ok(Bound::new(py, LeaseEvent(event.clone()))?.into_any()));
    }
}
