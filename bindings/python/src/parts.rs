use flakeid_core::Parts as Core;
use pyo3::prelude::*;

use crate::instant::to_datetime;

/// What an ID says, field by field.
///
/// `unix_ms` and `timestamp` are the beginning of `tick`; `datacenter` and `worker` are None where
/// the layout does not split its node.
#[pyclass(frozen, eq, hash, module = "flakeid", name = "Parts")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Parts(pub(crate) Core);

#[pymethods]
impl Parts {
    /// When the tick begins, an aware datetime in UTC; None after the year 9999, where datetimes
    /// end.
    #[getter]
    fn timestamp<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        to_datetime(py, self.0.unix_ms)
    }

    /// When the tick begins, in Unix milliseconds.
    #[getter]
    fn unix_ms(&self) -> i64 {
        self.0.unix_ms
    }

    /// Whole units since the layout's epoch.
    #[getter]
    fn tick(&self) -> u64 {
        self.0.tick
    }

    /// The whole machine field; 0 where the layout has none.
    #[getter]
    fn node(&self) -> u64 {
        self.0.node
    }

    /// The node's high part; None where the layout does not split it.
    #[getter]
    fn datacenter(&self) -> Option<u64> {
        self.0.datacenter
    }

    /// The node's low part; None where the layout does not split it.
    #[getter]
    fn worker(&self) -> Option<u64> {
        self.0.worker
    }

    /// The clock sequence; 0 where the layout has none.
    #[getter]
    fn clock_sequence(&self) -> u64 {
        self.0.clock_sequence
    }

    /// The counter within the tick.
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
        let Core { unix_ms, tick, node, datacenter, worker, clock_sequence, sequence } = self.0;
        Ok(format!(
            "Parts(timestamp={timestamp}, unix_ms={unix_ms}, tick={tick}, node={node}, \
             datacenter={}, worker={}, clock_sequence={clock_sequence}, sequence={sequence})",
            known(datacenter),
            known(worker),
        ))
    }
}
