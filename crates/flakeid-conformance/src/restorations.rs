//! Tests of a store that is restored from a backup.

use super::StoreUnderTest;
use super::fixture::{Fixture, renewal};
use flakeid_protocol::store::Continuity;
use flakeid_protocol::{Refusal, Release, Renew};

/// Checks that a restored store grants nothing until new windows can start above all earlier windows, including windows
/// granted after the backup.
pub fn restored_store_grants_no_old_ticks(under_test: &dyn StoreUnderTest) {
    let fixture = Fixture::with_short_bounds(under_test, "restored");
    let mut client = fixture.client();
    let held = client.grant(&fixture.request_node(1));
    let other = client.grant(&fixture.request_node(2));
    let copy = under_test.backup();
    // The following grants and the renewal happen after the backup, so the restore discards them.
    let held = client.extend(&held, held.fence + 250);
    let taken = client.grant_in_time(&fixture.request_node(2));
    let forgotten = client.grant(&fixture.request_node(3));
    assert!(taken.start >= other.fence);
    let highest = fixture.log().highest();
    assert!(highest >= held.fence.max(forgotten.fence));
    under_test.restore(copy);
    fixture.log().record_restoration();

    let mut client = fixture.client();
    let first = client.acquire(&fixture.request_node(3));
    let Err(Refusal::Restored { retry_after_ms } | Refusal::FenceInFuture { retry_after_ms }) =
        first
    else {
        panic!("{first:?}")
    };
    assert!((1..=10_000).contains(&retry_after_ms), "{retry_after_ms}");
    let listing = client.list();
    assert!(listing.namespace.floor >= highest, "{highest} {listing:?}");
    assert_eq!(listing.continuity, Continuity::Same, "the restore is recorded");

    for node in [3, 2, 1, 4] {
        let grant = client.grant_in_time(&fixture.request_node(node));
        assert!(grant.start >= highest, "{highest} {grant:?}");
    }
    // The store has recorded the restore, so clients that connect later do not have to wait again.
    assert_eq!(client.list().namespace.floor, listing.namespace.floor);
    fixture.log().check_disjoint();
}

/// Checks that a backup from before the first grant counts as restored, like every later one.
pub fn copy_from_before_the_first_grant_counts_as_restored(under_test: &dyn StoreUnderTest) {
    let fixture = Fixture::with_short_bounds(under_test, "ungranted");
    let copy = under_test.backup();
    let held = fixture.client().grant(&fixture.request_node(1));
    under_test.restore(copy);
    fixture.log().record_restoration();

    let mut client = fixture.client();
    let first = client.acquire(&fixture.request_node(1));
    assert!(
        matches!(first, Err(Refusal::Restored { .. } | Refusal::FenceInFuture { .. })),
        "{first:?}"
    );
    let again = client.grant_in_time(&fixture.request_node(1));
    assert!(again.start >= held.fence, "{held:?} {again:?}");
    fixture.log().check_disjoint();
}

/// Checks that restoring a backup voids all tokens that were issued before or after the backup. The tokens must stay
/// void when the store grants nodes again.
pub fn tokens_of_a_restored_copy_are_void(under_test: &dyn StoreUnderTest) {
    let fixture = Fixture::with_short_bounds(under_test, "revived");
    let mut client = fixture.client();
    let old = client.grant(&fixture.request_node(1));
    let silent = client.grant(&fixture.request_node(2));
    let copy = under_test.backup();
    let later = client.extend(&old, old.fence + 100);
    under_test.restore(copy);
    fixture.log().record_restoration();

    let mut client = fixture.client();
    let wanted = later.fence + 50;
    let void = |refused| matches!(refused, Err(Refusal::Restored { .. } | Refusal::FencedOff));
    // Even if the first request after the restore is a renewal, the store must refuse the renewal.
    for grant in [old, later, silent] {
        assert!(void(client.renew(&renewal(&grant, wanted))), "{grant:?}");
        client.release_as(&Release { node: grant.node, token: grant.token, used_until: 0 });
    }
    let floor = client.list().namespace.floor;
    let again = client.grant_in_time(&fixture.request_node(1));
    assert!(again.start >= floor.max(later.fence));
    for grant in [old, later, silent] {
        let late = Renew { wanted: again.fence, ..renewal(&grant, wanted) };
        assert!(void(client.renew(&late)), "{grant:?} after the wait");
        client.release_as(&Release { node: grant.node, token: grant.token, used_until: 0 });
    }
    client.extend(&again, again.fence + 10);
    let silent_row = client.list().rows.into_iter().find(|row| row.node == 2).unwrap();
    assert!(silent_row.fence >= silent.fence, "{silent_row:?}");
    fixture.log().check_disjoint();
}
