//! The protocol, without input or output, clock or randomness: what a store answers
//! ([`rules`]) and what a holder does next ([`Holder::step`]). The product, the property tests,
//! the model checker and the fault campaign run this code.
//!
//! A lease is a window of ticks for one node. A generator cannot issue outside its window, and no
//! store hands out overlapping windows; uniqueness follows from that alone.

mod holder;
mod identity;
mod namespace;
mod refusal;
mod request;
mod row;
pub mod rules;
pub mod sub_grants;
mod token;

pub use holder::{Effect, Event, HeldNode, Holder, HolderOptions, Renewals};
pub use identity::Identity;
pub use namespace::{Bounds, Namespace};
pub use refusal::Refusal;
pub use request::{Acquire, Grant, Release, Renew, Renewed};
pub use row::{Owner, Record, Row, State};
pub use sub_grants::{Client, Handover, SubGrant};
pub use token::Token;
