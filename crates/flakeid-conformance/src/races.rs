//! Tests in which many clients send requests at the same time.

use std::collections::BTreeSet;
use std::sync::Barrier;
use std::thread;

use flakeid_core::Layout;

use super::StoreUnderTest;
use super::fixture::{Fixture, fresh_name, renewal};
use flakeid_protocol::{Acquire, Bounds, Namespace, Refusal, Renew, operations};

/// Checks that 24 processes that create a namespace on an empty store at the same moment agree: one of them creates the
/// namespace with its own bounds, and the others get the same namespace.
pub fn simultaneous_creations_agree(under_test: &dyn StoreUnderTest) {
    const STARTS: usize = 24;
    let layout = Layout::TWITTER;
    let usual = Bounds::of(&layout);
    // The creation of the first namespace also creates the store's tables.
    for round in ["first", "second"] {
        let name = fresh_name(round);
        let together = Barrier::new(STARTS);
        let create = |window_ms: u64| {
            let bounds = Bounds { max_window_ms: window_ms, ..usual };
            let wanted = Namespace { bounds, ..Namespace::new(&name, layout) };
            let mut store = under_test.connect();
            together.wait();
            let (namespace, is_new) =
                operations::create(&mut *store, &wanted, Some(&usual)).expect("a namespace");
            assert!(!is_new || namespace.bounds == bounds, "{namespace:?}");
            (namespace, is_new)
        };
        let created: Vec<_> = thread::scope(|scope| {
            let starts: Vec<_> = (0..STARTS as u64)
                .map(|start| scope.spawn(move || create(10_000 + start)))
                .collect();
            starts.into_iter().map(|start| start.join().expect("a namespace")).collect()
        });
        let kept = operations::describe(&mut *under_test.connect(), &name).expect("a namespace");
        assert!(created.iter().all(|(namespace, _)| *namespace == kept), "{created:?}");
        assert_eq!(created.iter().filter(|(_, is_new)| *is_new).count(), 1, "{created:?}");
    }
}

/// Checks that 64 clients that acquire a node at the same moment get 64 different nodes.
pub fn simultaneous_acquires_get_distinct_nodes(under_test: &dyn StoreUnderTest) {
    const STARTS: usize = 64;
    let fixture = Fixture::new(under_test, "race");
    let together = Barrier::new(STARTS);
    let nodes: Vec<u64> = thread::scope(|scope| {
        let starts: Vec<_> = (0..STARTS)
            .map(|_| {
                scope.spawn(|| {
                    let mut client = fixture.client();
                    together.wait();
                    client.grant(&fixture.request()).node
                })
            })
            .collect();
        starts.into_iter().map(|start| start.join().expect("a node")).collect()
    });
    let distinct: BTreeSet<_> = nodes.iter().collect();
    assert_eq!(distinct.len(), STARTS, "{nodes:?}");
    fixture.check_confirmed();
}

/// Checks that no tick is granted twice when eight clients acquire, renew and release 50 nodes whose leases expire
/// immediately.
pub fn windows_under_contention_are_disjoint(under_test: &dyn StoreUnderTest) {
    let fixture = Fixture::new(under_test, "contention");
    thread::scope(|scope| {
        for worker in 0..8 {
            let fixture = &fixture;
            scope.spawn(move || {
                let mut client = fixture.client();
                for round in 0..25 {
                    let few = Acquire {
                        from: 0,
                        to: 49,
                        rotation: 0,
                        window_ms: 50,
                        ttl_ms: 1,
                        ..fixture.request()
                    };
                    let grant = client.grant_in_time(&few);
                    // The renewal may be refused, because another client may have acquired the node in the meantime.
                    let renewal = renewal(&grant, grant.fence + 20);
                    let renewal = Renew { ttl_ms: 1, ..renewal };
                    match client.renew(&renewal) {
                        Ok(_) | Err(Refusal::FencedOff) => {}
                        Err(refusal) => panic!("{refusal:?}"),
                    }
                    if (worker + round) % 5 == 0 {
                        // The longer TTL ensures that the token is still valid when the node is released.
                        let held = client.grant_in_time(&Acquire { ttl_ms: 60_000, ..few });
                        client.release(&held, held.start + 7);
                    }
                }
            });
        }
    });
    let rows = fixture.client().list().rows;
    assert!(rows.len() <= 50 && rows.iter().any(|row| row.grant > 2), "{rows:?}");
    fixture.check_confirmed();
}

/// Checks that windows are disjoint when four clients repeatedly take over one node from each other.
pub fn repeated_takeovers_get_disjoint_windows(under_test: &dyn StoreUnderTest) {
    let fixture = Fixture::new(under_test, "takeover-race");
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut client = fixture.client();
                for _ in 0..20 {
                    let only = Acquire { window_ms: 40, ..fixture.request_node(0) };
                    let grant = client.grant_in_time(&only);
                    match client.renew(&renewal(&grant, grant.fence + 10)) {
                        Ok(_) | Err(Refusal::FencedOff) => {}
                        Err(refusal) => panic!("{refusal:?}"),
                    }
                }
            });
        }
    });
    assert_eq!(fixture.client().list().rows[0].grant, 80);
    fixture.check_confirmed();
}
