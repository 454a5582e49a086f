use flakeid_core::Parts as Core;
use pyo3::prelude::*;
use pyo3::types::PyType;

use crate::argument::{field, unix_ms as unix_ms_of};
use crate::time::to_datetime;

/// The arguments of the `Parts` constructor, in order.
type Numbers = (i64, u64, u64, Option<u64>, Option<u64>, u64, u64);

/// The parts of an ID, as returned by decode and Layout.unpack.
///
/// `unix_ms` and `timestamp` contain the beginning of `tick`. `datacenter` and `worker` are None if
/// the layout does not split its node. Parts can be compared, hashed, copied, pickled, and used in
/// match statements. The constructor does not compare the parts with a layout; Layout.pack does.
#[pyclass(frozen, eq, hash, module = "flakeid", name = "Parts")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Parts(pub(crate) Core);

#[pymethods]
impl Parts {
    #[classattr]
    #[pyo3(name = "__match_args__")]
    const MATCH_ARGS: (
        &'static str,
        &'static str,
        &'static str,
        &'static str,
        &'static str,
        &'static str,
        &'static str,
    ) = ("unix_ms", "tick", "node", "datacenter", "worker", "clock_sequence", "sequence");

    #[new]
    #[pyo3(signature = (
        unix_ms, tick, node, datacenter = None, worker = None, clock_sequence = None,
        sequence = None,
    ))]
    fn new(
        unix_ms: &Bound<'_, PyAny>,
        tick: &Bound<'_, PyAny>,
        node: &Bound<'_, PyAny>,
        datacenter: Option<&Bound<'_, PyAny>>,
        worker: Option<&Bound<'_, PyAny>>,
        clock_sequence: Option<&Bound<'_, PyAny>>,
        sequence: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let number = |name, value: Option<&Bound<'_, PyAny>>| {
            value.map(|value| field(name, value, u64::MAX)).transpose()
        };
        let mut parts = Core::default();
        parts.unix_ms = unix_ms_of("unix_ms", unix_ms)?;
        parts.tick = field("tick", tick, u64::MAX)?;
        parts.node = field("node", node, u64::MAX)?;
        parts.datacenter = number("datacenter", datacenter)?;
        parts.worker = number("worker", worker)?;
        parts.clock_sequence = number("clock_sequence", clock_sequence)?.unwrap_or_default();
        parts.sequence = number("sequence", sequence)?.unwrap_or_default();
        Ok(Self(parts))
    }

    /// The beginning of the tick, as an aware datetime in UTC. None after the year 9999, the last
    /// year that a datetime can represent.
    #[getter]
    fn timestamp<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        to_datetime(py, self.0.unix_ms)
    }

    /// The beginning of the tick, in Unix milliseconds.
    #[getter]
    fn unix_ms(&self) -> i64 {
        self.0.unix_ms
    }

    /// The number of whole time units since the layout's epoch.
    #[getter]
    fn tick(&self) -> u64 {
        self.0.tick
    }

    /// The node; 0 if the layout has no node field.
    #[getter]
    fn node(&self) -> u64 {
        self.0.node
    }

    /// The high part of the node; None if the layout does not split its node.
    #[getter]
    fn datacenter(&self) -> Option<u64> {
        self.0.datacenter
    }

    /// The low part of the node; None if the layout does not split its node.
    #[getter]
    fn worker(&self) -> Option<u64> {
        self.0.worker
    }

    /// The clock sequence; 0 if the layout has no clock sequence.
    #[getter]
    fn clock_sequence(&self) -> u64 {
        self.0.clock_sequence
    }

    /// The sequence number within the tick.
    #[getter]
    fn sequence(&self) -> u64 {
        self.0.sequence
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let timestamp = match self.timestamp(py)? {
            Some(timestamp) => timestamp.repr()?.to_string(),
            None => "None".to_owned(),
        };
        let known = |part: Option<u64>| part.map_or_else(|| "None".to_owned(), |p| p.to_string());
        let Core { unix_ms, tick, node, datacenter, worker, clock_sequence, sequence, .. } = self.0;
        Ok(format!(
            "Parts(timestamp={timestamp}, unix_ms={unix_ms}, tick={tick}, node={node}, \
             datacenter={}, worker={}, clock_sequence={clock_sequence}, sequence={sequence})",
            known(datacenter),
            known(worker),
        ))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> (Bound<'py, PyType>, Numbers) {
        let Core { unix_ms, tick, node, datacenter, worker, clock_sequence, sequence, .. } = self.0;
        let numbers = (unix_ms, tick, node, datacenter, worker, clock_sequence, sequence);
        (py.get_type::<Self>(), numbers)
    }
}
