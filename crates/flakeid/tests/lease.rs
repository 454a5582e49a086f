//! Tests of leased generators on a memory store: renewals, losses, takeovers and closing.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use flakeid::{Generator, LeaseBuilder, LeaseEvent};
use flakeid_conformance::HookedStore;
use flakeid_core::{ErrorKind, Id, Layout};
use flakeid_protocol::store::Fault;
use flakeid_protocol::{Acquire, Identity, MemoryStore, State, Token, operations};

const LAYOUT: Layout = Layout::TWITTER;

fn on(store: &MemoryStore) -> LeaseBuilder {
    let store = store.clone();
    LeaseBuilder::from_store(LAYOUT, move || Ok(Box::new(store.clone())))
}

fn node_of(id: Id) -> u64 {
    LAYOUT.unpack(id).unwrap().node
}

fn tick_of(id: Id) -> u64 {
    LAYOUT.tick_at(LAYOUT.unpack(id).unwrap().unix_ms).unwrap()
}

fn assert_increasing(ids: &[Id]) {
    assert!(ids.is_sorted_by(|a, b| a < b), "IDs of one generator must increase");
}

fn rows(store: &MemoryStore) -> Vec<flakeid_protocol::Row> {
    operations::list(&mut store.clone(), "default").unwrap().rows
}

/// Takes a node over from its holder, as a process with a fixed node would. Returns the first tick of the new grant.
fn take_over(store: &MemoryStore, node: u64) -> u64 {
    let now = flakeid_core::Clock::unix_ms(&flakeid_core::SystemClock);
    let request = Acquire {
        identity: Identity::Node(node),
        to: 1023,
        ..Acquire::any_node(LAYOUT, Token::from_bits(u128::from(now.cast_unsigned())), now)
    };
    // Without a release by an operator, the node would become free only after its lease had expired.
    let release = operations::Repair::ReleaseNow;
    operations::repair(&mut store.clone(), "default", node, release).unwrap();
    operations::acquire(&mut store.clone(), "default", &request).unwrap().start
}

#[test]
fn lease_issues_increasing_ids_and_releases_its_node() {
    let store = MemoryStore::new();
    let generator = on(&store).open().unwrap();
    let ids = generator.next_ids(10_000).unwrap();
    assert_increasing(&ids);
    let node = generator.node().unwrap();
    assert!(ids.iter().all(|id| node_of(*id) == node));
    let held = rows(&store);
    assert_eq!(held.len(), 1);
    assert_eq!((held[0].node, held[0].state), (node, State::Held));
    assert!(ids.iter().all(|id| tick_of(*id) < held[0].fence), "I2");
    generator.close();
    let free = rows(&store);
    assert_eq!(free[0].state, State::Free);
    assert_eq!(free[0].fence, tick_of(ids[ids.len() - 1]) + 1, "the fence is after the last tick");
}

#[test]
fn close_at_fence_does_not_lower_the_fence() {
    let store = MemoryStore::new();
    let generator = on(&store).open().unwrap();
    let last = tick_of(generator.next_id().unwrap());
    let held = rows(&store);
    flakeid::Lease::of(&generator).unwrap().close_at_fence();
    assert_eq!(generator.next_id().unwrap_err().kind(), ErrorKind::Closed);
    let free = rows(&store);
    assert_eq!((free[0].state, free[0].fence), (State::Free, held[0].fence));
    assert!(free[0].fence > last + 1, "the fence is still after the last ID");
    let next = on(&store).identity(Identity::Node(free[0].node)).open().unwrap();
    assert_eq!(
        flakeid::Lease::of(&next).unwrap().status().start,
        free[0].fence,
        "the next grant starts at the fence"
    );
}

#[test]
fn two_leases_get_distinct_nodes() {
    let store = MemoryStore::new();
    let (one, other) = (on(&store).open().unwrap(), on(&store).open().unwrap());
    assert_ne!(one.node(), other.node());
}

#[test]
fn short_windows_are_renewed_while_ids_are_taken() {
    let store = MemoryStore::new();
    let generator = on(&store).window(Duration::from_millis(60)).open().unwrap();
    let (mut ids, start) = (Vec::new(), Instant::now());
    while start.elapsed() < Duration::from_secs(1) {
        ids.push(generator.next_id().unwrap());
        thread::sleep(Duration::from_micros(300));
    }
    assert_increasing(&ids);
    let lease = flakeid::Lease::of(&generator).unwrap().status();
    assert!(lease.renewals >= 10, "{lease:?}");
    assert_eq!(lease.grants, 1, "{lease:?}");
    assert_eq!(lease.last_error, None);
}

#[test]
fn lease_issues_ids_during_an_outage_until_its_window_ends() {
    let off = Arc::new(AtomicBool::new(false));
    let events = Arc::new(Mutex::new(Vec::new()));
    let (switch, log) = (Arc::clone(&off), Arc::clone(&events));
    let store = MemoryStore::new();
    let generator = LeaseBuilder::from_store(LAYOUT, move || {
        let off = Arc::clone(&switch);
        Ok(HookedStore::connect(&store, move || {
            let is_off = off.load(Ordering::SeqCst);
            if is_off { Err(Fault::Unavailable("switched off".into())) } else { Ok(()) }
        }))
    })
    .window(Duration::from_millis(300))
    .max_wait(Duration::from_millis(100))
    .observer(move |event| log.lock().unwrap().push(event.clone()))
    .open()
    .unwrap();
    let mut ids = vec![generator.next_id().unwrap()];
    off.store(true, Ordering::SeqCst);
    let error = loop {
        match generator.next_id() {
            Ok(id) => ids.push(id),
            Err(error) => break error,
        }
        thread::sleep(Duration::from_millis(1));
    };
    assert_eq!(error.kind(), ErrorKind::LeaseExpired);
    assert!(error.to_string().contains("switched off"), "{error}");
    assert!(ids.len() > 50, "too few IDs without the store: {}", ids.len());
    let again = generator.try_next_id().unwrap_err();
    assert_eq!(again.kind(), ErrorKind::LeaseExpired);
    off.store(false, Ordering::SeqCst);
    let deadline = Instant::now() + Duration::from_secs(10);
    let back = loop {
        match generator.next_id() {
            Ok(id) => break id,
            Err(error) => assert_eq!(error.kind(), ErrorKind::LeaseExpired),
        }
        assert!(Instant::now() < deadline, "no ID although the store is available");
    };
    ids.push(back);
    assert_increasing(&ids);
    // A new call sees the renewed window before the observer is called.
    while !events.lock().unwrap().contains(&LeaseEvent::StoreFound) {
        assert!(Instant::now() < deadline, "the return of the store is not reported");
        thread::sleep(Duration::from_millis(1));
    }
    let events = events.lock().unwrap();
    let lost = events.iter().position(|e| matches!(e, LeaseEvent::StoreLost { .. })).unwrap();
    let found = events.iter().position(|e| *e == LeaseEvent::StoreFound).unwrap();
    assert!(lost < found);
    let losses = events.iter().filter(|e| matches!(e, LeaseEvent::StoreLost { .. })).count();
    assert_eq!(losses, 1, "a loss is reported once");
}

/// Checks that calls of the observer do not wait for the keeper, on whose thread the observer runs.
#[test]
fn observer_gets_an_error_and_closes_the_lease_without_waiting() {
    const MAX_WAIT: Duration = Duration::from_secs(20);
    let store = MemoryStore::new();
    let shared = Arc::new(OnceLock::<Generator>::new());
    let (told, calls) = mpsc::channel();
    let used = Arc::clone(&shared);
    let generator = on(&store)
        .window(Duration::from_millis(300))
        .max_wait(MAX_WAIT)
        .observer(move |_| {
            let Some(generator) = used.get() else { return };
            // While the observer runs, the keeper cannot renew the window.
            let expired = Some(ErrorKind::LeaseExpired);
            while generator.try_next_id().err().map(|error| error.kind()) != expired {}
            let begun = Instant::now();
            let error = generator.next_id().unwrap_err();
            generator.close();
            told.send((error.kind(), begun.elapsed())).unwrap();
        })
        .open()
        .unwrap();
    shared.set(generator.clone()).unwrap();
    let (kind, waited) = calls.recv_timeout(2 * MAX_WAIT).unwrap();
    assert_eq!(kind, ErrorKind::LeaseExpired);
    // Without the exception for the observer, `close` alone takes a second.
    assert!(waited < Duration::from_secs(1), "the calls waited for {waited:?}");
    // The keeper releases the node after the observer has returned.
    generator.close();
    assert_eq!(rows(&store)[0].state, State::Free);
}

#[test]
fn fenced_off_holder_continues_on_another_node() {
    let store = MemoryStore::new();
    let generator = on(&store).window(Duration::from_millis(200)).open().unwrap();
    let first = generator.node().unwrap();
    let mut ids = generator.next_ids(100).unwrap();
    let stolen_from = take_over(&store, first);
    let deadline = Instant::now() + Duration::from_secs(5);
    while generator.node() == Some(first) && Instant::now() < deadline {
        ids.push(generator.next_id().unwrap());
        thread::sleep(Duration::from_millis(1));
    }
    assert_ne!(generator.node(), Some(first));
    ids.extend(generator.next_ids(100).unwrap());
    assert_increasing(&ids);
    let of_first = ids.iter().filter(|id| node_of(**id) == first);
    assert!(
        of_first.map(|id| tick_of(*id)).all(|tick| tick < stolen_from),
        "all ticks are below the new grant"
    );
    assert_eq!(flakeid::Lease::of(&generator).unwrap().status().grants, 2);
}

#[test]
fn fixed_node_lease_expires_at_the_end_of_its_window_after_a_takeover() {
    let store = MemoryStore::new();
    let generator = on(&store)
        .identity(Identity::Node(5))
        .window(Duration::from_millis(200))
        .max_wait(Duration::from_millis(50))
        .open()
        .unwrap();
    assert_eq!(node_of(generator.next_id().unwrap()), 5);
    let start = take_over(&store, 5);
    let deadline = Instant::now() + Duration::from_secs(5);
    let error = loop {
        match generator.next_id() {
            Ok(id) => assert!(tick_of(id) < start),
            Err(error) => break error,
        }
        assert!(Instant::now() < deadline);
        thread::sleep(Duration::from_millis(1));
    };
    assert_eq!(error.kind(), ErrorKind::LeaseExpired);
    assert!(flakeid::Lease::of(&generator).unwrap().status().fenced_off);
    thread::sleep(Duration::from_millis(100));
    assert_eq!(generator.next_id().unwrap_err().kind(), ErrorKind::LeaseExpired);
    assert_eq!(rows(&store)[0].grant, 2, "the holder must not take the node over again");
}

#[test]
fn ids_of_a_fixed_node_increase_across_a_restore() {
    let store = MemoryStore::new();
    let mut namespace = flakeid_protocol::Namespace::new("default", LAYOUT);
    namespace.bounds.max_window_ms = 200;
    namespace.bounds.max_ahead_ms = 200;
    namespace.bounds.max_skew_ms = 100;
    namespace.bounds.quiet_ms = 401;
    operations::init(&mut store.clone(), &namespace).unwrap();
    let older = store.backup();
    let generator = on(&store)
        .identity(Identity::Node(3))
        .window(Duration::from_millis(100))
        .max_wait(Duration::from_secs(5))
        .open()
        .unwrap();
    let mut ids = generator.next_ids(100).unwrap();
    store.restore(older);
    let start = Instant::now();
    while flakeid::Lease::of(&generator).unwrap().status().grants < 2
        && start.elapsed() < Duration::from_secs(10)
    {
        ids.push(generator.next_id().unwrap());
    }
    ids.extend(generator.next_ids(10).unwrap());
    assert_increasing(&ids);
    assert_eq!(
        flakeid::Lease::of(&generator).unwrap().status().grants,
        2,
        "{:?}",
        flakeid::Lease::of(&generator).unwrap().status()
    );
    assert!(operations::list(&mut store.clone(), "default").unwrap().namespace.floor > 0);
}

/// The store grants nothing for longer than `max_wait` and the time to connect.
#[test]
fn opening_waits_while_a_restarted_store_grants_nothing() {
    let store = MemoryStore::new();
    let mut namespace = flakeid_protocol::Namespace::new("default", LAYOUT);
    namespace.bounds.quiet_ms = 15_000;
    operations::init(&mut store.clone(), &namespace).unwrap();
    store.restore(store.backup());
    let open = || on(&store).max_wait(Duration::from_millis(1));
    for shorter in [Duration::ZERO, Duration::from_secs(5)] {
        let begun = Instant::now();
        let refused = open().open_wait(shorter).open().unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::FenceInFuture);
        assert!(refused.to_string().contains("it grants again in 1"), "{refused}");
        assert!(begun.elapsed() < Duration::from_secs(4), "opening must fail at once");
    }
    let waits = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&waits);
    let generator = open().observer(move |event| {
        seen.lock().unwrap().extend(event.error().and_then(flakeid::Error::retry_after));
    });
    let id = generator.open().unwrap().next_id().unwrap();
    let waits = waits.lock().unwrap();
    assert!(waits.iter().is_sorted_by(|a, b| a > b), "{waits:?}");
    assert!(tick_of(id) > 0 && !waits.is_empty());
}

#[test]
fn threads_get_unique_ids_across_many_node_changes() {
    let store = MemoryStore::new();
    let generator = on(&store).window(Duration::from_millis(50)).open().unwrap();
    let stop = AtomicBool::new(false);
    let all: Vec<Vec<Id>> = thread::scope(|scope| {
        let workers: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let mut ids = Vec::new();
                    while !stop.load(Ordering::Relaxed) {
                        ids.extend(generator.next_ids(50).unwrap());
                        thread::sleep(Duration::from_micros(200));
                    }
                    ids
                })
            })
            .collect();
        for _ in 0..15 {
            thread::sleep(Duration::from_millis(60));
            take_over(&store, generator.node().unwrap());
        }
        stop.store(true, Ordering::Relaxed);
        workers.into_iter().map(|worker| worker.join().unwrap()).collect()
    });
    for ids in &all {
        assert_increasing(ids);
    }
    let mut ids = all.concat();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "I1");
    assert!(
        flakeid::Lease::of(&generator).unwrap().status().grants >= 5,
        "{:?}",
        flakeid::Lease::of(&generator).unwrap().status()
    );
}

#[test]
fn open_returns_permanent_errors_without_waiting() {
    let store = MemoryStore::new();
    let _first = on(&store).open().unwrap();
    let timeout = Duration::from_secs(30);
    let other = store.clone();
    let start = Instant::now();
    let error = LeaseBuilder::from_store(Layout::FLAKEID, move || Ok(Box::new(other.clone())))
        .max_wait(timeout)
        .open()
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StoreRejected);
    let error = on(&store).node_range(7..=7).max_wait(timeout).open().map(|_held| {
        let error = on(&store).node_range(7..=7).max_wait(Duration::from_millis(100)).open();
        error.unwrap_err()
    });
    assert_eq!(error.unwrap().kind(), ErrorKind::NoFreeNode);
    let error = LeaseBuilder::from_store(LAYOUT, || Err(Fault::Rejected("password".into())))
        .max_wait(timeout)
        .open()
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StoreRejected);
    assert!(start.elapsed() < timeout, "open must not wait");
}

#[test]
fn invalid_options_are_refused_before_the_store_is_opened() {
    let unopened = || LeaseBuilder::from_store(LAYOUT, || panic!("the store was opened"));
    let (first, last) = (5, 4);
    for (builder, kind) in [
        (unopened().namespace(""), ErrorKind::InvalidOption),
        (unopened().namespace("a b"), ErrorKind::InvalidOption),
        (unopened().identity(Identity::Node(1024)), ErrorKind::FieldOutOfRange),
        (unopened().identity(Identity::Name(String::new())), ErrorKind::InvalidOption),
        (unopened().node_range(first..=last), ErrorKind::FieldOutOfRange),
        (unopened().node_range(0..=1024), ErrorKind::FieldOutOfRange),
        (unopened().window(Duration::from_millis(1)), ErrorKind::FieldOutOfRange),
        (unopened().ttl(Duration::ZERO), ErrorKind::FieldOutOfRange),
        (unopened().sequence_mask(5), ErrorKind::InvalidOption),
        (unopened().rollback(flakeid_core::Rollback::ClockSequence), ErrorKind::InvalidOption),
    ] {
        assert_eq!(builder.open().unwrap_err().kind(), kind);
    }
}
