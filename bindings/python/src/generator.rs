//! The class Generator.

#![expect(clippy::inline_always, reason = "an additional call costs a tenth of an ID")]

use std::ffi::CStr;

use std::sync::Arc;

use flakeid::{Generator as Held, Id, Window};
use pyo3::exceptions::{PyMemoryError, PyTypeError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::argument::{count, field, number, wrong_type};
use crate::buffer::Target;
use crate::callback::Callback;
use crate::direct::DirectMethod;
use crate::error::raise;
use crate::layout::{Chosen, Layout};
use crate::local::LocalGenerator;
use crate::polled::{Polled, polled};
use crate::stats::Stats;
use crate::status::Lease;
use crate::waiting::{MOST_AT_ONCE, fill, wait};
use crate::{clock, settings};

/// A generator of unique IDs for one node. The IDs strictly increase across all threads.
///
/// The node, which is set by `node` or by `datacenter` and `worker`, has no default. The node must
/// differ from the node of every other generator of this layout that may run at the same time, on
/// any host. Within one process, however, generators with the same layout and node share their
/// state, and never issue the same ID. In a forked child, every call raises ForkedError; create a
/// generator with another node in the child. flakeid.lease and flakeid.auto return Generators that
/// do not require a node and can be used in a forked child. Durations are seconds (int or float) or
/// timedeltas.
///
/// Args:
// [options: generator arguments]
///     node: The node, from 0 to the layout's largest node; there is no default, because no other
///         generator may use the same node at the same time.
///     datacenter: The high part of the node, in layouts that split the node; must be set together
///         with worker.
///     worker: The low part of the node, in layouts that split the node; must be set together with
///         datacenter.
///     nodes: Several different nodes instead of one (default: one node). The number of nodes must
///         be a power of two. In every tick, the generator can then issue the IDs of all these
///         nodes. Several nodes cannot be combined with sequence_mask or with layouts that have
///         clock sequences. Within a process, a node must be used either alone or always together
///         with the same other nodes.
///     layout: The layout of the IDs: a preset's name or a descriptor; or a Layout (default:
///         "twitter").
///     epoch: The instant of tick 0, in Unix milliseconds (default: the layout's epoch).
///     window: The range of ticks that a lease allows the generator to use, including the start and
///         excluding the fence, as (start, fence) (default: all ticks).
///     overflow: The behaviour when a tick has no IDs left: "wait", "error" or "borrow" (default:
///         "wait"). "borrow" requires a window.
///     rollback: The behaviour when the clock goes backwards: "continue", "error", "wait" or
///         "clock-sequence" (default: "continue").
///     sequence_mask: The largest sequence number to use, which must have the form 2^k - 1
///         (default: the layout's largest sequence number).
///     sequence_start: The number of random bits in the first sequence number of each tick
///         (default: 0).
///     max_ahead: The longest time by which IDs in a window may be ahead of the clock (default: 20
///         s).
///     max_wait: The longest time that a call waits without issuing an ID (default: 1 s or two
///         ticks, whichever is longer).
///     clock: The clock: "gated", "system" or "coarse"; or a ManualClock, for tests (default:
///         "gated"). With "gated", the time is exact, and on suitable processors the system clock
///         is read only a few times per millisecond. With "system", the system clock is read for
///         every ID. With "coarse", the time lags behind the system clock by a few milliseconds,
///         and is never ahead of the system clock.
// [/options]
///
/// Raises:
///     FieldOutOfRangeError, InvalidOptionError, InvalidLayoutError: An argument is wrong.
///     HorizonReachedError: The layout's ticks have run out.
///     ForkedError: The parent process used this node.
#[pyclass(frozen, module = "flakeid", name = "Generator")]
pub(crate) struct Generator {
    held: Held,
    /// The lease that is closed when the interpreter exits; `None` if the node is not leased.
    _listed: Option<Arc<Held>>,
    on_event: Option<Arc<Callback>>,
}

impl Drop for Generator {
    /// Releases the node without the GIL, because the release takes up to a second and may call
    /// Python.
    fn drop(&mut self) {
        if self.held.is_leased() {
            // A failure to attach to the interpreter is ignored, because no observer can be waiting
            // for the GIL after the interpreter has shut down.
            let _ = Python::try_attach(|py| py.detach(|| self.held.close()));
        }
    }
}

impl Generator {
    /// Creates the Python object for a leased generator.
    pub(crate) fn leased(listed: Arc<Held>, on_event: Option<Arc<Callback>>) -> Self {
        Self { held: Held::clone(&listed), _listed: Some(listed), on_event }
    }

    #[inline(always)]
    pub(crate) const fn held(&self) -> &Held {
        &self.held
    }

    fn is_leased(&self) -> bool {
        self.held.is_leased()
    }

    /// Leases a node in a forked child that has none yet.
    fn settle(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| flakeid::Lease::of(&self.held).map_or(Ok(()), |lease| lease.settle()))
            .map_err(raise)
    }
}

pub(crate) struct NextId;

impl DirectMethod for NextId {
    type Class = Generator;
    const NAME: &'static CStr = c"next_id";
    const DOC: &'static CStr = c"next_id($self, /)\n--\n\n\
        The next ID. Waits at most max_wait, without the GIL: for the next tick when this one is \
        full, for\nthe clock when it went back, as the policies say.";

    #[inline(always)]
    fn at_hand(this: &Bound<'_, Generator>) -> Option<u64> {
        this.get().held.try_next_id().ok().map(Id::to_u64)
    }

    fn otherwise(this: &Bound<'_, Generator>) -> PyResult<u64> {
        this.get().__next__(this.py())
    }
}

pub(crate) struct TryNextId;

impl DirectMethod for TryNextId {
    type Class = Generator;
    const NAME: &'static CStr = c"try_next_id";
    const DOC: &'static CStr = c"try_next_id($self, /)\n--\n\n\
        The next ID, without ever waiting. The error's retry_after says when to try again.";

    #[inline(always)]
    fn at_hand(this: &Bound<'_, Generator>) -> Option<u64> {
        NextId::at_hand(this)
    }

    fn otherwise(this: &Bound<'_, Generator>) -> PyResult<u64> {
        this.get().held.try_next_id().map(Id::to_u64).map_err(raise)
    }
}

#[pymethods]
impl Generator {
    #[new]
    #[pyo3(
        signature = (*, layout = None, epoch = None, clock = None, window = None, **options),
        // [options: generator signature]
        text_signature = "(*, node=None, datacenter=None, worker=None, nodes=None, layout='twitter', \
                          epoch=None, window=None, overflow=None, rollback=None, sequence_mask=None, \
                          sequence_start=None, max_ahead=None, max_wait=None, clock='gated')"
        // [/options]
    )]
    fn new(
        layout: Option<Chosen>,
        epoch: Option<&Bound<'_, PyAny>>,
        clock: Option<&Bound<'_, PyAny>>,
        window: Option<&Bound<'_, PyAny>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let layout = Layout::from_epoch(layout, epoch)?;
        let builder = Held::builder(layout);
        let mut builder = settings::apply(builder, "Generator", options)?;
        if let Some(clock) = clock {
            builder = match clock::Chosen::from_python(clock)? {
                clock::Chosen::Named(clock) => builder.clock(clock),
                clock::Chosen::Manual(clock) => builder.clock(clock),
            };
        }
        if let Some(window) = window {
            builder = builder.window(window_of(window, layout.max_tick())?);
        }
        let built = builder.build().map_err(raise)?;
        Ok(Self { held: built, _listed: None, on_event: None })
    }

    /// Returns the next n IDs in order. Returns fewer IDs, but at least one, if the generator could
    /// not issue the next ID within max_wait.
    fn next_ids<'py>(
        &self,
        py: Python<'py>,
        n: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyList>> {
        let n = count(n)?;
        let list = PyList::empty(py);
        Vec::<u64>::new().try_reserve_exact(n).map_err(|_| {
            PyMemoryError::new_err(format!("not enough memory for a list of {n} IDs"))
        })?;
        let mut numbers = vec![0; n.min(MOST_AT_ONCE)];
        while list.len() < n {
            let piece = &mut numbers[..(n - list.len()).min(MOST_AT_ONCE)];
            match fill(py, &self.held, Id::from_u64_slice_mut(piece))? {
                Ok(filled) => {
                    let (end, more) = (list.len(), PyList::new(py, &piece[..filled])?);
                    list.set_slice(end, end, more.as_any())?;
                    // Another thread that waits for the GIL gets it here.
                    py.detach(|| ());
                    py.check_signals()?;
                    if filled < piece.len() {
                        break;
                    }
                }
                Err(error) if list.is_empty() => return Err(raise(error)),
                Err(_) => break,
            }
        }
        Ok(list)
    }

    /// Fills an array with the next IDs, in place, and returns the number of IDs. The number is
    /// less than the array's length only if the generator could not issue the next ID within
    /// max_wait. Accepts any writable, C-contiguous buffer of 64-bit integers (numpy, array.array,
    /// memoryview). Do not use the array in other threads during the call, because long fills run
    /// without the GIL.
    fn fill(&self, py: Python<'_>, buffer: &Bound<'_, PyAny>) -> PyResult<usize> {
        fill(py, &self.held, Target::from_python(buffer)?.ids())?.map_err(raise)
    }

    /// Fills an array like fill(), but never waits.
    fn try_fill(&self, py: Python<'_>, buffer: &Bound<'_, PyAny>) -> PyResult<usize> {
        let mut target = Target::from_python(buffer)?;
        let ids = target.ids();
        if ids.len() > MOST_AT_ONCE {
            py.detach(|| self.held.try_fill(ids)).map_err(raise)
        } else {
            self.held.try_fill(ids).map_err(raise)
        }
    }

    /// Returns the next ID, or the seconds after which to call again. Raises the error if the call
    /// would wait no longer. `waited` is the time in seconds since the first call.
    fn _poll_next_id(&self, waited: f64) -> PyResult<Polled<u64>> {
        polled(&self.held, waited, self.held.try_next_id().map(Id::to_u64))
    }

    /// Returns at most n of the next IDs like _poll_next_id.
    fn _poll_next_ids(&self, n: &Bound<'_, PyAny>, waited: f64) -> PyResult<Polled<Vec<u64>>> {
        let mut numbers = vec![0; count(n)?.min(MOST_AT_ONCE)];
        let filled = self.held.try_fill(Id::from_u64_slice_mut(&mut numbers));
        polled(&self.held, waited, filled).map(|polled| match polled {
            Polled::Done(filled) => {
                numbers.truncate(filled);
                Polled::Done(numbers)
            }
            Polled::Pause(pause) => Polled::Pause(pause),
        })
    }

    /// Fills a part of an array, which begins at the index start, like _poll_next_id. Returns the
    /// number of IDs.
    fn _poll_fill(
        &self,
        buffer: &Bound<'_, PyAny>,
        start: usize,
        waited: f64,
    ) -> PyResult<Polled<usize>> {
        let mut target = Target::from_python(buffer)?;
        let ids = target.ids();
        let end = ids.len().min(start.saturating_add(MOST_AT_ONCE));
        polled(&self.held, waited, self.held.try_fill(&mut ids[start.min(end)..end]))
    }

    /// Extends the generator's window to the tick `fence`, exclusive. Call this method only after
    /// the store that grants windows has confirmed the fence. Leased generators renew their window
    /// automatically; for a leased generator, this method raises InvalidOptionError.
    fn extend(&self, fence: &Bound<'_, PyAny>) -> PyResult<()> {
        self.held.extend(field("fence", fence, u64::MAX)?).map_err(raise)
    }

    /// Ends this generator: every later call raises ClosedError. Returns the last tick in which the
    /// generator issued an ID, or None if the generator issued no ID. For a leased generator,
    /// raises InvalidOptionError; use close() instead.
    fn retire(&self) -> PyResult<Option<u64>> {
        self.held.retire().map_err(raise)
    }

    /// Closes the generator. If the node is not leased, retires the generator, unless the generator
    /// has already been retired or this process is a forked child. If the node is leased, releases
    /// the node, unless another generator shares the lease. The call waits at most 1 s for the
    /// release, without the GIL. In a forked child, a leased generator releases the child's own
    /// node.
    fn close(&self, py: Python<'_>) {
        py.detach(|| self.held.close());
    }

    /// Returns a LocalGenerator of this generator, for use by one thread at a time. A
    /// LocalGenerator is faster, but its IDs are not ordered relative to IDs from other threads.
    /// The times in its IDs may lag behind the clock by a few milliseconds.
    fn local(this: &Bound<'_, Self>) -> LocalGenerator {
        LocalGenerator::new(this.as_any().clone().unbind(), &this.get().held)
    }

    /// Returns the number of waits, the number of rollbacks, and the largest number of ticks by
    /// which an ID was ahead of the clock.
    fn stats(&self) -> Stats {
        Stats(self.held.stats())
    }

    /// The layout of the IDs.
    #[getter]
    fn layout(&self) -> Layout {
        Layout(*self.held.layout())
    }

    /// The node in the generator's IDs, or the smallest node if there are several. The node of a
    /// leased generator changes if the generator loses the node. In a forked child, the first use of
    /// this property leases the child's node, as the first ID does, and can raise the same errors.
    #[getter]
    fn node(&self, py: Python<'_>) -> PyResult<u64> {
        self.settle(py).map(|()| self.held.node().unwrap_or_default())
    }

    /// The nodes that the generator's IDs can contain, in increasing order: one node, unless nodes
    /// or node_count requested more.
    #[getter]
    fn nodes(&self, py: Python<'_>) -> PyResult<Vec<u64>> {
        self.settle(py).map(|()| self.held.nodes().to_vec())
    }

    /// The current state of the lease or, after close(), the last state. None if the node is not
    /// leased.
    #[getter]
    fn lease(&self) -> Option<Lease> {
        flakeid::Lease::of(&self.held).map(|lease| Lease::new(lease.status()))
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<u64> {
        match self.held.try_next_id() {
            Ok(id) => Ok(id.to_u64()),
            Err(_) => wait(py, &self.held, |max_wait| self.held.next_id_within(max_wait))?
                .map(Id::to_u64)
                .map_err(raise),
        }
    }

    fn __enter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    #[pyo3(signature = (*exception))]
    fn __exit__(&self, exception: &Bound<'_, PyTuple>) {
        self.close(exception.py());
    }

    #[expect(clippy::unused_self, reason = "Python passes it")]
    fn __reduce_ex__(&self, _protocol: &Bound<'_, PyAny>) -> PyResult<()> {
        Err(PyTypeError::new_err(
            "a Generator cannot be copied or pickled: two generators with the same position would \
             issue the same IDs; build another one with a node of its own",
        ))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.on_event.as_ref().map_or(Ok(()), |function| function.traverse(&visit))
    }

    /// Closes the generator if the garbage collector is about to free it together with its event
    /// function. `flakeid._at_exit` makes this method the finalizer, which runs before `__clear__`, so
    /// that the event function gets its last event while the objects to which it refers are complete.
    fn _collect(&self, py: Python<'_>) {
        if self.on_event.is_some() {
            self.close(py);
        }
    }

    fn __clear__(&self) {
        self.on_event.iter().for_each(|function| function.clear());
    }

    fn __repr__(&self) -> String {
        // A forked child that has no node yet does not lease one for this string.
        let node = self.held.nodes().first().map_or("None".to_owned(), ToString::to_string);
        let layout = Layout(*self.held.layout()).short_name();
        let leased = if self.is_leased() { " leased" } else { "" };
        format!("<Generator node={node} layout={layout}{leased}>")
    }
}

fn window_of(window: &Bound<'_, PyAny>, max_tick: u64) -> PyResult<Window> {
    let refused = || wrong_type("window", "a tuple (start, fence) of two ints", window);
    let pair = window.cast::<PyTuple>().map_err(|_| refused())?;
    let (start, fence): (Bound<'_, PyAny>, Bound<'_, PyAny>) =
        pair.extract().map_err(|_| refused())?;
    let start = number("window_start", &start, 0, max_tick)?;
    Window::new(start, number("window_fence", &fence, 0, u64::MAX)?).map_err(raise)
}
