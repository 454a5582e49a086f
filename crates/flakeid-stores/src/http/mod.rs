//! Brokers over HTTP: `http://host:port`, `https://host:port`, `http+unix:///path/of/a/socket`.
//!
//! A broker (`flakeid serve`) grants nodes as a store does, in shorter windows, and a process that
//! leases from it needs no connection to the database. Several hosts may be named
//! (`http://one:7117,two:7117`), or one address behind which there are several brokers. A node is
//! renewed at the broker that granted it. If that broker does not renew it for half of the window,
//! the process leases a node from another one and releases its own.
//!
//! # Options of the URL
//! - A token: `http://:TOKEN@host:port`, or `?token-file=PATH`, which is read when a
//!   lease begins.
//! - `brokers`: hosts besides those of the URL to which the token may be sent where a broker
//!   advertises them, such as `*.pods.ids.svc,ids-1.example:7117`.
//! - `tls-ca`: the certificate authorities to trust, in PEM; the system's unless given.
//! - `tls-cert` and `tls-key`: a certificate to show, in PEM.

mod agent;
mod lessor;
mod reader;

pub(crate) use lessor::connect;
pub use reader::{BrokerListing, BrokerReader, LeaseJson, LeasesJson};
