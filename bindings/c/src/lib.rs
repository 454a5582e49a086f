//! The C library: `include/flakeid.h` is made from this crate by `cargo xtask header`.
//!
//! Every function takes what C hands over, makes one call of the core, and hands back the result.
//! Handles and plain results come as references that may be null, so that almost nothing needs a
//! pointer to be dereferenced; what does is in [`border`].

// Exporting a symbol under its own name is `unsafe` by itself, and this crate does little else.
#![allow(unsafe_code)]
// The documentation is that of the header, for readers of C; what callers have to see to stands
// once at its top.
#![allow(clippy::doc_markdown, clippy::missing_safety_doc)]

mod border;
pub mod bytes;
pub mod cached;
pub mod clock;
pub mod config;
pub mod event;
mod fault;
pub mod generator;
mod guard;
pub mod last_error;
pub mod layout;
pub mod lease;
mod leased;
pub mod local;
mod maker;
pub mod parts;
pub mod status;
pub mod text;
pub mod version;
