//! Limits that a forked child cannot inherit.
//!
//! A generator may only issue positions below its limit. The limit is in a slot of a page that the kernel clears to zeros
//! in a forked child (`MADV_WIPEONFORK`, Linux 4.14 and later), whether the child was created by `fork`, by a raw
//! `clone`, or from a child. So the child's first attempt fails the check that every attempt makes anyway, and safety
//! across `fork` costs nothing per ID. If the kernel lacks this feature, a `pthread_atfork` handler writes the zeros; it
//! covers `fork` but not a raw `clone`.
//!
//! A wiped page is never used again: its slots still have owners in the child's copy of the parent's memory, and a new
//! owner of a slot would revive the generator that owned it before.

mod limit;
mod page;

pub(crate) use limit::Limit;
#[cfg(feature = "std")]
pub use limit::ProcessMark;
