//! Connections to brokers over HTTP. The URL has the form `http://host:port`, `https://host:port` or
//! `http+unix:///path/of/a/socket`.
//!
//! A broker (`flakeid serve`) grants nodes as a store does, but for shorter windows. A process that leases from a
//! broker does not need a connection to the database. The URL may contain several hosts (`http://one:7117,two:7117`),
//! or a single address that leads to several brokers. A process renews a node with the broker that granted the node. If
//! that broker does not renew the node for half of the window, the process leases a node from another broker. The
//! process then releases the old node.
//!
//! # URL options
//! - A token: `http://:TOKEN@host:port`, or `?token-file=PATH`; the file is read when a lease begins.
//! - `brokers`: further hosts to which the token may be sent if a broker advertises them, such as
//!   `*.pods.ids.svc,ids-1.example:7117`.
//! - `tls-ca`: a PEM file of the certificate authorities to trust; the default is the system's authorities.
//! - `tls-cert` and `tls-key`: PEM files of the client's certificate and private key.

mod agent;
mod lessor;
mod reader;

use crate::backend::{Backend, Connect};
#[doc(hidden)]
pub use reader::{BrokerListing, BrokerReader, LeaseJson, LeasesJson};

pub(super) static BACKEND: Backend =
    Backend { forms: &[], connect: Connect::Broker(lessor::connect), file: None, documents: None };
