use std::cell::{OnceCell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};

use flakeid_core::{Error, ErrorKind, Layout, Stats};
use flakeid_lease::{LeaseStatus, LeasedGenerator};

use crate::leases::Leases;

/// A leased generator for a call that waits off the event loop. The node is not given back before
/// the call is over.
pub(crate) struct Tenant {
    pub(crate) generator: Arc<LeasedGenerator>,
    _in_use: Sender<()>,
}

/// One generator's lease. It stays in its environment's thread.
pub(crate) struct Lease {
    generator: Arc<LeasedGenerator>,
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

/// How things stood when the lease was closed.
struct Last {
    nodes: Vec<u64>,
    status: LeaseStatus,
    stats: Stats,
}

impl Lease {
    pub(crate) fn new(generator: LeasedGenerator, leases: Rc<Leases>) -> Self {
        let (in_use, over) = mpsc::channel();
        let calls = RefCell::new(Some(Calls { in_use, over }));
        Self { generator: Arc::new(generator), calls, last: OnceCell::new(), leases }
    }

    /// The generator, in whatever state, for handles that [`ask`](Self::ask) before they use it.
    pub(crate) fn generator(&self) -> &Arc<LeasedGenerator> {
        &self.generator
    }

    #[inline]
    pub(crate) fn ask<T>(
        &self,
        question: impl FnOnce(&Arc<LeasedGenerator>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        // The generator itself is closed later, off the event loop.
        if self.last.get().is_some() {
            return Err(closed());
        }
        question(&self.generator)
    }

    pub(crate) fn tenant(&self) -> Result<Tenant, Error> {
        let calls = self.calls.borrow();
        let in_use = calls.as_ref().ok_or_else(closed)?.in_use.clone();
        Ok(Tenant { generator: Arc::clone(&self.generator), _in_use: in_use })
    }

    pub(crate) fn layout(&self) -> &Layout {
        self.generator.layout()
    }

    pub(crate) fn nodes(&self) -> Vec<u64> {
        self.last.get().map_or_else(|| self.generator.nodes(), |last| last.nodes.clone())
    }

    pub(crate) fn stats(&self) -> Stats {
        self.last.get().map_or_else(|| self.generator.stats(), |last| last.stats)
    }

    pub(crate) fn status(&self) -> LeaseStatus {
        self.last.get().map_or_else(|| self.generator.lease(), |last| last.status.clone())
    }

    /// Makes no more IDs. `None` if it was closed before.
    pub(crate) fn close(&self) -> Option<Ending> {
        let Calls { in_use, over } = self.calls.borrow_mut().take()?;
        drop(in_use);
        self.last.get_or_init(|| Last {
            nodes: self.generator.nodes(),
            status: self.generator.lease(),
            stats: self.generator.stats(),
        });
        Some(Ending { generator: Arc::clone(&self.generator), calls: over })
    }
}

/// A generator that was never closed, and that nobody can reach any more.
impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(ending) = self.close() {
            self.leases.end(ending);
        }
    }
}

#[cold]
fn closed() -> Error {
    Error::new(ErrorKind::Closed, "the generator was closed, and its lease with it", None)
}

/// What is left to do when a lease is closed, off the event loop.
pub(crate) struct Ending {
    generator: Arc<LeasedGenerator>,
    /// Is disconnected when the calls that were under way are over.
    calls: Receiver<()>,
}

impl Ending {
    /// Gives the node back, once the calls that are under way are over.
    pub(crate) fn finish(self) {
        // Nothing is ever sent: it ends when there is no sender left.
        let _ = self.calls.recv();
    }
}

/// Other handles may still have the generator, so it is closed, whoever holds it.
impl Drop for Ending {
    fn drop(&mut self) {
        self.generator.close();
    }
}
