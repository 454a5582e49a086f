//! Giving a node back: invariant I3, "the node is free at once".

use super::Subject;
use super::scene::{Scene, fresh_token};
use crate::protocol::{Acquire, Grant, Refusal, Release, State};

/// What was not used is granted again at once, from the tick after the last one used.
pub fn unused_ticks_go_back(subject: &dyn Subject) {
    let scene = Scene::new(subject, "release");
    let mut client = scene.client();
    let only = Acquire { from: 4, to: 4, ..scene.request() };
    let first = client.grant(&Acquire { window_ms: 20_000, ..only.clone() });
    let used_until = first.start + 15_000;
    client.release(&first, used_until);
    let row = client.list().rows.remove(0);
    assert_eq!((row.state, row.token, row.fence), (State::Free, None, used_until));

    let second = scene.client().grant(&only);
    assert_eq!(second.start, used_until);
    scene.settle();
}

/// The fence falls to the start of the grant at most, and never rises.
pub fn fences_fall_to_the_start_at_most(subject: &dyn Subject) {
    let scene = Scene::new(subject, "release-bounds");
    let mut client = scene.client();
    let fence = |client: &mut super::scene::Client<'_>, node: u64| {
        let rows = client.list().rows;
        rows.into_iter().find(|row| row.node == node).unwrap().fence
    };
    let taken = client.grant(&scene.request_node(1));
    let unused = client.grant(&scene.request_node(1));
    assert_eq!(unused.start, taken.fence);
    client.release(&unused, 0);
    assert_eq!(fence(&mut client, 1), taken.fence, "nothing used");

    let full = client.grant(&scene.request_node(2));
    client.release(&full, full.fence);
    assert_eq!(fence(&mut client, 2), full.fence, "all used");

    let beyond = client.grant(&scene.request_node(3));
    client.release(&beyond, beyond.fence + 1_000_000);
    assert_eq!(fence(&mut client, 3), beyond.fence, "more than all used");
    scene.settle();
}

/// Only the holder's current token releases, and only once.
pub fn others_cannot_release(subject: &dyn Subject) {
    let scene = Scene::new(subject, "release-others");
    let (mut holder, mut other) = (scene.client(), scene.client());
    let old = holder.grant(&scene.request_node(6));
    let new = other.grant(&scene.request_node(6));
    let renewed = other.renewed(&new, new.fence + 10);
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
    let after = other.renew(&scene.renewal(&renewed, renewed.fence));
    assert_eq!(after, Err(Refusal::FencedOff));
    scene.settle();
}
