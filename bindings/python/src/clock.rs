use flakeid_core::{Clock, ManualClock as Core, NamedClock};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::argument::{string, unix_ms, wrong_type};
use crate::error::raise;
use crate::time::duration;

/// A clock for tests of code that generates IDs. The clock moves only when the test sets or
/// advances the clock, or when a generator waits.
///
/// Pass the clock to a Generator as `clock`. A wait moves the clock forward instead of sleeping, so
/// tests take no time and never hang.
#[pyclass(frozen, module = "flakeid", name = "ManualClock")]
pub(crate) struct ManualClock(pub(crate) Core);

#[pymethods]
impl ManualClock {
    #[new]
    fn new(#[pyo3(from_py_with = reading)] unix_ms: i64) -> Self {
        Self(Core::new(unix_ms))
    }

    /// The time of the clock, in Unix milliseconds.
    #[getter]
    fn unix_ms(&self) -> i64 {
        self.0.unix_ms()
    }

    /// Sets the clock forward or back.
    fn set(&self, #[pyo3(from_py_with = reading)] unix_ms: i64) {
        self.0.set(unix_ms);
    }

    /// Moves the clock forward.
    ///
    /// Args:
    ///     step: Seconds (int or float) or a timedelta, rounded up to whole milliseconds.
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

/// Parses the argument `clock` of a function that accepts only the names of system clocks.
pub(crate) fn named(value: &Bound<'_, PyAny>) -> PyResult<NamedClock> {
    string("clock", value)?.parse().map_err(raise)
}

/// The value of the argument `clock`.
pub(crate) enum Chosen {
    Named(NamedClock),
    Manual(Core),
}

impl Chosen {
    pub(crate) fn from_python(value: &Bound<'_, PyAny>) -> PyResult<Self> {
        if value.is_instance_of::<PyString>() {
            return named(value).map(Self::Named);
        }
        match value.cast::<ManualClock>() {
            Ok(clock) => Ok(Self::Manual(clock.get().0.clone())),
            Err(_) => Err(wrong_type("clock", "a str or a ManualClock", value)),
        }
    }
}
