//! Tests of many threads that use one generator on the system clock.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use flakeid_core::{Generator, Id, Layout};

const THREADS: usize = 8;
const EACH: usize = 1_250_000;

/// Takes IDs, and checks that each ID is larger than every ID that another thread had published before the call.
fn take(generator: &Generator, published: &AtomicU64, batch: usize) -> Vec<u64> {
    let mut ids = Vec::with_capacity(EACH);
    let mut buffer = vec![Id::default(); batch];
    while ids.len() < EACH {
        let before = published.load(Ordering::Acquire);
        let wanted = batch.min(EACH - ids.len());
        let count = generator.fill(&mut buffer[..wanted]).unwrap();
        let new = buffer[..count].iter().map(|id| id.to_u64());
        assert!(
            new.clone().all(|id| id > before),
            "an ID is smaller than the ID of an earlier call"
        );
        ids.extend(new);
        published.fetch_max(ids[ids.len() - 1], Ordering::Release);
    }
    ids
}

#[test]
fn eight_threads_take_ten_million_distinct_ids() {
    // The timeout is one minute, because one thread may be the last to wake in many consecutive ticks on a busy
    // machine.
    let builder = Generator::builder(Layout::TWITTER).node(77).max_wait(Duration::from_secs(60));
    let generator = builder.build().unwrap();
    let published = AtomicU64::new(0);
    let barrier = Barrier::new(THREADS);
    let mut all: Vec<u64> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|thread| {
                let (generator, published, barrier) = (&generator, &published, &barrier);
                scope.spawn(move || {
                    barrier.wait();
                    let batch = [1, 1, 1, 1, 1, 7, 1000, 5000][thread];
                    let ids = take(generator, published, batch);
                    assert!(ids.is_sorted_by(|a, b| a < b), "a thread's IDs are out of order");
                    ids
                })
            })
            .collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(all.len(), 10_000_000);
    all.sort_unstable();
    assert!(all.is_sorted_by(|a, b| a < b), "an ID was issued twice");
    for id in &all {
        let parts = Layout::TWITTER.unpack(Id::from_u64(*id)).unwrap();
        assert_eq!(parts.node, 77);
    }
}

#[test]
fn two_generators_of_one_node_issue_distinct_ids() {
    const COUNT: usize = 500_000;
    let ids = std::thread::scope(|scope| {
        let threads = [(); 2].map(|()| {
            scope.spawn(|| {
                let generator = Generator::new(Layout::TWITTER, 78).unwrap();
                generator.next_ids(COUNT).unwrap()
            })
        });
        threads.map(|thread| thread.join().unwrap())
    });
    let mut all = ids.concat();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 2 * COUNT);
}
