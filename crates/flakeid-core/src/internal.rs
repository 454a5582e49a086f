//! Items for flakeid's own crates. They are not part of the public API and may change in any release.
//!
//! The crates that lease nodes start threads, detect forks and recognize clocks exactly as this crate does.

use core::any::Any;

pub use crate::background::spawn_background;
pub use crate::fork::ProcessMark;

/// Returns the name of `clock` if it is one of the system's clocks.
#[must_use]
pub fn named_clock(clock: &dyn Any) -> Option<crate::NamedClock> {
    crate::NamedClock::from_any(clock)
}
