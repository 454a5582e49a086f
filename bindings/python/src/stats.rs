use flakeid_core::Stats as Core;
use pyo3::prelude::*;

/// What happened to a generator besides issuing IDs. Generators that share a node in one process
/// share these counts too.
#[pyclass(frozen, eq, module = "flakeid", name = "Stats")]
#[derive(PartialEq, Eq)]
pub(crate) struct Stats(pub(crate) Core);

#[pymethods]
impl Stats {
    /// How many calls had to wait; a fill counts each time that it had to.
    #[getter]
    fn waits(&self) -> u64 {
        self.0.waits
    }

    /// Times the clock was seen to go back.
    #[getter]
    fn rollbacks(&self) -> u64 {
        self.0.rollbacks
    }

    /// The furthest that an ID's tick was ahead of the clock, in ticks.
    #[getter]
    fn largest_ahead(&self) -> u64 {
        self.0.largest_ahead
    }

    fn __repr__(&self) -> String {
        let Self(stats) = self;
        format!(
            "Stats(waits={}, rollbacks={}, largest_ahead={})",
            stats.waits, stats.rollbacks, stats.largest_ahead
        )
    }
}
