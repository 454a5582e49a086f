//! Tests of a store that is restored from a backup.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::StoreUnderTest;
use super::fixture::{Fixture, fresh_name, renewal};
use flakeid_core::Layout;
use flakeid_protocol::operations;
use flakeid_protocol::store::Continuity;
use flakeid_protocol::{Acquire, Bounds, Namespace, Refusal, Release, Renew};

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

/// Checks that no restore lets a store grant a tick twice. In each of the `rounds`, a new namespace has random bounds,
/// with windows from the shortest to an hour, and ticks of a millisecond or a second. The copy that is restored was made
/// before the first grant in half of the rounds. The environment variable `FLAKEID_TEST_RESTORES` overrides `rounds`.
///
/// The store must be one in which a new namespace can grant nodes right after a restore.
///
/// # Panics
/// If the store grants a tick twice, leaves the floor below a granted tick, or grants nothing in all rounds.
pub fn random_restores_repeat_no_tick(under_test: &dyn StoreUnderTest, rounds: u32) {
    let rounds = std::env::var("FLAKEID_TEST_RESTORES")
        .map_or(rounds, |text| text.parse().expect("FLAKEID_TEST_RESTORES is a number"));
    let mut grants = 0;
    for round in 0..rounds {
        let mut random = Random { round, drawn: 0 };
        let fixture = Fixture::with_namespace(under_test, &random.namespace());
        let window_ms = fixture.namespace.bounds.max_window_ms;
        let mut client = fixture.client();
        let copied_after = random.below(6).saturating_sub(3);
        let mut copy = None;
        for step in 0..3 {
            if step == copied_after {
                copy = Some(under_test.backup());
            }
            let node = random.below(3);
            let request = Acquire { window_ms, ..fixture.request_node(node) };
            // A node that is taken over too often is too far ahead.
            let Ok(grant) = client.acquire(&request) else { continue };
            grants += 1;
            if random.below(2) == 0 {
                let _ = client.renew(&renewal(&grant, grant.fence + 1));
            }
        }
        drop(client);
        under_test.restore(copy.expect("a copy"));
        fixture.log().record_restoration();

        let highest = fixture.log().highest();
        let mut client = fixture.client();
        for node in 0..3 {
            let request = Acquire { window_ms, ..fixture.request_node(node) };
            if let Err(Refusal::Foreign(_)) = client.acquire(&request) {
                client.persist(operations::adopt).expect("an operator may adopt a copy");
            }
        }
        fixture.log().check_disjoint();
        let listing = client.list();
        assert!(listing.namespace.floor >= highest, "round {round}: {highest} {listing:?}");
    }
    assert!(grants >= rounds, "{grants} grants in {rounds} rounds");
}

/// Numbers that are the same in each run.
struct Random {
    round: u32,
    drawn: u32,
}

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        let mut hasher = DefaultHasher::new();
        (self.round, self.drawn).hash(&mut hasher);
        self.drawn += 1;
        hasher.finish() % end
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }

    fn namespace(&mut self) -> Namespace {
        let seconds: Layout = "t31.n10.s22@1767225600000/1s".parse().expect("a layout");
        let layout = self.pick(&[Layout::TWITTER, seconds]);
        let unit = layout.unit_ms();
        let bounds = Bounds {
            max_window_ms: self.pick(&[2 * unit, 300.max(2 * unit), 10_000, 60_000, 3_600_000]),
            max_ahead_ms: self.pick(&[0, 20_000, 3_600_000]),
            max_skew_ms: self.pick(&[1_000, 1_500]),
            quiet_ms: 0,
        };
        let bounds = bounds.with_usual_quiet(&layout);
        Namespace { bounds, ..Namespace::new(&fresh_name("round"), layout) }
    }
}
