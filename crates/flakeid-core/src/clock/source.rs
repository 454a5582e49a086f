#![expect(clippy::inline_always, reason = "another call would add a tenth to the cost of an ID")]

use alloc::boxed::Box;
use core::any::Any;
use core::time::Duration;

use super::{Clock, ManualClock};
#[cfg(feature = "std")]
use super::{CoarseClock, GatedClock, NamedClock, SystemClock};

/// The clock of one generator. Each built-in clock has its own variant, so that reading the system clock requires no
/// indirect call. If the variant is `Manual`, no earlier process can have issued IDs with this clock.
pub(crate) enum ClockSource {
    #[cfg(feature = "std")]
    System,
    #[cfg(feature = "std")]
    Coarse,
    /// The gated clock. This variant is used only if [`GatedClock::is_gated`] returns `true`.
    #[cfg(feature = "std")]
    Gated,
    Manual(ManualClock),
    Custom(Box<dyn Clock>),
}

/// Returns the clock that a generator uses if the program does not set a clock.
#[cfg(feature = "std")]
impl Default for ClockSource {
    fn default() -> Self {
        Self::named(NamedClock::default())
    }
}

impl ClockSource {
    pub(crate) fn of<C: Clock>(clock: C) -> Self {
        let known: &dyn Any = &clock;
        #[cfg(feature = "std")]
        if let Some(named) = NamedClock::from_any(known) {
            return Self::named(named);
        }
        match known.downcast_ref::<ManualClock>() {
            Some(manual) => Self::Manual(manual.clone()),
            None => Self::Custom(Box::new(clock)),
        }
    }

    #[cfg(feature = "std")]
    fn named(clock: NamedClock) -> Self {
        match clock {
            NamedClock::Gated if GatedClock.is_gated() => Self::Gated,
            NamedClock::System | NamedClock::Gated => Self::System,
            NamedClock::Coarse => Self::Coarse,
        }
    }

    #[inline(always)]
    pub(crate) fn unix_ms(&self) -> i64 {
        match self {
            #[cfg(feature = "std")]
            Self::System => SystemClock::now_ms(),
            #[cfg(feature = "std")]
            Self::Coarse => CoarseClock::now().0,
            #[cfg(feature = "std")]
            Self::Gated => GatedClock::now_ms(),
            Self::Manual(_) | Self::Custom(_) => self.other_unix_ms(),
        }
    }

    /// Reads a manual or custom clock. This function is separate and not inlined, so that the inlined code for the
    /// faster clocks stays short.
    #[inline(never)]
    fn other_unix_ms(&self) -> i64 {
        match self {
            Self::Manual(clock) => clock.unix_ms(),
            Self::Custom(clock) => clock.unix_ms(),
            #[cfg(feature = "std")]
            known => known.unix_ms(),
        }
    }

    /// Returns the clock's mark: a number that changes with every tick of the coarse clock, at least every 10 ms. On
    /// manual and custom clocks, the mark changes whenever the reading changes.
    #[inline(always)]
    pub(crate) fn mark(&self) -> u64 {
        match self {
            #[cfg(feature = "std")]
            Self::System | Self::Coarse | Self::Gated => CoarseClock::now().1,
            other => other.other_unix_ms().cast_unsigned(),
        }
    }

    /// Returns the most precise time that this clock provides, for the slow path.
    pub(crate) fn exact_unix_ms(&self) -> i64 {
        match self {
            #[cfg(feature = "std")]
            Self::System | Self::Coarse | Self::Gated => SystemClock::now_ms(),
            other => other.other_unix_ms(),
        }
    }

    pub(crate) fn wait_until(&self, unix_ms: i64, at_most: Duration) -> Option<Duration> {
        match self {
            #[cfg(feature = "std")]
            Self::System | Self::Coarse | Self::Gated => SystemClock.wait_until(unix_ms, at_most),
            Self::Manual(clock) => clock.wait_until(unix_ms, at_most),
            Self::Custom(clock) => clock.wait_until(unix_ms, at_most),
        }
    }

    /// Waits like `wait_until`, but may return after part of the time. A caller that repeats the call wakes up closer
    /// to the requested instant, but the repeated sleeps cost twice as much as a single sleep.
    pub(crate) fn wait_in_parts(&self, unix_ms: i64, at_most: Duration) -> Option<Duration> {
        #[cfg(feature = "std")]
        let at_most = match self {
            Self::System | Self::Coarse | Self::Gated => SystemClock::first_part(unix_ms, at_most),
            Self::Manual(_) | Self::Custom(_) => at_most,
        };
        self.wait_until(unix_ms, at_most)
    }

    /// Whether an earlier process may have issued IDs in the current tick.
    pub(crate) const fn is_real(&self) -> bool {
        !matches!(self, Self::Manual(_))
    }

    pub(crate) const fn is_system(&self) -> bool {
        !matches!(self, Self::Manual(_) | Self::Custom(_))
    }
}
