//! The protocol of leases, without threads and sockets: the decisions of a store ([`rules`]), of a holder
//! ([`Holder::step`]) and of a broker ([`broker::Blocks`]). The product, the property tests, the model checker and the
//! fault campaign run this code.
//!
//! A lease is a window of ticks for one node. A generator cannot issue IDs outside its window, and no store grants
//! overlapping windows; uniqueness follows from these two rules alone.

pub mod broker;
mod holder;
#[cfg(feature = "http")]
pub mod http;
mod identity;
pub mod keeper;
mod lessor;
mod memory;
mod namespace;
pub mod operations;
pub mod random;
mod refusal;
mod request;
mod row;
pub mod rules;
pub mod store;
pub mod sub_grants;
mod token;
pub mod url;

pub use holder::{Effect, Event, HeldNode, Holder, HolderOptions, Renewals};
pub use identity::Identity;
pub use lessor::{Lessor, no_other_lessor};
pub use memory::{Contents as MemoryContents, MemorySpace, MemoryStore, MemoryTransaction};
pub use namespace::{Bounds, Namespace};
pub use refusal::Refusal;
pub use request::{Acquire, Grant, Release, Renew, Renewed};
pub use row::{Owner, Record, Row, State};
pub use sub_grants::{Client, Handover, SubGrant};
pub use token::Token;
