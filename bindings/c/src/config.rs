//! The options of a generator.

use std::ffi::c_char;
use std::mem::offset_of;

use flakeid_core::{Error, Generator, GeneratorBuilder, Overflow, Rollback};

use crate::border::{self, Sized32};
use crate::clock::ClockHandle;
use crate::fault::Fault;
use crate::flags;
use crate::options::{self, OptionsHandle};
use crate::set;

// [options: generator known]
#[rustfmt::skip]
const KNOWN: u32 = flags::FLAKEID_HAS_NODE | flags::FLAKEID_HAS_DATACENTER |
    flags::FLAKEID_HAS_WORKER | flags::FLAKEID_HAS_EPOCH | flags::FLAKEID_HAS_WINDOW |
    flags::FLAKEID_HAS_SEQUENCE_MASK | flags::FLAKEID_HAS_MAX_AHEAD |
    flags::FLAKEID_HAS_MAX_WAIT;
// [/options]

/// The default. When a tick is full, calls that may wait, such as flakeid_generator_next(), wait
/// for the next tick.
pub const FLAKEID_OVERFLOW_WAIT: i32 = 0;
/// When a tick is full, calls fail immediately with FLAKEID_SEQUENCE_EXHAUSTED.
pub const FLAKEID_OVERFLOW_ERROR: i32 = 1;
/// When a tick is full, calls issue IDs from the following ticks, which are at most max_ahead_ms
/// ahead of the clock. Requires a window.
pub const FLAKEID_OVERFLOW_BORROW: i32 = 2;

/// The default. When the clock goes backwards, calls continue to issue IDs from the latest tick
/// until that tick is full, and then wait for at most max_wait_ms.
pub const FLAKEID_ROLLBACK_CONTINUE: i32 = 0;
/// When the clock goes backwards, calls fail immediately with FLAKEID_CLOCK_ROLLBACK.
pub const FLAKEID_ROLLBACK_ERROR: i32 = 1;
/// When the clock goes backwards, calls wait until the clock catches up, but for at most
/// max_wait_ms.
pub const FLAKEID_ROLLBACK_WAIT: i32 = 2;
/// When the clock goes backwards, the generator switches to a clock sequence that it has not yet
/// used for the current time. Requires a layout with clock-sequence bits, and cannot be combined
/// with a window.
pub const FLAKEID_ROLLBACK_CLOCK_SEQUENCE: i32 = 3;

// The constants are indexes into the core's lists of values, so the constants and the values must
// be in the same order.
const _: () = {
    assert!(matches!(Overflow::ALL[FLAKEID_OVERFLOW_WAIT as usize], Overflow::Wait));
    assert!(matches!(Overflow::ALL[FLAKEID_OVERFLOW_ERROR as usize], Overflow::Error));
    assert!(matches!(Overflow::ALL[FLAKEID_OVERFLOW_BORROW as usize], Overflow::Borrow));
    assert!(matches!(Rollback::ALL[FLAKEID_ROLLBACK_CONTINUE as usize], Rollback::Continue));
    assert!(matches!(Rollback::ALL[FLAKEID_ROLLBACK_ERROR as usize], Rollback::Error));
    assert!(matches!(Rollback::ALL[FLAKEID_ROLLBACK_WAIT as usize], Rollback::Wait));
    assert!(matches!(
        Rollback::ALL[FLAKEID_ROLLBACK_CLOCK_SEQUENCE as usize],
        Rollback::ClockSequence
    ));
};

/// The options of a generator. The node has no default, so the program must set either one node, or
/// both a datacenter and a worker, or several nodes. Initialize the struct with FLAKEID_CONFIG_INIT,
/// or zero it and set struct_size. Then set the fields that you need. For each field that has a
/// flag, also set the flag in `has`. A nonzero field without its flag causes FLAKEID_INVALID_OPTION,
/// so the library never silently ignores a nonzero field.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Config {
    /// The size of the struct: sizeof(flakeid_config).
    pub struct_size: u32,
    /// The FLAKEID_HAS_... flags of the fields that are set.
    pub has: u32,
    // [options: generator fields]
    /// The layout of the IDs: a preset's name or a descriptor; NULL means "twitter".
    pub layout: *const c_char,
    /// The node, from 0 to the layout's largest node; there is no default, because no other
    /// generator may use the same node at the same time. This field requires the flag
    /// FLAKEID_HAS_NODE.
    pub node: u64,
    /// The high part of the node, in layouts that split the node; must be set together with worker.
    /// This field requires the flag FLAKEID_HAS_DATACENTER.
    pub datacenter: u64,
    /// The low part of the node, in layouts that split the node; must be set together with
    /// datacenter. This field requires the flag FLAKEID_HAS_WORKER.
    pub worker: u64,
    /// The instant of tick 0, in Unix milliseconds. This field requires the flag FLAKEID_HAS_EPOCH;
    /// the default is the layout's epoch.
    pub epoch: i64,
    /// The largest sequence number to use, which must have the form 2^k - 1. This field requires
    /// the flag FLAKEID_HAS_SEQUENCE_MASK; the default is the layout's largest sequence number.
    pub sequence_mask: u64,
    /// The number of random bits in the first sequence number of each tick.
    pub sequence_start: u32,
    /// The behaviour when a tick has no IDs left: FLAKEID_OVERFLOW_WAIT, FLAKEID_OVERFLOW_ERROR or
    /// FLAKEID_OVERFLOW_BORROW (default: FLAKEID_OVERFLOW_WAIT). FLAKEID_OVERFLOW_BORROW requires a
    /// window.
    pub overflow: i32,
    /// The behaviour when the clock goes backwards: FLAKEID_ROLLBACK_CONTINUE,
    /// FLAKEID_ROLLBACK_ERROR, FLAKEID_ROLLBACK_WAIT or FLAKEID_ROLLBACK_CLOCK_SEQUENCE (default:
    /// FLAKEID_ROLLBACK_CONTINUE).
    pub rollback: i32,
    /// Reserved; must be 0.
    pub reserved: u32,
    /// The longest time by which IDs in a window may be ahead of the clock. This field requires the
    /// flag FLAKEID_HAS_MAX_AHEAD; the default is 20 s.
    pub max_ahead_ms: u64,
    /// The longest time that a call waits without issuing an ID. This field requires the flag
    /// FLAKEID_HAS_MAX_WAIT; the default is 1 s or two ticks, whichever is longer.
    pub max_wait_ms: u64,
    /// NULL, or a manual clock for tests. A manual clock cannot be combined with clock_name. The
    /// generator keeps its own reference to the clock.
    pub clock: *const ClockHandle,
    /// The first tick in which the generator may issue IDs. This field requires the flag
    /// FLAKEID_HAS_WINDOW.
    pub window_start: u64,
    /// The tick after the last tick in which the generator may issue IDs. This field requires the
    /// flag FLAKEID_HAS_WINDOW.
    pub window_fence: u64,
    /// The clock: "gated", "system" or "coarse"; NULL means "gated". With "gated", the time is
    /// exact, and on suitable processors the system clock is read only a few times per millisecond.
    /// With "system", the system clock is read for every ID. With "coarse", the time lags behind
    /// the system clock by a few milliseconds, and is never ahead of the system clock.
    pub clock_name: *const c_char,
    /// NULL, or several different nodes instead of one. The number of nodes must be a power of two.
    /// In every tick, the generator can then issue the IDs of all these nodes. Several nodes cannot
    /// be combined with sequence_mask or with layouts that have clock sequences. Within a process,
    /// a node must be used either alone or always together with the same other nodes.
    pub nodes: *const u64,
    /// The number of integers in nodes; 0 if nodes is NULL.
    pub node_count: usize,
    /// NULL, or a list of further options, which are set by name after the fields of this struct.
    pub options: *const OptionsHandle,
    // [/options]
}

// SAFETY: the struct contains only numbers and raw pointers, so a struct whose bytes are all zero
// is valid.
unsafe impl Sized32 for Config {
    const FIRST: usize = offset_of!(Config, window_fence) + size_of::<u64>();
}

impl Config {
    /// Returns the core's generator builder with the options of this struct.
    ///
    /// # Safety
    /// Strings must be NULL or NUL-terminated, `clock` and `options` must be NULL or live handles,
    /// and `nodes` must be NULL or point to `node_count` integers.
    pub(crate) unsafe fn builder(&self) -> Result<GeneratorBuilder, Fault> {
        set::check_flags(self.has, KNOWN)?;
        set::check_reserved(self.reserved)?;
        // SAFETY: the caller guarantees that `layout` is NULL or NUL-terminated, and that `clock`
        // and `options` are NULL or live handles.
        let (layout, clock, by_name) =
            unsafe { (border::text(self.layout), self.clock.as_ref(), self.options.as_ref()) };
        let epoch = set::given(self.has, flags::FLAKEID_HAS_EPOCH, "epoch", self.epoch)?;
        let mut builder = Generator::builder(options::layout(by_name, layout, epoch)?);
        // SAFETY: the caller gives the guarantees that both this function and `set` require.
        unsafe { self.set(&mut builder)? };
        options::apply(by_name, &mut builder)?;
        let Some(clock) = clock else { return Ok(builder) };
        let by_name = by_name.is_some_and(|options| options.get("clock").is_some());
        if by_name || !self.clock_name.is_null() {
            let reason = "cannot be combined with a manual clock; omit one of the two";
            return Err(Error::invalid_option("clock", reason).into());
        }
        Ok(builder.clock(clock.0.clone()))
    }

    /// Sets the options in `builder` from the fields of this struct.
    ///
    /// # Safety
    /// The requirements of [`builder`](Self::builder) apply.
    #[rustfmt::skip]
    unsafe fn set(&self, builder: &mut GeneratorBuilder) -> Result<(), Fault> {
        // [options: generator set]
        set::flagged(builder, self.has, flags::FLAKEID_HAS_NODE, "node", self.node)?;
        set::flagged(builder, self.has, flags::FLAKEID_HAS_DATACENTER, "datacenter", self.datacenter)?;
        set::flagged(builder, self.has, flags::FLAKEID_HAS_WORKER, "worker", self.worker)?;
        // SAFETY: the caller guarantees that `nodes` is NULL or points to `node_count` integers.
        unsafe { set::numbers(builder, "nodes", self.nodes, self.node_count)? };
        set::flagged(builder, self.has, flags::FLAKEID_HAS_WINDOW, "window_start", self.window_start)?;
        set::flagged(builder, self.has, flags::FLAKEID_HAS_WINDOW, "window_fence", self.window_fence)?;
        set::choice(builder, "overflow", &["wait", "error", "borrow"], self.overflow)?;
        set::choice(builder, "rollback", &["continue", "error", "wait", "clock-sequence"], self.rollback)?;
        set::flagged(builder, self.has, flags::FLAKEID_HAS_SEQUENCE_MASK, "sequence_mask", self.sequence_mask)?;
        set::unless_zero(builder, "sequence_start", self.sequence_start)?;
        set::flagged(builder, self.has, flags::FLAKEID_HAS_MAX_AHEAD, "max_ahead_ms", self.max_ahead_ms)?;
        set::flagged(builder, self.has, flags::FLAKEID_HAS_MAX_WAIT, "max_wait_ms", self.max_wait_ms)?;
        // SAFETY: the caller guarantees that `clock_name` is NULL or NUL-terminated.
        unsafe { set::text(builder, "clock", self.clock_name)? };
        // [/options]
        Ok(())
    }
}
