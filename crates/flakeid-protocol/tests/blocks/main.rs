//! Tests of the nodes that a broker grants in its blocks. Their windows must not overlap.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests only")]

mod blocks;
mod handover;
mod history;
mod named;
mod requests;
