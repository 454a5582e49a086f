//! The leases of one JavaScript environment, which end when the environment ends.

use std::cell::{Cell, RefCell};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, TryRecvError};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

use flakeid::Generator;

/// The generator of a lease that is being closed. Dropping this value releases the node, which takes time, so it is
/// dropped off the event loop.
pub(crate) struct PendingClose(pub(crate) Generator);

/// Other handles may keep the generator alive, so the generator is closed explicitly.
impl Drop for PendingClose {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// The longest time that an ending environment waits for its nodes to be released. If a node is not
/// released within this time, its lease is left to expire.
const LONGEST_END: Duration = Duration::from_secs(1);

/// An object that may have an open lease.
pub(crate) trait OpenLease {
    /// Stops issuing IDs, and returns the remaining work of closing the lease; `None` if the node
    /// is fixed or the lease has already been closed.
    fn close_lease(&self) -> Option<PendingClose>;
}

/// The leases of a JavaScript environment, which end when the environment ends.
#[derive(Default)]
pub(crate) struct Leases {
    open: RefCell<Vec<Weak<dyn OpenLease>>>,
    /// One channel per lease that is being closed. Each channel is disconnected once its lease's
    /// node has been released.
    closing: RefCell<Vec<Receiver<()>>>,
    is_over: Cell<bool>,
}

impl Leases {
    pub(crate) fn add<T: OpenLease + 'static>(&self, handle: &Arc<T>) {
        let mut open = self.open.borrow_mut();
        open.retain(|handle| handle.strong_count() > 0);
        let handle: Weak<T> = Arc::downgrade(handle);
        open.push(handle);
    }

    /// Returns a value that a thread holds until it has released a node. The end of the environment waits for it, at most
    /// for one second.
    pub(crate) fn closing(&self) -> Sender<()> {
        let (given, released) = mpsc::channel::<()>();
        let mut closing = self.closing.borrow_mut();
        closing.retain(|closed| closed.try_recv() == Err(TryRecvError::Empty));
        closing.push(released);
        given
    }

    /// Releases a node without blocking the event loop.
    pub(crate) fn end(&self, pending: PendingClose) {
        if self.is_over.get() {
            // The environment has ended and does not wait for another thread, so the current thread
            // releases the node by dropping `pending`.
            drop(pending);
            return;
        }
        let given = self.closing();
        let finish = move || {
            drop(pending);
            drop(given);
        };
        // If no thread can be started, `finish` is dropped immediately, which also releases the
        // node.
        drop(thread::Builder::new().name("flakeid-close".into()).spawn(finish));
    }

    /// Closes all leases concurrently, and waits at most one second for their nodes to be released.
    pub(crate) fn end_all(&self) {
        for handle in self.open.take() {
            if let Some(pending) = handle.upgrade().and_then(|handle| handle.close_lease()) {
                self.end(pending);
            }
        }
        let deadline = Instant::now() + LONGEST_END;
        for closed in self.closing.take() {
            let left = deadline.saturating_duration_since(Instant::now());
            if closed.recv_timeout(left) == Err(RecvTimeoutError::Timeout) {
                return;
            }
        }
    }

    /// Closes all leases when the environment ends. The node of a lease that is dropped later is
    /// released without a separate thread.
    pub(crate) fn end_for_good(&self) {
        self.end_all();
        self.is_over.set(true);
    }
}
