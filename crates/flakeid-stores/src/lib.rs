//! Clients for lease stores, and for brokers over HTTP. The client for each kind of store has its own Cargo feature,
//! and so does the client for brokers. A [`Location`] is the URL of a store or a broker.

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "aws")]
mod aws;
#[cfg(any(
    feature = "postgres",
    feature = "mysql",
    feature = "etcd",
    feature = "documents",
    feature = "http"
))]
mod certificates;
#[cfg(feature = "documents")]
mod document;
#[cfg(feature = "dynamodb")]
pub mod dynamodb;
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
#[cfg(any(feature = "etcd", feature = "documents"))]
mod http_date;
#[cfg(any(feature = "aws", feature = "kubernetes"))]
mod issued;
#[cfg(any(feature = "redis", feature = "etcd", feature = "documents"))]
mod json;
#[cfg(feature = "kubernetes")]
pub mod kubernetes;
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
#[cfg(any(
    feature = "postgres",
    feature = "mysql",
    feature = "redis",
    feature = "etcd",
    feature = "documents",
))]
mod retry;
#[cfg(feature = "s3")]
pub mod s3;
#[cfg(any(feature = "postgres", feature = "mysql", all(feature = "sqlite", unix)))]
mod sql;
#[cfg(feature = "sqlite")]
pub mod sqlite;
#[cfg(any(feature = "etcd", feature = "documents"))]
mod transport;
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
    feature = "documents",
    all(feature = "sqlite", unix)
))]
mod values;

pub use location::Location;
#[doc(hidden)]
pub use machine::{host_name, user_rotation};
#[doc(hidden)]
pub use random::token as fresh_token;
