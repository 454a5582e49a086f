//! Tests of clients whose clocks are wrong.

use super::StoreUnderTest;
use super::fixture::{Fixture, fresh_name, now, renewal};
use flakeid_core::Layout;
use flakeid_protocol::{Acquire, Bounds, Grant, Namespace, Refusal, Renew};

/// The instant 2080-01-01, in Unix milliseconds.
const FAR: i64 = 3_471_292_800_000;

/// Checks that the store refuses acquire requests from clients whose clocks show 2080. The store must also refuse
/// renewals that request a tick in 2080, and its contents must remain unchanged.
pub fn clock_in_2080_is_refused_without_changes(under_test: &dyn StoreUnderTest) {
    let fixture = Fixture::new(under_test, "poison");
    let layout = fixture.namespace.layout;
    let mut client = fixture.client();
    let grant = client.grant(&fixture.request_node(1));
    let before = client.list();

    for request in [fixture.request(), fixture.request_node(1), fixture.request_name("late")] {
        let refused = client.acquire(&Acquire { now: FAR, ..request });
        let Err(Refusal::Skew { by_ms, max_ms: 1_000 }) = refused else { panic!("{refused:?}") };
        assert!((by_ms - (FAR - now())).abs() < 60_000, "{by_ms}");
    }
    let far_tick = layout.tick_at(FAR).unwrap();
    let refused = client.renew(&renewal(&grant, far_tick + 10_000));
    let Err(Refusal::TooFarAhead { by_ms }) = refused else { panic!("{refused:?}") };
    assert!(by_ms > 1_000_000_000, "{by_ms}");

    let after = client.list();
    assert_eq!(after.rows, before.rows);
    assert_eq!(after.namespace, before.namespace);
    // The refused renewal must not have replaced the token.
    client.extend(&grant, grant.fence + 10);
    fixture.check_confirmed();
}

/// Checks that the store refuses acquire requests from clients whose clocks are far behind, because the windows would
/// start long before the present.
pub fn acquire_refuses_a_clock_in_1980(under_test: &dyn StoreUnderTest) {
    let fixture = Fixture::new(under_test, "dead-battery");
    let mut client = fixture.client();
    for now in [0, 315_532_800_000, now() - 3_600_000, i64::MIN] {
        let refused = client.acquire(&Acquire { now, ..fixture.request() });
        assert!(matches!(refused, Err(Refusal::Skew { by_ms: ..0, .. })), "{refused:?}");
    }
    assert!(client.list().rows.is_empty());
    fixture.check_confirmed();
}

/// Checks that clients whose clocks are off by 0.9 × `max_skew` are granted leases with disjoint windows.
pub fn clients_within_max_skew_are_granted_leases(under_test: &dyn StoreUnderTest) {
    const MAX_SKEW_MS: u64 = 10_000;
    // A tenth of `max_skew` remains for a store's clock that shows only whole seconds, and for a delayed request.
    const ERROR_MS: i64 = 9_000;
    let wanted = Namespace::new(&fresh_name("skew"), Layout::TWITTER);
    let bounds = Bounds { max_skew_ms: MAX_SKEW_MS, ..wanted.bounds };
    let bounds = bounds.with_usual_quiet(&wanted.layout);
    let mut fixture = Fixture::with_namespace(under_test, &Namespace { bounds, ..wanted });
    for error in [ERROR_MS, -ERROR_MS, ERROR_MS, -ERROR_MS] {
        fixture.clock_error_ms = error;
        let mut client = fixture.client();
        let only = Acquire { window_ms: 100, ..fixture.request_node(2) };
        let grant = client.grant(&only);
        let tick = fixture.namespace.layout.tick_at(only.now).unwrap();
        assert!(grant.start >= tick, "{grant:?}");
        // The latest tick up to which a client with this clock may renew its lease.
        let reach = fixture.namespace.layout.tick_at(only.now + 10_000).unwrap();
        let renewal = Renew { now: fixture.now(), ..renewal(&grant, reach.max(grant.fence)) };
        client.renew(&renewal).unwrap();
        client.release(&Grant { token: renewal.next, ..grant }, grant.start + 50);
    }
    fixture.check_confirmed();
}
