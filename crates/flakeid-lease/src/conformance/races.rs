//! Many at once: "200 concurrent starts get 200 nodes", windows under contention.

use std::collections::BTreeSet;
use std::sync::Barrier;
use std::thread;

use super::Subject;
use super::scene::Scene;
use crate::protocol::{Acquire, Refusal, Renew};

/// 200 connections that acquire at the same moment get 200 nodes.
pub fn acquires_get_distinct_nodes(subject: &dyn Subject) {
    const STARTS: usize = 200;
    let scene = Scene::new(subject, "race");
    let together = Barrier::new(STARTS);
    let nodes: Vec<u64> = thread::scope(|scope| {
        let starts: Vec<_> = (0..STARTS)
            .map(|_| {
                scope.spawn(|| {
                    let mut client = scene.client();
                    together.wait();
                    client.grant(&scene.request()).node
                })
            })
            .collect();
        starts.into_iter().map(|start| start.join().expect("a node")).collect()
    });
    let distinct: BTreeSet<_> = nodes.iter().collect();
    assert_eq!(distinct.len(), STARTS, "{nodes:?}");
    scene.settle();
}

/// 50 nodes whose holders expire at once are granted again and again, renewed and released by
/// eight processes: no tick twice.
pub fn windows_of_few_nodes_are_disjoint(subject: &dyn Subject) {
    let scene = Scene::new(subject, "contention");
    thread::scope(|scope| {
        for worker in 0..8 {
            let scene = &scene;
            scope.spawn(move || {
                let mut client = scene.client();
                for round in 0..25 {
                    let few = Acquire {
                        from: 0,
                        to: 49,
                        rotation: 0,
                        window_ms: 50,
                        ttl_ms: 1,
                        ..scene.request()
                    };
                    let grant = client.grant_in_time(&few);
                    // Whoever comes too late is fenced off; that is the point of it.
                    let renewal = scene.renewal(&grant, grant.fence + 20);
                    let renewal = Renew { ttl_ms: 1, ..renewal };
                    match client.renew(&renewal) {
                        Ok(_) | Err(Refusal::FencedOff) => {}
                        Err(refusal) => panic!("{refusal:?}"),
                    }
                    if (worker + round) % 5 == 0 {
                        // Held long enough that the release is by its current token.
                        let held = client.grant_in_time(&Acquire { ttl_ms: 60_000, ..few });
                        client.release(&held, held.start + 7);
                    }
                }
            });
        }
    });
    let rows = scene.client().list().rows;
    assert!(rows.len() <= 50 && rows.iter().any(|row| row.grant > 2), "{rows:?}");
    scene.settle();
}

/// Four processes that take one node from each other without end never share a tick.
pub fn takeovers_of_one_node_are_disjoint(subject: &dyn Subject) {
    let scene = Scene::new(subject, "takeover-race");
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut client = scene.client();
                for _ in 0..20 {
                    let only = Acquire { window_ms: 40, ..scene.request_node(0) };
                    let grant = client.grant_in_time(&only);
                    match client.renew(&scene.renewal(&grant, grant.fence + 10)) {
                        Ok(_) | Err(Refusal::FencedOff) => {}
                        Err(refusal) => panic!("{refusal:?}"),
                    }
                }
            });
        }
    });
    assert_eq!(scene.client().list().rows[0].grant, 80);
    scene.settle();
}
