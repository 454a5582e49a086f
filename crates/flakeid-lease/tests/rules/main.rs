//! The rules of leases: random histories against a set of every tick that was ever granted, and
//! requests, clocks and rows as bad as they can be.

// A test may panic; that is how it fails.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, unreachable_pub)]

mod errors;
mod extreme_inputs;
mod history;
mod lost;

use proptest::prelude::*;

use history::{History, step, units};

const SPACE: &str = "orders";
const EPOCH: i64 = 1_577_836_800_000;

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn no_tick_is_granted_twice(unit in units(), steps in prop::collection::vec(step(), 1..120)) {
        let mut history = History::new(unit);
        for step in &steps {
            history.take(step);
        }
    }
}
