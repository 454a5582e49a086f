//! What can go wrong when a lease is opened, and while it is held: a clear error with its code, in
//! time, without a password or a token in any text, and no ID that the store does not cover.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests only")]

mod expectation;
mod files;
mod held;
mod memory;
#[cfg(target_os = "linux")]
#[path = "../mounts/mod.rs"]
mod mounts;
mod network;
mod passwords;
mod servers;
