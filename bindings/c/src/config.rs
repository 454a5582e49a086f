//! The options of a generator.

use std::ffi::c_char;
use std::mem::offset_of;

use flakeid_core::{Error, Generator, GeneratorBuilder, Overflow, Rollback};

use crate::border::{self, Sized32};
use crate::clock::ClockHandle;
use crate::fault::Fault;
use crate::options::{self, OptionsHandle};
use crate::set;

// [options: generator flags]
/// `has`: node is given.
pub const FLAKEID_HAS_NODE: u32 = 1;
/// `has`: datacenter is given.
pub const FLAKEID_HAS_DATACENTER: u32 = 2;
/// `has`: worker is given.
pub const FLAKEID_HAS_WORKER: u32 = 4;
/// `has`: epoch is given.
pub const FLAKEID_HAS_EPOCH: u32 = 8;
/// `has`: sequence_mask is given.
pub const FLAKEID_HAS_SEQUENCE_MASK: u32 = 16;
/// `has`: max_ahead_ms is given.
pub const FLAKEID_HAS_MAX_AHEAD: u32 = 32;
/// `has`: max_wait_ms is given.
pub const FLAKEID_HAS_MAX_WAIT: u32 = 64;
/// `has`: window_start and window_fence are given.
pub const FLAKEID_HAS_WINDOW: u32 = 128;
// [/options]

// [options: generator known]
#[rustfmt::skip]
const KNOWN: u32 = FLAKEID_HAS_NODE | FLAKEID_HAS_DATACENTER | FLAKEID_HAS_WORKER |
    FLAKEID_HAS_EPOCH | FLAKEID_HAS_WINDOW | FLAKEID_HAS_SEQUENCE_MASK | FLAKEID_HAS_MAX_AHEAD |
    FLAKEID_HAS_MAX_WAIT;
// [/options]

/// When a tick is full, next and fill wait for the next one (the default).
pub const FLAKEID_OVERFLOW_WAIT: i32 = 0;
/// When a tick is full, FLAKEID_SEQUENCE_EXHAUSTED at once.
pub const FLAKEID_OVERFLOW_ERROR: i32 = 1;
/// When a tick is full, issue from the following ones, at most max_ahead_ms ahead of the clock.
/// Only with a window.
pub const FLAKEID_OVERFLOW_BORROW: i32 = 2;

/// When the clock goes back, go on in the current tick until it is full, then wait at most
/// max_wait_ms (the default).
pub const FLAKEID_ROLLBACK_CONTINUE: i32 = 0;
/// When the clock goes back, FLAKEID_CLOCK_ROLLBACK at once.
pub const FLAKEID_ROLLBACK_ERROR: i32 = 1;
/// When the clock goes back, wait at most max_wait_ms.
pub const FLAKEID_ROLLBACK_WAIT: i32 = 2;
/// When the clock goes back, switch to a clock-sequence value not used at this time yet. Only in
/// layouts with clock-sequence bits, and without a window.
pub const FLAKEID_ROLLBACK_CLOCK_SEQUENCE: i32 = 3;

// The numbers are indexes into the core's lists.
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

/// The options of a generator. Start from FLAKEID_CONFIG_INIT, or from zero with struct_size set;
/// then set the fields you need, and in `has` the flags of those that have one. A field that is
/// set without its flag is FLAKEID_INVALID_OPTION, so none is ignored silently. A node (or a
/// datacenter and a worker, or several nodes) must be given: there is no default.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Config {
    /// sizeof(flakeid_config).
    pub struct_size: u32,
    /// FLAKEID_HAS_... flags.
    pub has: u32,
    // [options: generator fields]
    /// The layout of the IDs: the name of a preset or a descriptor; NULL is "twitter".
    pub layout: *const c_char,
    /// The node, from 0 to the layout's largest; there is no default, because no other generator
    /// may have it at the same time (FLAKEID_HAS_NODE).
    pub node: u64,
    /// The high part of the node, in layouts that split it; requires worker
    /// (FLAKEID_HAS_DATACENTER).
    pub datacenter: u64,
    /// The low part of the node, in layouts that split it; requires datacenter
    /// (FLAKEID_HAS_WORKER).
    pub worker: u64,
    /// The instant of tick 0, in Unix milliseconds (FLAKEID_HAS_EPOCH; otherwise the layout's).
    pub epoch: i64,
    /// The largest sequence number to use: 2^k - 1 (FLAKEID_HAS_SEQUENCE_MASK; otherwise the
    /// layout's).
    pub sequence_mask: u64,
    /// The number of bits of a random sequence number with which each tick begins.
    pub sequence_start: u32,
    /// The behaviour when a tick is full: a constant FLAKEID_OVERFLOW_*. FLAKEID_OVERFLOW_BORROW
    /// requires a window.
    pub overflow: i32,
    /// The behaviour when the clock goes backwards: a constant FLAKEID_ROLLBACK_*.
    pub rollback: i32,
    /// Must be 0.
    pub reserved: u32,
    /// The longest time by which IDs of a window may be ahead of the clock (FLAKEID_HAS_MAX_AHEAD;
    /// otherwise 20 s).
    pub max_ahead_ms: u64,
    /// The longest time that a call waits without issuing an ID (FLAKEID_HAS_MAX_WAIT; otherwise 1
    /// s or two ticks, whichever is longer).
    pub max_wait_ms: u64,
    /// A clock for tests, instead of clock_name; or NULL. The generator keeps a reference of its
    /// own.
    pub clock: *const ClockHandle,
    /// The first tick that may be used (FLAKEID_HAS_WINDOW).
    pub window_start: u64,
    /// The tick after the last one that may be used (FLAKEID_HAS_WINDOW).
    pub window_fence: u64,
    /// The clock: "gated" is the system's, exact, and read only a few times a millisecond where the
    /// processor allows that; "system" is read for every ID; "coarse" is a few milliseconds late;
    /// NULL is "gated".
    pub clock_name: *const c_char,
    /// NULL, or several nodes instead of one, for as many times the IDs in a tick; their number
    /// must be a power of two. Cannot be combined with sequence_mask or layouts with clock
    /// sequences. Within a process a node must be used either alone or always together with the
    /// same other nodes.
    pub nodes: *const u64,
    /// The number of integers in nodes; 0 if nodes is NULL.
    pub node_count: usize,
    /// NULL, or further options by name, which are set after the fields.
    pub options: *const OptionsHandle,
    // [/options]
}

// SAFETY: numbers, and pointers that may be null.
unsafe impl Sized32 for Config {
    const FIRST: usize = offset_of!(Config, window_fence) + size_of::<u64>();
}

impl Config {
    /// Returns the core's builder with these options.
    ///
    /// # Safety
    /// Strings are NULL or end in NUL; `clock` and `options` are NULL or living handles; `nodes` is
    /// NULL or has `node_count` integers.
    pub(crate) unsafe fn builder(&self) -> Result<GeneratorBuilder, Fault> {
        set::check_flags(self.has, KNOWN)?;
        set::check_reserved(self.reserved)?;
        // SAFETY: the caller guarantees this.
        let (layout, clock, by_name) =
            unsafe { (border::text(self.layout), self.clock.as_ref(), self.options.as_ref()) };
        let epoch = set::given(self.has, FLAKEID_HAS_EPOCH, "epoch", self.epoch)?;
        let mut builder = Generator::builder(options::layout(by_name, layout, epoch)?);
        // SAFETY: the caller guarantees this.
        unsafe { self.set(&mut builder)? };
        options::apply(by_name, &mut builder)?;
        let Some(clock) = clock else { return Ok(builder) };
        let by_name = by_name.is_some_and(|options| options.get("clock").is_some());
        if by_name || !self.clock_name.is_null() {
            let reason = "cannot be combined with a manual clock; leave one of the two out";
            return Err(Error::invalid_option("clock", reason).into());
        }
        Ok(builder.clock(clock.0.clone()))
    }

    /// Sets the options of the fields.
    ///
    /// # Safety
    /// As [`builder`](Self::builder).
    #[rustfmt::skip]
    unsafe fn set(&self, builder: &mut GeneratorBuilder) -> Result<(), Fault> {
        // [options: generator set]
        set::flagged(builder, self.has, FLAKEID_HAS_NODE, "node", self.node)?;
        set::flagged(builder, self.has, FLAKEID_HAS_DATACENTER, "datacenter", self.datacenter)?;
        set::flagged(builder, self.has, FLAKEID_HAS_WORKER, "worker", self.worker)?;
        // SAFETY: the caller guarantees that `nodes` is NULL or has `node_count` integers.
        unsafe { set::numbers(builder, "nodes", self.nodes, self.node_count)? };
        set::flagged(builder, self.has, FLAKEID_HAS_WINDOW, "window_start", self.window_start)?;
        set::flagged(builder, self.has, FLAKEID_HAS_WINDOW, "window_fence", self.window_fence)?;
        set::choice(builder, "overflow", &["wait", "error", "borrow"], self.overflow)?;
        set::choice(builder, "rollback", &["continue", "error", "wait", "clock-sequence"], self.rollback)?;
        set::flagged(builder, self.has, FLAKEID_HAS_SEQUENCE_MASK, "sequence_mask", self.sequence_mask)?;
        set::unless_zero(builder, "sequence_start", self.sequence_start.into())?;
        set::flagged(builder, self.has, FLAKEID_HAS_MAX_AHEAD, "max_ahead_ms", self.max_ahead_ms)?;
        set::flagged(builder, self.has, FLAKEID_HAS_MAX_WAIT, "max_wait_ms", self.max_wait_ms)?;
        // SAFETY: the caller guarantees that strings are NULL or end in NUL.
        unsafe { set::text(builder, "clock", self.clock_name)? };
        // [/options]
        Ok(())
    }
}
