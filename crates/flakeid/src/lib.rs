//! 64-bit, K-ordered IDs of the whole Snowflake family, on a node that is fixed by the program or leased
//! from a store.
//!
//! ```no_run
//! use flakeid::Layout;
//!
//! let generator = flakeid::lease("sqlite:///var/lib/app/flakeid.db", Layout::TWITTER)?
//!     .namespace("orders")
//!     .open()?;
//! println!("{} of node {:?}", generator.next_id()?, generator.node());
//! # Ok::<(), flakeid::Error>(())
//! ```
//!
//! A lease is a window of ticks for one node, granted by a store. A generator cannot issue IDs outside its window,
//! and the store never grants overlapping windows. Therefore, no two processes issue the same ID, regardless of clock
//! errors, forks, pauses, kills and restarts.
//!
//! [`auto`] requires no configuration: it uses the store whose URL is in the variable `FLAKEID_STORE`, or
//! this user's embedded store. [`Generator::new`] takes a node that the program chooses. [`LocalGenerator`] and
//! [`CachedGenerator`] are faster handles to both kinds of generators.
//!
//! With the feature `tracing`, the crate logs each change in the state of a lease or a broker.
//!
//! This crate re-exports `flakeid-core`: layouts, IDs and their forms, clocks and errors. The documentation of
//! `flakeid-stores` describes what data each kind of store must keep, and `flakeid-protocol` contains the
//! rules.
//!
//! `wasm32-unknown-unknown` has neither threads nor sockets. On that target, a generator has a fixed node, or a
//! lease from a broker through requests that the host sends (the feature `fetch`).

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub mod broker;
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
mod default_store;
#[cfg(feature = "fetch")]
pub mod fetch;
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
mod keeper;
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
mod leased;
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
mod log;
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
mod namespaces;
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
mod node_source;

pub use flakeid_core::*;
pub use flakeid_protocol::keeper::{LeaseEvent, LeaseStatus};
pub use flakeid_protocol::{Bounds, Identity, MemoryStore, Namespace};
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub use {
    default_store::{HOST_FILE, default_store_url},
    flakeid_stores::Location,
    leased::{Lease, LeaseBuilder, auto, lease},
    namespaces::{CreatedNamespace, NamespaceBuilder},
    node_source::NodeSource,
};

/// The default of the option `open_wait`. It covers the 15 s for which a store with default bounds grants nothing after a
/// restart.
const OPEN_WAIT: std::time::Duration = std::time::Duration::from_secs(30);
