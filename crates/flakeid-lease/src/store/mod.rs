//! What a store is: a place that keeps a namespace's rows and changes them atomically.
//!
//! A store knows how to read and write; what to write is decided by
//! [`protocol::rules`](crate::protocol::rules), which [`operations`] runs inside the store's
//! transaction. A new kind of store is one [`Store`] and one [`Ledger`], and it passes the suite
//! in `conformance`.

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
mod ledger;
mod location;
mod memory;
#[cfg(feature = "mysql")]
pub mod mysql;
pub mod operations;
#[cfg(any(feature = "redis", feature = "etcd"))]
mod optimistic;
#[cfg(feature = "postgres")]
pub mod postgres;
#[cfg(feature = "redis")]
pub mod redis;
#[cfg(any(feature = "postgres", feature = "mysql", all(feature = "sqlite", unix)))]
mod sql;
#[cfg(feature = "sqlite")]
pub mod sqlite;

pub use fault::Fault;
pub use ledger::{Candidates, Continuity, Forgotten, Ledger, Store};
pub(crate) use location::CONNECT_TIMEOUT;
pub use location::Location;
pub use memory::MemoryStore;
