//! The system's clocks: what they read, that generators on any of them share a node, their names.

#![allow(clippy::unwrap_used)]

use std::thread;

use flakeid_core::{
    Clock, CoarseClock, ErrorKind, GatedClock, Generator, Id, Layout, NamedClock, SystemClock,
};

#[test]
fn a_gated_reading_lies_between_two_exact_ones() {
    // On every thread, because each processor has a counter of its own. A clock that is set during
    // the test may fail it.
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
fn the_gate_is_for_linux_on_x86_64_only() {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        assert!(!GatedClock.is_gated());
    }
    assert_eq!(GatedClock.is_gated(), GatedClock.is_gated(), "found out once");
}

#[test]
fn generators_on_all_clocks_share_their_node() {
    let generators = NamedClock::ALL
        .map(|clock| Generator::builder(Layout::TWITTER).node(911).clock(clock).build().unwrap());
    let mut last = Id::default();
    for generator in generators.iter().cycle().take(60_000) {
        let id = generator.next_id().unwrap();
        assert!(id > last, "I8 across clocks");
        last = id;
    }
}

#[test]
fn ids_of_a_gated_generator_are_distinct_and_never_ahead() {
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
            assert!(ids.is_sorted_by(|a, b| a < b), "I8");
            ids
        };
        let threads = [(); 3].map(|()| scope.spawn(take));
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    let mut distinct = ids.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), ids.len(), "I1");
}

#[test]
fn clocks_go_by_their_names() {
    for clock in NamedClock::ALL {
        assert_eq!(clock.to_string().parse::<NamedClock>().unwrap(), clock);
        assert_eq!(NamedClock::from_any(&clock), Some(clock));
        assert!((SystemClock.unix_ms() - clock.unix_ms()).abs() < 1_000);
    }
    assert_eq!(NamedClock::default(), NamedClock::Gated);
    assert_eq!(NamedClock::from_any(&SystemClock), Some(NamedClock::System));
    assert_eq!(NamedClock::from_any(&CoarseClock), Some(NamedClock::Coarse));
    assert_eq!(NamedClock::from_any(&GatedClock), Some(NamedClock::Gated));
    assert_eq!(NamedClock::from_any(&7), None);
    let error = "exact".parse::<NamedClock>().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidOption);
    let text = error.to_string();
    assert!(text.contains("clock: must be system, coarse or gated, not \"exact\""), "{text}");
}
