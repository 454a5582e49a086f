//! Keeping a lease: a plain thread that acquires, renews and releases, and tells how it goes.

mod event;
mod lease;
mod options;
mod schedule;
mod session;
mod source;
mod status;
mod thread;

pub use event::LeaseEvent;
pub(crate) use lease::{Lease, Observer};
pub(crate) use options::LeaseOptions;
pub(crate) use session::LeaseSession;
pub(crate) use source::{LeaseClock, RETRY, StoreSource};
pub use status::LeaseStatus;
