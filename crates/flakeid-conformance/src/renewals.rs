//! Tests of renewals: stale tokens, repeated renewals, and renewals that arrive late.

use super::StoreUnderTest;
use super::fixture::{Fixture, fresh_token, renewal};
use flakeid_protocol::{Acquire, Refusal, Release, Renew};

/// Checks that a token is no longer valid for renewals or releases after a renewal has replaced the token.
pub fn renewals_with_stale_tokens_are_refused(under_test: &dyn StoreUnderTest) {
    let fixture = Fixture::new(under_test, "stale-token");
    let (mut client, mut other) = (fixture.client(), fixture.client());
    let first = client.grant(&fixture.request());
    let second = client.extend(&first, first.fence + 10);
    let third = client.extend(&second, second.fence + 10);

    let before = client.list().rows;
    for stale in [first, second] {
        let refused = other.renew(&renewal(&stale, stale.fence + 1_000));
        assert_eq!(refused, Err(Refusal::FencedOff));
        other.release_as(&Release {
            node: stale.node,
            token: stale.token,
            used_until: stale.start,
        });
    }
    let guessed = Renew { token: fresh_token(), ..renewal(&third, third.fence + 1) };
    assert_eq!(other.renew(&guessed), Err(Refusal::FencedOff));
    let never_granted =
        Renew { node: third.node + 1, confirmed: 0, ..renewal(&third, third.fence + 1) };
    let refused = other.renew(&never_granted);
    assert!(matches!(refused, Err(Refusal::Restored { .. })), "{refused:?}");
    assert_eq!(client.list().rows, before);

    let fourth = client.extend(&third, third.fence + 10);
    client.release(&fourth, fourth.start + 3);
    let gone = client.renew(&renewal(&fourth, fourth.fence + 10));
    assert_eq!(gone, Err(Refusal::FencedOff));
    fixture.check_confirmed();
}

/// Checks that a repeated renewal gets the same response and is applied only once.
pub fn repeated_renewal_is_applied_once(under_test: &dyn StoreUnderTest) {
    let fixture = Fixture::new(under_test, "repeated-renewal");
    let (mut client, mut other) = (fixture.client(), fixture.client());
    let grant = client.grant(&fixture.request());
    let request = renewal(&grant, grant.fence + 500);
    let answer = client.renew(&request).unwrap();
    assert_eq!(answer.fence, grant.fence + 500);
    let row = client.list().rows;

    assert_eq!(other.renew(&request), Ok(answer));
    assert_eq!(client.renew(&request), Ok(answer));
    assert_eq!(client.list().rows, row);

    // A renewal with the same tokens counts as a repetition, even if it requests a lower tick.
    let less = Renew { wanted: 1, ..request };
    assert_eq!(client.renew(&less), Ok(answer));
    assert_eq!(client.list().rows, row);

    let next =
        Renew { token: request.next, next: fresh_token(), wanted: answer.fence + 500, ..request };
    client.renew(&next).unwrap();
    let row = client.list().rows;
    assert_eq!(other.renew(&request), Err(Refusal::FencedOff), "after the next renewal");
    assert_eq!(client.list().rows, row);
    fixture.check_confirmed();
}

/// Checks that a renewal changes nothing if it arrives after another holder has leased the node. If a renewal is
/// applied in time but its response is lost, the next grant must start at or above the renewed fence.
pub fn late_renewal_does_not_affect_the_next_holder(under_test: &dyn StoreUnderTest) {
    let fixture = Fixture::new(under_test, "late-renewal");
    let (mut old_client, mut new_client) = (fixture.client(), fixture.client());
    let old = old_client.grant(&fixture.request_node(9));
    let late = renewal(&old, old.fence + 5_000);
    let new = new_client.grant(&fixture.request_node(9));
    let row = new_client.list().rows;
    assert_eq!(old_client.renew(&late), Err(Refusal::FencedOff));
    assert_eq!(new_client.list().rows, row);
    new_client.extend(&new, new.fence + 10);

    // The store applies the renewal, but the response is lost. Another holder then takes over the node.
    let old = old_client.grant(&fixture.request_node(10));
    let lost = renewal(&old, old.fence + 3_000);
    let applied = old_client.renew(&lost).unwrap();
    let new = new_client.grant(&fixture.request_node(10));
    assert!(new.start >= applied.fence, "{applied:?} {new:?}");
    assert_eq!(old_client.renew(&lost), Err(Refusal::FencedOff));

    // The node is released before the renewal arrives.
    let old = old_client.grant(&fixture.request_node(11));
    let late = renewal(&old, old.fence + 5_000);
    old_client.release(&old, old.start);
    assert_eq!(old_client.renew(&late), Err(Refusal::FencedOff));
    fixture.check_confirmed();
}

/// Checks renewals that request a tick at or below the fence. They must extend the expiry time and leave the fence
/// unchanged.
pub fn renewals_never_lower_the_fence(under_test: &dyn StoreUnderTest) {
    let fixture = Fixture::new(under_test, "fences");
    let mut client = fixture.client();
    let mut grant = client.grant(&Acquire { ttl_ms: 1, ..fixture.request() });
    let first = grant;
    for wanted in [0, grant.start, grant.fence - 1, grant.fence] {
        let expires = grant.expires;
        grant = client.extend(&grant, wanted);
        assert_eq!(grant.fence, first.fence);
        assert!(grant.expires >= expires);
    }
    // An expired lease can be renewed, because no other holder has the node.
    let brief = client.grant(&Acquire { ttl_ms: 1, ..fixture.request() });
    client.wait_until(brief.expires);
    let listing = client.list();
    let kept = client.extend(&brief, brief.fence + 7);
    assert_eq!(kept.fence, brief.fence + 7);
    assert!(kept.expires >= listing.now + 60_000);
    fixture.check_confirmed();
}
