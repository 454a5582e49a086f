//! Leases of Snowflake nodes: a node that is provably this process's own.
//!
//! ```no_run
//! use flakeid_core::Layout;
//! use flakeid_lease::LeasedGenerator;
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
//! the embedded one of this host. [`store`] says what each kind of store is and must keep,
//! [`protocol`] is the rule itself, without input or output.

mod any;
pub mod broker;
mod chain;
#[cfg(feature = "conformance")]
pub mod conformance;
mod embedded;
mod fork_gate;
mod generator;
mod keeper;
mod machine;
mod node_source;
pub mod protocol;
mod random;
pub mod store;

pub use any::{AnyCachedGenerator, AnyGenerator, AnyLocalGenerator};
pub use embedded::embedded_url;
pub use generator::{LeaseBuilder, LeasedCachedGenerator, LeasedGenerator, LeasedLocalGenerator};
pub use keeper::{LeaseEvent, LeaseStatus};
pub use machine::{host_name, machine_rotation};
pub use node_source::NodeSource;
pub use random::token as fresh_token;
