//! Tests of the history, which shows which process generated an ID.

use flakeid_core::Layout;

use super::StoreUnderTest;
use super::fixture::{Client, Fixture, fresh_name};
use flakeid_protocol::operations::{self, PastHolder};
use flakeid_protocol::{Acquire, Bounds, Namespace, Owner};

/// Checks that `whois` returns the matching grant for every granted tick, and nothing for other ticks.
pub fn whois_returns_the_grant_of_every_tick(under_test: &dyn StoreUnderTest) {
    // Each window begins exactly where the one before it ends, unless the test pauses for over a minute.
    let new = Namespace::new(&fresh_name("whois"), Layout::TWITTER);
    let bounds = Bounds { max_window_ms: 60_000, max_ahead_ms: 600_000, ..new.bounds };
    let bounds = bounds.with_usual_quiet(&new.layout);
    let fixture = Fixture::with_namespace(under_test, &Namespace { bounds, ..new });
    let mut client = fixture.client();
    let by = |node: u64, pid: u32| Acquire {
        owner: Owner { name: format!("owner-{pid}"), host: format!("host-{pid}"), pid },
        window_ms: 60_000,
        ..fixture.request_node(node)
    };
    // The node is taken over after a renewal, and granted again after a release.
    let first = client.grant(&by(4, 100));
    let first = client.extend(&first, first.fence + 500);
    let second = client.grant(&by(4, 200));
    client.release(&second, second.start + 300);
    let third = client.grant(&by(4, 300));
    let elsewhere = client.grant(&by(5, 400));
    assert_eq!(third.start, second.start + 300);

    let expected = [
        (first.start, first.fence, 100),
        (second.start, third.start, 200),
        (third.start, third.fence, 300),
    ];
    for (grant, (start, fence, pid)) in (1..).zip(expected) {
        for tick in [start, start + 1, fence - 1] {
            let holding = whois(&mut client, 4, tick).expect("a holder");
            assert_eq!(holding.fence, fence, "{tick} {holding:?}");
            let record = holding.record;
            assert_eq!((record.node, record.grant, record.start), (4, grant, start));
            assert_eq!((record.owner.pid, record.owner.host), (pid, format!("host-{pid}")));
            assert_eq!(record.owner.name, format!("owner-{pid}"));
        }
    }
    let max_tick = fixture.namespace.layout.max_tick();
    for tick in [0, first.start - 1, third.fence, max_tick] {
        assert_eq!(whois(&mut client, 4, tick), None, "{tick}");
    }
    assert_eq!(whois(&mut client, 6, third.start), None, "a node that was never granted");
    assert_eq!(whois(&mut client, 5, elsewhere.start).unwrap().record.owner.pid, 400);

    // `whois` does not return a grant that was released before it was used.
    let unused = client.grant(&by(4, 500));
    client.release(&unused, 0);
    let fourth = client.grant(&by(4, 600));
    assert_eq!(fourth.start, unused.start);
    assert_eq!(whois(&mut client, 4, fourth.start).unwrap().record.owner.pid, 600);
    assert_eq!(whois(&mut client, 4, fourth.start - 1).unwrap().record.owner.pid, 300);
    fixture.check_confirmed();
}

/// Checks that `whois` returns nothing in a namespace without a history, and that this namespace can
/// still grant leases.
pub fn whois_returns_nothing_without_a_history(under_test: &dyn StoreUnderTest) {
    let new = Namespace::new(&fresh_name("no-history"), Layout::TWITTER);
    let fixture = Fixture::with_namespace(under_test, &Namespace { keeps_history: false, ..new });
    let mut client = fixture.client();
    let grant = client.grant(&fixture.request());
    assert!(!client.list().namespace.keeps_history);
    assert_eq!(whois(&mut client, grant.node, grant.start), None);
    fixture.check_confirmed();
}

fn whois(client: &mut Client<'_>, node: u64, tick: u64) -> Option<PastHolder> {
    client
        .persist(|store, name| operations::whois(store, name, node, tick))
        .expect("whois is not refused")
}
