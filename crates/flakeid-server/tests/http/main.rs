//! The server over real connections: protocols, limits, leases and shutdown.

// A failing test panics.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, unreachable_pub)]

mod abuse;
mod client;
mod cors;
mod ends;
#[cfg(feature = "grpc")]
mod grpc;
mod holders;
mod ids;
mod leased;
mod leases;
mod rate;
mod reads;
mod resp;
mod secured;
mod several;
