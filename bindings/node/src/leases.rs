use std::cell::{Cell, RefCell};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, TryRecvError};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

use crate::handle::Leased;
use crate::lease::Ending;

/// How long the end of an environment waits until its nodes are given back. What was not expires.
const LONGEST_END: Duration = Duration::from_secs(1);

/// The leases of an environment, which end with it.
#[derive(Default)]
pub(crate) struct Leases {
    open: RefCell<Vec<Weak<Leased>>>,
    /// Each is disconnected when a node was given back.
    ending: RefCell<Vec<Receiver<()>>>,
    is_over: Cell<bool>,
}

impl Leases {
    pub(crate) fn add(&self, lease: &Arc<Leased>) {
        let mut open = self.open.borrow_mut();
        open.retain(|lease| lease.strong_count() > 0);
        open.push(Arc::downgrade(lease));
    }

    /// Gives a node back without keeping the event loop waiting.
    pub(crate) fn end(&self, ending: Ending) {
        if self.is_over.get() {
            // Nobody would wait for a thread any more.
            drop(ending);
            return;
        }
        let (given, given_back) = mpsc::channel::<()>();
        let finish = move || {
            ending.finish();
            drop(given);
        };
        // Without a thread `finish` is dropped here and now, which gives the node back as well.
        if thread::Builder::new().name("flakeid-close".into()).spawn(finish).is_ok() {
            let mut ending = self.ending.borrow_mut();
            ending.retain(|ended| ended.try_recv() == Err(TryRecvError::Empty));
            ending.push(given_back);
        }
    }

    /// Closes all, side by side, and waits for that, but not for long.
    pub(crate) fn end_all(&self) {
        for lease in self.open.take() {
            if let Some(ending) = lease.upgrade().and_then(|leased| leased.lease.close()) {
                self.end(ending);
            }
        }
        let deadline = Instant::now() + LONGEST_END;
        for ended in self.ending.take() {
            let left = deadline.saturating_duration_since(Instant::now());
            if ended.recv_timeout(left) == Err(RecvTimeoutError::Timeout) {
                return;
            }
        }
    }

    /// The same at the very end.
    pub(crate) fn end_for_good(&self) {
        self.end_all();
        self.is_over.set(true);
    }
}
