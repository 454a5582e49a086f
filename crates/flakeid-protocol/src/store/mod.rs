//! Stores, which keep the rows of namespaces and change them atomically.
//!
//! A store reads and writes data. [`rules`](crate::rules) decide what to write, and [`operations`](crate::operations)
//! apply the rules inside the store's transaction. A new kind of store implements [`Store`] and [`Ledger`], and
//! passes the suite in `flakeid-conformance`.
//!
//! # What no store detects
//! A namespace records the run of the store that last granted in it. Another run, after a restart, a failover or a
//! restore, first raises the floor above every window that the previous run may have granted. If older data is
//! mistaken for the same run, or if two runs exist at the same time, ticks can be granted twice. Therefore, the
//! operator of a store has to rule out these cases:
//!
//! - **Two primaries**, either at the same time, or one after the other if clients return to an old primary that was
//!   neither stopped nor demoted in the meantime. `SQLite` has one file, and etcd elects one leader. For all other
//!   stores, the store's documentation explains how to prevent two primaries.
//! - **Older data restored while the server keeps running.** Stop the server, restore the data, and start the server:
//!   a start is always detected. If data can only be restored into a running server, keep its clients away until the
//!   server has been restarted, or until you have run `flakeid leases fast-forward` for each namespace, by at least
//!   `max_window + max_ahead + 3 × max_skew` (33 s with the default bounds). `flakeid leases adopt` is not
//!   sufficient, because it leaves restored tokens valid within the same run.
//! - **A server's virtual machine restored with its memory**: the server continues as the same run with older data.
//!   Restore only the machine's disks, or proceed as for data restored into a running server.
//! - **A store's clock that went backwards by more than twice `max_skew`** (2 s by default) before a restore or
//!   failover, because the clock had been set ahead, or because the standby's clock is behind. The floor is computed from
//!   the clock at that time. Wait for as long as the clock went back before clients return, or use `fast-forward --to`.

mod fault;
mod ledger;

pub use fault::{CONNECT_TIMEOUT, Fault, RETRY};
pub use ledger::{
    Candidates, Continuity, Forgotten, Ledger, RecordsAround, Store, SubGrantsAround,
};
