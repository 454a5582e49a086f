use alloc::boxed::Box;
use core::any::Any;
use core::time::Duration;

use super::{Clock, ManualClock};

/// The clock of one generator. The known ones are told apart so that the system clock costs no
/// indirect call, and so that generators know which rules of restarting apply.
pub(crate) enum ClockSource {
    #[cfg(feature = "std")]
    System,
    Manual(ManualClock),
    Custom(Box<dyn Clock>),
}

impl ClockSource {
    pub(crate) fn of<C: Clock>(clock: C) -> Self {
        let known: &dyn Any = &clock;
        #[cfg(feature = "std")]
        if known.is::<super::SystemClock>() {
            return Self::System;
        }
        match known.downcast_ref::<ManualClock>() {
            Some(manual) => Self::Manual(manual.clone()),
            None => Self::Custom(Box::new(clock)),
        }
    }

    #[inline]
    pub(crate) fn unix_ms(&self) -> i64 {
        match self {
            #[cfg(feature = "std")]
            Self::System => super::SystemClock::now_ms(),
            Self::Manual(clock) => clock.unix_ms(),
            Self::Custom(clock) => clock.unix_ms(),
        }
    }

    pub(crate) fn wait_until(&self, unix_ms: i64, at_most: Duration) -> Option<Duration> {
        match self {
            #[cfg(feature = "std")]
            Self::System => super::SystemClock.wait_until(unix_ms, at_most),
            Self::Manual(clock) => clock.wait_until(unix_ms, at_most),
            Self::Custom(clock) => clock.wait_until(unix_ms, at_most),
        }
    }

    /// Whether an earlier run of this program may have issued IDs in the current tick.
    pub(crate) const fn is_real(&self) -> bool {
        !matches!(self, Self::Manual(_))
    }

    #[cfg(feature = "std")]
    pub(crate) const fn is_system(&self) -> bool {
        matches!(self, Self::System)
    }

    #[cfg(not(feature = "std"))]
    #[expect(clippy::unused_self, reason = "there is no system clock to be")]
    pub(crate) const fn is_system(&self) -> bool {
        false
    }
}
