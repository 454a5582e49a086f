//! Moving the fence up: "stale token", "renewal applied after its time-out".

use super::Subject;
use super::scene::{Scene, fresh_token};
use crate::protocol::{Acquire, Refusal, Release, Renew};

/// A token ends with the next renewal: it renews nothing and releases nothing after that.
pub fn stale_tokens_are_refused(subject: &dyn Subject) {
    let scene = Scene::new(subject, "stale-token");
    let (mut client, mut other) = (scene.client(), scene.client());
    let first = client.grant(&scene.request());
    let second = client.renewed(&first, first.fence + 10);
    let third = client.renewed(&second, second.fence + 10);

    let before = client.list().rows;
    for stale in [first, second] {
        let refused = other.renew(&scene.renewal(&stale, stale.fence + 1_000));
        assert_eq!(refused, Err(Refusal::FencedOff));
        other.release_as(&Release {
            node: stale.node,
            token: stale.token,
            used_until: stale.start,
        });
    }
    let guessed = Renew { token: fresh_token(), ..scene.renewal(&third, third.fence + 1) };
    assert_eq!(other.renew(&guessed), Err(Refusal::FencedOff));
    let never_granted = Renew { node: third.node + 1, ..scene.renewal(&third, third.fence + 1) };
    assert_eq!(other.renew(&never_granted), Err(Refusal::FencedOff));
    assert_eq!(client.list().rows, before);

    let fourth = client.renewed(&third, third.fence + 10);
    client.release(&fourth, fourth.start + 3);
    let gone = client.renew(&scene.renewal(&fourth, fourth.fence + 10));
    assert_eq!(gone, Err(Refusal::FencedOff));
    scene.settle();
}

/// The same renewal may arrive any number of times; its answer stays the same and it counts once.
pub fn repeated_renewals_are_one(subject: &dyn Subject) {
    let scene = Scene::new(subject, "repeated-renewal");
    let (mut client, mut other) = (scene.client(), scene.client());
    let grant = client.grant(&scene.request());
    let request = scene.renewal(&grant, grant.fence + 500);
    let answer = client.renew(&request).unwrap();
    assert_eq!(answer.fence, grant.fence + 500);
    let row = client.list().rows;

    assert_eq!(other.renew(&request), Ok(answer));
    assert_eq!(client.renew(&request), Ok(answer));
    assert_eq!(client.list().rows, row);

    // One that wants less, under the same name, is still the one that was applied.
    let less = Renew { wanted: 1, ..request };
    assert_eq!(client.renew(&less), Ok(answer));
    assert_eq!(client.list().rows, row);

    let next =
        Renew { token: request.next, next: fresh_token(), wanted: answer.fence + 500, ..request };
    client.renew(&next).unwrap();
    let row = client.list().rows;
    assert_eq!(other.renew(&request), Err(Refusal::FencedOff), "after the next renewal");
    assert_eq!(client.list().rows, row);
    scene.settle();
}

/// A renewal that was given up, and arrives when another holds the node, changes nothing; one that
/// arrives before the next holder's grant is below that grant.
pub fn late_renewals_change_nothing(subject: &dyn Subject) {
    let scene = Scene::new(subject, "late-renewal");
    let (mut old_client, mut new_client) = (scene.client(), scene.client());
    let old = old_client.grant(&scene.request_node(9));
    let late = scene.renewal(&old, old.fence + 5_000);
    let new = new_client.grant(&scene.request_node(9));
    let row = new_client.list().rows;
    assert_eq!(old_client.renew(&late), Err(Refusal::FencedOff));
    assert_eq!(new_client.list().rows, row);
    new_client.renewed(&new, new.fence + 10);

    // Applied although its sender heard nothing, and then somebody else takes the node.
    let old = old_client.grant(&scene.request_node(10));
    let lost = scene.renewal(&old, old.fence + 3_000);
    let applied = old_client.renew(&lost).unwrap();
    let new = new_client.grant(&scene.request_node(10));
    assert!(new.start >= applied.fence, "{applied:?} {new:?}");
    assert_eq!(old_client.renew(&lost), Err(Refusal::FencedOff));

    // Released meanwhile, and free.
    let old = old_client.grant(&scene.request_node(11));
    let late = scene.renewal(&old, old.fence + 5_000);
    old_client.release(&old, old.start);
    assert_eq!(old_client.renew(&late), Err(Refusal::FencedOff));
    scene.settle();
}

/// A renewal that wants less than there is prolongs the hold and leaves the fence.
pub fn fences_never_fall(subject: &dyn Subject) {
    let scene = Scene::new(subject, "fences");
    let mut client = scene.client();
    let mut grant = client.grant(&Acquire { ttl_ms: 1, ..scene.request() });
    let first = grant;
    for wanted in [0, grant.start, grant.fence - 1, grant.fence] {
        let expires = grant.expires;
        grant = client.renewed(&grant, wanted);
        assert_eq!(grant.fence, first.fence);
        assert!(grant.expires >= expires);
    }
    // Nobody else took it, so it may be renewed although it had expired.
    let brief = client.grant(&Acquire { ttl_ms: 1, ..scene.request() });
    client.wait_until(brief.expires);
    let listing = client.list();
    let kept = client.renewed(&brief, brief.fence + 7);
    assert_eq!(kept.fence, brief.fence + 7);
    assert!(kept.expires >= listing.now + 60_000);
    scene.settle();
}
