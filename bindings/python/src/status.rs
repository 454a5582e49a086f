use std::time::{SystemTime, UNIX_EPOCH};

use flakeid::LeaseStatus;
use pyo3::prelude::*;
use pyo3::types::PyDelta;

use crate::error::exception;
use crate::time::to_datetime;

/// The state of a generator's lease at the moment when Generator.lease was read.
///
/// Instants are aware datetimes in UTC. In a forked child, all instants are None and all counts are
/// 0 until the child generates its first ID. The child then leases a node of its own.
#[pyclass(frozen, module = "flakeid", name = "Lease")]
pub(crate) struct Lease {
    status: LeaseStatus,
    /// The time at which the state was read, in Unix milliseconds.
    now: i64,
}

impl Lease {
    pub(crate) fn new(status: LeaseStatus) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        Self { status, now: i64::try_from(now).unwrap_or(i64::MAX) }
    }

    fn is_leased(&self) -> bool {
        self.status.grants > 0
    }
}

#[pymethods]
impl Lease {
    /// The first tick of the current grant.
    #[getter]
    fn start(&self) -> u64 {
        self.status.start
    }

    /// The fence: the first tick that the generator must not use. Every renewal raises the fence.
    #[getter]
    fn fence(&self) -> u64 {
        self.status.fence
    }

    /// The instant at which the fence's tick begins. While the store is unavailable, the generator
    /// issues IDs until this instant. None if the instant is after the year 9999, the last year that
    /// a datetime can represent.
    #[getter]
    fn fence_time<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        if self.is_leased() { to_datetime(py, self.status.fence_unix_ms) } else { Ok(None) }
    }

    /// The time until which no other process can lease the node, according to the store's clock.
    #[getter]
    fn expires<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        if self.is_leased() { to_datetime(py, self.status.expires_unix_ms) } else { Ok(None) }
    }

    /// The time until the lease expires, as a timedelta. The time is measured on this host's clock
    /// from the moment when Generator.lease was read, and is negative if the lease had already
    /// expired.
    #[getter]
    fn expires_in<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDelta>>> {
        const DAY: i64 = 86_400_000;
        if !self.is_leased() {
            return Ok(None);
        }
        let left = self.status.expires_unix_ms.saturating_sub(self.now);
        let (days, ms) = (left.div_euclid(DAY), left.rem_euclid(DAY));
        let (seconds, micros) = ((ms / 1000) as i32, (ms % 1000 * 1000) as i32);
        PyDelta::new(py, days as i32, seconds, micros, false).map(Some)
    }

    /// The number of renewals that the store has confirmed.
    #[getter]
    fn renewals(&self) -> u64 {
        self.status.renewals
    }

    /// The number of nodes granted so far: one at first, and one more each time that a lost node is
    /// replaced.
    #[getter]
    fn grants(&self) -> u64 {
        self.status.grants
    }

    /// The number of failed attempts to acquire a node or to renew its lease.
    #[getter]
    fn failures(&self) -> u64 {
        self.status.failures
    }

    /// Whether the generator has lost the node, usually to another process, and can issue the node's
    /// IDs only until the fence.
    #[getter]
    fn fenced_off(&self) -> bool {
        self.status.fenced_off
    }

    /// The FlakeIdError of the latest attempt to acquire a node or to renew its lease, or None if
    /// the attempt succeeded.
    #[getter]
    fn last_error<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.status.last_error.as_ref().map(|error| exception(py, error)).transpose()
    }

    fn __repr__(&self) -> String {
        let LeaseStatus { start, fence, renewals, grants, failures, fenced_off, .. } = self.status;
        format!(
            "Lease(start={start}, fence={fence}, renewals={renewals}, grants={grants}, \
             failures={failures}, fenced_off={})",
            if fenced_off { "True" } else { "False" }
        )
    }
}
