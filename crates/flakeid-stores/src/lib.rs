//! Clients for lease stores, and for brokers over HTTP. The client for each kind of store has its own Cargo feature,
//! and so does the client for brokers. A [`Location`] is the URL of a store or a broker.

#[cfg(any(feature = "postgres", feature = "mysql", feature = "etcd", feature = "http"))]
mod certificates;
#[cfg(feature = "etcd")]
pub mod etcd;
mod foreign;
#[doc(hidden)]
pub mod fork_gate;
#[cfg(any(
    feature = "postgres",
    feature = "mysql",
    feature = "etcd",
    all(feature = "sqlite", unix)
))]
mod gaps;
#[cfg(any(feature = "postgres", feature = "mysql", feature = "redis"))]
mod hosts;
#[cfg(feature = "http")]
pub mod http;
mod location;
mod machine;
#[cfg(feature = "mysql")]
pub mod mysql;
#[cfg(any(feature = "redis", feature = "etcd"))]
mod optimistic;
#[cfg(feature = "postgres")]
pub mod postgres;
#[doc(hidden)]
pub mod random;
#[cfg(feature = "redis")]
pub mod redis;
#[cfg(any(feature = "postgres", feature = "mysql", feature = "redis", feature = "etcd"))]
mod retry;
#[cfg(any(feature = "postgres", feature = "mysql", all(feature = "sqlite", unix)))]
mod sql;
#[cfg(feature = "sqlite")]
pub mod sqlite;
#[cfg(any(
    feature = "postgres",
    feature = "mysql",
    feature = "redis",
    feature = "etcd",
    feature = "http"
))]
mod url;
#[cfg(any(
    feature = "postgres",
    feature = "mysql",
    feature = "redis",
    feature = "etcd",
    all(feature = "sqlite", unix)
))]
mod values;

pub use location::Location;
#[doc(hidden)]
pub use machine::{host_name, machine_rotation};
#[doc(hidden)]
pub use random::token as fresh_token;
