//! Tests of the options of leases.

#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;
use flakeid_core::{Error, ErrorKind, Layout, Overflow, Rollback};
use flakeid_protocol::MemoryStore;
use std::time::Duration;

fn set(options: &[(&str, &str)]) -> Result<LeaseBuilder, Error> {
    let store = MemoryStore::new();
    let open = move || Ok(Box::new(store.clone()) as _);
    let mut builder = LeaseBuilder::from_store(Layout::TWITTER, open);
    for (name, text) in options {
        builder = builder.set(name, text)?;
    }
    Ok(builder)
}

#[test]
fn generator_options_are_equal_whether_set_by_name_or_by_method() {
    let by_name = set(&[
        ("namespace", "orders"),
        ("nodes_from", "8"),
        ("nodes_to", "15"),
        ("node_count", "4"),
        ("ttl_ms", "30000"),
        ("window_ms", "8000"),
        ("max_wait_ms", "500"),
        ("overflow", "borrow"),
        ("rollback", "wait"),
        ("sequence_mask", "255"),
        ("sequence_start", "3"),
        ("reuse", "false"),
        ("clock", "coarse"),
    ]);
    let by_name = by_name.unwrap();
    let by_method = set(&[])
        .unwrap()
        .namespace("orders")
        .node_range(8..=15)
        .node_count(4)
        .ttl(Duration::from_secs(30))
        .window(Duration::from_secs(8))
        .max_wait(Duration::from_millis(500))
        .overflow(Overflow::Borrow)
        .rollback(Rollback::Wait)
        .sequence_mask(255)
        .sequence_start(3)
        .reuse(false)
        .clock(NamedClock::Coarse);
    assert_eq!(by_name.options, by_method.options);
    assert_eq!(by_name.clock.system, by_method.clock.system);
    assert_ne!(by_name.options, set(&[]).unwrap().options);
}

#[test]
fn durations_are_rounded_up_to_whole_milliseconds() {
    let half = |ms: u64| Duration::from_micros(ms * 1_000 + 500);
    let builder = set(&[]).unwrap().window(half(2)).ttl(half(9));
    assert_eq!((builder.options.window_ms, builder.options.ttl_ms), (3, 10));
}

#[test]
fn node_can_be_set_as_datacenter_and_worker() {
    let leased = set(&[("datacenter", "3"), ("worker", "4")]).unwrap().open().unwrap();
    assert_eq!(leased.node(), Some(3 * 32 + 4));
    let refused = set(&[("datacenter", "3"), ("name", "a")]).unwrap().open().unwrap_err();
    assert!(refused.to_string().contains("give only one of these"), "{refused}");
}

#[test]
fn invalid_lease_options_are_rejected_with_the_reason() {
    for (option, kind, said) in [
        (("node", "1024"), ErrorKind::FieldOutOfRange, "node 1024"),
        (("nodes_to", "1024"), ErrorKind::FieldOutOfRange, "nodes_to 1024"),
        (("node_count", "-1"), ErrorKind::FieldOutOfRange, "must be from 1 to 1024"),
        (("reuse", "maybe"), ErrorKind::InvalidOption, "true or false"),
        (("clock", "sun"), ErrorKind::InvalidOption, "system, coarse or gated"),
        (
            ("url", "x"),
            ErrorKind::InvalidOption,
            "no option \"url\"; the options are namespace: text, ",
        ),
    ] {
        let error = set(&[option]).and_then(LeaseBuilder::open).map(drop).unwrap_err();
        assert_eq!(error.kind(), kind);
        assert!(error.to_string().contains(said), "{error}");
    }
}
