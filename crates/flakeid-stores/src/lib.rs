//! Clients for lease stores, and for brokers over HTTP. The client for each kind of store has its own Cargo feature,
//! and so does the client for brokers. A [`Location`] is the URL of a store or a broker.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    not(feature = "all"),
    allow(dead_code, unused_imports, reason = "each store uses only some of the common parts")
)]

#[cfg(feature = "aws")]
mod aws;
mod backend;
#[cfg(feature = "tls")]
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
mod gaps;
mod hosts;
#[cfg(feature = "http")]
pub mod http;
mod http_date;
#[cfg(any(feature = "aws", feature = "kubernetes"))]
mod issued;
#[cfg(any(feature = "optimistic", feature = "documents"))]
mod json;
#[cfg(feature = "kubernetes")]
pub mod kubernetes;
mod location;
mod machine;
#[cfg(feature = "mysql")]
pub mod mysql;
#[cfg(feature = "optimistic")]
mod optimistic;
#[cfg(feature = "postgres")]
pub mod postgres;
#[doc(hidden)]
pub mod random;
#[cfg(feature = "redis")]
pub mod redis;
mod retry;
#[cfg(feature = "s3")]
pub mod s3;
mod sql;
#[cfg(feature = "sqlite")]
pub mod sqlite;
#[cfg(feature = "requests")]
mod transport;
mod url;
mod values;

#[doc(hidden)]
pub use backend::{Backend, DocumentLimits, Price};
pub use location::Location;
#[doc(hidden)]
pub use machine::{host_name, user_rotation};
#[doc(hidden)]
pub use random::token as fresh_token;

/// Returns a line of [`KINDS`] from the name of a module, its Cargo feature, and its schemes.
macro_rules! kind {
    ($module:ident, $feature:literal, $schemes:expr) => {
        backend::Kind {
            feature: $feature,
            schemes: &$schemes,
            backend: {
                #[cfg(feature = $feature)]
                {
                    Some(&$module::BACKEND)
                }
                #[cfg(not(feature = $feature))]
                {
                    None
                }
            },
        }
    };
}

/// The stores, in the order in which messages name their schemes, and brokers.
static KINDS: [backend::Kind; 9] = [
    kind!(sqlite, "sqlite", ["sqlite"]),
    kind!(postgres, "postgres", ["postgresql", "postgres"]),
    kind!(mysql, "mysql", ["mysql", "mariadb"]),
    kind!(redis, "redis", ["redis", "rediss", "redis+sentinel", "rediss+sentinel"]),
    kind!(etcd, "etcd", ["etcd", "etcds"]),
    kind!(kubernetes, "kubernetes", ["kubernetes"]),
    kind!(s3, "s3", ["s3"]),
    kind!(dynamodb, "dynamodb", ["dynamodb"]),
    kind!(http, "http", ["http", "https", "http+unix"]),
];

/// Returns the scheme and the description of each store, and of brokers, as far as this build includes them.
#[doc(hidden)]
pub fn backends() -> impl Iterator<Item = (&'static str, &'static Backend)> {
    KINDS.iter().filter_map(|kind| Some((*kind.schemes.first()?, kind.backend?)))
}
