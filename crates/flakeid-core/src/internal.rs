//! Items that only flakeid's own crates may use. The items are not part of the public API and may change in any
//! release.
//!
//! The crates that lease nodes use these items for threads, fork detection and clocks.

use core::any::Any;

pub use crate::background::spawn_background;
pub use crate::chain::Chain;
pub use crate::fork::ProcessMark;
pub use crate::generator::{Exposed, Tenure, TenureSource};
pub use crate::interrupt::{begin_wait, interruptible, is_interrupted, set_interrupt, shorten};

/// Returns the name of `clock` if it is one of the system clocks.
#[must_use]
pub fn named_clock(clock: &dyn Any) -> Option<crate::NamedClock> {
    crate::NamedClock::from_any(clock)
}
