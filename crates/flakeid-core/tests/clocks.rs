//! Tests of the system clocks: their readings, their names, and generators that share a node but use different clocks.

#![allow(clippy::unwrap_used)]

use std::thread;

use flakeid_core::internal::named_clock;
use flakeid_core::{
    Clock, CoarseClock, ErrorKind, GatedClock, Generator, Id, Layout, NamedClock, SystemClock,
};

#[test]
fn gated_clock_reading_lies_between_two_system_clock_readings() {
    // The clocks are read on several threads, because each processor has its own cycle counter. The test may fail if
    // the system clock is set while the test runs.
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..300_000 {
                    let before = SystemClock.unix_ms();
                    let gated = GatedClock.unix_ms();
                    let after = SystemClock.unix_ms();
                    assert!((before..=after).contains(&gated), "{before} {gated} {after}");
                }
            });
        }
    });
}

#[test]
fn clock_gating_is_disabled_outside_linux_x86_64() {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        assert!(!GatedClock.is_gated());
    }
    assert_eq!(GatedClock.is_gated(), GatedClock.is_gated(), "the result is computed once");
}

#[test]
fn generators_of_one_node_with_different_clocks_issue_increasing_ids() {
    let generators = NamedClock::ALL
        .map(|clock| Generator::builder(Layout::TWITTER).node(911).clock(clock).build().unwrap());
    let mut last = Id::default();
    for generator in generators.iter().cycle().take(60_000) {
        let id = generator.next_id().unwrap();
        assert!(id > last, "IDs increase across clocks (I8)");
        last = id;
    }
}

#[test]
fn generator_on_a_gated_clock_issues_no_duplicate_or_future_ids() {
    let generator =
        Generator::builder(Layout::TWITTER).node(912).clock(GatedClock).build().unwrap();
    let ids: Vec<Id> = thread::scope(|scope| {
        let take = || {
            let mut ids = Vec::new();
            for _ in 0..40_000 {
                let id = generator.next_id().unwrap();
                let now = SystemClock.unix_ms();
                assert!(Layout::TWITTER.unpack(id).unwrap().unix_ms <= now);
                ids.push(id);
            }
            assert!(ids.is_sorted_by(|a, b| a < b), "IDs increase (I8)");
            ids
        };
        let threads = [(); 3].map(|()| scope.spawn(take));
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let mut distinct = ids.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), ids.len(), "IDs are unique (I1)");
}

#[test]
fn clock_names_parse_to_the_matching_clocks() {
    for clock in NamedClock::ALL {
        assert_eq!(clock.to_string().parse::<NamedClock>().unwrap(), clock);
        assert_eq!(named_clock(&clock), Some(clock));
        assert!((SystemClock.unix_ms() - clock.unix_ms()).abs() < 1_000);
    }
    assert_eq!(NamedClock::default(), NamedClock::Gated);
    assert_eq!(named_clock(&SystemClock), Some(NamedClock::System));
    assert_eq!(named_clock(&CoarseClock), Some(NamedClock::Coarse));
    assert_eq!(named_clock(&GatedClock), Some(NamedClock::Gated));
    assert_eq!(named_clock(&7), None);
    let error = "exact".parse::<NamedClock>().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidOption);
    let text = error.to_string();
    assert!(text.contains("clock: must be system, coarse or gated, not \"exact\""), "{text}");
}
