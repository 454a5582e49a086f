//! The lease of a generator that JavaScript holds: who uses it, and how it ends.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;
use std::sync::mpsc::{self, Receiver, Sender};

use flakeid::{Generator, LeaseStatus};
use flakeid_core::{Error, ErrorKind, Stats};

use crate::leases::{Leases, PendingClose};

/// Held by a call that waits off the event loop: the node is not given back before the call is
/// over.
pub(crate) struct LeaseUse {
    _in_use: Sender<()>,
}

/// One generator's lease. It stays in its environment's thread.
pub(crate) struct Lease {
    generator: Generator,
    /// Until it is closed.
    calls: RefCell<Option<Calls>>,
    /// Once it is closed.
    last: OnceCell<Last>,
    leases: Rc<Leases>,
}

struct Calls {
    in_use: Sender<()>,
    /// Is disconnected when there is no sender left.
    over: Receiver<()>,
}

/// What was known when the lease was closed.
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

    /// What calls fail with once it is closed.
    #[cold]
    pub(crate) fn closed() -> Error {
        Error::new(ErrorKind::Closed, "the generator was closed, and its lease with it", None)
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

    /// Makes no more IDs. `None` if it was closed before.
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

/// The program has lost a generator without closing it.
impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(pending) = self.close() {
            self.leases.end(pending);
        }
    }
}
