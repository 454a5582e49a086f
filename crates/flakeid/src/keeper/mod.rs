//! The keeper of a lease in this process: a thread that acquires, renews and releases nodes.

mod chain;
mod lease;
mod process;
mod session;
mod source;
mod thread;

pub(crate) use chain::Chain;
pub(crate) use lease::{Lease, Observer};
pub(crate) use session::LeaseSession;
pub(crate) use source::{LeaseClock, StoreSource};
