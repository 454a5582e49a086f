//! A helper that issues IDs in the background while a test causes faults in the store.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use flakeid_core::Id;
use flakeid_protocol::Namespace;

/// A leased generator from which a background thread continuously takes IDs.
pub(crate) struct Issuing {
    node: u64,
    over: Arc<AtomicBool>,
    thread: JoinHandle<Vec<Id>>,
}

impl Issuing {
    /// Leases any free node and starts the background thread. Waits for up to 60 s if a restored store does not grant
    /// nodes yet.
    pub(crate) fn on(url: &str, namespace: &Namespace, window: Duration) -> Self {
        let lease = flakeid::lease(url, namespace.layout).unwrap();
        let lease = lease.namespace(&namespace.name).window(window);
        // A single attempt with a long timeout is used, because an attempt that times out during a grant leaves the
        // node held.
        let generator = lease.max_wait(Duration::from_secs(60)).open().unwrap();
        let node = generator.node().unwrap();
        let over = Arc::new(AtomicBool::new(false));
        let is_over = Arc::clone(&over);
        let thread = thread::spawn(move || {
            let mut issued = Vec::new();
            let mut some = [Id::from_i64(0); 16];
            while !is_over.load(Ordering::Relaxed) {
                let Ok(count) = generator.fill_within(&mut some, Duration::from_millis(10)) else {
                    continue; // The window is used up.
                };
                issued.extend_from_slice(&some[..count]);
                thread::sleep(Duration::from_micros(200));
            }
            issued
        });
        Self { node, over, thread }
    }

    /// The node that the generator leased first.
    pub(crate) fn node(&self) -> u64 {
        self.node
    }

    /// Stops the background thread, and returns the IDs that it issued.
    pub(crate) fn stop(self) -> Vec<Id> {
        self.over.store(true, Ordering::Relaxed);
        self.thread.join().unwrap()
    }
}

/// Checks that two generators issued many IDs, and that no ID was issued twice.
pub(crate) fn assert_ids_are_unique(one: &[Id], other: &[Id]) {
    let all: HashSet<Id> = one.iter().chain(other).copied().collect();
    assert_eq!(one.len() + other.len() - all.len(), 0, "IDs were issued twice");
    assert!(one.len() > 1_000 && other.len() > 100, "{} and {} IDs", one.len(), other.len());
}
