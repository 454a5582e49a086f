//! Generators of IDs.

use std::ffi::c_char;
use std::mem::{MaybeUninit, offset_of};
#[cfg(not(target_family = "wasm"))]
use std::sync::Arc;
use std::time::Duration;
#[cfg(not(target_family = "wasm"))]
use std::time::Instant;

#[cfg(not(target_family = "wasm"))]
use flakeid::{Generator, LeaseBuilder};
use flakeid_core::{Error, ErrorKind, Id, whole_ms};

use crate::border::{self, Sized32, given};
use crate::config::Config;
#[cfg(target_family = "wasm")]
use crate::either::Generator;
#[cfg(not(target_family = "wasm"))]
use crate::event::Listener;
use crate::fault::Fault;
use crate::guard::{free, guard};
use crate::status::Status;

/// The value that flakeid_generator_retire() writes for a generator that has issued no ID. No tick
/// has this value.
pub const FLAKEID_NO_TICK: u64 = u64::MAX;

/// The longest time that flakeid_generator_close() waits.
const LONGEST_CLOSE: Duration = Duration::from_secs(1);

/// A generator of IDs for one or several nodes. The IDs are unique. The IDs also strictly increase
/// across all threads, unless the generator uses FLAKEID_ROLLBACK_CLOCK_SEQUENCE. Within a process,
/// all generators with the same layout and node take their IDs from one shared sequence. Any number
/// of threads may call every function except flakeid_generator_free() at the same time. In a forked
/// child, generators of the parent fail with FLAKEID_FORKED. The exceptions are generators that
/// flakeid_generator_open() created, which lease another node in the child. All generators may be
/// freed in the child.
pub struct GeneratorHandle {
    pub(crate) generator: Generator,
    /// The callback that receives the lease's events.
    #[cfg(not(target_family = "wasm"))]
    listener: Option<Arc<Listener>>,
}

#[cfg(target_family = "wasm")]
impl GeneratorHandle {
    pub(crate) fn fixed(generator: impl Into<Generator>) -> Self {
        Self { generator: generator.into() }
    }

    fn close_lease(&self, _longest: Duration) {
        self.generator.close();
    }
}

#[cfg(not(target_family = "wasm"))]
impl GeneratorHandle {
    fn fixed(generator: Generator) -> Self {
        Self { generator, listener: None }
    }

    /// Creates a generator that leases a node and reports the lease's events to `listener`.
    pub(crate) fn leased(
        mut builder: LeaseBuilder,
        listener: Option<Listener>,
    ) -> Result<Self, Error> {
        let listener = listener.map(Arc::new);
        if let Some(listener) = &listener {
            let listener = Arc::clone(listener);
            builder = builder.observer(move |event| listener.tell(event));
        }
        match builder.open() {
            Ok(generator) => Ok(Self { generator, listener }),
            Err(error) => {
                silence(listener.as_deref(), None);
                Err(error)
            }
        }
    }
}

#[cfg(not(target_family = "wasm"))]
impl GeneratorHandle {
    /// Closes the generator if it is leased. If a leased generator were not closed, local handles and
    /// rings could keep it alive after the program has freed the generator's handle. Waits for a
    /// running call to the listener for at most `longest`.
    fn close_lease(&self, longest: Duration) {
        let end = Instant::now().checked_add(longest);
        if self.generator.is_leased() {
            self.generator.close();
        }
        silence(self.listener.as_deref(), end);
    }
}

#[cfg(not(target_family = "wasm"))]
impl Drop for GeneratorHandle {
    fn drop(&mut self) {
        // The program may free the data of its callback after the handle has been freed.
        self.close_lease(Duration::MAX);
    }
}

#[cfg(not(target_family = "wasm"))]
fn silence(listener: Option<&Listener>, end: Option<Instant>) {
    if let Some(listener) = listener {
        listener.silence(end);
    }
}

/// The counters of a generator. Initialize the struct with FLAKEID_STATS_INIT.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Stats {
    /// The size of the struct: sizeof(flakeid_stats).
    pub struct_size: u32,
    /// Reserved; always 0.
    pub reserved: u32,
    /// The number of times that calls had to wait. A call that issues several IDs can wait, and be
    /// counted, several times.
    pub waits: u64,
    /// The number of times the generator detected that the clock went backwards.
    pub rollbacks: u64,
    /// The largest number of ticks by which an ID was ahead of the clock.
    pub largest_ahead: u64,
}

// SAFETY: the struct contains only numbers, so a struct whose bytes are all zero is valid.
unsafe impl Sized32 for Stats {
    const FIRST: usize = offset_of!(Stats, largest_ahead) + size_of::<u64>();
}

/// Creates a generator. The caller owns the generator and must free it with
/// flakeid_generator_free(). `config`, its strings and its clock are not needed after the call.
/// Thread-safe.
///
/// Errors: FLAKEID_INVALID_LAYOUT, FLAKEID_FIELD_OUT_OF_RANGE, FLAKEID_INVALID_OPTION (no node, a
/// node that is specified in two ways, a wrong struct_size, ...), FLAKEID_HORIZON_REACHED,
/// FLAKEID_FORKED, FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_generator_new(
    config: *const Config,
    generator: Option<&mut MaybeUninit<Box<GeneratorHandle>>>,
) -> Status {
    guard(|| {
        let generator = given(generator, "generator")?;
        // SAFETY: the C caller guarantees that `config` points to `struct_size` readable bytes, and
        // that the pointers in `config` are valid.
        let built = unsafe { border::read_sized(config)?.builder()? }.build()?;
        generator.write(Box::new(GeneratorHandle::fixed(built)));
        Ok(())
    })
}

/// Frees the generator; NULL is allowed. No other call may use the handle during or after this
/// call. Later generators with the same layout and node in this process continue after the last ID
/// that was issued. If the generator is leased, releases its node (in a forked child, the child's
/// own node), unless another generator shares the lease. The release takes at most a second. Waits
/// until any running call to on_event has returned, so the caller must not hold a lock that on_event
/// requires. A call by on_event itself does not wait, and the node is released after on_event has
/// returned. No further call to on_event begins. The local handles and rings of a freed leased
/// generator fail with FLAKEID_CLOSED; the local handles and rings of a freed fixed generator
/// continue to work.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_generator_free(generator: Option<Box<GeneratorHandle>>) {
    free(generator);
}

/// Closes the generator without freeing it. Use this function if other threads may still be using
/// the generator. Later calls, including calls on local handles and rings, fail with
/// FLAKEID_CLOSED. Otherwise, this function behaves like flakeid_generator_free(), which must still
/// be called to free the memory, but waits for at most a second, even if on_event is still running.
/// A second call only waits until the first call has finished its work. Thread-safe.
///
/// Errors: FLAKEID_FORKED (a generator that flakeid_generator_new() created in the parent),
/// FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_generator_close(generator: Option<&GeneratorHandle>) -> Status {
    guard(|| {
        let generator = given(generator, "generator")?;
        // The program may hold a lock that its callback requires, so the wait has an end.
        generator.close_lease(LONGEST_CLOSE);
        if generator.generator.is_leased() {
            return Ok(());
        }
        match generator.generator.retire() {
            Err(error) if error.kind() != ErrorKind::Closed => Err(error.into()),
            _ => Ok(()),
        }
    })
}

/// Writes the next ID to `id`. Sleeps until an ID is available, but for at most max_wait_ms.
/// Thread-safe.
///
/// Errors: FLAKEID_SEQUENCE_EXHAUSTED, FLAKEID_CLOCK_ROLLBACK, FLAKEID_HORIZON_REACHED,
/// FLAKEID_BEFORE_EPOCH, FLAKEID_LEASE_EXPIRED (the window has ended), FLAKEID_CLOSED,
/// FLAKEID_FORKED, FLAKEID_NULL_ARGUMENT; for a leased generator in a forked child, also the errors
/// of flakeid_generator_open().
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_generator_next(
    generator: Option<&GeneratorHandle>,
    id: Option<&mut MaybeUninit<u64>>,
) -> Status {
    guard(|| {
        let (generator, id) = (given(generator, "generator")?, given(id, "id")?);
        id.write(generator.generator.next_id()?.to_u64());
        Ok(())
    })
}

/// Writes the next ID to `id`. Sleeps for at most `max_wait_ms`, which overrides the generator's
/// own limit. Use this function if the caller must return soon. Returns the same errors as
/// flakeid_generator_next(). Thread-safe.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_generator_next_within(
    generator: Option<&GeneratorHandle>,
    max_wait_ms: u64,
    id: Option<&mut MaybeUninit<u64>>,
) -> Status {
    guard(|| {
        let (generator, id) = (given(generator, "generator")?, given(id, "id")?);
        let max_wait = Duration::from_millis(max_wait_ms);
        id.write(generator.generator.next_id_within(max_wait)?.to_u64());
        Ok(())
    })
}

/// Writes to `max_wait_ms` the longest time, in milliseconds, that a call waits without issuing an
/// ID: the value of the option max_wait_ms, or its default. Thread-safe.
///
/// Errors: FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_generator_max_wait_ms(
    generator: Option<&GeneratorHandle>,
    max_wait_ms: Option<&mut MaybeUninit<u64>>,
) -> Status {
    guard(|| {
        let generator = given(generator, "generator")?;
        given(max_wait_ms, "max_wait_ms")?.write(whole_ms(generator.generator.max_wait()));
        Ok(())
    })
}

/// Writes the next ID to `id` without waiting. If no ID is available, call flakeid_retry_after_ms()
/// to find out how long to wait before retrying. Returns the same errors as
/// flakeid_generator_next(). Thread-safe.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_generator_try_next(
    generator: Option<&GeneratorHandle>,
    id: Option<&mut MaybeUninit<u64>>,
) -> Status {
    guard(|| {
        let (generator, id) = (given(generator, "generator")?, given(id, "id")?);
        id.write(generator.generator.try_next_id()?.to_u64());
        Ok(())
    })
}

/// Fills `ids` by calling `fill`, and writes the number of IDs to `count`.
#[inline]
fn fill_by(
    generator: Option<&GeneratorHandle>,
    ids: Result<&mut [u64], Fault>,
    count: Option<&mut MaybeUninit<usize>>,
    fill: impl FnOnce(&Generator, &mut [Id]) -> Result<usize, Error>,
) -> Result<(), Fault> {
    let count = given(count, "count")?.write(0);
    let generator = given(generator, "generator")?;
    *count = fill(&generator.generator, Id::from_u64_slice_mut(ids?))?;
    Ok(())
}

/// Fills `ids`, from the beginning, with the next IDs in the order of generation, and writes the
/// number of IDs to `count`. Writes fewer than `n` IDs only if the generator could not issue the
/// next ID within max_wait_ms; the next call then reports the reason. Fails only if no ID could be
/// issued, and then writes 0 to `count`. `ids` may be NULL if `n` is 0. Returns the same errors as
/// flakeid_generator_next(). Thread-safe.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_generator_fill(
    generator: Option<&GeneratorHandle>,
    ids: *mut u64,
    n: usize,
    count: Option<&mut MaybeUninit<usize>>,
) -> Status {
    guard(|| {
        // SAFETY: the C caller guarantees that `ids` has room for `n` integers.
        let ids = unsafe { border::numbers(ids, n, "ids") };
        fill_by(generator, ids, count, Generator::fill)
    })
}

/// Fills the array like flakeid_generator_fill(), but never waits. Thread-safe.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_generator_try_fill(
    generator: Option<&GeneratorHandle>,
    ids: *mut u64,
    n: usize,
    count: Option<&mut MaybeUninit<usize>>,
) -> Status {
    guard(|| {
        // SAFETY: the C caller guarantees that `ids` has room for `n` integers.
        let ids = unsafe { border::numbers(ids, n, "ids") };
        fill_by(generator, ids, count, Generator::try_fill)
    })
}

/// Extends the window up to, but not including, the tick `fence`. A fence that is lower than the
/// current fence changes nothing. Thread-safe.
///
/// Errors: FLAKEID_INVALID_OPTION (no window, or a leased generator), FLAKEID_CLOSED,
/// FLAKEID_FORKED, FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_generator_extend(
    generator: Option<&GeneratorHandle>,
    fence: u64,
) -> Status {
    guard(|| Ok(given(generator, "generator")?.generator.extend(fence)?))
}

/// Retires the generator: no later call issues an ID. Writes to `last_tick` the last tick in which
/// the generator issued an ID, or FLAKEID_NO_TICK if there is no such tick. The generator must
/// still be freed. Thread-safe.
///
/// Errors: FLAKEID_CLOSED (a second call), FLAKEID_FORKED, FLAKEID_INVALID_OPTION (a leased
/// generator, which flakeid_generator_free() closes), FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_generator_retire(
    generator: Option<&GeneratorHandle>,
    last_tick: Option<&mut MaybeUninit<u64>>,
) -> Status {
    guard(|| {
        let generator = given(generator, "generator")?;
        let last_tick = given(last_tick, "last_tick")?;
        last_tick.write(generator.generator.retire()?.unwrap_or(FLAKEID_NO_TICK));
        Ok(())
    })
}

/// Writes the counters of the generator to `stats`. Thread-safe.
///
/// Errors: FLAKEID_INVALID_OPTION (a wrong struct_size), FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_generator_stats(
    generator: Option<&GeneratorHandle>,
    stats: *mut Stats,
) -> Status {
    guard(|| {
        let now = given(generator, "generator")?.generator.stats();
        let now = Stats {
            struct_size: 0,
            reserved: 0,
            waits: now.waits,
            rollbacks: now.rollbacks,
            largest_ahead: now.largest_ahead,
        };
        // SAFETY: the C caller guarantees that `stats` points to `struct_size` writable bytes.
        unsafe { border::write_sized(&now, stats) }
    })
}

/// Writes to `node` the node of the generator's IDs, or the smallest node if the generator has
/// several nodes. The node of a leased generator changes if the generator loses the node, and when
/// the generator issues its first ID in a forked child. Thread-safe.
///
/// Errors: FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_generator_node(
    generator: Option<&GeneratorHandle>,
    node: Option<&mut MaybeUninit<u64>>,
) -> Status {
    guard(|| {
        let generator = given(generator, "generator")?;
        given(node, "node")?.write(generator.generator.node().unwrap_or_default());
        Ok(())
    })
}

/// Writes all nodes that the generator's IDs can contain, in increasing order, to `nodes`, which
/// has room for `n` nodes. Writes the number of nodes to `count`. The nodes of a leased generator
/// change in the cases that flakeid_generator_node() lists. Thread-safe.
///
/// Errors: FLAKEID_BUFFER_TOO_SMALL (nothing is written), FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_generator_nodes(
    generator: Option<&GeneratorHandle>,
    nodes: *mut u64,
    n: usize,
    count: Option<&mut MaybeUninit<usize>>,
) -> Status {
    guard(|| {
        let now = given(generator, "generator")?.generator.nodes();
        let count = given(count, "count")?;
        // SAFETY: the C caller guarantees that `nodes` has room for `n` integers.
        let room = unsafe { border::numbers(nodes, n, "nodes")? };
        let Some(room) = room.get_mut(..now.len()) else {
            return Err(Fault::TooSmall { size: n * size_of::<u64>(), needed: size_of_val(now) });
        };
        room.copy_from_slice(now);
        count.write(now.len());
        Ok(())
    })
}

/// Writes the canonical descriptor of the generator's layout, including the epoch, as a string to
/// `buffer`. FLAKEID_DESCRIPTOR_SIZE bytes are always enough. Thread-safe.
///
/// Errors: FLAKEID_BUFFER_TOO_SMALL (nothing is written), FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_generator_layout(
    generator: Option<&GeneratorHandle>,
    buffer: *mut c_char,
    size: usize,
) -> Status {
    guard(|| {
        let layout = given(generator, "generator")?.generator.layout().to_string();
        // SAFETY: the C caller guarantees that `buffer` points to `size` writable bytes.
        unsafe { border::write_text(&layout, buffer, size) }
    })
}
