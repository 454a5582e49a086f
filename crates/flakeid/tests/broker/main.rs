//! Tests of a broker on the memory store: its grants must be valid, and their windows must not overlap.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests only")]

mod again;
mod ahead;
mod batches;
mod lost;
#[path = "../../../flakeid-protocol/tests/blocks/requests.rs"]
#[allow(dead_code, reason = "the tests of blocks need all of it")]
mod requests;
mod service;
