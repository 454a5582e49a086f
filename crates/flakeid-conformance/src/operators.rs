//! Tests of the operations that operators run: quarantine (invariant I10), release, fast-forward, adopt and list.

use super::StoreUnderTest;
use super::fixture::{Fixture, renewal};
use flakeid_protocol::operations::{self, Repair};
use flakeid_protocol::{Acquire, Owner, Refusal, State};

/// Checks that a quarantined node is not granted until the quarantine is lifted, and that the node's holder is fenced
/// off.
pub fn quarantined_node_is_not_granted_until_lifted(under_test: &dyn StoreUnderTest) {
    let fixture = Fixture::new(under_test, "quarantine");
    let mut client = fixture.client();
    let held = client.grant(&fixture.request_node(1));
    assert!(client.repair(1, Repair::Quarantine));
    assert!(client.repair(2, Repair::Quarantine), "an unused node can be quarantined");
    let fenced_off = client.renew(&renewal(&held, held.fence + 10));
    assert_eq!(fenced_off, Err(Refusal::FencedOff));
    for node in [1, 2] {
        let refused = client.acquire(&fixture.request_node(node));
        assert_eq!(refused, Err(Refusal::Quarantined { node }));
    }
    let range = Acquire { from: 1, to: 3, ..fixture.request() };
    assert_eq!(client.grant(&range).node, 3);
    let refused = client.acquire(&range);
    assert!(
        matches!(refused, Err(Refusal::NoFreeNode { held: 1, quarantined: 2, .. })),
        "{refused:?}"
    );
    assert!(!client.repair(1, Repair::Release), "a quarantined node is not held");
    assert!(!client.repair(50, Repair::Lift), "an unused node is not quarantined");

    assert!(client.repair(1, Repair::Lift));
    assert!(!client.repair(1, Repair::Lift), "the quarantine is lifted already");
    let again = client.grant(&fixture.request_node(1));
    assert!(again.start >= held.fence, "{held:?} {again:?}");

    let max_node = fixture.namespace.layout.max_node();
    let beyond = client
        .persist(|store, name| operations::repair(store, name, max_node + 1, Repair::Quarantine));
    let (from, to) = (max_node + 1, max_node + 1);
    assert_eq!(beyond, Err(Refusal::Nodes { from, to, max_node }));
    fixture.check_confirmed();
}

/// Checks that an operator's release frees the node and fences off its holder without lowering the fence.
pub fn operator_release_fences_the_holder_off(under_test: &dyn StoreUnderTest) {
    let fixture = Fixture::new(under_test, "operator-release");
    let mut client = fixture.client();
    let held = client.grant(&fixture.request_node(8));
    assert!(client.repair(8, Repair::Release));
    assert!(!client.repair(8, Repair::Release), "the node is released already");
    assert!(!client.repair(9, Repair::Release), "an unused node is not held");
    let row = client.list().rows.remove(0);
    assert_eq!((row.state, row.token, row.fence), (State::Free, None, held.fence));
    let fenced_off = client.renew(&renewal(&held, held.fence + 10));
    assert_eq!(fenced_off, Err(Refusal::FencedOff));
    let next = client.grant(&Acquire { from: 8, to: 8, ..fixture.request() });
    assert_eq!(next.start, held.fence);
    fixture.check_confirmed();
}

/// Checks that a fast-forward fences off all holders, and that no later grant starts below the given tick.
pub fn fast_forward_raises_the_floor(under_test: &dyn StoreUnderTest) {
    let fixture = Fixture::new(under_test, "fast-forward");
    let mut client = fixture.client();
    let forward = |client: &mut super::fixture::Client<'_>, tick: u64| {
        client.persist(|store, name| operations::fast_forward(store, name, tick))
    };
    let held = [client.grant(&fixture.request_node(1)), client.grant(&fixture.request_node(2))];
    let floor = held[1].fence + 3_000;
    assert_eq!(forward(&mut client, floor).unwrap().floor, floor);
    assert_eq!(forward(&mut client, floor - 1).unwrap().floor, floor, "the floor only rises");
    for grant in held {
        let fenced_off = client.renew(&renewal(&grant, floor + 10));
        assert_eq!(fenced_off, Err(Refusal::FencedOff));
    }
    for node in [1, 7] {
        assert_eq!(client.grant(&fixture.request_node(node)).start, floor);
    }
    let max_tick = fixture.namespace.layout.max_tick();
    assert_eq!(forward(&mut client, max_tick + 1), Err(Refusal::Horizon));

    let hour = 3_600_000;
    forward(&mut client, fixture.tick() + hour).unwrap();
    let refused = client.acquire(&fixture.request());
    let Err(Refusal::FenceInFuture { retry_after_ms }) = refused else { panic!("{refused:?}") };
    assert!((hour - 60_000..=hour).contains(&retry_after_ms), "{retry_after_ms}");
    fixture.check_confirmed();
}

/// Checks that `adopt` raises the floor to at least the highest fence that the store could have granted.
pub fn adopt_raises_the_floor_above_every_fence(under_test: &dyn StoreUnderTest) {
    let fixture = Fixture::with_short_bounds(under_test, "adoption");
    let mut client = fixture.client();
    let held = client.grant(&fixture.request_node(1));
    let held = client.extend(&held, held.fence + 200);
    let adopted = client.persist(operations::adopt).unwrap();
    assert!(adopted.floor >= held.fence, "{adopted:?} {held:?}");
    let next = client.grant_in_time(&fixture.request_node(1));
    assert!(next.start >= adopted.floor, "{adopted:?} {next:?}");
    fixture.check_confirmed();
}

/// Checks that a listing returns every row exactly as it was written.
pub fn listing_returns_every_row_unchanged(under_test: &dyn StoreUnderTest) {
    let fixture = Fixture::new(under_test, "listing");
    let mut client = fixture.client();
    assert!(client.list().rows.is_empty());
    assert_eq!(client.list().namespace, fixture.namespace);
    let names = client.store.namespaces().unwrap();
    assert!(names.contains(&fixture.namespace.name), "{names:?}");

    let owner =
        Owner { name: "Łódź '\"\\ 🦀 \u{202e}x".into(), host: "h".repeat(253), pid: u32::MAX };
    let before = client.list().now;
    let request = Acquire { owner: owner.clone(), ttl_ms: 86_400_000, ..fixture.request_node(700) };
    let high = client.grant(&request);
    let low = client.grant(&fixture.request_node(3));
    let high = client.extend(&high, high.fence + 5);
    let after = client.list().now;
    let rows = client.list().rows;
    assert_eq!(rows.iter().map(|row| row.node).collect::<Vec<_>>(), [3, 700]);
    let row = &rows[1];
    assert_eq!(row.owner, owner);
    assert_eq!((row.start, row.fence, row.grant), (high.start, high.fence, 1));
    assert_eq!((row.token, row.state), (Some(high.token), State::Held));
    assert!((before..=row.renewed).contains(&row.acquired) && row.renewed <= after, "{row:?}");
    assert_eq!(row.expires, high.expires);
    assert_eq!(row.incarnation, fixture.namespace.incarnation);

    client.release(&low, low.start);
    client.grant(&fixture.request_node(3));
    assert_eq!(client.list().rows[0].grant, 2);
    fixture.check_confirmed();
}
