//! The C library. `cargo xtask header` generates `include/flakeid.h` from this crate.
//!
//! Every function converts the arguments from C, makes one call to the core, and writes the result.
//! Handles and plain results are optional references (`None` for NULL), so almost no code
//! dereferences a raw pointer; [`border`] contains the code that does so.

// `no_mangle` is itself an unsafe attribute, and almost every function in this crate has this
// attribute.
#![allow(unsafe_code)]
// The doc comments become the comments of the header, whose readers are C programmers. The
// conventions at the top of the header state once what every caller must guarantee.
#![allow(clippy::doc_markdown, clippy::missing_safety_doc)]

mod border;
pub mod cached;
pub mod clock;
pub mod config;
pub mod event;
mod fault;
pub mod flags;
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
