//! Tests of holders after a restart, a failover or a restore of the store. A holder continues its lease
//! if no copy of the store can have granted the same node to another holder (invariant I14). A renewal can prove that
//! the store lost data.

use flakeid_core::Layout;

use super::fixture::{Fixture, fresh_name, now, renewal};
use super::{StoreUnderTest, batches};
use flakeid_protocol::operations::{self, Repair};
use flakeid_protocol::store::Continuity;
use flakeid_protocol::{Acquire, Bounds, Grant, Namespace, Refusal, Renew};

/// Creates a namespace whose holders can still renew their leases during most of the first minute after a restore.
/// `max_skew` is large enough for a store whose clock shows only whole seconds.
fn fixture<'a>(under_test: &'a dyn StoreUnderTest, name: &str) -> Fixture<'a> {
    let bounds =
        Bounds { max_window_ms: 1_000, max_ahead_ms: 500, max_skew_ms: 1_000, quiet_ms: 60_000 };
    let new = Namespace::new(&fresh_name(name), Layout::TWITTER);
    Fixture::with_namespace(under_test, &Namespace { bounds, ..new })
}

/// Checks that a holder can renew its lease although a restore has lost earlier renewals. The new fence must not be
/// below any fence that was confirmed to the holder. Other clients must wait.
pub fn holder_continues_its_lease_after_a_restore(under_test: &dyn StoreUnderTest) {
    let fixture = fixture(under_test, "go-on");
    let mut client = fixture.client();
    let minutes = Acquire { ttl_ms: 600_000, ..fixture.request() };
    let (held, silent) = (client.grant(&minutes), client.grant(&minutes));
    let copy = under_test.backup();
    let later = client.extend(&held, fixture.tick() + 1_400);
    under_test.restore(copy);
    fixture.log().record_restoration();

    let mut client = fixture.client();
    // The first request after the restore is a renewal that requests a tick below the confirmed fence.
    let again = client.renew(&renewal(&later, later.start)).unwrap();
    assert!(again.fence >= later.fence, "{again:?} {later:?}");
    let listing = client.list();
    assert_eq!(listing.continuity, Continuity::Same, "the restore is recorded");
    assert!(listing.namespace.quiet_until > listing.now + 30_000, "{listing:?}");
    client.extend(&silent, silent.fence + 10);

    for request in [fixture.request(), fixture.request_node(900), fixture.request_name("new")] {
        let refused = client.acquire(&request);
        let Err(Refusal::Restored { retry_after_ms }) = refused else { panic!("{refused:?}") };
        assert!((30_000..=60_000).contains(&retry_after_ms), "{retry_after_ms}");
    }
    fixture.check_confirmed();
}

/// Checks that the first request after a restore can be a batch. Holders continue their leases, also from a fence that
/// the store lost, and a holder whose grant was lost is refused.
pub fn batch_continues_leases_after_a_restore(under_test: &dyn StoreUnderTest) {
    let fixture = fixture(under_test, "batch-restore");
    let mut client = fixture.client();
    let minutes = Acquire { ttl_ms: 600_000, ..fixture.request() };
    let held = [client.grant(&minutes), client.grant(&minutes)];
    let copy = under_test.backup();
    let later = client.extend(&held[0], fixture.tick() + 1_400);
    let lost = client.grant(&minutes);
    under_test.restore(copy);
    fixture.log().record_restoration();

    let mut client = fixture.client();
    let requests = [lost, later, held[1]].map(|grant| renewal(&grant, grant.fence));
    let responses = batches::renew(&mut client, &batches::batch(&requests));
    assert!(matches!(responses[0], Err(Refusal::Restored { .. })), "{responses:?}");
    assert!(batches::fence(&responses[1]) >= later.fence);
    assert!(batches::fence(&responses[2]) >= held[1].fence);
    let listing = client.list();
    for grant in held {
        let row = listing.rows.iter().find(|row| row.node == grant.node).unwrap();
        assert_eq!(row.incarnation, listing.namespace.incarnation);
    }
    assert!(listing.namespace.quiet_until > listing.now + 30_000, "{listing:?}");
    fixture.log().check_disjoint();
}

/// Checks that a holder gets one last window if its renewal arrives too late to continue the lease. The last window
/// ends where the windows of other holders may begin.
pub fn late_holder_gets_a_last_window(under_test: &dyn StoreUnderTest) {
    let bounds =
        Bounds { max_window_ms: 1_000, max_ahead_ms: 20_000, max_skew_ms: 1_000, quiet_ms: 5_000 };
    let new = Namespace::new(&fresh_name("last"), Layout::TWITTER);
    let fixture = Fixture::with_namespace(under_test, &Namespace { bounds, ..new });
    let mut client = fixture.client();
    let only = Acquire { from: 3, to: 3, ttl_ms: 600_000, ..fixture.request() };
    let held = client.grant(&only);
    let renewed_at = held.expires - 600_000;
    let copy = under_test.backup();
    // The restore must lose a grant, because a store need not detect a restore that loses nothing.
    client.grant(&fixture.request());
    client.wait_until(renewed_at + 2_500);
    under_test.restore(copy);
    fixture.log().record_restoration();

    let mut client = fixture.client();
    let soon = renewal(&held, held.fence + 2_000);
    assert_eq!(client.renew(&soon).unwrap().fence, soon.wanted, "the fence is the wanted one");
    let held = Grant { fence: soon.wanted, token: soon.next, ..held };
    let far = renewal(&held, held.fence + 60_000);
    let last = client.renew(&far).unwrap();
    let tick = fixture.namespace.layout.tick_at(renewed_at).unwrap();
    assert_eq!(last.fence, tick + 21_001, "max_window, max_ahead and one tick");
    assert_eq!(client.renew(&far), Ok(last), "a repeated renewal returns the same fence");
    let held = Grant { fence: last.fence, token: far.next, ..held };
    let refused = client.renew(&renewal(&held, held.fence + 60_000));
    assert!(matches!(refused, Err(Refusal::Restored { .. })), "{refused:?}");
    assert!(client.list().namespace.floor >= held.fence);
    assert!(client.grant_in_time(&only).start >= held.fence);
    fixture.log().check_disjoint();
}

/// Checks that a holder does not continue its lease if the lease expires soon, its node is fixed, or its renewal
/// contains wrong values.
pub fn ineligible_holders_do_not_continue_their_leases(under_test: &dyn StoreUnderTest) {
    let fixture = fixture(under_test, "not-on");
    let mut client = fixture.client();
    let short = client.grant(&Acquire { ttl_ms: 2_500, ..fixture.request() });
    let fixed = client.grant(&fixture.request_node(500));
    let held = client.grant(&Acquire { ttl_ms: 600_000, ..fixture.request() });
    let copy = under_test.backup();
    // The restore must lose a grant, because a store need not detect a restore that loses nothing.
    client.grant(&fixture.request());
    client.wait_until(short.expires - 1_900);
    under_test.restore(copy);
    fixture.log().record_restoration();

    let mut client = fixture.client();
    for grant in [short, fixed] {
        let refused = client.renew(&renewal(&grant, grant.fence + 10));
        assert!(matches!(refused, Err(Refusal::Restored { .. })), "{refused:?} for {grant:?}");
    }
    let renewal = renewal(&held, held.fence + 10);
    for wrong in [
        Renew { token: fixture.request().token, ..renewal },
        Renew { start: held.start + 1, confirmed: 0, ..renewal },
        Renew { now: now() - 3_600_000, ..renewal },
        Renew { now: now() + 3_600_000, ..renewal },
    ] {
        let refused = client.renew(&wrong);
        assert!(matches!(refused, Err(Refusal::Restored { .. })), "{refused:?} for {wrong:?}");
    }
    client.renew(&renewal).unwrap();
}

/// Checks that a renewal whose confirmed fence is above the store's fence proves that the store lost data. The store
/// detects the loss once, for all clients, and the holder continues its lease.
pub fn renewal_above_the_stores_fence_proves_a_loss(under_test: &dyn StoreUnderTest) {
    let fixture = fixture(under_test, "proof");
    let mut client = fixture.client();
    let minutes = Acquire { ttl_ms: 600_000, ..fixture.request() };
    let (held, other, lost) =
        (client.grant(&minutes), client.grant(&minutes), client.grant(&minutes));
    let before = client.list().namespace;
    assert_eq!(before.floor, 0);

    // The confirmed fence is above the store's fence, as if the store had lost a renewal without detecting the loss.
    let confirmed = held.fence + 300;
    let proof = Renew { confirmed, ..renewal(&held, held.fence) };
    assert!(client.renew(&proof).unwrap().fence >= confirmed);
    let after = client.list();
    assert_ne!(after.namespace.incarnation, before.incarnation);
    assert!(after.namespace.floor >= confirmed, "{after:?}");
    assert_eq!(after.continuity, Continuity::Same, "the store's run is the same");
    let refused = client.acquire(&fixture.request());
    assert!(matches!(refused, Err(Refusal::Restored { .. })), "{refused:?}");
    client.extend(&other, other.fence + 10);

    // A renewal whose confirmed fence is below the floor does not prove another loss.
    let again = Renew { confirmed: lost.fence + 100, ..renewal(&lost, lost.fence) };
    client.renew(&again).unwrap();
    assert_eq!(client.list().namespace, after.namespace);

    // A renewal with a token that is no longer valid does not prove a loss.
    let ended = renewal(&other, other.fence);
    client.repair(other.node, Repair::Release);
    let beyond = Renew { confirmed: after.namespace.floor + 9, ..ended };
    assert_eq!(client.renew(&beyond), Err(Refusal::FencedOff));
    assert_eq!(client.list().namespace, after.namespace);
}

/// Checks that a renewal for a node without a row proves that the store lost data.
pub fn renewal_without_a_row_proves_a_loss(under_test: &dyn StoreUnderTest) {
    let fixture = fixture(under_test, "lost-row");
    let mut client = fixture.client();
    let held = client.grant(&fixture.request());
    let floor = client.list().namespace.floor;
    let elsewhere = Renew { node: held.node + 7, ..renewal(&held, held.fence + 1) };
    let refused = client.renew(&elsewhere);
    assert!(matches!(refused, Err(Refusal::Restored { .. })), "{refused:?}");
    let after = client.list().namespace;
    assert!(floor < held.fence && after.floor >= held.fence, "{after:?}");
}

/// Checks that a node that was held at the time of the backup can be granted again after a restore. A restored store
/// grants nothing until `quiet_ms` have passed.
pub fn nodes_are_granted_again_after_the_quiet_time(under_test: &dyn StoreUnderTest) {
    let fixture = Fixture::with_short_bounds(under_test, "after-wait");
    let mut client = fixture.client();
    let only = Acquire { from: 3, to: 3, ttl_ms: 86_400_000, ..fixture.request() };
    let held = client.grant(&only);
    let copy = under_test.backup();
    // The restore must lose a grant, because a store need not detect a restore that loses nothing.
    client.grant(&fixture.request());
    under_test.restore(copy);
    fixture.log().record_restoration();
    let mut client = fixture.client();
    let again = client.grant_in_time(&only);
    assert!(again.start >= held.fence && again.expires > held.expires);
    fixture.log().check_disjoint();
}

/// Checks that a node released by an operator is granted again only after its lease has expired, unless the operator
/// uses [`Repair::ReleaseNow`].
pub fn operator_release_does_not_shorten_the_lease(under_test: &dyn StoreUnderTest) {
    let fixture = Fixture::new(under_test, "operator-later");
    let mut client = fixture.client();
    for (node, repairs) in [
        (4, &[Repair::Release][..]),
        (5, &[Repair::Quarantine, Repair::Lift]),
        (6, &[Repair::Release, Repair::ReleaseNow]),
        (7, &[Repair::ReleaseNow]),
    ] {
        let only = Acquire { from: node, to: node, ..fixture.request() };
        let held = client.grant(&only);
        assert!(repairs.iter().all(|repair| client.repair(node, *repair)));
        let fenced_off = client.renew(&renewal(&held, held.fence + 10));
        assert_eq!(fenced_off, Err(Refusal::FencedOff));
        if repairs.contains(&Repair::ReleaseNow) {
            assert_eq!(client.grant(&only).start, held.fence);
            continue;
        }
        let refused = client.acquire(&only);
        assert!(matches!(refused, Err(Refusal::NoFreeNode { held: 1, .. })), "{refused:?}");
        let claimed = client.acquire(&fixture.request_node(node));
        assert!(matches!(claimed, Err(Refusal::Held { .. })), "{claimed:?}");
    }
    client.persist(|store, name| operations::fast_forward(store, name, 0)).unwrap();
    fixture.check_confirmed();
}

/// Checks that a request for a fixed node takes over a held node only if the current holder also requested a fixed
/// node.
pub fn fixed_claim_is_refused_while_a_node_is_leased(under_test: &dyn StoreUnderTest) {
    let fixture = Fixture::new(under_test, "claims");
    let mut client = fixture.client();
    let held = client.grant(&Acquire { from: 9, to: 9, ..fixture.request() });
    let refused = client.acquire(&fixture.request_node(9));
    let Err(Refusal::Held { node: 9, retry_after_ms }) = refused else { panic!("{refused:?}") };
    assert!((30_000..=62_000).contains(&retry_after_ms), "{retry_after_ms}");
    let held = client.extend(&held, held.fence + 10);
    client.release(&held, held.start + 1);
    let claimed = client.grant(&fixture.request_node(9));
    assert_eq!(client.grant(&fixture.request_node(9)).start, claimed.fence);
    fixture.check_confirmed();
}
