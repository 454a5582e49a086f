//! Tests of local handles and rings on leased nodes: when the node changes, after the lease is closed, and at the
//! limits of options.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use flakeid::{CachedGenerator, Generator, LeaseBuilder};
use flakeid_core::{Clock, ErrorKind, Id, Layout, NamedClock, Overflow, RingOptions, SystemClock};
use flakeid_protocol::{Acquire, Identity, MemoryStore, Owner, Token, operations};

fn on(store: &MemoryStore) -> LeaseBuilder {
    let store = store.clone();
    LeaseBuilder::from_store(Layout::TWITTER, move || Ok(Box::new(store.clone())))
}

/// Takes over the generator's node, as another process would after the node's holder has crashed.
fn take_over(store: &MemoryStore, generator: &Generator) {
    let node = generator.node().unwrap();
    let request = Acquire {
        identity: Identity::Node(node),
        owner: Owner { name: String::new(), host: "elsewhere".into(), pid: 1 },
        ..Acquire::any_node(
            Layout::TWITTER,
            Token::from_bits(u128::from(node) + 99),
            SystemClock.unix_ms(),
        )
    };
    // Without a release by an operator, the node would become free only after its lease had expired.
    let release = operations::Repair::ReleaseNow;
    operations::repair(&mut store.clone(), "default", node, release).unwrap();
    operations::acquire(&mut store.clone(), "default", &request).unwrap();
}

fn assert_increasing(ids: &[Id]) {
    assert!(ids.is_sorted_by(|a, b| a < b), "IDs must increase");
}

/// Takes IDs while the node is taken over twice, and checks that the IDs increase.
fn across_nodes(store: &MemoryStore, leased: &Generator, next: impl FnMut() -> Id) {
    let mut next = next;
    let mut ids: Vec<Id> = Vec::new();
    for _ in 0..2 {
        ids.extend((0..1_000).map(|_| next()));
        let before = leased.node();
        take_over(store, leased);
        for _ in 0..5_000 {
            ids.push(next());
            if leased.node() != before {
                break;
            }
            thread::sleep(Duration::from_millis(1));
        }
        assert_ne!(leased.node(), before, "the node did not change");
    }
    ids.extend((0..1_000).map(|_| next()));
    assert_increasing(&ids);
}

fn short(store: &MemoryStore) -> Generator {
    on(store).window(Duration::from_millis(100)).ttl(Duration::from_secs(1)).open().unwrap()
}

#[test]
fn local_handle_continues_on_another_node_after_a_takeover() {
    let store = MemoryStore::new();
    let leased = short(&store);
    let mut local = leased.local();
    across_nodes(&store, &leased, || local.next_id().unwrap());
}

#[test]
fn ring_continues_on_another_node_after_a_takeover() {
    let store = MemoryStore::new();
    let leased = Arc::new(short(&store));
    let cached = CachedGenerator::new(&leased).unwrap();
    across_nodes(&store, &leased, || cached.next_id().unwrap());
    assert!(cached.stats().taken > 3_000);
}

#[test]
fn direct_calls_and_rings_and_local_handles_get_unique_ids() {
    let store = MemoryStore::new();
    let leased = Arc::new(short(&store));
    let cached = CachedGenerator::new(&leased).unwrap();
    let over = AtomicBool::new(false);
    let ids: Vec<Vec<Id>> = thread::scope(|scope| {
        let mut threads: Vec<thread::ScopedJoinHandle<'_, Vec<Id>>> = Vec::new();
        for _ in 0..2 {
            threads.push(scope.spawn(|| (0..20_000).map(|_| cached.next_id().unwrap()).collect()));
        }
        threads.push(scope.spawn(|| {
            let mut local = leased.local();
            (0..20_000).map(|_| local.next_id().unwrap()).collect()
        }));
        threads.push(scope.spawn(|| (0..20_000).map(|_| leased.next_id().unwrap()).collect()));
        let (over, store, leased) = (&over, &store, &leased);
        scope.spawn(move || {
            while !over.load(Ordering::Acquire) {
                take_over(store, leased);
                thread::sleep(Duration::from_millis(50));
            }
        });
        let ids = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
        over.store(true, Ordering::Release);
        ids
    });
    for ids in &ids {
        assert_increasing(ids);
    }
    let all = ids.concat();
    assert_eq!(all.iter().collect::<HashSet<_>>().len(), all.len(), "I1");
}

#[test]
fn ring_runs_ahead_of_the_clock_up_to_max_ahead() {
    let store = MemoryStore::new();
    let leased = on(&store).overflow(Overflow::Borrow).open().unwrap();
    let cached = CachedGenerator::with(&leased, RingOptions::new().boost_power(6)).unwrap();
    // These IDs fill 64 ticks of 1 ms each. The test takes the IDs in far less time, so the ring must run ahead of the
    // clock.
    let ids: Vec<Id> = (0..64 * 4_096).map(|_| cached.next_id().unwrap()).collect();
    assert_increasing(&ids);
    let last = Layout::TWITTER.unpack(ids[ids.len() - 1]).unwrap().unix_ms;
    assert!(last <= SystemClock.unix_ms() + 20_000, "the last ID is more than max_ahead ahead");
}

#[test]
fn closed_generator_issues_no_ids() {
    let store = MemoryStore::new();
    let leased = Arc::new(short(&store));
    let other = leased.local();
    let cached = CachedGenerator::new(&leased).unwrap();
    let mut local = other;
    local.next_id().unwrap();
    cached.next_id().unwrap();
    leased.close();
    leased.close();
    let errors = [
        leased.next_id().unwrap_err(),
        leased.try_next_id().unwrap_err(),
        leased.fill(&mut [Id::default()]).unwrap_err(),
        leased.next_ids(1).unwrap_err(),
        local.next_id().unwrap_err(),
        cached.take().unwrap_err(),
        cached.next_id().unwrap_err(),
        CachedGenerator::new(&leased).unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.kind(), ErrorKind::Closed, "{error}");
    }
}

/// Checks that a closed generator issues no IDs, even if another generator still uses the shared lease.
#[test]
fn closed_generator_issues_no_ids_from_a_shared_lease() {
    let directory = tempfile::tempdir().unwrap();
    let url = format!("sqlite://{}/flakeid.db", directory.path().display());
    let open = || flakeid::lease(&url, Layout::TWITTER).unwrap().open().unwrap();
    let (closed, other) = (Arc::new(open()), open());
    assert_eq!(closed.node(), other.node(), "both share a lease");
    let mut local = closed.local();
    let cached = CachedGenerator::new(&closed).unwrap();
    local.next_id().unwrap();
    cached.next_id().unwrap();
    closed.close();
    assert_eq!((local.poll(), cached.poll()), (None, None));
    let errors = [
        closed.next_id().unwrap_err(),
        local.next_id().unwrap_err(),
        local.try_next_id().unwrap_err(),
        cached.take().unwrap_err(),
        cached.next_id().unwrap_err(),
    ];
    for error in errors {
        assert_eq!(error.kind(), ErrorKind::Closed, "{error}");
    }
    other.next_id().unwrap();
}

#[test]
fn ring_rejects_an_out_of_range_boost_power() {
    let store = MemoryStore::new();
    let error =
        CachedGenerator::with(&short(&store), RingOptions::new().boost_power(21)).unwrap_err();
    assert_eq!((error.kind(), error.field()), (ErrorKind::FieldOutOfRange, Some("boost_power")));
}

#[test]
fn leased_generator_issues_increasing_ids_with_every_clock_option() {
    let store = MemoryStore::new();
    for clock in NamedClock::ALL {
        let leased = on(&store).clock(clock).open().unwrap();
        let ids: Vec<Id> = (0..20_000).map(|_| leased.next_id().unwrap()).collect();
        assert_increasing(&ids);
        let last = Layout::TWITTER.unpack(ids[ids.len() - 1]).unwrap().unix_ms;
        assert!(last <= SystemClock.unix_ms(), "{clock} is ahead of the clock");
    }
}
