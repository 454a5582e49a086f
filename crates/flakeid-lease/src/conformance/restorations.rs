//! "The store is restored from a backup": the floor rises, and a revived token renews nothing.

use super::Subject;
use super::scene::Scene;
use crate::protocol::{Refusal, Release, Renew};
use crate::store::Continuity;

/// After an older copy was put back, grants are refused until they can start above everything that
/// was ever granted, in the copy or after it.
pub fn older_copies_grant_nothing_old(subject: &dyn Subject) {
    let scene = Scene::brief(subject, "restored");
    let mut client = scene.client();
    let held = client.grant(&scene.request_node(1));
    let other = client.grant(&scene.request_node(2));
    let copy = subject.backup();
    // All of this is forgotten.
    let held = client.renewed(&held, held.fence + 250);
    let taken = client.grant_in_time(&scene.request_node(2));
    let forgotten = client.grant(&scene.request_node(3));
    assert!(taken.start >= other.fence);
    let highest = scene.log().highest();
    assert!(highest >= held.fence.max(forgotten.fence));
    subject.restore(copy);
    scene.log().restored();

    let mut client = scene.client();
    let first = client.acquire(&scene.request_node(3));
    let Err(Refusal::Restored { retry_after_ms } | Refusal::FenceInFuture { retry_after_ms }) =
        first
    else {
        panic!("{first:?}")
    };
    assert!((1..=10_000).contains(&retry_after_ms), "{retry_after_ms}");
    let listing = client.list();
    assert!(listing.namespace.floor >= highest, "{highest} {listing:?}");
    assert_eq!(listing.continuity, Continuity::Same, "it is noted");

    for node in [3, 2, 1, 4] {
        let grant = client.grant_in_time(&scene.request_node(node));
        assert!(grant.start >= highest, "{highest} {grant:?}");
    }
    // It stays noted: no second wait.
    assert_eq!(client.list().namespace.floor, listing.namespace.floor);
    scene.log().check_disjoint();
}

/// The tokens in the copy are void, before the wait and after it, and so are the later ones.
pub fn revived_tokens_do_nothing(subject: &dyn Subject) {
    let scene = Scene::brief(subject, "revived");
    let mut client = scene.client();
    let old = client.grant(&scene.request_node(1));
    let silent = client.grant(&scene.request_node(2));
    let copy = subject.backup();
    let later = client.renewed(&old, old.fence + 100);
    subject.restore(copy);
    scene.log().restored();

    let mut client = scene.client();
    let wanted = later.fence + 50;
    let void = |refused| matches!(refused, Err(Refusal::Restored { .. } | Refusal::FencedOff));
    // The first word about the restoration may be a renewal's.
    for grant in [old, later, silent] {
        assert!(void(client.renew(&scene.renewal(&grant, wanted))), "{grant:?}");
        client.release_as(&Release { node: grant.node, token: grant.token, used_until: 0 });
    }
    let floor = client.list().namespace.floor;
    let again = client.grant_in_time(&scene.request_node(1));
    assert!(again.start >= floor.max(later.fence));
    for grant in [old, later, silent] {
        let late = Renew { wanted: again.fence, ..scene.renewal(&grant, wanted) };
        assert!(void(client.renew(&late)), "{grant:?} after the wait");
        client.release_as(&Release { node: grant.node, token: grant.token, used_until: 0 });
    }
    client.renewed(&again, again.fence + 10);
    let silent_row = client.list().rows.into_iter().find(|row| row.node == 2).unwrap();
    assert!(silent_row.fence >= silent.fence, "{silent_row:?}");
    scene.log().check_disjoint();
}
