//! Tests of how a broker grants the nodes in its blocks, and of the history of its grants. The windows of a node must not
//! overlap.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests only")]

mod blocks;
mod handover;
mod history;
mod named;
mod pruning;
mod requests;
