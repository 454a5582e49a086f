//! Making IDs.

use std::ffi::c_char;
use std::mem::{MaybeUninit, offset_of};
use std::sync::Arc;
use std::time::Duration;

use flakeid::{Generator, LeaseBuilder};
use flakeid_core::{Error, ErrorKind, Id, whole_ms};

use crate::border::{self, Sized32, given};
use crate::config::Config;
use crate::event::Listener;
use crate::fault::Fault;
use crate::guard::guard;
use crate::status::Status;

/// What flakeid_generator_retire() returns for a generator that has issued no ID. No tick has this
/// value.
pub const FLAKEID_NO_TICK: u64 = u64::MAX;

/// Makes the IDs of one node, or several: unique, and strictly increasing across all threads.
/// Generators of one layout and node share their position within a process. Every function but
/// flakeid_generator_free() may be called by any number of threads at the same time. In a forked
/// child, generators of the parent are FLAKEID_FORKED, except those of flakeid_generator_open(),
/// which lease a node of their own there; all may be freed there.
pub struct GeneratorHandle {
    pub(crate) generator: Generator,
    /// Who is told what happens to the lease.
    listener: Option<Arc<Listener>>,
}

impl GeneratorHandle {
    fn fixed(generator: Generator) -> Self {
        Self { generator, listener: None }
    }

    /// Leases a node, and tells `listener` what happens to it.
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
                silence(listener.as_deref());
                Err(error)
            }
        }
    }
}

impl GeneratorHandle {
    /// Local handles and rings may keep a leased generator for longer.
    fn close_lease(&self) {
        if self.generator.is_leased() {
            self.generator.close();
        }
        silence(self.listener.as_deref());
    }
}

impl Drop for GeneratorHandle {
    fn drop(&mut self) {
        self.close_lease();
    }
}

fn silence(listener: Option<&Listener>) {
    if let Some(listener) = listener {
        listener.silence();
    }
}

/// What happened to a generator besides issuing IDs. Start from FLAKEID_STATS_INIT.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Stats {
    /// sizeof(flakeid_stats).
    pub struct_size: u32,
    /// 0.
    pub reserved: u32,
    /// How many calls had to wait; a fill counts each time that it had to.
    pub waits: u64,
    /// Times the clock was seen to go back.
    pub rollbacks: u64,
    /// The furthest that an ID's tick was ahead of the clock, in ticks.
    pub largest_ahead: u64,
}

// SAFETY: numbers only.
unsafe impl Sized32 for Stats {
    const FIRST: usize = offset_of!(Stats, largest_ahead) + size_of::<u64>();
}

/// Makes a generator. The caller owns it and frees it with flakeid_generator_free(); config, its
/// layout string and its clock are not needed any more after the call. Any thread.
///
/// FLAKEID_INVALID_LAYOUT, FLAKEID_FIELD_OUT_OF_RANGE, FLAKEID_INVALID_OPTION (no node, two kinds
/// of node, a wrong struct_size, ...), FLAKEID_HORIZON_REACHED, FLAKEID_FORKED,
/// FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_generator_new(
    config: *const Config,
    generator: Option<&mut MaybeUninit<Box<GeneratorHandle>>>,
) -> Status {
    guard(|| {
        let generator = given(generator, "generator")?;
        // SAFETY: C promises that `config` is as large as it says, and its pointers are sound.
        let built = unsafe { border::read_sized(config)?.builder()? }.build()?;
        generator.write(Box::new(GeneratorHandle::fixed(built.into())));
        Ok(())
    })
}

/// Frees the generator; NULL is allowed. No other call may use the handle meanwhile or later. The
/// node's position is kept for the process's next generator of that node. A leased node is given
/// back, unless another generator shares the lease, which takes at most a second; in a forked child
/// it is the child's own node. Waits for a call of on_event that is under way; no call follows.
/// Local handles and rings of a leased generator are FLAKEID_CLOSED from then on; those of any
/// other generator go on.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_generator_free(generator: Option<Box<GeneratorHandle>>) {
    let _ = guard(|| {
        drop(generator);
        Ok(())
    });
}

/// Ends the generator without freeing it, for programs that do not know which calls of other threads
/// are under way: calls that begin later are FLAKEID_CLOSED. Otherwise as flakeid_generator_free(),
/// which has still to be called. Called again, it only waits for what the first call waits for. Any
/// thread.
///
/// FLAKEID_FORKED (of flakeid_generator_new() in the parent), FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_generator_close(generator: Option<&GeneratorHandle>) -> Status {
    guard(|| {
        let generator = given(generator, "generator")?;
        generator.close_lease();
        if generator.generator.is_leased() {
            return Ok(());
        }
        match generator.generator.retire() {
            Err(error) if error.kind() != ErrorKind::Closed => Err(error.into()),
            _ => Ok(()),
        }
    })
}

/// The next ID. Waits, asleep, at most max_wait_ms. Any thread.
///
/// FLAKEID_SEQUENCE_EXHAUSTED, FLAKEID_CLOCK_ROLLBACK, FLAKEID_HORIZON_REACHED,
/// FLAKEID_BEFORE_EPOCH, FLAKEID_LEASE_EXPIRED (the end of a window), FLAKEID_CLOSED,
/// FLAKEID_FORKED, FLAKEID_NULL_ARGUMENT; in a forked child of a leased generator also those of
/// flakeid_generator_open().
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

/// The next ID. Waits, asleep, at most `max_wait_ms`, whatever the generator's own is: for callers that
/// must be back soon. Errors as flakeid_generator_next(). Any thread.
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

/// How long a call waits without issuing an ID, in milliseconds: what max_wait_ms of the options was, or
/// the default. Any thread.
///
/// FLAKEID_NULL_ARGUMENT.
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

/// The next ID, without ever waiting; flakeid_retry_after_ms() says when to try again. Errors as
/// flakeid_generator_next(). Any thread.
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

/// What `fill` and `try_fill` have in common.
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

/// Fills `ids` from its beginning with the next IDs, in order, and writes into `count` how many:
/// at most `n`, and fewer only if an obstacle outlasted max_wait_ms, which the next call reports.
/// Fails only if there was no ID at all; `count` is written then too, as 0. `ids` may be NULL if
/// `n` is 0. Errors as flakeid_generator_next(). Any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_generator_fill(
    generator: Option<&GeneratorHandle>,
    ids: *mut u64,
    n: usize,
    count: Option<&mut MaybeUninit<usize>>,
) -> Status {
    guard(|| {
        // SAFETY: C promises that `ids` has `n` integers.
        let ids = unsafe { border::numbers(ids, n, "ids") };
        fill_by(generator, ids, count, Generator::fill)
    })
}

/// As flakeid_generator_fill(), without ever waiting. Any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_generator_try_fill(
    generator: Option<&GeneratorHandle>,
    ids: *mut u64,
    n: usize,
    count: Option<&mut MaybeUninit<usize>>,
) -> Status {
    guard(|| {
        // SAFETY: C promises that `ids` has `n` integers.
        let ids = unsafe { border::numbers(ids, n, "ids") };
        fill_by(generator, ids, count, Generator::try_fill)
    })
}

/// Raises the end of the window to the tick `fence`, exclusive; a lower fence than the present one
/// changes nothing. Any thread.
///
/// FLAKEID_INVALID_OPTION (no window, or a leased generator), FLAKEID_CLOSED, FLAKEID_FORKED,
/// FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_generator_extend(
    generator: Option<&GeneratorHandle>,
    fence: u64,
) -> Status {
    guard(|| Ok(given(generator, "generator")?.generator.extend(fence)?))
}

/// Ends the generator: no later call issues an ID. `last_tick` receives the last tick in which it
/// issued one, or FLAKEID_NO_TICK. It still has to be freed. Any thread.
///
/// FLAKEID_CLOSED the second time, FLAKEID_FORKED, FLAKEID_INVALID_OPTION (a leased generator, which
/// flakeid_generator_free() ends), FLAKEID_NULL_ARGUMENT.
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

/// What happened to the generator besides issuing IDs. Any thread.
///
/// FLAKEID_INVALID_OPTION (struct_size), FLAKEID_NULL_ARGUMENT.
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
        // SAFETY: C promises that `stats` is as large as it says.
        unsafe { border::write_sized(&now, stats) }
    })
}

/// The node in the IDs, the smallest if there are several. A leased generator's node changes if
/// another process takes it, and in a forked child at the first ID. Any thread.
///
/// FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_generator_node(
    generator: Option<&GeneratorHandle>,
    node: Option<&mut MaybeUninit<u64>>,
) -> Status {
    guard(|| {
        let generator = given(generator, "generator")?;
        given(node, "node")?.write(generator.generator.node());
        Ok(())
    })
}

/// Writes all nodes in the IDs, in rising order, into `nodes`, which has room for `n`, and into
/// `count` how many. Otherwise as flakeid_generator_node(). Any thread.
///
/// FLAKEID_BUFFER_TOO_SMALL (nothing is written), FLAKEID_NULL_ARGUMENT.
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
        // SAFETY: C promises that `nodes` has `n` integers.
        let room = unsafe { border::numbers(nodes, n, "nodes")? };
        let Some(room) = room.get_mut(..now.len()) else {
            let bytes = size_of::<u64>();
            return Err(Fault::TooSmall { size: n * bytes, needed: now.len() * bytes });
        };
        room.copy_from_slice(&now);
        count.write(now.len());
        Ok(())
    })
}

/// Writes the canonical descriptor of the generator's layout, with its epoch, as a string;
/// FLAKEID_DESCRIPTOR_SIZE bytes are always enough. Any thread.
///
/// FLAKEID_BUFFER_TOO_SMALL (nothing is written), FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_generator_layout(
    generator: Option<&GeneratorHandle>,
    buffer: *mut c_char,
    size: usize,
) -> Status {
    guard(|| {
        let layout = given(generator, "generator")?.generator.layout().to_string();
        // SAFETY: C promises that `buffer` has `size` bytes.
        unsafe { border::write_text(&layout, buffer, size) }
    })
}
