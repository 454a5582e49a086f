//! Tests of the lease rules with random histories and extreme inputs, and tests of the errors that users get for
//! refusals. The random histories are checked against a set of all granted ticks.

// Tests fail by panicking.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, unreachable_pub)]

mod extreme_inputs;
mod history;
mod lost;
mod skews;

use flakeid_core::{Error, ErrorKind, Layout};
use flakeid_protocol::Refusal;
use proptest::prelude::*;

use history::{History, step, units};

const SPACE: &str = "orders";
const EPOCH: i64 = 1_577_836_800_000;

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn random_operations_never_grant_a_tick_twice(unit in units(), steps in prop::collection::vec(step(), 1..120)) {
        let mut history = History::new(unit);
        for step in &steps {
            history.take(step);
        }
    }
}

fn check_error(error: &Error, refusal: &Refusal) {
    let kind = match refusal {
        Refusal::MissingNamespace
        | Refusal::OtherLayout { .. }
        | Refusal::BlockBits { .. }
        | Refusal::Quarantined { .. }
        | Refusal::Foreign(_) => ErrorKind::StoreRejected,
        Refusal::BrokerChooses { .. } | Refusal::TokenOfAnother => ErrorKind::InvalidOption,
        Refusal::Window { .. } | Refusal::Nodes { .. } => ErrorKind::FieldOutOfRange,
        Refusal::Skew { .. }
        | Refusal::ImpossibleClock { .. }
        | Refusal::ClockStep { .. }
        | Refusal::TooFarAhead { .. } => ErrorKind::ClockSkew,
        Refusal::FenceInFuture { .. } | Refusal::Restored { .. } => ErrorKind::FenceInFuture,
        Refusal::NoFreeNode { .. } | Refusal::Held { .. } => ErrorKind::NoFreeNode,
        Refusal::FencedOff => ErrorKind::LeaseExpired,
        Refusal::Horizon => ErrorKind::HorizonReached,
        Refusal::Relayed { kind, .. } => *kind,
        other => panic!("the kind of {other:?} is not listed here"),
    };
    assert_eq!(error.kind(), kind, "{refusal:?}");
    let text = error.to_string();
    for debug in ["Some(", "None", "Refusal", "Layout {", "Token", " { ", "_ms:"] {
        assert!(!text.contains(debug), "the message of {refusal:?} contains {debug:?}: {text:?}");
    }
    let retry_after = match refusal {
        Refusal::FenceInFuture { retry_after_ms }
        | Refusal::Restored { retry_after_ms }
        | Refusal::ClockStep { retry_after_ms, .. }
        | Refusal::Held { retry_after_ms, .. } => Some(*retry_after_ms),
        Refusal::NoFreeNode { next_free_in_ms: wait, .. }
        | Refusal::Relayed { retry_after_ms: wait, .. } => *wait,
        _ => None,
    };
    let returned = error.retry_after().map(|wait| wait.as_millis());
    assert_eq!(returned, retry_after.map(u128::from), "{refusal:?}");
}

#[test]
fn refusals_convert_to_errors_of_the_right_kind() {
    let layout = Layout::builder().time(41).node(10).sequence(12).build_const();
    let other = layout.with_epoch(EPOCH).unwrap();
    let refusals = [
        Refusal::MissingNamespace,
        Refusal::OtherLayout { namespace: layout, client: other },
        Refusal::BlockBits { namespace: 4, client: 0 },
        Refusal::BlockBits { namespace: 0, client: 4 },
        Refusal::BlockBits { namespace: 4, client: 5 },
        Refusal::BrokerChooses { option: "node" },
        Refusal::TokenOfAnother,
        Refusal::Window { asked_ms: 60_000, min_ms: 2, max_ms: 20_000 },
        Refusal::Nodes { from: 0, to: 1024, max_node: 1023 },
        Refusal::Nodes { from: 3, to: 2, max_node: 1023 },
        Refusal::Skew { by_ms: i64::MIN, max_ms: 5000 },
        Refusal::Skew { by_ms: 6000, max_ms: 5000 },
        Refusal::ImpossibleClock { by_ms: -1 },
        Refusal::ClockStep { by_ms: 28_800_000, retry_after_ms: 9_000 },
        Refusal::TooFarAhead { by_ms: u64::MAX },
        Refusal::Quarantined { node: 3 },
        Refusal::Held { node: 3, retry_after_ms: 41_250 },
        Refusal::FenceInFuture { retry_after_ms: 250 },
        Refusal::NoFreeNode { held: 1, hot: 2, quarantined: 3, used: 4, next_free_in_ms: None },
        Refusal::NoFreeNode { held: 1, hot: 2, quarantined: 3, used: 4, next_free_in_ms: Some(5) },
        Refusal::FencedOff,
        Refusal::Restored { retry_after_ms: 46_000 },
        Refusal::Foreign("the files come from another machine".into()),
        Refusal::Horizon,
        Refusal::Relayed {
            kind: ErrorKind::NoFreeNode,
            text: "no free node".into(),
            retry_after_ms: Some(7),
        },
    ];
    for refusal in refusals {
        check_error(&refusal.to_error(SPACE, &layout), &refusal);
    }
}

/// Checks that the error for a lagging clock also mentions a slow request as a possible cause. A request that waits
/// in an overloaded server's queue looks the same as a request from a host with a lagging clock.
#[test]
fn clock_error_mentions_a_slow_request_as_a_possible_cause() {
    let layout = Layout::builder().time(41).node(10).sequence(12).build_const();
    let message =
        |by_ms| Refusal::Skew { by_ms, max_ms: 1_000 }.to_error(SPACE, &layout).to_string();
    assert!(message(-1_500).contains("took that long to arrive"), "{}", message(-1_500));
    // A slow request can neither make a clock appear to be ahead nor explain a lag of one hour.
    for by_ms in [1_500, -3_600_000] {
        assert!(!message(by_ms).contains("took that long"), "{}", message(by_ms));
    }
}
