//! The keeper of a lease in this process: a thread that acquires, renews and releases nodes.

mod lease;
mod process;
mod session;
mod source;
mod thread;

pub(crate) use lease::{KeptLease, Observer};
pub(crate) use session::LeaseSession;
pub(crate) use source::{LeaseClock, StoreSource};
