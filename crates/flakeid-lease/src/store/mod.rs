//! What a store is: a place that keeps a namespace's rows and changes them atomically.
//!
//! A store knows how to read and write; what to write is decided by
//! [`protocol::rules`](crate::protocol::rules), which [`operations`] runs inside the store's
//! transaction. A new kind of store is one [`Store`] and one [`Ledger`], and it passes the suite
//! in `conformance`.
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

#[cfg(any(feature = "postgres", feature = "mysql", feature = "etcd", feature = "http"))]
mod certificates;
#[cfg(feature = "etcd")]
pub mod etcd;
mod fault;
#[cfg(any(
    feature = "postgres",
    feature = "mysql",
    feature = "etcd",
    all(feature = "sqlite", unix)
))]
mod gaps;
#[cfg(any(feature = "postgres", feature = "mysql", feature = "redis"))]
mod hosts;
#[cfg(feature = "fetch")]
pub mod http;
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
mod ledger;
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
mod lessor;
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
mod location;
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
mod memory;
#[cfg(feature = "mysql")]
pub mod mysql;
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub mod operations;
#[cfg(any(feature = "redis", feature = "etcd"))]
mod optimistic;
#[cfg(feature = "postgres")]
pub mod postgres;
#[cfg(feature = "redis")]
pub mod redis;
mod retry;
#[cfg(any(feature = "postgres", feature = "mysql", all(feature = "sqlite", unix)))]
mod sql;
#[cfg(feature = "sqlite")]
pub mod sqlite;
mod url;
#[cfg(any(
    feature = "postgres",
    feature = "mysql",
    feature = "redis",
    feature = "etcd",
    all(feature = "sqlite", unix)
))]
mod values;

pub use fault::Fault;
pub(crate) use fault::RETRY;
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub use ledger::{Candidates, Continuity, Forgotten, Ledger, Store, SubGrantsAround};
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub use lessor::Lessor;
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub use location::Location;
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub use memory::{Contents as MemoryContents, MemoryStore};
pub(crate) use retry::CONNECT_TIMEOUT;
