//! Limits that a forked child cannot inherit.
//!
//! A generator may only issue positions below its limit. The limit lives in a slot of a page that
//! the kernel hands to a forked child as zeros (`MADV_WIPEONFORK`, Linux 4.14 and later), whoever
//! made the child: `fork`, a raw `clone`, or a grandparent. So the child's first attempt fails the
//! check that every attempt makes anyway, and being safe across `fork` costs nothing per ID. Where
//! the kernel cannot do it a `pthread_atfork` handler writes the zeros; that catches `fork` but
//! not a raw `clone`.
//!
//! A page that was wiped is never used again: its slots still have owners in the child's copy of
//! the parent's memory, and giving one to somebody else would revive the generator that owned it.

mod limit;
mod page;

pub(crate) use limit::Limit;
#[cfg(feature = "std")]
pub use limit::ProcessMark;
