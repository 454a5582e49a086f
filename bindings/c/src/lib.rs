//! The C library: `include/flakeid.h` is made from this crate by `cargo xtask header`.
//!
//! Every function takes what C hands over, makes one call of the core, and hands back the result.
//! Handles and plain results come as references that may be null, so that almost nothing
//! dereferences a pointer; what does is in [`border`].

// Exporting a symbol under its own name is `unsafe` by itself, and this crate does little else.
#![allow(unsafe_code)]
// The documentation becomes the header's, for readers of C; what every caller must observe is
// written once at its top.
#![allow(clippy::doc_markdown, clippy::missing_safety_doc)]

mod border;
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
pub mod local;
pub mod options;
pub mod parts;
pub mod public_ids;
mod set;
pub mod spelling;
pub mod status;
pub mod text;
pub mod version;
