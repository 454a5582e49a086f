//! A variant of the add-on with a manual clock that panics on request. The tests use this clock
//! because no argument from JavaScript makes the core panic. The modules are the add-on's own
//! source files, but they import the clock from this file instead of from the core.

#![allow(unreachable_pub, dead_code, missing_docs, unused_extern_crates)]
#![allow(clippy::needless_pass_by_value, clippy::trivially_copy_pass_by_ref)]

extern crate flakeid_core as core_itself;
extern crate self as flakeid_core;

#[path = "../../src/cached.rs"]
mod cached;
#[path = "../../src/dispatch.rs"]
mod dispatch;
#[path = "../../src/environment.rs"]
mod environment;
#[path = "../../src/function.rs"]
mod function;
#[path = "../../src/generator.rs"]
mod generator;
#[path = "../../src/handle.rs"]
mod handle;
#[path = "../../src/layout.rs"]
mod layout;
#[path = "../../src/lease.rs"]
mod lease;
#[path = "../../src/lease_tasks.rs"]
mod lease_tasks;
#[path = "../../src/leases.rs"]
mod leases;
#[path = "../../src/local.rs"]
mod local;
#[path = "../../src/off_loop.rs"]
mod off_loop;
#[path = "../../src/options.rs"]
mod options;
#[path = "../../src/ring.rs"]
mod ring;
#[path = "../../src/slots.rs"]
mod slots;

use std::time::Duration;

pub use core_itself::*;

/// The clock setting, in Unix milliseconds, that causes a panic when the clock is read.
const BROKEN: i64 = -1;

#[derive(Clone)]
pub struct ManualClock(core_itself::ManualClock);

impl ManualClock {
    #[must_use]
    pub fn new(unix_ms: i64) -> Self {
        Self(core_itself::ManualClock::new(unix_ms))
    }

    pub fn set(&self, unix_ms: i64) {
        self.0.set(unix_ms);
    }

    pub fn advance(&self, by: Duration) {
        self.0.advance(by);
    }
}

impl Clock for ManualClock {
    fn unix_ms(&self) -> i64 {
        let unix_ms = self.0.unix_ms();
        assert!(unix_ms != BROKEN, "the clock is broken");
        unix_ms
    }

    fn wait_until(&self, unix_ms: i64, at_most: Duration) -> Option<Duration> {
        self.0.wait_until(unix_ms, at_most)
    }
}
