//! The C library. `cargo xtask header` generates `include/flakeid.h` from this crate.
//!
//! Every exported function converts the arguments from C, makes one call to the core, and writes
//! the result. Handles and output parameters of fixed size are optional references (`None` for
//! NULL), so few functions have raw pointers. Almost all code that dereferences a raw pointer is in
//! the module [`border`].

// Almost every function in this crate has the attribute `no_mangle`, which counts as unsafe code.
#![allow(unsafe_code)]
// The doc comments become the comments of the header, whose readers are C programmers. The
// conventions at the top of the header state the guarantees that every caller must give, so the
// functions do not repeat these guarantees.
#![allow(clippy::doc_markdown, clippy::missing_safety_doc)]

mod border;
#[cfg(not(target_family = "wasm"))]
pub mod cached;
pub mod clock;
pub mod config;
#[cfg(target_family = "wasm")]
pub mod either;
#[cfg(not(target_family = "wasm"))]
pub mod event;
pub mod exposed;
mod fault;
#[cfg(target_family = "wasm")]
pub mod fetched;
pub mod flags;
pub mod generator;
mod guard;
#[cfg(not(target_family = "wasm"))]
pub mod interrupt;
pub mod last_error;
pub mod layout;
#[cfg(not(target_family = "wasm"))]
pub mod lease;
#[cfg(not(target_family = "wasm"))]
pub mod local;
#[cfg(not(target_family = "wasm"))]
pub mod namespace;
pub mod options;
pub mod parts;
pub mod public_ids;
mod set;
pub mod spelling;
pub mod status;
pub mod text;
pub mod version;
