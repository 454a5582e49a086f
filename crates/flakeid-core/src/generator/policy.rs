//! What a generator does when its tick is full, and when its clock goes back.

use alloc::format;

use super::window::Window;
use crate::options::impl_by_name;
use crate::{Error, Layout};

/// What to do when every sequence number of the current tick is used up.
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
    /// `next_id` and `fill` wait for the next tick, asleep, at most `max_wait`.
    #[default]
    Wait,
    /// [`SequenceExhausted`](crate::ErrorKind::SequenceExhausted) at once.
    Error,
    /// Issue from the following ticks, at most `max_ahead` ahead of the clock, then wait. Only
    /// with a [`Window`](crate::Window): without a lease a restart would repeat what ran ahead.
    Borrow,
}

impl Overflow {
    /// Every behaviour.
    pub const ALL: [Self; 3] = [Self::Wait, Self::Error, Self::Borrow];

    /// Its name in options: `wait`, `error`, `borrow`.
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

/// What to do when the clock reads less than it did before.
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
    /// Use up the tick the generator is in; then wait at most `max_wait` for the clock to catch
    /// up; then [`ClockRollback`](crate::ErrorKind::ClockRollback). With a
    /// [`Window`](crate::Window), go on to the following ticks while they are at most `max_ahead`
    /// ahead of the clock.
    #[default]
    Continue,
    /// Refuse at once, saying by how much, as `FlakeId`, Twitter and Baidu do.
    Error,
    /// Wait at most `max_wait` for the clock to catch up.
    Wait,
    /// Switch to a clock-sequence value that has not been used at this time yet, and otherwise do
    /// as `Wait`. Needs a layout with `c` bits and a fixed node. IDs are out of order across a
    /// switch.
    ///
    /// Which values were used when is known to this process only. Each run begins with value 0, so
    /// one that starts before the clock has caught up with an earlier run's latest ID repeats IDs,
    /// as with every other behaviour.
    ClockSequence,
}

impl Rollback {
    /// Every behaviour.
    pub const ALL: [Self; 4] = [Self::Continue, Self::Error, Self::Wait, Self::ClockSequence];

    /// Its name in options: `continue`, `error`, `wait`, `clock-sequence`.
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

/// An overflow and a rollback behaviour together, by name for those who port.
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
    /// When the tick is full.
    pub overflow: Overflow,
    /// When the clock goes back.
    pub rollback: Rollback,
}

impl Policy {
    /// What Twitter's Snowflake and `FlakeId` do: wait when the tick is full, refuse at once when
    /// the clock goes back.
    pub const STRICT: Self = Self { overflow: Overflow::Wait, rollback: Rollback::Error };

    /// Whether a generator of this layout can behave like this, with this window or without one.
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
                    "clock-sequence needs a fixed node; on a lease use continue, wait or error",
                ));
            }
        }
        Ok(())
    }
}
