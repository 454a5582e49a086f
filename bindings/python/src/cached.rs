#![expect(unsafe_code, reason = "this module guarantees what `Guarded` requires")]
#![expect(clippy::inline_always, reason = "an additional call costs a tenth of an ID")]

use std::ffi::CStr;
use std::mem;
use std::sync::Arc;
use std::time::Duration;

use flakeid::CachedGenerator as Ring;
use flakeid_core::{Error, ErrorKind, Id, RingOptions, RingStats as CoreStats};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::argument::wrong_type;
use crate::callback::Callback;
use crate::direct::DirectMethod;
use crate::error::{exception, raise};
use crate::generator::Generator;
use crate::guarded::Guarded;
use crate::polled::{Polled, polled};
use crate::settings;
use crate::stats::RingStats;
use crate::waiting::wait;

/// A ring buffer of IDs, which a background thread generates in advance with a Generator. Any
/// number of threads can take IDs from the ring.
///
/// The ring returns IDs in increasing order; no ID is issued twice, and only stale IDs are skipped.
/// Once the ring or its generator is closed, calls raise ClosedError. In a forked child, the ring
/// of a leased generator restarts empty, and any other ring raises ForkedError. To end the ring's
/// thread, close the ring or use the ring in a with block. Durations are seconds (int or float) or
/// timedeltas.
///
/// Args:
///     generator: The Generator that generates the IDs. Its rollback option must not be
///         'clock-sequence'.
// [options: ring arguments]
///     boost_power: The exponent k, from 0 to 20, that determines the ring's capacity (default: 3).
///         The capacity is the number of IDs in 2^k full ticks, limited to the range from 2 to
///         2^20.
///     padding_factor: The percentage of the ring's capacity below which the ring is refilled: 1 to
///         99 (default: 50).
///     refill_interval: The interval at which the ring is refilled even if enough IDs are left: at
///         least 1 ms (default: a refill only when too few IDs are left). Regular refills keep the
///         IDs of a rarely used ring fresh.
///     max_age: The maximum age of an ID that the ring returns: at least two ticks (default: 1 s or
///         two ticks, whichever is longer). The age is measured from the beginning of the ID's
///         tick. Older IDs are dropped and counted.
///     on_rejected_put: A function that is called with the error, on the ring's thread, each time
///         the generator refuses to fill the ring, except when all IDs of the tick have been used.
///     on_rejected_take: A function that is called with the error, on the caller's thread, each
///         time a call gets no ID for a reason other than a closed generator.
// [/options]
///
/// Raises:
///     FieldOutOfRangeError, InvalidOptionError: An argument is wrong.
///     FlakeIdError: The generator cannot fill the ring.
#[pyclass(frozen, module = "flakeid", name = "CachedGenerator")]
pub(crate) struct CachedGenerator {
    state: Guarded<State>,
    capacity: u64,
    handlers: Vec<Arc<Callback>>,
    /// The generator, declared after the ring so that the generator is dropped last.
    generator: Py<Generator>,
}

enum State {
    Open(Arc<Ring>),
    Closed(CoreStats),
}

impl State {
    /// Closes the state. Returns the ring if the ring was open. The caller must drop the ring
    /// without the GIL, because the drop waits for the ring's thread. That thread may be waiting
    /// for the GIL to call a handler.
    fn close(&mut self) -> Option<Arc<Ring>> {
        let stats = match self {
            Self::Open(ring) => ring.stats(),
            Self::Closed(_) => return None,
        };
        match mem::replace(self, Self::Closed(stats)) {
            Self::Open(ring) => Some(ring),
            Self::Closed(_) => None,
        }
    }
}

pub(crate) struct Take;

impl DirectMethod for Take {
    type Class = CachedGenerator;
    const NAME: &'static CStr = c"take";
    const DOC: &'static CStr = c"take($self, /)\n--\n\n\
        The next ID of the ring, without ever waiting, except where a forked child, or a generator \
        that had to\nlease another node, begins a new ring. RingEmptyError if the ring was not \
        refilled in time.";

    #[inline(always)]
    fn at_hand(this: &Bound<'_, CachedGenerator>) -> Option<u64> {
        CachedGenerator::poll(this).map(Id::to_u64)
    }

    fn otherwise(this: &Bound<'_, CachedGenerator>) -> PyResult<u64> {
        CachedGenerator::call(this, Ring::take)
    }
}

pub(crate) struct NextId;

impl DirectMethod for NextId {
    type Class = CachedGenerator;
    const NAME: &'static CStr = c"next_id";
    const DOC: &'static CStr = c"next_id($self, /)\n--\n\n\
        The next ID of the ring. Waits for a refill, at most the generator's max_wait, without the \
        GIL.";

    #[inline(always)]
    fn at_hand(this: &Bound<'_, CachedGenerator>) -> Option<u64> {
        CachedGenerator::poll(this).map(Id::to_u64)
    }

    fn otherwise(this: &Bound<'_, CachedGenerator>) -> PyResult<u64> {
        CachedGenerator::wait(this)
    }
}

#[pymethods]
impl CachedGenerator {
    #[new]
    #[pyo3(
        signature = (generator, *, on_rejected_put = None, on_rejected_take = None, **options),
        // [options: ring signature]
        text_signature = "(generator, *, boost_power=3, padding_factor=50, refill_interval=None, \
                          max_age=None, on_rejected_put=None, on_rejected_take=None)"
        // [/options]
    )]
    fn new(
        py: Python<'_>,
        generator: &Bound<'_, PyAny>,
        on_rejected_put: Option<&Bound<'_, PyAny>>,
        on_rejected_take: Option<&Bound<'_, PyAny>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let generator = generator
            .cast::<Generator>()
            .map_err(|_| wrong_type("generator", "a Generator", generator))?;
        let mut options = settings::apply(RingOptions::new(), "CachedGenerator", options)?;
        let mut handlers = Vec::new();
        if let Some(function) = on_rejected_put {
            let handler = Callback::new("on_rejected_put", function)?;
            options = options.on_rejected_put(calling(&handler));
            handlers.push(handler);
        }
        if let Some(function) = on_rejected_take {
            let handler = Callback::new("on_rejected_take", function)?;
            options = options.on_rejected_take(calling(&handler));
            handlers.push(handler);
        }
        let core = generator.get().held();
        let ring = py.detach(|| Ring::with(core, options)).map_err(raise)?;
        Ok(Self {
            capacity: ring.capacity(),
            state: Guarded::new(State::Open(Arc::new(ring))),
            handlers,
            generator: generator.clone().unbind(),
        })
    }

    /// Closes the ring and ends its thread. A second call does nothing. The generator can still be
    /// used.
    fn close(this: &Bound<'_, Self>) {
        // SAFETY: this object owns the state, and `State::close` does not drop the ring.
        let ring = unsafe { this.get().state.with(this, State::close) };
        this.py().detach(|| drop(ring));
        this.get().__clear__();
    }

    /// Returns the number of IDs in the ring and the ring's counters. After close(), returns the
    /// last values.
    fn stats(this: &Bound<'_, Self>) -> RingStats {
        // SAFETY: this object owns the state, and reading the counts uses only atomics.
        let stats = unsafe {
            this.get().state.with(this, |state| match state {
                State::Open(ring) => ring.stats(),
                State::Closed(stats) => *stats,
            })
        };
        RingStats(stats)
    }

    /// The number of IDs that the ring can hold.
    #[getter]
    const fn capacity(&self) -> u64 {
        self.capacity
    }

    /// The generator that fills the ring. IDs that are taken directly from the generator differ
    /// from the ring's IDs, but are not ordered relative to them.
    #[getter]
    fn generator(&self, py: Python<'_>) -> Py<Generator> {
        self.generator.clone_ref(py)
    }

    /// Returns the next ID, or the seconds after which to call again, like
    /// Generator._poll_next_id.
    fn _poll_next_id(this: &Bound<'_, Self>, waited: f64) -> PyResult<Polled<u64>> {
        if let Some(id) = Self::poll(this) {
            return Ok(Polled::Done(id.to_u64()));
        }
        let ring = Self::ring(this)?;
        let tried = this.py().detach(move || ring.try_next_id()).map(Id::to_u64);
        match polled(this.get().generator.get().held(), waited, tried) {
            // The last attempt is repeated by a call that counts and reports its failure.
            Err(_) => {
                Self::call(this, |ring| ring.next_id_within(Duration::ZERO)).map(Polled::Done)
            }
            tried => tried,
        }
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(this: &Bound<'_, Self>) -> PyResult<u64> {
        match Self::poll(this) {
            Some(id) => Ok(id.to_u64()),
            None => Self::wait(this),
        }
    }

    fn __enter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(this: &Bound<'_, Self>, _exception: &Bound<'_, PyTuple>) {
        Self::close(this);
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.handlers.iter().try_for_each(|handler| handler.traverse(&visit))?;
        visit.call(&self.generator)
    }

    /// Closes the ring if the garbage collector is about to free it together with its handlers, like
    /// Generator._collect.
    fn _collect(this: &Bound<'_, Self>) {
        if !this.get().handlers.is_empty() {
            Self::close(this);
        }
    }

    fn __clear__(&self) {
        self.handlers.iter().for_each(|handler| handler.clear());
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let generator = self.generator.bind(py).repr()?;
        Ok(format!("<CachedGenerator capacity={} generator={generator}>", self.capacity))
    }
}

impl CachedGenerator {
    #[inline(always)]
    fn poll(this: &Bound<'_, Self>) -> Option<Id> {
        // SAFETY: this object owns the state, and polling a ring uses only atomics and a clock.
        unsafe {
            this.get().state.with(this, |state| match state {
                State::Open(ring) => ring.poll(),
                State::Closed(_) => None,
            })
        }
    }

    /// Returns the ring, or the exception for a closed ring.
    fn ring(this: &Bound<'_, Self>) -> PyResult<Arc<Ring>> {
        // SAFETY: this object owns the state, and cloning the `Arc` only increments a reference
        // count.
        let ring = unsafe {
            this.get().state.with(this, |state| match state {
                State::Open(ring) => Some(Arc::clone(ring)),
                State::Closed(_) => None,
            })
        };
        ring.ok_or_else(|| raise(Error::new(ErrorKind::Closed, "the ring was closed", None)))
    }

    /// Calls a method of the ring without the GIL. If another thread closes the ring during the
    /// call, the ring is dropped after the call.
    #[cold]
    #[inline(never)]
    fn call(this: &Bound<'_, Self>, call: fn(&Ring) -> Result<Id, Error>) -> PyResult<u64> {
        let ring = Self::ring(this)?;
        this.py().detach(move || call(&ring)).map(Id::to_u64).map_err(raise)
    }

    /// Returns the next ID after `poll` has returned `None`. The core decides how long the call waits.
    #[cold]
    #[inline(never)]
    fn wait(this: &Bound<'_, Self>) -> PyResult<u64> {
        let (ring, held) = (Self::ring(this)?, this.get().generator.get().held());
        let mut reported = false;
        let attempt = |max_wait: Duration| {
            reported = !max_wait.is_zero();
            if reported { ring.next_id_within(max_wait) } else { ring.try_next_id() }
        };
        match wait(this.py(), held, attempt)? {
            Ok(id) => Ok(id.to_u64()),
            Err(error) if reported => Err(raise(error)),
            // The last attempt is repeated by a call that counts and reports its failure.
            Err(_) => Self::call(this, |ring| ring.next_id_within(Duration::ZERO)),
        }
    }
}

impl Drop for CachedGenerator {
    fn drop(&mut self) {
        let ring = self.state.get_mut().close();
        // A failure to attach to the interpreter is ignored, because no handler can be waiting for
        // the GIL after the interpreter has shut down.
        let _ = Python::try_attach(|py| py.detach(|| drop(ring)));
    }
}

fn calling(handler: &Arc<Callback>) -> impl Fn(&Error) + Send + Sync + 'static {
    let handler = Arc::clone(handler);
    move |error: &Error| handler.call(|py| exception(py, error))
}
