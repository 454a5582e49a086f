//! Stores: they keep the rows of namespaces and change them atomically.
//!
//! A store knows how to read and write; what to write is decided by
//! [`rules`](crate::rules), which [`operations`](crate::operations) runs inside the store's
//! transaction. A new kind of store is one [`Store`] and one [`Ledger`], and it passes the suite
//! in `flakeid-conformance`.
//!
//! # What no store detects
//! A namespace records the run of the store that last granted in it. Another run, after a restart, a failover or a restore,
//! begins by raising the floor above every window that the previous run may have granted. If older data pass for the same
//! run, or if two runs exist at the same time, ticks can be granted twice. So the operator of a store has to exclude these
//! cases:
//!
//! - **Two primaries**, at once, or one after the other if clients return to an old primary that was neither stopped nor
//!   demoted in the meantime. `SQLite` has one file, and etcd elects one leader; the documentation of each other store
//!   explains how to prevent it.
//! - **Older data restored while the server keeps running.** Stop the server, restore the data, and start it: a start is
//!   always detected. If data can only be restored into a running server, keep its clients away until it has been restarted,
//!   or until `flakeid leases fast-forward` has been run by at least `max_window + max_ahead + 2 × max_skew` (32 s with the
//!   default bounds) for each namespace. `flakeid leases adopt` is not sufficient: in the same run it leaves restored tokens
//!   valid.
//! - **A server's virtual machine restored with its memory**: the server continues as the same run with older data. Restore
//!   only its disks, or proceed as above.
//! - **A store's clock that went backwards by more than `max_skew`** (1 s by default) before a restore or failover, because
//!   it had been set ahead, or because the standby's clock is behind: the floor is computed from the clock at that time. Wait
//!   for the same time before clients return, or use `fast-forward --to`.

mod fault;
mod ledger;

pub use fault::{CONNECT_TIMEOUT, Fault, RETRY};
pub use ledger::{Candidates, Continuity, Forgotten, Ledger, Store, SubGrantsAround};
