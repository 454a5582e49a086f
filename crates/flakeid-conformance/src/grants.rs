//! Tests of grants: their windows, their expiry according to the store's clock, and the reuse of
//! nodes.

use std::time::Duration;

use flakeid_core::Layout;

use super::StoreUnderTest;
use super::fixture::{Fixture, fresh_name, now, renewal};
use flakeid_protocol::{Acquire, Namespace, Refusal};

/// Checks that the first grant of a node starts at the current tick and has the requested window.
pub fn first_grant_starts_at_the_current_tick(under_test: &dyn StoreUnderTest) {
    let fixture = Fixture::new(under_test, "first-grant");
    let mut client = fixture.client();
    let before = fixture.tick();
    let grant = client.grant(&fixture.request());
    let after = fixture.tick();
    assert!((before..=after).contains(&grant.start), "{before} {grant:?} {after}");
    assert_eq!(grant.fence, grant.start + 10_000);
    assert_eq!(grant.max_ahead_ms, 20_000);
    assert!(grant.node <= fixture.namespace.layout.max_node());

    let listing = client.list();
    assert_eq!(grant.expires, listing.rows[0].acquired + 60_000);
    assert!((listing.rows[0].acquired - now()).abs() < 5_000, "{listing:?}");
    fixture.check_confirmed();
}

/// Checks that the store refuses windows that are shorter than two ticks or longer than the namespace allows.
pub fn acquire_refuses_windows_out_of_bounds(under_test: &dyn StoreUnderTest) {
    let fixture = Fixture::new(under_test, "window-bounds");
    let mut client = fixture.client();
    for window_ms in [0, 1, 20_001, u64::MAX] {
        let refused = client.acquire(&Acquire { window_ms, ..fixture.request() });
        let expected = Refusal::Window { asked_ms: window_ms, min_ms: 2, max_ms: 10_000 };
        assert_eq!(refused, Err(expected));
    }
    assert!(client.list().rows.is_empty());
    for window_ms in [2, 10_000] {
        let grant = client.grant(&Acquire { window_ms, ..fixture.request() });
        assert_eq!(grant.fence - grant.start, window_ms);
    }
    fixture.check_confirmed();
}

/// Checks that the last window ends with the last tick of the layout, and that later acquire requests are refused.
pub fn last_window_ends_at_the_horizon(under_test: &dyn StoreUnderTest) {
    // The layout has 2^36 ticks of 1 ms (about two years). The last tick ends 4 s from now.
    let epoch = now() - (1 << 36) + 4_000;
    let layout: Layout = format!("t36.n10.s12@{epoch}/1ms").parse().unwrap();
    let wanted = Namespace::new(&fresh_name("ticks-run-out"), layout);
    let fixture = Fixture::with_namespace(under_test, &wanted);
    let mut client = fixture.client();
    let end = layout.max_tick() + 1;

    let grant = client.grant(&fixture.request_node(1));
    assert_eq!(grant.fence, end);
    assert_eq!(client.renew(&renewal(&grant, u64::MAX)).unwrap().fence, end);

    // Node 1 has no ticks left. The other nodes can still be granted until the clock reaches the horizon.
    assert_eq!(client.acquire(&fixture.request_node(1)), Err(Refusal::Horizon));
    client.grant(&fixture.request_node(2));
    client.wait_until(layout.horizon() + 1_000);
    assert_eq!(client.acquire(&fixture.request_node(3)), Err(Refusal::Horizon));
    fixture.check_confirmed();
}

/// Checks that a lease expires according to the store's clock, and that the node's next grant starts at or above the
/// old fence.
pub fn nodes_expire_by_the_stores_clock(under_test: &dyn StoreUnderTest) {
    let fixture = Fixture::new(under_test, "expiry");
    let mut client = fixture.client();
    let only_node_3 = Acquire { from: 3, to: 3, ..fixture.request() };
    let old = client.grant(&Acquire { ttl_ms: 3_000, ..only_node_3.clone() });
    let held = client.acquire(&only_node_3);
    let Err(Refusal::NoFreeNode { held: 1, hot: 0, next_free_in_ms: Some(in_ms), .. }) = held
    else {
        panic!("{held:?}");
    };
    assert!((1..=3_000).contains(&in_ms), "{in_ms}");

    client.wait_until(old.expires);
    let new = client.grant_in_time(&only_node_3);
    assert!(new.start >= old.fence, "{old:?} {new:?}");
    assert_eq!(client.renew(&renewal(&old, old.fence + 10)), Err(Refusal::FencedOff));
    fixture.check_confirmed();
}

/// Checks that the store grants unused nodes first, and then used nodes in ascending order of their fences. Nodes with
/// the same fence are granted in ascending order of their numbers.
pub fn coldest_node_is_reused_first(under_test: &dyn StoreUnderTest) {
    let fixture = Fixture::new(under_test, "coldest");
    let mut client = fixture.client();
    let range = Acquire { from: 5, to: 8, ..fixture.request() };
    let grants: Vec<_> = (0..4).map(|_| client.grant(&range)).collect();
    assert_eq!(grants.iter().map(|grant| grant.node).collect::<Vec<_>>(), [5, 6, 7, 8]);
    // Nodes 6 and 8 have the same fence, and the other nodes have higher fences.
    let cold = grants.iter().map(|grant| grant.start).max().unwrap() + 50;
    for (grant, used_until) in grants.iter().zip([cold + 500, cold, cold + 900, cold]) {
        client.release(grant, used_until);
    }
    let order: Vec<_> = (0..4).map(|_| client.grant(&range).node).collect();
    assert_eq!(order, [6, 8, 5, 7]);

    // The rotation determines the node at which the search for an unused node begins.
    let rotated = Acquire { from: 20, to: 29, rotation: 1_000_003, ..fixture.request() };
    assert_eq!(client.grant(&rotated).node, 23);
    assert_eq!(client.grant(&Acquire { to: 23, ..rotated.clone() }).node, 20);
    fixture.check_confirmed();
}

/// Checks that a request for any node gets a window that starts after the ticks that the process has already used.
pub fn grant_starts_after_ticks_the_process_used(under_test: &dyn StoreUnderTest) {
    let fixture = Fixture::new(under_test, "used-ticks");
    let mut client = fixture.client();
    let after = fixture.tick() + 5_000;
    let grant = client.grant(&Acquire { after, ..fixture.request() });
    assert_eq!(grant.start, after);

    let hour = Duration::from_secs(3_600).as_millis() as u64;
    let refused = client.acquire(&Acquire { after: after + hour, ..fixture.request() });
    let Err(Refusal::FenceInFuture { retry_after_ms }) = refused else { panic!("{refused:?}") };
    assert!((hour - 20_000..=hour).contains(&retry_after_ms), "{retry_after_ms}");
    assert_eq!(client.list().rows.len(), 1);
    fixture.check_confirmed();
}
