//! Counts of what happened to a generator and in a ring.

use pyo3::prelude::*;

/// What happened to a generator besides issuing IDs. Generators that share a node in one process
/// share these counts too.
#[pyclass(frozen, eq, module = "flakeid", name = "Stats")]
#[derive(PartialEq, Eq)]
pub(crate) struct Stats(pub(crate) flakeid_core::Stats);

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

/// What happened in a CachedGenerator.
#[pyclass(frozen, eq, module = "flakeid", name = "RingStats")]
#[derive(PartialEq, Eq)]
pub(crate) struct RingStats(pub(crate) flakeid_core::RingStats);

#[pymethods]
impl RingStats {
    /// IDs in the ring.
    #[getter]
    fn size(&self) -> u64 {
        self.0.size
    }

    /// IDs handed out.
    #[getter]
    fn taken(&self) -> u64 {
        self.0.taken
    }

    /// IDs dropped because their tick was older than max_age.
    #[getter]
    fn dropped_stale(&self) -> u64 {
        self.0.dropped_stale
    }

    /// Refills that the generator refused for another reason than a full tick.
    #[getter]
    fn rejected_put(&self) -> u64 {
        self.0.rejected_put
    }

    /// Calls that got no ID for another reason than a closed generator.
    #[getter]
    fn rejected_take(&self) -> u64 {
        self.0.rejected_take
    }

    /// Portions put into the ring after the first filling.
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
