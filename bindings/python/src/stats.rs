//! The counters of generators and rings.

use pyo3::prelude::*;

/// The counters of a generator: the number of waits, the number of rollbacks, and the largest
/// number of ticks by which an ID was ahead of the clock. Generators that share a node in one
/// process also share these counters.
#[pyclass(frozen, eq, module = "flakeid", name = "Stats")]
#[derive(PartialEq, Eq)]
pub(crate) struct Stats(pub(crate) flakeid_core::Stats);

#[pymethods]
impl Stats {
    /// The number of times that calls had to wait. Every wait during a fill is counted.
    #[getter]
    fn waits(&self) -> u64 {
        self.0.waits
    }

    /// The number of times that the clock went backwards.
    #[getter]
    fn rollbacks(&self) -> u64 {
        self.0.rollbacks
    }

    /// The largest number of ticks by which an ID was ahead of the clock.
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

/// The counters of a CachedGenerator: the numbers of IDs in the ring, taken IDs, dropped IDs,
/// refills, failed refills and failed calls.
#[pyclass(frozen, eq, module = "flakeid", name = "RingStats")]
#[derive(PartialEq, Eq)]
pub(crate) struct RingStats(pub(crate) flakeid_core::RingStats);

#[pymethods]
impl RingStats {
    /// The number of IDs in the ring.
    #[getter]
    fn size(&self) -> u64 {
        self.0.size
    }

    /// The number of IDs that callers have taken from the ring.
    #[getter]
    fn taken(&self) -> u64 {
        self.0.taken
    }

    /// The number of IDs that were dropped because their tick was older than max_age.
    #[getter]
    fn dropped_stale(&self) -> u64 {
        self.0.dropped_stale
    }

    /// The number of refills that the generator refused for a reason other than a full tick.
    #[getter]
    fn rejected_put(&self) -> u64 {
        self.0.rejected_put
    }

    /// The number of calls that failed with an exception other than ClosedError or ForkedError.
    #[getter]
    fn rejected_take(&self) -> u64 {
        self.0.rejected_take
    }

    /// The number of times that IDs were added to the ring after the ring was first filled.
    #[getter]
    fn refills(&self) -> u64 {
        self.0.refills
    }

    fn __repr__(&self) -> String {
        let flakeid_core::RingStats {
            size,
            taken,
            dropped_stale,
            rejected_put,
            rejected_take,
            refills,
            ..
        } = self.0;
        format!(
            "RingStats(size={size}, taken={taken}, dropped_stale={dropped_stale}, \
             rejected_put={rejected_put}, rejected_take={rejected_take}, refills={refills})"
        )
    }
}
