//! 64-bit, K-ordered IDs of the whole Snowflake family, made without a round trip.
//!
//! ```
//! use flakeid_core::{Generator, Layout};
//!
//! let generator = Generator::new(Layout::TWITTER, 7)?; // node 7 of 1024
//! let id = generator.next_id()?;
//! let parts = Layout::TWITTER.unpack(id)?;
//! assert_eq!(parts.node, 7);
//! # Ok::<(), flakeid_core::Error>(())
//! ```
//!
//! A [`Layout`] says which bits mean what; thirteen presets cover Twitter, `FlakeId`, Baidu, Sonyflake,
//! Discord, Instagram, Mastodon, TSID, `CosId`, pgEdge and a JavaScript-safe one, and a descriptor such as
//! `t42.n8.s13@1420070400000/5ms` any other. A [`Generator`] counts positions in one node's ID
//! space with one atomic word; [`Overflow`] and [`Rollback`] say what it does when a tick is full
//! and when the clock goes back.
//!
//! # What a generator with a fixed node promises
//! No two calls in one process return the same ID, whatever the threads, the clock and `fork` do;
//! and a process that ends and starts again repeats no ID as long as its clock then reads no
//! earlier than the latest ID of every earlier run. A clock that went back, even during such a run,
//! may not have caught up yet. A generator cannot know whether another process or host uses the
//! same node: that is for leases.
//!
//! # Features
//! `std` (default): the system clock, sleeping, the registry that makes generators of one node
//! share their position, and fork detection. Without it the crate needs `alloc` and 64-bit
//! atomics, and a [`Clock`] of yours. `serde`: [`Id`] as a decimal string. `sqlx`: [`Id`] as a column.
//! `schemars`: its JSON schema.

#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

#[cfg(feature = "std")]
mod background;
mod calendar;
mod clock;
mod error;
mod field;
mod fork;
mod frameworks;
mod generator;
mod guess;
mod id;
#[cfg(feature = "std")]
#[doc(hidden)]
pub mod internal;
mod keyed;
mod layout;
mod options;
mod quoted;
#[cfg(feature = "std")]
mod ring;
mod statistics;
mod sync;
mod text;

pub use calendar::{Rfc3339, whole_ms};
pub use clock::*;
pub use error::{Error, ErrorKind, SpelledError, Spelling};
pub use field::{Field, FieldSpan};
pub use generator::{
    Generator, GeneratorBuilder, LocalGenerator, Overflow, Policy, Rollback, Stats, Window,
};
pub use guess::{Aspect, Guess, Mismatch, guess};
pub use id::{GivenParts, Id, Parts};
pub use keyed::{Key, Keyring, PublicIds};
pub use layout::{Layout, LayoutBuilder};
pub use options::{NamedOption, OptionKind, SetByName};
#[cfg(feature = "std")]
pub use ring::{CachedGenerator, RingOptions, RingStats};
pub use statistics::{Gap, Statistics};
pub use text::{Text, TextForm};
