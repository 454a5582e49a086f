//! Keeping a lease: a plain thread that acquires, renews and releases, and tells how it goes.

mod event;
mod schedule;
mod session;
mod source;
mod status;
mod thread;

pub use event::LeaseEvent;
pub(crate) use session::{LeaseSession, Sessions};
pub(crate) use source::{LeaseClock, RETRY, SharedClock, StoreSource};
pub use status::LeaseStatus;
