//! The options of a generator.

use std::ffi::c_char;
use std::mem::offset_of;

use flakeid_core::{Error, Generator, GeneratorBuilder, NamedClock, Overflow, Rollback, SetByName};

use crate::border::{self, Sized32};
use crate::clock::ClockHandle;
use crate::fault::Fault;

/// `has`: node is given.
pub const FLAKEID_HAS_NODE: u32 = 1;
/// `has`: datacenter is given. In flakeid_parts, the layout splits its node.
pub const FLAKEID_HAS_DATACENTER: u32 = 2;
/// `has`: worker is given. In flakeid_parts, the layout splits its node.
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
    /// A preset's name or a descriptor; NULL is "twitter".
    pub layout: *const c_char,
    /// The node, 0 to the layout's max_node, different for every generator of the layout that may
    /// run at the same time (FLAKEID_HAS_NODE).
    pub node: u64,
    /// The high part of the node in layouts that split it (FLAKEID_HAS_DATACENTER).
    pub datacenter: u64,
    /// The low part of the node in layouts that split it (FLAKEID_HAS_WORKER).
    pub worker: u64,
    /// Unix milliseconds of tick 0, instead of the layout's (FLAKEID_HAS_EPOCH).
    pub epoch: i64,
    /// The largest sequence number to use, 2^k - 1 (FLAKEID_HAS_SEQUENCE_MASK; otherwise the
    /// layout's max_sequence).
    pub sequence_mask: u64,
    /// Begin each tick at a random sequence number below 2^sequence_start; 0 means at sequence
    /// number 0.
    pub sequence_start: u32,
    /// FLAKEID_OVERFLOW_...
    pub overflow: i32,
    /// FLAKEID_ROLLBACK_...
    pub rollback: i32,
    /// Must be 0.
    pub reserved: u32,
    /// How far ahead of the clock a window may be used (FLAKEID_HAS_MAX_AHEAD; otherwise 20 s).
    pub max_ahead_ms: u64,
    /// How long a call waits without issuing an ID (FLAKEID_HAS_MAX_WAIT; otherwise 1 s or two
    /// ticks, whichever is longer).
    pub max_wait_ms: u64,
    /// The clock; NULL is that of clock_name. The generator keeps a reference of its own.
    pub clock: *const ClockHandle,
    /// The first tick that the generator may use (FLAKEID_HAS_WINDOW).
    pub window_start: u64,
    /// The tick after the last one it may use (FLAKEID_HAS_WINDOW).
    pub window_fence: u64,
    /// The system's clock by name: "gated" (and NULL), exact to the millisecond, and read anew only a
    /// few times a millisecond where the processor's counter allows that; "system", exact, and read
    /// for every ID; or "coarse", a few milliseconds late. None is ahead. Not with clock.
    pub clock_name: *const c_char,
    /// NULL, or several nodes instead of one: node_count of them, all different. The generator then
    /// issues node_count times as many IDs per tick, and they still strictly increase. Cannot be
    /// combined with node, datacenter, worker, sequence_mask, or layouts with clock sequences.
    /// Within a process a node must be used either alone or always together with the same other
    /// nodes.
    pub nodes: *const u64,
    /// How many nodes there are, a power of two; 0 if nodes is NULL.
    pub node_count: usize,
}

// SAFETY: numbers, and pointers that may be null.
unsafe impl Sized32 for Config {
    const FIRST: usize = offset_of!(Config, window_fence) + size_of::<u64>();
}

impl Config {
    /// The core's builder with these options.
    ///
    /// # Safety
    /// Strings are NULL or end in NUL; `clock` is NULL or a living handle; `nodes` is NULL or has
    /// `node_count` integers.
    pub(crate) unsafe fn builder(&self) -> Result<GeneratorBuilder, Fault> {
        check_flags(self.has, FLAKEID_HAS_WINDOW * 2 - 1)?;
        if self.reserved != 0 {
            return Err(Error::invalid_option("reserved", "must be 0").into());
        }
        // SAFETY: as promised by the caller.
        let (mut layout, clock, clock_name, nodes) = unsafe {
            (
                border::layout(border::text(self.layout))?,
                self.clock.as_ref(),
                named_clock(self.clock_name)?,
                border::nodes(self.nodes, self.node_count)?,
            )
        };
        if let Some(epoch) = flagged(self.has, FLAKEID_HAS_EPOCH, "epoch", self.epoch)? {
            layout = layout.with_epoch(epoch)?;
        }
        let mut builder = Generator::builder(layout)
            .sequence_start(self.sequence_start.into())
            .overflow(choice(&Overflow::ALL, self.overflow)?)
            .rollback(choice(&Rollback::ALL, self.rollback)?);
        if let Some(nodes) = nodes {
            builder = builder.nodes(&nodes);
        }
        let numbers = [
            (FLAKEID_HAS_NODE, "node", self.node),
            (FLAKEID_HAS_DATACENTER, "datacenter", self.datacenter),
            (FLAKEID_HAS_WORKER, "worker", self.worker),
            (FLAKEID_HAS_SEQUENCE_MASK, "sequence_mask", self.sequence_mask),
            (FLAKEID_HAS_MAX_AHEAD, "max_ahead_ms", self.max_ahead_ms),
            (FLAKEID_HAS_MAX_WAIT, "max_wait_ms", self.max_wait_ms),
            (FLAKEID_HAS_WINDOW, "window_start", self.window_start),
            (FLAKEID_HAS_WINDOW, "window_fence", self.window_fence),
        ];
        set_flagged(&mut builder, self.has, &numbers)?;
        match (clock, clock_name) {
            (None, None) => {}
            (Some(clock), None) => builder = builder.clock(clock.0.clone()),
            (None, Some(clock)) => builder = builder.clock(clock),
            (Some(_), Some(_)) => {
                let reason = "give only one of: clock, clock_name";
                return Err(Error::invalid_option("clock", reason).into());
            }
        }
        Ok(builder)
    }
}

/// The clock of that name, if there is one.
///
/// # Safety
/// `name` is NULL or ends in NUL.
pub(crate) unsafe fn named_clock(name: *const c_char) -> Result<Option<NamedClock>, Fault> {
    // SAFETY: as promised by the caller.
    let name = unsafe { border::text(name) };
    Ok(name.map(|name| name.parse()).transpose()?)
}

/// A field that has a flag, if the flag is set.
pub(crate) fn flagged<T: Default + PartialEq>(
    has: u32,
    flag: u32,
    name: &'static str,
    value: T,
) -> Result<Option<T>, Fault> {
    if has & flag != 0 {
        return Ok(Some(value));
    }
    if value == T::default() {
        return Ok(None);
    }
    Err(Error::invalid_option(name, "set, but its FLAKEID_HAS_ flag in has is not").into())
}

/// Sets the options of these names, which are numbers, as far as their flags are set.
pub(crate) fn set_flagged<B: SetByName>(
    builder: &mut B,
    has: u32,
    numbers: &[(u32, &'static str, u64)],
) -> Result<(), Fault> {
    for (flag, name, value) in numbers {
        if let Some(value) = flagged(has, *flag, name, *value)? {
            builder.set_text(name, &value.to_string())?;
        }
    }
    Ok(())
}

pub(crate) fn check_flags(has: u32, known: u32) -> Result<(), Fault> {
    if has & !known == 0 {
        return Ok(());
    }
    let reason = format!("{has:#x} has flags that are not known here");
    Err(Error::invalid_option("has", &reason).into())
}

/// The behaviour with this number. If there is none, the error is the core's.
pub(crate) fn choice<T: Copy + std::str::FromStr<Err = Error>>(
    all: &[T],
    number: i32,
) -> Result<T, Error> {
    match usize::try_from(number).ok().and_then(|index| all.get(index)) {
        Some(known) => Ok(*known),
        None => number.to_string().parse(),
    }
}
