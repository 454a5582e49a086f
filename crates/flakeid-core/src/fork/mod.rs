//! Limits that a forked child cannot inherit.
//!
//! A generator may issue only positions below its limit. The limit is in a slot of a page that the kernel clears in a
//! forked child (`MADV_WIPEONFORK`, Linux 4.14 and later). The kernel also clears the page if a raw `clone` created the
//! child, or if the parent is itself a forked child. The child's first attempt therefore fails the check that every
//! attempt makes anyway, and safety across `fork` costs nothing per ID. If the kernel lacks this feature, a
//! `pthread_atfork` handler clears the page; the handler runs after `fork` but not after a raw `clone`.
//!
//! A wiped page is never used again: its slots still have owners in the child's copy of the parent's memory, and a new
//! owner of a slot would revive the generator that previously owned the slot.

mod limit;
mod page;

pub(crate) use limit::Limit;
#[cfg(feature = "std")]
pub use limit::ProcessMark;
