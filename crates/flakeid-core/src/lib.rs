//! 64-bit, K-ordered IDs of the whole Snowflake family, generated without a round trip to a server.
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
//! A [`Layout`] defines the meaning of the bits. [Presets](Layout::presets) cover Twitter, Discord and other systems; a
//! descriptor such as `t42.n8.s13@1420070400000/5ms` defines any other layout. A [`Generator`] counts positions in the
//! ID space of one node with one atomic word. [`Overflow`] and [`Rollback`] select its behaviour when a tick is full and
//! when the clock goes backwards.
//!
//! # What a generator with a fixed node promises
//! No two calls in one process return the same ID, regardless of threads, clock changes and `fork`. A process that
//! restarts repeats no ID if its clock is never behind the latest ID of every earlier process. (A clock that went
//! backwards, even during an earlier process, may not have caught up yet.) A generator cannot detect that another
//! process or host uses the same node; leases prevent that.
//!
//! # Features
//! - `std` (default): the system clock, sleeping, the registry through which generators for the same node share their
//!   position, and fork detection. Without `std` the crate needs `alloc`, 64-bit atomics, and your own [`Clock`].
//! - `serde`: [`Id`] as a decimal string. `sqlx`: [`Id`] as a column. `schemars`: the JSON schema of [`Id`].
//!   `uuid`: conversions between [`Id`] and the type `Uuid` of the uuid crate.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(not(feature = "std"), no_std)]

extern crate alloc;

#[cfg(feature = "std")]
mod background;
mod calendar;
#[cfg(feature = "std")]
mod chain;
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
mod interrupt;
mod keyed;
mod layout;
mod options;
mod quoted;
#[cfg(feature = "std")]
mod ring;
mod statistics;
mod sync;
mod text;
mod uuid;

pub use calendar::{Rfc3339, whole_ms};
pub use clock::*;
pub use error::{Error, ErrorKind};
#[doc(hidden)]
pub use error::{SpelledError, Spelling};
pub use field::{Field, FieldSpan};
#[cfg(all(feature = "sqlx", feature = "uuid"))]
pub use frameworks::IdAsUuid;
pub use generator::{
    Generator, GeneratorBuilder, LocalGenerator, Overflow, Policy, Rollback, Stats, Window,
};
pub use guess::{Aspect, Guess, Mismatch, guess};
pub use id::{GivenParts, Id, Parts};
pub use keyed::{Key, Keyring, PublicIds};
pub use layout::{Layout, LayoutBuilder};
pub use options::{NamedOption, OptionKind, SetByName};
#[doc(hidden)]
pub use quoted::{is_invisible, without_url};
#[cfg(feature = "std")]
pub use ring::{CachedGenerator, RingOptions, RingStats};
pub use statistics::{Gap, Statistics};
pub use text::{Text, TextForm};
