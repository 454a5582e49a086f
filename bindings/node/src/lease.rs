//! The lease of a generator. This module records the calls that use the lease, and closes the lease.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;
use std::sync::mpsc::{self, Receiver, Sender};

use flakeid::{Generator, LeaseStatus};
use flakeid_core::{Error, ErrorKind, Stats};

use crate::leases::{Leases, PendingClose};

/// A guard that a call off the event loop holds while the call uses a lease. The node is not
/// released before the call has returned.
pub(crate) struct LeaseUse {
    _in_use: Sender<()>,
}

/// The lease of one generator. The lease cannot leave the thread of its JavaScript environment.
pub(crate) struct Lease {
    generator: Generator,
    /// The running calls; `None` after the lease has been closed.
    calls: RefCell<Option<Calls>>,
    /// The last state of the lease, which is recorded when the lease is closed.
    last: OnceCell<Last>,
    leases: Rc<Leases>,
}

struct Calls {
    in_use: Sender<()>,
    /// The receiver of a channel that is disconnected once the lease has been closed and all
    /// running calls have returned.
    over: Receiver<()>,
}

/// The last state of a closed lease.
struct Last {
    nodes: Vec<u64>,
    status: LeaseStatus,
    stats: Stats,
}

impl Lease {
    pub(crate) fn new(generator: Generator, leases: Rc<Leases>) -> Self {
        let (in_use, over) = mpsc::channel();
        let calls = RefCell::new(Some(Calls { in_use, over }));
        Self { generator, calls, last: OnceCell::new(), leases }
    }

    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        self.last.get().is_some()
    }

    /// Returns the error with which calls fail after the lease has been closed.
    #[cold]
    pub(crate) fn closed() -> Error {
        Error::new(ErrorKind::Closed, "the generator was closed, so its lease has ended", None)
    }

    pub(crate) fn begin_use(&self) -> Result<LeaseUse, Error> {
        let calls = self.calls.borrow();
        let in_use = calls.as_ref().ok_or_else(Self::closed)?.in_use.clone();
        Ok(LeaseUse { _in_use: in_use })
    }

    pub(crate) fn nodes(&self) -> Vec<u64> {
        self.last
            .get()
            .map_or_else(|| self.generator.nodes().into_owned(), |last| last.nodes.clone())
    }

    pub(crate) fn stats(&self) -> Stats {
        self.last.get().map_or_else(|| self.generator.stats(), |last| last.stats)
    }

    pub(crate) fn status(&self) -> LeaseStatus {
        self.last.get().map_or_else(|| self.present(), |last| last.status.clone())
    }

    fn present(&self) -> LeaseStatus {
        self.generator.lease_status().unwrap_or_default()
    }

    /// Stops issuing IDs, and returns the remaining work of closing the lease; `None` if the lease
    /// has already been closed.
    pub(crate) fn close(&self) -> Option<PendingClose> {
        let Calls { in_use, over } = self.calls.borrow_mut().take()?;
        drop(in_use);
        self.last.get_or_init(|| Last {
            nodes: self.generator.nodes().into_owned(),
            status: self.present(),
            stats: self.generator.stats(),
        });
        Some(PendingClose { generator: self.generator.clone(), calls: over })
    }
}

/// Closes the lease if the program dropped the generator without closing it.
impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(pending) = self.close() {
            self.leases.end(pending);
        }
    }
}
