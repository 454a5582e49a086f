//! Tests of requests for particular nodes: the last node of a named holder, a fixed node that is taken over from its
//! holder, a node within a range, and a disposable node.

use super::StoreUnderTest;
use super::fixture::{Fixture, renewal};
use flakeid_protocol::{Acquire, Identity, Owner, Refusal};

/// Checks that a named holder gets its last node again after the node is released or the lease expires. While that node
/// is held, a request with the same name gets another node.
pub fn named_holder_gets_its_last_node_again(under_test: &dyn StoreUnderTest) {
    let fixture = Fixture::new(under_test, "sticky");
    let mut client = fixture.client();
    for name in ["other-1", "other-2"] {
        client.grant(&fixture.request_name(name));
    }
    let first = client.grant(&fixture.request_name("worker-7"));
    client.release(&first, first.start + 5);
    client.grant(&fixture.request());

    let second = client.grant(&fixture.request_name("worker-7"));
    assert_eq!(second.node, first.node, "after a release");
    assert!(second.start >= first.start + 5);

    let besides = client.grant(&Acquire { ttl_ms: 1, ..fixture.request_name("worker-7") });
    assert_ne!(besides.node, first.node, "while it is held");
    client.wait_until(besides.expires);
    let third = client.grant(&fixture.request_name("worker-7"));
    assert_eq!(third.node, besides.node, "after expiry");
    assert!(third.start >= besides.fence);

    // Names are compared byte by byte.
    let odd = "Robert'); DROP TABLE x; -- \"\\ % _ é 🦀";
    let grant = client.grant(&fixture.request_name(odd));
    client.release(&grant, grant.start);
    for name in ["WORKER-7", "worker-7 ", "%", "worker__"] {
        assert_ne!(client.grant(&fixture.request_name(name)).node, grant.node);
    }
    assert_eq!(client.grant(&fixture.request_name(odd)).node, grant.node);
    fixture.check_confirmed();
}

/// Checks that a fixed node is taken over from a live holder, and that the new grant starts at the old fence.
pub fn fixed_node_is_taken_over_from_its_holder(under_test: &dyn StoreUnderTest) {
    let fixture = Fixture::new(under_test, "takeover");
    let (mut old_client, mut new_client) = (fixture.client(), fixture.client());
    let old = old_client.grant(&fixture.request_node(42));
    let old = old_client.extend(&old, old.fence + 100);
    let new = new_client.grant(&fixture.request_node(42));
    assert_eq!((old.node, new.node), (42, 42));
    assert_eq!(new.start, old.fence);

    let late = renewal(&old, old.fence + 1_000);
    assert_eq!(old_client.renew(&late), Err(Refusal::FencedOff));
    new_client.extend(&new, new.fence + 100);
    fixture.check_confirmed();
}

/// Checks that the store refuses a takeover if the new window would start further ahead of the clock than `max_ahead`
/// allows. The store must return the time to wait, and must write nothing.
pub fn takeovers_are_refused_beyond_max_ahead(under_test: &dyn StoreUnderTest) {
    let fixture = Fixture::new(under_test, "takeover-ahead");
    let mut client = fixture.client();
    let longest = |node| Acquire { window_ms: 10_000, ..fixture.request_node(node) };
    for _ in 0..3 {
        client.grant(&longest(0));
    }
    let before = client.list().rows;
    let refused = client.acquire(&longest(0));
    let Err(Refusal::FenceInFuture { retry_after_ms }) = refused else { panic!("{refused:?}") };
    assert!((1..=10_000).contains(&retry_after_ms), "{retry_after_ms}");
    assert_eq!(client.list().rows, before);
    client.grant(&longest(1));
    fixture.check_confirmed();
}

/// Checks that nodes outside the requested range are not granted.
pub fn nodes_outside_the_range_are_not_granted(under_test: &dyn StoreUnderTest) {
    let fixture = Fixture::new(under_test, "ranges");
    let mut client = fixture.client();
    let range = Acquire { from: 10, to: 12, rotation: 7, ..fixture.request() };
    let mut nodes: Vec<_> = (0..3).map(|_| client.grant(&range).node).collect();
    nodes.sort_unstable();
    assert_eq!(nodes, [10, 11, 12]);
    let refused = client.acquire(&range);
    assert!(
        matches!(
            refused,
            Err(Refusal::NoFreeNode { held: 3, hot: 0, quarantined: 0, used: 0, .. })
        ),
        "{refused:?}"
    );
    // A named holder gets its last node only if the node is within the requested range.
    let named = client.grant(&fixture.request_name("roamer"));
    client.release(&named, named.start);
    let elsewhere = Acquire { from: 100, to: 101, ..fixture.request_name("roamer") };
    assert_eq!(client.grant(&elsewhere).node, 100);

    let max_node = fixture.namespace.layout.max_node();
    for (from, to) in [(0, max_node + 1), (5, 4), (u64::MAX, u64::MAX)] {
        let refused = client.acquire(&Acquire { from, to, ..fixture.request() });
        assert_eq!(refused, Err(Refusal::Nodes { from, to, max_node }));
    }
    let beyond = client.acquire(&fixture.request_node(max_node + 1));
    let (from, to) = (max_node + 1, max_node + 1);
    assert_eq!(beyond, Err(Refusal::Nodes { from, to, max_node }));
    client.grant(&fixture.request_node(max_node));
    fixture.check_confirmed();
}

/// Checks that disposable nodes are not granted again, even after all of them have been released.
pub fn disposable_nodes_are_granted_only_once(under_test: &dyn StoreUnderTest) {
    let fixture = Fixture::new(under_test, "disposable");
    let mut client = fixture.client();
    let once = |identity: Identity| Acquire {
        identity,
        from: 3,
        to: 7,
        block_bits: 0,
        reuse: false,
        owner: Owner { name: "once".into(), ..Owner::default() },
        ..fixture.request()
    };
    let mut nodes = Vec::new();
    for identity in [Identity::Any, Identity::Name("once".into())].into_iter().cycle().take(5) {
        let grant = client.grant(&once(identity));
        client.release(&grant, grant.start);
        nodes.push(grant.node);
    }
    nodes.sort_unstable();
    assert_eq!(nodes, [3, 4, 5, 6, 7]);
    for identity in [Identity::Any, Identity::Name("once".into())] {
        let refused = client.acquire(&once(identity));
        let none =
            Refusal::NoFreeNode { held: 0, hot: 0, quarantined: 0, used: 5, next_free_in_ms: None };
        assert_eq!(refused, Err(none));
    }
    let fixed = client.acquire(&once(Identity::Node(5)));
    assert!(matches!(fixed, Err(Refusal::NoFreeNode { used: 1, .. })), "{fixed:?}");
    // A request that allows the reuse of nodes still gets a node.
    client.grant(&Acquire { from: 3, to: 7, ..fixture.request() });
    fixture.check_confirmed();
}
