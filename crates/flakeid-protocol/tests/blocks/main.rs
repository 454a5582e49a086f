//! What a broker grants of its blocks, and that no window overlaps another.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests only")]

mod blocks;
mod handover;
mod history;
mod named;
mod requests;
