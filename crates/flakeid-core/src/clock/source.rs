#![expect(clippy::inline_always, reason = "a call more is a tenth of an ID's cost")]

use alloc::boxed::Box;
use core::any::Any;
use core::time::Duration;

use super::{Clock, ManualClock};

/// The clock of one generator. The known ones are told apart so that the system clock costs no
/// indirect call, and so that generators know which rules of restarting apply.
pub(crate) enum ClockSource {
    #[cfg(feature = "std")]
    System,
    #[cfg(all(feature = "std", not(all(target_family = "wasm", target_os = "unknown"))))]
    Coarse,
    /// Only where the gate is one.
    #[cfg(all(feature = "std", not(all(target_family = "wasm", target_os = "unknown"))))]
    Gated,
    Manual(ManualClock),
    Custom(Box<dyn Clock>),
}

/// What a generator reads that is given no clock.
#[cfg(feature = "std")]
impl Default for ClockSource {
    fn default() -> Self {
        #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
        return Self::of(super::NamedClock::default());
        #[cfg(all(target_family = "wasm", target_os = "unknown"))]
        return Self::System;
    }
}

impl ClockSource {
    pub(crate) fn of<C: Clock>(clock: C) -> Self {
        let known: &dyn Any = &clock;
        #[cfg(all(feature = "std", not(all(target_family = "wasm", target_os = "unknown"))))]
        if let Some(named) = super::NamedClock::from_any(known) {
            return match named {
                super::NamedClock::Gated if super::GatedClock.is_gated() => Self::Gated,
                super::NamedClock::System | super::NamedClock::Gated => Self::System,
                super::NamedClock::Coarse => Self::Coarse,
            };
        }
        #[cfg(all(feature = "std", target_family = "wasm", target_os = "unknown"))]
        if known.is::<super::SystemClock>() {
            return Self::System;
        }
        match known.downcast_ref::<ManualClock>() {
            Some(manual) => Self::Manual(manual.clone()),
            None => Self::Custom(Box::new(clock)),
        }
    }

    #[inline(always)]
    pub(crate) fn unix_ms(&self) -> i64 {
        match self {
            #[cfg(feature = "std")]
            Self::System => super::SystemClock::now_ms(),
            #[cfg(all(feature = "std", not(all(target_family = "wasm", target_os = "unknown"))))]
            Self::Coarse => super::CoarseClock::now().0,
            #[cfg(all(feature = "std", not(all(target_family = "wasm", target_os = "unknown"))))]
            Self::Gated => super::GatedClock::now_ms(),
            Self::Manual(_) | Self::Custom(_) => self.other_unix_ms(),
        }
    }

    /// Apart from the clocks of which nanoseconds count.
    #[inline(never)]
    fn other_unix_ms(&self) -> i64 {
        match self {
            Self::Manual(clock) => clock.unix_ms(),
            Self::Custom(clock) => clock.unix_ms(),
            #[cfg(feature = "std")]
            known => known.unix_ms(),
        }
    }

    /// A number that changes a few hundred times a second at least, or whenever the clock does.
    #[inline(always)]
    pub(crate) fn mark(&self) -> u64 {
        match self {
            #[cfg(all(feature = "std", not(all(target_family = "wasm", target_os = "unknown"))))]
            Self::System | Self::Coarse | Self::Gated => super::CoarseClock::now().1,
            other => other.other_unix_ms().cast_unsigned(),
        }
    }

    /// The time as exactly as this clock can tell, for whatever is not a plain call.
    pub(crate) fn exact_unix_ms(&self) -> i64 {
        match self {
            #[cfg(all(feature = "std", not(all(target_family = "wasm", target_os = "unknown"))))]
            Self::Coarse | Self::Gated => super::SystemClock::now_ms(),
            other => other.unix_ms(),
        }
    }

    pub(crate) fn wait_until(&self, unix_ms: i64, at_most: Duration) -> Option<Duration> {
        match self {
            #[cfg(feature = "std")]
            Self::System => super::SystemClock.wait_until(unix_ms, at_most),
            #[cfg(all(feature = "std", not(all(target_family = "wasm", target_os = "unknown"))))]
            Self::Coarse | Self::Gated => super::SystemClock.wait_until(unix_ms, at_most),
            Self::Manual(clock) => clock.wait_until(unix_ms, at_most),
            Self::Custom(clock) => clock.wait_until(unix_ms, at_most),
        }
    }

    /// As `wait_until`, for callers that ask again after each part: they are closer to the time, for
    /// twice the cost.
    pub(crate) fn wait_in_parts(&self, unix_ms: i64, at_most: Duration) -> Option<Duration> {
        #[cfg(all(feature = "std", not(all(target_family = "wasm", target_os = "unknown"))))]
        if self.is_system() {
            return Some(super::SystemClock::wait_for_a_part(unix_ms, at_most));
        }
        self.wait_until(unix_ms, at_most)
    }

    /// Whether an earlier run of this program may have issued IDs in the current tick.
    pub(crate) const fn is_real(&self) -> bool {
        !matches!(self, Self::Manual(_))
    }

    #[cfg(feature = "std")]
    pub(crate) const fn is_system(&self) -> bool {
        match self {
            Self::System => true,
            #[cfg(all(feature = "std", not(all(target_family = "wasm", target_os = "unknown"))))]
            Self::Coarse | Self::Gated => true,
            Self::Manual(_) | Self::Custom(_) => false,
        }
    }

    #[cfg(not(feature = "std"))]
    #[expect(clippy::unused_self, reason = "there is no system clock to be")]
    pub(crate) const fn is_system(&self) -> bool {
        false
    }
}
