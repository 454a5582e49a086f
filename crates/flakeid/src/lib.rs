//! Leases of Snowflake nodes: a node that is provably this process's own.
//!
//! ```no_run
//! use flakeid_core::Layout;
//! use flakeid::LeasedGenerator;
//!
//! let generator = LeasedGenerator::builder("sqlite:///var/lib/app/flakeid.db", Layout::TWITTER)?
//!     .namespace("orders")
//!     .open()?;
//! println!("{} of node {}", generator.next_id()?, generator.node());
//! # Ok::<(), flakeid_core::Error>(())
//! ```
//!
//! A lease is a window of ticks for one node, granted by a store. A generator cannot issue outside
//! its window, and the store never hands out overlapping windows, so no two processes issue the
//! same ID: whatever their clocks, forks, pauses, kills and restarts do.
//!
//! [`LeaseBuilder::auto`] needs no configuration: it uses the store that `FLAKEID_STORE` names, or
//! the embedded one of this host. `flakeid-stores` says what each kind of store is and must keep,
//! `flakeid-protocol` is the rule itself, without input or output.
//!
//! On `wasm32-unknown-unknown`, where there are neither threads nor sockets, a lease comes from a
//! broker, by requests that the host sends (the feature `fetch`).

#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
mod any;
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub mod broker;
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
mod embedded;
#[cfg(feature = "fetch")]
pub mod fetch;
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
mod generator;
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
mod keeper;
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
mod node_source;

pub use flakeid_protocol::Identity;
pub use flakeid_protocol::keeper::{LeaseEvent, LeaseStatus};
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub use {
    any::{AnyCachedGenerator, AnyGenerator, AnyLocalGenerator},
    embedded::embedded_url,
    flakeid_stores::Location,
    generator::{LeaseBuilder, LeasedCachedGenerator, LeasedGenerator, LeasedLocalGenerator},
    node_source::NodeSource,
};
