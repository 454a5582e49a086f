//! The lease protocol, without threads or sockets: the rules of a store ([`rules`]), of a holder and of a broker. The
//! product, the property tests, the model checker and the fault campaign all run this code.
//!
//! A lease is a window of ticks for one node. Uniqueness follows from two rules alone: a generator cannot issue IDs
//! outside its window, and a store never grants overlapping windows.
//!
//! Rows, records, namespaces and requests are exhaustive types: a store saves every field, so a new field is an
//! incompatible change. Hidden items are only for flakeid's own crates and may change in any release.

#![cfg_attr(docsrs, feature(doc_cfg))]

#[doc(hidden)]
pub mod broker;
mod holder;
#[cfg(feature = "http")]
#[doc(hidden)]
pub mod http;
mod identity;
pub mod keeper;
mod lessor;
mod memory;
mod missing;
mod namespace;
pub mod operations;
#[doc(hidden)]
pub mod random;
mod refusal;
mod request;
mod row;
pub mod rules;
#[doc(hidden)]
pub mod steps;
pub mod store;
mod sub_grants;
mod token;
#[doc(hidden)]
pub mod url;

#[doc(hidden)]
pub use holder::{Effect, Event, HeldNode, Holder, HolderOptions, Renewals};
pub use identity::Identity;
pub use lessor::Lessor;
#[doc(hidden)]
pub use lessor::no_other_lessor;
pub use memory::{Contents as MemoryContents, MemoryStore};
#[doc(hidden)]
pub use memory::{MemorySpace, MemoryTransaction};
pub use namespace::{Bounds, Namespace};
pub use refusal::Refusal;
pub use request::{Acquire, Grant, Release, Renew, Renewed};
pub use row::{Owner, Record, Row, State};
#[doc(hidden)]
pub use sub_grants::Handover;
pub use sub_grants::{Client, SubGrant};
pub use token::Token;
