//! The stores that leases come from, and brokers over HTTP: one feature for each kind. A
//! [`Location`] is the URL of one of them.

#[cfg(any(feature = "postgres", feature = "mysql", feature = "etcd", feature = "http"))]
mod certificates;
#[cfg(feature = "etcd")]
pub mod etcd;
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
pub use machine::{host_name, machine_rotation};
pub use random::token as fresh_token;
