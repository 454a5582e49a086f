//! What a store is: a place that keeps a namespace's rows and changes them atomically.
//!
//! A store knows how to read and write; what to write is decided by
//! [`rules`](crate::rules), which [`operations`](crate::operations) runs inside the store's
//! transaction. A new kind of store is one [`Store`] and one [`Ledger`], and it passes the suite
//! in `flakeid-conformance`.
//!
//! # What no store notices
//! A namespace records the run of the store that granted in it last. Another run, after a restart, a
//! failover or a restoration, begins by raising the floor above every window that the one before
//! may have granted. If older data pass for the same run, or if two runs go on side by side, ticks can
//! be granted twice. So whoever runs a store has to exclude this:
//!
//! - **Two primaries**, at once, or one after the other if clients return to an old primary that
//!   was neither stopped nor demoted meanwhile. `SQLite` has one file, and etcd elects one leader;
//!   each other kind of store says what prevents it there.
//! - **Older data put back while the server runs on.** Stop it, put the data back, start it: a
//!   start is always noticed. Where data can only be put back into a running server, keep its
//!   clients away until it has been restarted, or until `flakeid leases fast-forward` has been run
//!   by at least `max_window + max_ahead + 2 × max_skew` (32 s with the default bounds), for each
//!   namespace. `flakeid leases adopt` is not enough: in the same run it leaves tokens that were
//!   put back valid.
//! - **A server's virtual machine put back with its memory**: the server goes on as the same run
//!   with older data. Put back its disks only, or do as above.
//! - **A store's clock that went back by more than `max_skew`** (1 s unless set) before a
//!   restoration or failover, because it had been set ahead, or because that of a standby is
//!   behind: the floor is computed from the clock as it is then. Let as much time pass before
//!   clients return, or use `fast-forward --to`.

mod fault;
mod ledger;

pub use fault::{CONNECT_TIMEOUT, Fault, RETRY};
pub use ledger::{Candidates, Continuity, Forgotten, Ledger, Store, SubGrantsAround};
