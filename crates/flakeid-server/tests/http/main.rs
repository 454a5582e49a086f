//! Tests of the server over real connections: protocols, limits, leases and shutdown.

// A failing test panics.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, unreachable_pub)]

mod abuse;
mod admission;
mod client;
mod cors;
mod crowded;
mod ends;
#[cfg(feature = "grpc")]
mod grpc;
mod holders;
mod ids;
mod leased;
mod leases;
mod proxied;
mod pruning;
mod rate;
mod reads;
mod reload;
mod resp;
mod scopes;
mod secured;
mod several;
