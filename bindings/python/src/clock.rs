use flakeid_core::{Clock, ManualClock as Core};
use pyo3::prelude::*;

use crate::duration::duration;
use crate::integer::unix_ms;

/// A clock that stands still until it is told otherwise, for tests of code that makes IDs.
///
/// Give it to a Generator as `clock`. Waiting does not sleep but moves the clock forward, so tests
/// take no time and never hang.
#[pyclass(frozen, module = "flakeid", name = "ManualClock")]
pub(crate) struct ManualClock(pub(crate) Core);

#[pymethods]
impl ManualClock {
    #[new]
    fn new(#[pyo3(from_py_with = reading)] unix_ms: i64) -> Self {
        Self(Core::new(unix_ms))
    }

    /// What the clock shows, in milliseconds since 1970.
    #[getter]
    fn unix_ms(&self) -> i64 {
        self.0.unix_ms()
    }

    /// Set the clock, forward or back.
    fn set(&self, #[pyo3(from_py_with = reading)] unix_ms: i64) {
        self.0.set(unix_ms);
    }

    /// Move the clock forward by whole milliseconds; a fraction is cut. `step` is in seconds, or a
    /// timedelta.
    fn advance(&self, step: &Bound<'_, PyAny>) -> PyResult<()> {
        self.0.advance(duration("step", step)?);
        Ok(())
    }

    fn __repr__(&self) -> String {
        format!("{:?}", self.0)
    }
}

fn reading(value: &Bound<'_, PyAny>) -> PyResult<i64> {
    unix_ms("unix_ms", value)
}
