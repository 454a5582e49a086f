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

#[cfg(all(feature = "std", not(all(target_family = "wasm", target_os = "unknown"))))]
mod background;
mod calendar;
mod clock;
mod error;
mod field;
mod fork;
#[cfg(any(feature = "diesel", feature = "schemars", feature = "sqlx", feature = "utoipa"))]
mod frameworks;
mod generator;
mod guess;
mod id;
mod keyed;
mod layout;
mod options;
mod quoted;
#[cfg(all(feature = "std", not(all(target_family = "wasm", target_os = "unknown"))))]
mod ring;
mod statistics;
mod sync;
mod text;

#[cfg(all(feature = "std", not(all(target_family = "wasm", target_os = "unknown"))))]
#[doc(hidden)]
pub use background::spawn_background;
pub use calendar::Rfc3339;
#[cfg(feature = "std")]
pub use clock::SystemClock;
pub use clock::{Clock, ManualClock};
#[cfg(all(feature = "std", not(all(target_family = "wasm", target_os = "unknown"))))]
pub use clock::{CoarseClock, GatedClock, NamedClock};
#[cfg(all(feature = "std", target_family = "wasm", target_os = "unknown"))]
pub use clock::{set_host_time, take_host_wait};
pub use error::{Error, ErrorKind};
pub use field::{Field, FieldSpan};
#[cfg(feature = "std")]
pub use fork::ProcessMark;
pub use generator::{
    Generator, GeneratorBuilder, LocalGenerator, Overflow, Policy, Rollback, Stats, Window,
};
pub use guess::{Aspect, Guess, Mismatch, guess};
pub use id::{GivenParts, Id, Parts};
pub use keyed::{Key, Keyring, PublicIds};
pub use layout::{Layout, LayoutBuilder};
pub use options::{NamedOption, OptionKind, SetByName};
#[cfg(all(feature = "std", not(all(target_family = "wasm", target_os = "unknown"))))]
pub use ring::{CachedGenerator, RingOptions, RingStats};
pub use statistics::{Gap, Statistics};
pub use text::{Text, TextForm};
