//! Two brokers as processes, one of which is killed under its clients.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use flakeid_core::{Id, Layout};
use flakeid_lease::LeasedGenerator;

use crate::run::scratch;
use crate::serve::serve;

const CLIENTS: usize = 60;

/// One client: 100 IDs a second until it is told to stop. Returns them, and the longest time between
/// two of them.
fn issue(url: &str, stop: &AtomicBool) -> (Vec<Id>, Duration) {
    let builder = LeasedGenerator::builder(url, Layout::TWITTER).unwrap();
    // With an observer a lease is shared with nobody.
    let generator = builder.observer(|_| {}).max_wait(Duration::from_secs(10)).open().unwrap();
    let (mut ids, mut longest, mut last) = (Vec::new(), Duration::ZERO, Instant::now());
    while !stop.load(Ordering::Relaxed) {
        ids.push(generator.next_id().unwrap());
        longest = longest.max(last.elapsed());
        last = Instant::now();
        std::thread::sleep(Duration::from_millis(10));
    }
    (ids, longest)
}

/// Its clients have another node before their windows end, and what was issued is issued once.
#[test]
fn a_broker_may_be_killed() {
    let (_, store) = scratch("brokers");
    let (mut killed, one) = serve(&["--store", &store]);
    let (other_server, other) = serve(&["--store", &store]);
    let url = format!("{one},{}", other.strip_prefix("http://").unwrap());
    let stop = AtomicBool::new(false);
    let clients = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(|| issue(&url, &stop))).collect();
        std::thread::sleep(Duration::from_secs(4));
        killed.kill();
        std::thread::sleep(Duration::from_secs(7));
        stop.store(true, Ordering::Relaxed);
        clients.into_iter().map(|client| client.join().unwrap()).collect::<Vec<_>>()
    });
    drop(other_server);
    let mut seen = HashSet::new();
    let mut moved = 0;
    for (ids, _) in &clients {
        assert!(ids.iter().all(|id| seen.insert(*id)), "an ID was issued twice");
        let nodes: HashSet<u64> =
            ids.iter().map(|id| Layout::TWITTER.unpack(*id).unwrap().node).collect();
        moved += usize::from(nodes.len() > 1);
    }
    assert!((CLIENTS / 4..CLIENTS).contains(&moved), "{moved} of {CLIENTS} took another node");
    let longest = clients.iter().map(|(_, longest)| *longest).max().unwrap();
    println!("{} IDs, {moved} clients moved, longest gap {longest:?}", seen.len());
    // The windows of clients are 4 s; who had to wait for the end of one would be over this.
    assert!(longest < Duration::from_secs(3), "{longest:?} without an ID");
}
