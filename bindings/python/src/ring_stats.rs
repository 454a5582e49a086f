use flakeid_core::RingStats as Core;
use pyo3::prelude::*;

/// What happened in a CachedGenerator.
#[pyclass(frozen, eq, module = "flakeid", name = "RingStats")]
#[derive(PartialEq, Eq)]
pub(crate) struct RingStats(pub(crate) Core);

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
        let Core { size, taken, dropped_stale, rejected_put, rejected_take, refills, .. } = self.0;
        format!(
            "RingStats(size={size}, taken={taken}, dropped_stale={dropped_stale}, \
             rejected_put={rejected_put}, rejected_take={rejected_take}, refills={refills})"
        )
    }
}
