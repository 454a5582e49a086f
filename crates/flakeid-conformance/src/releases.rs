//! Tests of releases: a released node is free immediately, and its fence remains above every tick that the holder used
//! (I3).

use super::StoreUnderTest;
use super::fixture::{Fixture, fresh_token, renewal};
use flakeid_protocol::{Acquire, Grant, Refusal, Release, State};

/// Checks that the unused ticks of a released node are granted again immediately, starting after the last used tick.
pub fn unused_ticks_are_granted_again_after_a_release(under_test: &dyn StoreUnderTest) {
    let fixture = Fixture::new(under_test, "release");
    let mut client = fixture.client();
    let only = Acquire { from: 4, to: 4, ..fixture.request() };
    let first = client.grant(&Acquire { window_ms: 10_000, ..only.clone() });
    let used_until = first.start + 7_000;
    client.release(&first, used_until);
    let row = client.list().rows.remove(0);
    assert_eq!((row.state, row.token, row.fence), (State::Free, None, used_until));

    let second = fixture.client().grant(&only);
    assert_eq!(second.start, used_until);
    fixture.check_confirmed();
}

/// Checks that a release never lowers the fence below the start of the grant, and never raises the fence.
pub fn release_never_lowers_the_fence_below_the_start(under_test: &dyn StoreUnderTest) {
    let fixture = Fixture::new(under_test, "release-bounds");
    let mut client = fixture.client();
    let fence = |client: &mut super::fixture::Client<'_>, node: u64| {
        let rows = client.list().rows;
        rows.into_iter().find(|row| row.node == node).unwrap().fence
    };
    let taken = client.grant(&fixture.request_node(1));
    let unused = client.grant(&fixture.request_node(1));
    assert_eq!(unused.start, taken.fence);
    client.release(&unused, 0);
    assert_eq!(fence(&mut client, 1), taken.fence, "no tick was used");

    let full = client.grant(&fixture.request_node(2));
    client.release(&full, full.fence);
    assert_eq!(fence(&mut client, 2), full.fence, "all ticks were used");

    let beyond = client.grant(&fixture.request_node(3));
    client.release(&beyond, beyond.fence + 1_000_000);
    assert_eq!(fence(&mut client, 3), beyond.fence, "the release reports ticks beyond the fence");
    fixture.check_confirmed();
}

/// Checks that a node is released only with its current token, and only once.
pub fn release_requires_the_current_token(under_test: &dyn StoreUnderTest) {
    let fixture = Fixture::new(under_test, "release-others");
    let (mut holder, mut other) = (fixture.client(), fixture.client());
    let old = holder.grant(&fixture.request_node(6));
    let new = other.grant(&fixture.request_node(6));
    let renewed = other.extend(&new, new.fence + 10);
    let release = |grant: &Grant| Release { node: 6, token: grant.token, used_until: 0 };

    let before = other.list().rows;
    holder.release_as(&release(&old));
    holder.release_as(&release(&new));
    holder.release_as(&Release { node: 6, token: fresh_token(), used_until: 0 });
    holder.release_as(&Release { node: 7, ..release(&renewed) });
    assert_eq!(other.list().rows, before);

    other.release(&renewed, renewed.start + 1);
    let released = other.list().rows;
    other.release_as(&release(&renewed));
    assert_eq!(other.list().rows, released);
    let after = other.renew(&renewal(&renewed, renewed.fence));
    assert_eq!(after, Err(Refusal::FencedOff));
    fixture.check_confirmed();
}
