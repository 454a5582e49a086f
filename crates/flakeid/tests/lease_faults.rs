//! Tests of a lease during faults: lost responses, clocks that jump, stores and clocks that panic, and slow stores.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use flakeid::{LeaseBuilder, LeaseEvent};
use flakeid_conformance::HookedStore;
use flakeid_core::{Clock, ErrorKind, Id, Layout, ManualClock, Overflow, SystemClock};
use flakeid_protocol::store::Fault;
use flakeid_protocol::{Identity, MemoryStore, Namespace, State, operations};

/// An action to run before a transaction. If the action returns an error, the error replaces the transaction's
/// result.
type Step = Box<dyn FnOnce() -> Result<(), Fault> + Send>;

/// The steps to run before the next transactions, one for each transaction. Later transactions run without a step.
#[derive(Clone, Default)]
struct Script(Arc<Mutex<VecDeque<Step>>>);

impl Script {
    fn then(&self, step: impl FnOnce() -> Result<(), Fault> + Send + 'static) -> &Self {
        self.0.lock().unwrap().push_back(Box::new(step));
        self
    }

    fn answers(&self) -> &Self {
        self.then(|| Ok(()))
    }

    fn fails(&self) -> &Self {
        self.then(|| Err(Fault::Unavailable("the response was lost".into())))
    }
}

fn on(layout: Layout, store: &MemoryStore, script: &Script) -> LeaseBuilder {
    let (store, script) = (store.clone(), script.clone());
    LeaseBuilder::from_store(layout, move || {
        let script = script.clone();
        Ok(HookedStore::connect(&store, move || {
            let step = script.0.lock().unwrap().pop_front();
            step.map_or(Ok(()), |step| step())
        }))
    })
}

fn eventually(what: &str, mut done: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !done() {
        assert!(Instant::now() < deadline, "timeout while waiting for {what}");
        thread::sleep(Duration::from_millis(1));
    }
}

/// 2026-11-22 in Unix milliseconds. The tests that use this time have layouts with one-millisecond ticks.
const START_MS: i64 = 1_795_305_600_000;

/// Returns a layout with four IDs per node and tick.
fn small_layout() -> Layout {
    "t41.n10.s2@1288834974657/1ms".parse().unwrap()
}

/// Checks that the ticks in which a node has issued IDs are not granted again after the lease has lost its other node.
///
/// The lease uses up the windows of both nodes. It then loses one node while the renewal of the other node is waiting
/// for the response. The window of the replacement node therefore starts above the confirmed window of the remaining
/// node. When the renewal is confirmed, `at_confirmation` runs, and no generator can be created.
fn loses_one_of_two_nodes(window: Duration, at_confirmation: impl FnOnce(&ManualClock)) {
    let layout = small_layout();
    let clock = ManualClock::new(START_MS);
    // The store's clock does not advance, so the store accepts a next holder whose clock is behind the first holder's
    // IDs.
    let store = MemoryStore::on(ManualClock::new(START_MS));
    let script = Script::default();
    let leased = on(layout, &store, &script)
        .node_count(2)
        .window(window)
        .overflow(Overflow::Borrow)
        .max_wait(Duration::ZERO)
        .clock(clock.clone())
        .open()
        .unwrap();
    let (lost, kept) = (leased.nodes()[0], leased.nodes()[1]);

    let (paused, resume) = (Arc::new(Mutex::new(())), clock.clone());
    let pause = paused.lock().unwrap();
    let waits = Arc::clone(&paused);
    let (asked, was_asked) = std::sync::mpsc::channel();
    script
        .then(move || {
            asked.send(()).unwrap();
            drop(waits.lock());
            Ok(())
        })
        .fails()
        .answers();
    // The keeper normally renews a window before the window is used up. To prevent an early renewal, a single call uses
    // up both windows.
    let all = usize::try_from(window.as_millis()).unwrap() * 8;
    let mut ids = leased.next_ids(all).unwrap();
    assert_eq!(ids.len(), all);
    was_asked.recv().unwrap();
    take_over(&store, layout, lost);
    let confirmed = Arc::new(Mutex::new(false));
    let noted = Arc::clone(&confirmed);
    let (go, gone) = std::sync::mpsc::channel::<()>();
    script.then(move || {
        *noted.lock().unwrap() = true;
        gone.recv().unwrap();
        Ok(())
    });
    drop(pause);
    eventually("the second renewal", || *confirmed.lock().unwrap());
    at_confirmation(&resume);
    go.send(()).unwrap();

    let used_until = layout.tick_at(START_MS).unwrap() + window.as_millis() as u64;
    let row = || {
        let rows = operations::list(&mut store.clone(), "default").unwrap().rows;
        rows.into_iter().find(|row| row.node == kept).unwrap()
    };
    // This pause gives the keeper enough time to handle the confirmation.
    thread::sleep(Duration::from_millis(200));
    let fence = row().fence;
    release_now(&store, kept);
    let next = on(layout, &store, &Script::default())
        .identity(Identity::Node(kept))
        .window(window)
        .overflow(Overflow::Borrow)
        .clock(ManualClock::new(START_MS))
        .open()
        .unwrap();
    assert!(fence >= used_until, "I3: the fence fell below the used ticks: {fence}");
    assert!(row().start >= used_until, "I3: {:?}", row());
    let others = next.next_ids(all).unwrap();
    clock.set(START_MS);
    eventually("another ID", || match leased.try_next_id() {
        Ok(id) => {
            ids.push(id);
            true
        }
        Err(_) => false,
    });
    let unique: BTreeSet<Id> = ids.iter().chain(&others).copied().collect();
    assert_eq!(unique.len(), ids.len() + others.len(), "I1");
    assert!(ids.is_sorted_by(|a, b| a < b), "I8");
}

/// Releases a node as an operator would, so that the test does not have to wait for the node's lease to expire.
fn release_now(store: &MemoryStore, node: u64) {
    let release = operations::Repair::ReleaseNow;
    operations::repair(&mut store.clone(), "default", node, release).unwrap();
}

fn take_over(store: &MemoryStore, layout: Layout, node: u64) {
    release_now(store, node);
    let by = on(layout, store, &Script::default())
        .identity(Identity::Node(node))
        .window(Duration::from_millis(2))
        .clock(ManualClock::new(START_MS));
    std::mem::forget(by.open().unwrap());
}

#[test]
fn used_ticks_are_not_granted_again_if_windows_last_two_ticks() {
    loses_one_of_two_nodes(Duration::from_millis(2), |_| {});
}

#[test]
fn next_holder_starts_above_used_ids_if_the_clock_passes_the_horizon() {
    loses_one_of_two_nodes(Duration::from_secs(1), |clock| {
        clock.set(small_layout().horizon() + 1);
    });
}

/// Checks that leases work with windows of two ticks: a window is renewed in its first tick.
#[test]
fn windows_of_two_ticks_are_renewed_before_they_end() {
    let layout: Layout = "t38.n10.s12@1288834974657/200ms".parse().unwrap();
    let clock = ManualClock::new(START_MS);
    let store = MemoryStore::on(clock.clone());
    let leased = on(layout, &store, &Script::default())
        .window(Duration::from_millis(400))
        .max_wait(Duration::ZERO)
        .clock(clock.clone())
        .open()
        .unwrap();
    let renewals = || flakeid::Lease::of(&leased).unwrap().status().renewals;
    for _ in 0..10 {
        let before = renewals();
        clock.advance(Duration::from_millis(200));
        leased.next_id().unwrap();
        eventually("a renewal", || renewals() > before);
    }
}

/// Checks that no clock error is reported if connecting to the store, or waiting for its response, takes longer than
/// `max_skew`.
#[test]
fn slow_store_is_not_reported_as_clock_skew() {
    let layout = Layout::TWITTER;
    let store = MemoryStore::new();
    let mut namespace = Namespace::new("default", layout);
    namespace.bounds.max_skew_ms = 50;
    operations::init(&mut store.clone(), &namespace).unwrap();
    let script = Script::default();
    script.then(|| {
        thread::sleep(Duration::from_millis(200));
        Ok(())
    });
    let waited = on(layout, &store, &script).open().unwrap();
    waited.next_id().unwrap();
    let slow = store.clone();
    let connected_late = LeaseBuilder::from_store(layout, move || {
        thread::sleep(Duration::from_millis(200));
        Ok(Box::new(slow.clone()))
    });
    connected_late.open().unwrap().next_id().unwrap();
}

/// Checks that a lagging clock is reported even if the store was slow to respond.
#[test]
fn lagging_clock_is_reported_despite_a_slow_store() {
    let layout = Layout::TWITTER;
    let (store, script) = (MemoryStore::new(), Script::default());
    script.then(|| {
        thread::sleep(Duration::from_millis(100));
        Ok(())
    });
    let behind = ManualClock::new(SystemClock.unix_ms() - 6_000);
    let error = on(layout, &store, &script).clock(behind).open().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ClockSkew, "{error}");
    let text = error.to_string();
    assert!(text.contains("behind"), "{text}");
}

#[test]
fn panic_in_the_store_is_reported_and_the_lease_continues() {
    let layout = Layout::TWITTER;
    let (store, poisoned) = (MemoryStore::new(), Script::default());
    // `open` makes several attempts, and every attempt must panic.
    for _ in 0..100 {
        poisoned.then(|| panic!("the connection pool is poisoned"));
    }
    let error = on(layout, &store, &poisoned).open().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StoreRejected);
    assert!(error.to_string().contains("the connection pool is poisoned"), "{error}");

    let script = Script::default();
    let events = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&events);
    let leased = on(layout, &store, &script)
        .window(Duration::from_millis(100))
        .observer(move |event| log.lock().unwrap().push(event.clone()))
        .open()
        .unwrap();
    let first = leased.next_id().unwrap();
    for _ in 0..3 {
        script.then(|| panic!("out of order"));
    }
    eventually("a failure", || flakeid::Lease::of(&leased).unwrap().status().failures >= 3);
    let renewals = flakeid::Lease::of(&leased).unwrap().status().renewals;
    eventually("a renewal after the panics", || {
        flakeid::Lease::of(&leased).unwrap().status().renewals > renewals
    });
    assert!(leased.next_id().unwrap() > first);
    let events = events.lock().unwrap();
    let is_reported = |event: &LeaseEvent| match event {
        LeaseEvent::Refused { error } => error.to_string().contains("out of order"),
        _ => false,
    };
    assert!(events.iter().any(is_reported), "{events:?}");
}

#[test]
fn error_names_an_observer_that_blocks_the_renewal() {
    let (store, script) = (MemoryStore::new(), Script::default());
    let (release, blocked) = mpsc::channel::<()>();
    let blocked = Mutex::new(blocked);
    let leased = on(Layout::TWITTER, &store, &script)
        .window(Duration::from_millis(500))
        .max_wait(Duration::from_millis(100))
        .observer(move |event| {
            if event.kind() == "renewed" {
                // The sender is dropped when the test lets the observer return.
                let _ = blocked.lock().unwrap().recv();
            }
        })
        .open()
        .unwrap();
    let mut refused = None;
    eventually("the end of the window", || {
        refused = leased.next_id().err();
        refused.is_some()
    });
    let refused = refused.unwrap();
    assert_eq!(refused.kind(), ErrorKind::LeaseExpired);
    let text = refused.to_string();
    assert!(text.contains("the function for lease events has not returned for"), "{text}");
    drop(release);
    eventually("a renewal", || leased.next_id().is_ok());
}

/// A system clock that panics while its flag is set.
#[derive(Clone, Default)]
struct Fragile(Arc<AtomicBool>);

impl Clock for Fragile {
    fn unix_ms(&self) -> i64 {
        assert!(!self.0.load(Ordering::SeqCst), "the time server is gone");
        SystemClock.unix_ms()
    }
}

#[test]
fn panic_in_the_clock_is_reported_and_the_lease_continues() {
    let clock = Fragile::default();
    let (store, script) = (MemoryStore::new(), Script::default());
    let leased = on(Layout::TWITTER, &store, &script)
        .window(Duration::from_millis(100))
        .clock(clock.clone())
        .open()
        .unwrap();
    leased.next_id().unwrap();
    clock.0.store(true, Ordering::SeqCst);
    eventually("the error", || {
        let error = flakeid::Lease::of(&leased).unwrap().status().last_error;
        error.is_some_and(|error| error.to_string().contains("the time server is gone"))
    });
    clock.0.store(false, Ordering::SeqCst);
    let renewals = flakeid::Lease::of(&leased).unwrap().status().renewals;
    eventually("a renewal", || flakeid::Lease::of(&leased).unwrap().status().renewals > renewals);
    leased.next_id().unwrap();
    leased.close();
    // On a busy machine, `close` may return before the keeper has released the node.
    eventually("the release by the keeper", || {
        let rows = operations::list(&mut store.clone(), "default").unwrap().rows;
        rows[0].state == State::Free
    });
}

/// Checks that an outage does not delay every call by `max_wait`, and that calls succeed again after the outage.
#[test]
fn calls_do_not_wait_once_renewals_have_failed_for_longer_than_max_wait() {
    const CALLS: u32 = 20;
    let (store, script, down) = (MemoryStore::new(), Script::default(), AtomicBool::new(false));
    let max_wait = Duration::from_millis(300);
    let leased = on(Layout::TWITTER, &store, &script)
        .window(Duration::from_millis(200))
        .max_wait(max_wait)
        .open()
        .unwrap();
    leased.next_id().unwrap();
    thread::scope(|scope| {
        down.store(true, Ordering::SeqCst);
        scope.spawn(|| {
            while down.load(Ordering::SeqCst) {
                if script.0.lock().unwrap().is_empty() {
                    script.fails();
                }
                thread::sleep(Duration::from_millis(1));
            }
            script.0.lock().unwrap().clear();
        });
        eventually("the end of the window", || leased.try_next_id().is_err());
        // The first failure of a renewal is more recent than `max_wait`, so this call waits.
        let error = leased.next_id().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LeaseExpired);
        thread::sleep(max_wait);
        let begun = Instant::now();
        for _ in 0..CALLS {
            let error = leased.next_id().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::LeaseExpired);
            assert!(error.retry_after().is_some(), "{error}");
            assert_eq!(leased.retry_pause(&error, Duration::ZERO), None);
        }
        assert!(begun.elapsed() < max_wait * CALLS, "each call waited");
        down.store(false, Ordering::SeqCst);
    });
    eventually("an ID after the outage", || leased.next_id().is_ok());
}

/// Checks that a caller that must not block gets a pause while a renewal may still succeed.
#[test]
fn retry_pause_lasts_until_max_wait_has_passed() {
    let (store, script) = (MemoryStore::new(), Script::default());
    let max_wait = Duration::from_millis(500);
    let leased = on(Layout::TWITTER, &store, &script)
        .window(Duration::from_millis(100))
        .max_wait(max_wait)
        .open()
        .unwrap();
    let (ended, wait) = mpsc::channel::<()>();
    script.then(move || {
        // The renewal blocks until the end of the test.
        let _ended = wait.recv();
        Ok(())
    });
    let mut error = None;
    eventually("the end of the window", || {
        error = leased.try_next_id().err();
        error.is_some()
    });
    let error = error.unwrap();
    let pause = leased.retry_pause(&error, Duration::ZERO).unwrap();
    assert!(pause <= Duration::from_millis(50), "{pause:?}");
    let pause = leased.retry_pause(&error, max_wait / 2).unwrap();
    assert!(pause <= Duration::from_millis(250), "{pause:?}");
    assert_eq!(leased.retry_pause(&error, max_wait), None);
    drop(ended);
}

/// Checks that a second call to `close`, like the first, returns only after the node has been released.
#[test]
fn second_close_waits_until_the_node_is_released() {
    let (store, script) = (MemoryStore::new(), Script::default());
    let leased = Arc::new(on(Layout::TWITTER, &store, &script).open().unwrap());
    leased.next_id().unwrap();
    let releases = Arc::new(AtomicBool::new(false));
    let begun = Arc::clone(&releases);
    script.then(move || {
        begun.store(true, Ordering::SeqCst);
        thread::sleep(Duration::from_millis(300));
        Ok(())
    });
    let first = thread::spawn({
        let leased = Arc::clone(&leased);
        move || leased.close()
    });
    eventually("the release", || releases.load(Ordering::SeqCst));
    leased.close();
    let rows = operations::list(&mut store.clone(), "default").unwrap().rows;
    assert_eq!(rows[0].state, State::Free);
    first.join().unwrap();
}

/// Checks that closing takes at most a second in total if the store does not respond.
#[test]
fn second_close_does_not_wait_again_for_a_blocked_store() {
    let (store, script) = (MemoryStore::new(), Script::default());
    let leased = on(Layout::TWITTER, &store, &script).open().unwrap();
    leased.next_id().unwrap();
    let (released, wait) = mpsc::channel::<()>();
    script.then(move || {
        // The release blocks until the end of the test.
        let _ended = wait.recv();
        Ok(())
    });
    leased.close();
    let begun = Instant::now();
    for _ in 0..10 {
        leased.close();
    }
    drop(leased);
    assert!(begun.elapsed() < Duration::from_secs(10), "each call waited for a second");
    drop(released);
}
