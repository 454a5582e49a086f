//! The class LocalGenerator.

#![expect(unsafe_code, reason = "this module guarantees what `Guarded` requires")]
#![expect(clippy::inline_always, reason = "an additional call costs a tenth of an ID")]

use std::ffi::CStr;

use flakeid::{Generator as Held, LocalGenerator as Share};
use flakeid_core::Id;
use pyo3::exceptions::PyRuntimeError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;

use crate::direct::DirectMethod;
use crate::error::raise;
use crate::guarded::Guarded;
use crate::polled::{Polled, polled};
use crate::waiting::wait;

/// The fastest way to generate single IDs, for use by one thread at a time. Generator.local returns
/// a LocalGenerator.
///
/// A LocalGenerator reserves chunks of the generator's IDs. The IDs of one LocalGenerator strictly
/// increase, and no other LocalGenerator or Generator issues the same IDs. However, an ID from
/// another thread may be smaller even if that ID was generated later. Times in IDs are never ahead
/// of the clock, and lag by at most one tick of the system's coarse clock, which lasts a few
/// milliseconds. The LocalGenerator ends when its generator is closed. While a thread waits in a
/// call of a LocalGenerator, calls from other threads raise RuntimeError, so give each thread its
/// own LocalGenerator.
#[pyclass(frozen, module = "flakeid", name = "LocalGenerator")]
pub(crate) struct LocalGenerator {
    /// The core's local handle, or `None` while a thread has taken the handle in order to wait in a
    /// call.
    share: Guarded<Option<Share>>,
    held: Held,
    /// The Generator, which closes its lease without the GIL when it is dropped. This field is
    /// declared after the share, so that the Generator is dropped last.
    generator: Py<PyAny>,
}

/// The core's local handle, taken out of a LocalGenerator by a thread for the duration of a call
/// that may wait. Dropping this value returns the local handle, even after a panic.
struct Lent<'a, 'py> {
    owner: &'a Bound<'py, LocalGenerator>,
    share: Option<Share>,
}

impl<'a, 'py> Lent<'a, 'py> {
    fn new(owner: &'a Bound<'py, LocalGenerator>) -> Self {
        // SAFETY: this object owns the share, and `Option::take` only moves the share.
        let share = unsafe { owner.get().share.with(owner, Option::take) };
        Self { owner, share }
    }
}

impl Drop for Lent<'_, '_> {
    fn drop(&mut self) {
        if let Some(share) = self.share.take() {
            // SAFETY: this object owns the share. `Lent::new` replaced the share with `None`,
            // so the assignment drops no object.
            unsafe { self.owner.get().share.with(self.owner, |place| *place = Some(share)) };
        }
    }
}

impl LocalGenerator {
    /// Creates a LocalGenerator that reserves IDs from `held`, the core generator in the Python
    /// object `generator`.
    pub(crate) fn new(generator: Py<PyAny>, held: &Held) -> Self {
        let share = Guarded::new(Some(held.local()));
        Self { share, held: held.clone(), generator }
    }

    #[inline(always)]
    fn poll(this: &Bound<'_, Self>) -> Option<Id> {
        // SAFETY: this object owns the share, and taking an ID from a chunk uses only arithmetic and
        // a clock, so no Python code runs.
        unsafe { this.get().share.with(this, |share| share.as_mut()?.poll()) }
    }

    /// Returns the next ID after `at_hand` has returned `None`. The core decides how long the call
    /// waits.
    #[cold]
    #[inline(never)]
    fn next_id_slowly(this: &Bound<'_, Self>) -> PyResult<u64> {
        // SAFETY: this object owns the share, and generating an ID uses only arithmetic, atomics and
        // a clock, so no Python code runs.
        let tried =
            unsafe { this.get().share.with(this, |share| share.as_mut().map(Share::try_next_id)) };
        if let Ok(id) = tried.ok_or_else(in_use)? {
            return Ok(id.to_u64());
        }
        let mut lent = Lent::new(this);
        let share = lent.share.as_mut().ok_or_else(in_use)?;
        let held = &this.get().held;
        let waited = wait(this.py(), held, |max_wait| share.next_id_within(max_wait))?;
        waited.map(Id::to_u64).map_err(raise)
    }
}

fn in_use() -> PyErr {
    PyRuntimeError::new_err(
        "this LocalGenerator is in use by another thread; create one for each thread",
    )
}

pub(crate) struct NextId;

impl DirectMethod for NextId {
    type Class = LocalGenerator;
    const NAME: &'static CStr = c"next_id";
    const DOC: &'static CStr = c"next_id($self, /)\n--\n\n\
        The next ID. Waits as Generator.next_id does, without the GIL.";

    #[inline(always)]
    fn at_hand(this: &Bound<'_, LocalGenerator>) -> Option<u64> {
        LocalGenerator::poll(this).map(Id::to_u64)
    }

    fn otherwise(this: &Bound<'_, LocalGenerator>) -> PyResult<u64> {
        LocalGenerator::next_id_slowly(this)
    }
}

#[pymethods]
impl LocalGenerator {
    /// The generator from which this LocalGenerator reserves IDs.
    #[getter]
    fn generator(&self, py: Python<'_>) -> Py<PyAny> {
        self.generator.clone_ref(py)
    }

    /// Returns the next ID, or the seconds after which to call again, like
    /// Generator._poll_next_id.
    fn _poll_next_id(this: &Bound<'_, Self>, waited: f64) -> PyResult<Polled<u64>> {
        // SAFETY: this object owns the share, and generating an ID uses only arithmetic, atomics and
        // a clock, so no Python code runs.
        let tried =
            unsafe { this.get().share.with(this, |share| share.as_mut().map(Share::try_next_id)) };
        polled(&this.get().held, waited, tried.ok_or_else(in_use)?.map(Id::to_u64))
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(this: &Bound<'_, Self>) -> PyResult<u64> {
        match Self::poll(this) {
            Some(id) => Ok(id.to_u64()),
            None => Self::next_id_slowly(this),
        }
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.generator)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("{}.local()", self.generator.bind(py).repr()?))
    }
}
