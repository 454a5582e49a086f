//! Tests that are small enough for the Miri interpreter (`cargo xtask miri`). Threads that share a node take only a few
//! IDs with each kind of call.

#![allow(clippy::unwrap_used)]

use std::collections::HashSet;
use std::thread;
use std::time::Duration;

use flakeid_core::{
    CachedGenerator, ErrorKind, Generator, GeneratorBuilder, Id, Layout, RingOptions,
};

const EACH: usize = 24;
const LONG_WAIT: Duration = Duration::from_secs(60);

fn on(nodes: &[u64]) -> GeneratorBuilder {
    Generator::builder(Layout::TWITTER).nodes(nodes).max_wait(LONG_WAIT)
}

fn assert_distinct(ids: &[Id]) {
    let distinct: HashSet<_> = ids.iter().collect();
    assert_eq!(distinct.len(), ids.len(), "IDs are unique (I1)");
}

fn singly(generator: &Generator) -> Vec<Id> {
    (0..EACH).map(|_| generator.next_id().unwrap()).collect()
}

fn filled(generator: &Generator) -> Vec<Id> {
    let mut numbers = [0; EACH];
    generator.fill(Id::from_u64_slice_mut(&mut numbers)).unwrap();
    numbers.map(Id::from_u64).to_vec()
}

fn locally(generator: &Generator) -> Vec<Id> {
    let mut local = generator.local();
    (0..EACH).map(|_| local.next_id().unwrap()).collect()
}

/// Runs each kind of call on a separate thread. The threads use two generators that share one position.
#[test]
fn threads_that_share_a_node_take_distinct_ids() {
    for nodes in [&[811][..], &[812, 813]] {
        let ways: [fn(&Generator) -> Vec<Id>; 3] = [singly, filled, locally];
        let one = on(nodes).build().unwrap();
        let other = on(nodes).build().unwrap();
        let generators = [&one, &other, &one];
        let ids: Vec<Vec<Id>> = thread::scope(|scope| {
            let threads: Vec<_> = ways
                .into_iter()
                .zip(generators)
                .map(|(way, generator)| scope.spawn(move || way(generator)))
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(ids.iter().all(|ids| ids.is_sorted_by(|a, b| a < b)), "I8");
        assert_distinct(&ids.concat());
    }
}

/// Takes IDs from a ring on two threads while the ring is refilled. A third thread takes IDs from the ring's generator
/// directly.
#[test]
fn small_ring_returns_distinct_ids_to_two_threads() {
    let layout: Layout = "t41.n10.s4@1288834974657/1ms".parse().unwrap();
    let builder = Generator::builder(layout).node(815).max_wait(LONG_WAIT);
    let generator = builder.build().unwrap();
    let options = RingOptions::new().boost_power(0).max_age(LONG_WAIT);
    let ring = CachedGenerator::with(&generator, options).unwrap();
    let take = || (0..EACH).map(|_| ring.next_id().unwrap()).collect::<Vec<_>>();
    let ids = thread::scope(|scope| {
        let other = scope.spawn(take);
        let past = scope.spawn(|| singly(&generator));
        [take(), other.join().unwrap(), past.join().unwrap()]
    });
    assert!(ids.iter().all(|ids| ids.is_sorted_by(|a, b| a < b)), "I8");
    assert_distinct(&ids.concat());
    ring.close();
    assert_eq!(ring.next_id().map_err(|error| error.kind()), Err(ErrorKind::Closed));
}
