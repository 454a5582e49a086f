//! The policies of a generator for a full tick and for a clock that goes backwards.

use alloc::format;

use super::window::Window;
use crate::options::impl_by_name;
use crate::{Error, Layout};

/// The behaviour when all sequence numbers of the current tick have been used.
///
/// ```
/// use flakeid_core::{ErrorKind, Generator, Layout, ManualClock, Overflow};
///
/// let generator = Generator::builder(Layout::TWITTER)
///     .node(7)
///     .overflow(Overflow::Error)
///     .clock(ManualClock::new(1_505_914_988_849))
///     .build()?;
/// assert_eq!(generator.next_ids(5000)?.len(), 4096);
/// assert_eq!(generator.next_id().unwrap_err().kind(), ErrorKind::SequenceExhausted);
/// assert_eq!("error".parse::<Overflow>()?.name(), "error");
/// # Ok::<(), flakeid_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Overflow {
    /// `next_id` and `fill` sleep until the next tick, but for at most `max_wait`.
    #[default]
    Wait,
    /// `next_id` and `fill` fail immediately with [`SequenceExhausted`](crate::ErrorKind::SequenceExhausted).
    Error,
    /// The generator issues IDs from the following ticks, at most `max_ahead` ahead of the clock, and then waits.
    /// Requires a [`Window`](crate::Window). Without a window, a restarted process would repeat the IDs that were ahead
    /// of the clock.
    Borrow,
}

impl Overflow {
    /// All behaviours.
    pub const ALL: [Self; 3] = [Self::Wait, Self::Error, Self::Borrow];

    /// The name of the behaviour in options: `wait`, `error` or `borrow`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Wait => "wait",
            Self::Error => "error",
            Self::Borrow => "borrow",
        }
    }
}

impl_by_name!(Overflow, "overflow", "wait, error or borrow");

/// The behaviour when the clock goes backwards.
///
/// ```
/// use flakeid_core::{ErrorKind, Generator, Layout, ManualClock, Rollback};
///
/// let clock = ManualClock::new(1_505_914_988_849);
/// let generator = Generator::builder(Layout::TWITTER)
///     .node(7)
///     .rollback(Rollback::Error)
///     .clock(clock.clone())
///     .build()?;
/// generator.next_id()?;
/// clock.set(1_505_914_988_000);
/// assert_eq!(generator.next_id().unwrap_err().kind(), ErrorKind::ClockRollback);
/// assert_eq!("error".parse::<Rollback>()?.name(), "error");
/// # Ok::<(), flakeid_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Rollback {
    /// The generator uses up the current tick, then waits at most `max_wait` for the clock to catch up, and then
    /// fails with [`ClockRollback`](crate::ErrorKind::ClockRollback). With a [`Window`](crate::Window), the generator
    /// continues with the following ticks while these ticks are at most `max_ahead` ahead of the clock.
    #[default]
    Continue,
    /// Calls fail immediately and report by how much the clock went backwards, as in the generators of `FlakeId`,
    /// Twitter and Baidu.
    Error,
    /// Calls wait for the clock to catch up. If the clock has not caught up after `max_wait`, calls fail with
    /// [`ClockRollback`](crate::ErrorKind::ClockRollback).
    Wait,
    /// The generator switches to a clock-sequence value that has not been used at the clock's current time yet. If
    /// every value has been used, the generator behaves as with `Wait`. Requires a layout with clock-sequence bits
    /// (`c`) and a fixed node. After a switch, IDs may be smaller than earlier IDs.
    ///
    /// The used values are recorded only in the memory of this process, and each process begins with value 0. As with
    /// every other rollback behaviour, a process therefore repeats IDs if it starts before the clock has caught up with
    /// the latest ID of an earlier process.
    ClockSequence,
}

impl Rollback {
    /// All behaviours.
    pub const ALL: [Self; 4] = [Self::Continue, Self::Error, Self::Wait, Self::ClockSequence];

    /// The name of the behaviour in options: `continue`, `error`, `wait` or `clock-sequence`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Continue => "continue",
            Self::Error => "error",
            Self::Wait => "wait",
            Self::ClockSequence => "clock-sequence",
        }
    }
}

impl_by_name!(Rollback, "rollback", "continue, error, wait or clock-sequence");

/// The overflow behaviour and the rollback behaviour of a generator. The constant [`STRICT`](Self::STRICT) matches the
/// behaviour of other systems, such as Twitter's Snowflake.
///
/// ```
/// use flakeid_core::{Generator, Layout, Policy, Rollback};
///
/// let mut policy = Policy::default();
/// policy.rollback = Rollback::Wait;
/// let generator = Generator::builder(Layout::TWITTER).node(7).policy(policy).build()?;
/// # Ok::<(), flakeid_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Policy {
    /// The behaviour when the tick is full.
    pub overflow: Overflow,
    /// The behaviour when the clock goes backwards.
    pub rollback: Rollback,
}

impl Policy {
    /// The behaviour of Twitter's Snowflake and of `FlakeId`: wait when the tick is full, and fail immediately when the
    /// clock goes backwards.
    pub const STRICT: Self = Self { overflow: Overflow::Wait, rollback: Rollback::Error };

    /// Checks that a generator with the given layout supports the policy. `window` is `None` for a fixed node.
    pub(super) fn check(self, layout: &Layout, window: Option<Window>) -> Result<(), Error> {
        if self.overflow == Overflow::Borrow && window.is_none() {
            return Err(Error::invalid_option(
                "overflow",
                "borrow requires a leased window, because after a restart a fixed node would \
                 repeat the IDs that it had borrowed; use wait or error, or lease the node",
            ));
        }
        if self.rollback == Rollback::ClockSequence {
            let bits = layout.spans().2.width;
            if bits == 0 || bits > 8 {
                return Err(Error::invalid_option(
                    "rollback",
                    &format!(
                        "clock-sequence needs a layout with 1 to 8 clock-sequence bits (c), not {bits}"
                    ),
                ));
            }
            if window.is_some() {
                return Err(Error::invalid_option(
                    "rollback",
                    "clock-sequence requires a fixed node; with a lease, use continue, wait or error",
                ));
            }
        }
        Ok(())
    }
}
