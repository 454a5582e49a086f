//! IDs over HTTP, for programs that have no generator of their own: functions, PHP workers, shell
//! scripts, other languages. `flakeid serve` runs this server; other servers can mount a
//! [`Service`].
//!
//! ```no_run
//! use std::collections::BTreeMap;
//!
//! use flakeid_core::Layout;
//! use flakeid_server::{Listener, ServeOptions, Server, Service};
//!
//! let orders = flakeid::lease("sqlite:///var/lib/app/flakeid.db", Layout::TWITTER)?
//!     .namespace("orders")
//!     .open()?;
//! let service = Service::new(BTreeMap::from([("orders".into(), orders)]));
//! let listener = Listener::Tcp("127.0.0.1:7117".parse()?);
//! Server::bind(service, &listener, ServeOptions::default())?.run_until_signal()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Every ID comes from a generator in this process, so the generator's guarantees hold here: an ID
//! is never issued twice. Only `POST` issues IDs, and no response may be cached, because a cache
//! that returned a response to two clients would repeat IDs.

mod admission;
mod answer;
mod body;
mod connection;
mod connections;
mod cors;
mod descriptors;
mod files;
mod forms;
#[cfg(feature = "grpc")]
pub mod grpc;
mod history;
mod holders;
mod id_pieces;
mod leases;
mod limits;
mod listener;
mod metrics;
mod monitor;
mod namespace;
mod pacing;
mod pages;
mod poll_on_wake;
mod proxies;
mod pruning;
mod query;
mod quota;
mod rate;
mod reads;
mod reload;
mod resp;
mod route;
mod server;
mod service;
mod signals;
mod tls;
mod tokens;

pub use body::Body;
pub use cors::Origins;
pub use history::HistoryPruning;
#[doc(hidden)]
pub use limits::{Limit, limits};
pub use listener::Listener;
pub use proxies::TrustedProxies;
pub use rate::Peer;
pub use server::{ServeOptions, Server};
pub use service::Service;
pub use signals::Signals;
pub use tls::{TlsFiles, TlsSettings};
pub use tokens::Tokens;
