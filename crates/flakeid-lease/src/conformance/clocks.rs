//! Clocks that are wrong: "poison by a clock in 2080", "skew within bounds".

use super::Subject;
use super::scene::{Scene, now};
use crate::protocol::{Acquire, Refusal};

/// 2080-01-01.
const FAR: i64 = 3_471_292_800_000;

/// A clock in 2080 is refused by acquire and by renew, and nothing is changed by either.
pub fn clock_of_2080_poisons_nothing(subject: &dyn Subject) {
    let scene = Scene::new(subject, "poison");
    let layout = scene.namespace.layout;
    let mut client = scene.client();
    let grant = client.grant(&scene.request_node(1));
    let before = client.list();

    for request in [scene.request(), scene.request_node(1), scene.request_name("late")] {
        let refused = client.acquire(&Acquire { now: FAR, ..request });
        let Err(Refusal::Skew { by_ms, max_ms: 5_000 }) = refused else { panic!("{refused:?}") };
        assert!((by_ms - (FAR - now())).abs() < 60_000, "{by_ms}");
    }
    let far_tick = layout.tick_at(FAR).unwrap();
    let refused = client.renew(&scene.renewal(&grant, far_tick + 10_000));
    let Err(Refusal::TooFarAhead { by_ms }) = refused else { panic!("{refused:?}") };
    assert!(by_ms > 1_000_000_000, "{by_ms}");

    let after = client.list();
    assert_eq!(after.rows, before.rows);
    assert_eq!(after.namespace, before.namespace);
    // The token of before is still good.
    client.renewed(&grant, grant.fence + 10);
    scene.settle();
}

/// So is one in the past: it would start in ticks of long ago.
pub fn clock_of_1980_is_refused(subject: &dyn Subject) {
    let scene = Scene::new(subject, "dead-battery");
    let mut client = scene.client();
    for now in [0, 315_532_800_000, now() - 3_600_000, i64::MIN] {
        let refused = client.acquire(&Acquire { now, ..scene.request() });
        assert!(matches!(refused, Err(Refusal::Skew { by_ms: ..0, .. })), "{refused:?}");
    }
    assert!(client.list().rows.is_empty());
    scene.settle();
}

/// Up to `max_skew` either way is served, and windows stay disjoint among such clients.
pub fn skew_within_bounds_is_served(subject: &dyn Subject) {
    let scene = Scene::new(subject, "skew");
    let mut client = scene.client();
    // A second off the bound, for stores whose clock shows whole seconds.
    for skew in [3_900, -3_900, 3_900, -3_900] {
        let local = now() + skew;
        let only = Acquire { window_ms: 100, now: local, ..scene.request_node(2) };
        let grant = client.grant(&only);
        let tick = scene.namespace.layout.tick_at(local).unwrap();
        assert!(grant.start >= tick, "{grant:?}");
        // As far as a renewal of this client's may reach.
        let reach = scene.namespace.layout.tick_at(local + 10_000).unwrap();
        let renewed = client.renewed(&grant, reach.max(grant.fence));
        client.release(&renewed, grant.start + 50);
    }
    scene.settle();
}
