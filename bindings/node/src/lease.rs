use std::cell::RefCell;
use std::mem;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};

use flakeid_core::{Error, ErrorKind, Layout, Stats};
use flakeid_lease::{LeaseStatus, LeasedGenerator};

use crate::leases::Leases;

/// A leased generator that is in use: on the event loop, and by calls that wait off it. The last of
/// them gives the node back.
pub(crate) struct Tenant {
    pub(crate) generator: LeasedGenerator,
    /// After the generator: dropped when the node was given back.
    _in_use: Sender<()>,
}

/// One generator's lease. It stays in its environment's thread.
pub(crate) struct Lease {
    layout: Layout,
    state: RefCell<Result<Open, Last>>,
    leases: Rc<Leases>,
}

struct Open {
    tenant: Arc<Tenant>,
    /// Is disconnected when the node was given back.
    given_back: Receiver<()>,
}

/// How things stood when the lease was closed.
struct Last {
    node: u64,
    status: LeaseStatus,
    stats: Stats,
}

impl Lease {
    pub(crate) fn new(generator: LeasedGenerator, leases: Rc<Leases>) -> Self {
        let layout = *generator.layout();
        let (in_use, given_back) = mpsc::channel();
        let tenant = Arc::new(Tenant { generator, _in_use: in_use });
        let state = RefCell::new(Ok(Open { tenant, given_back }));
        Self { layout, state, leases }
    }

    #[inline]
    pub(crate) fn ask<T>(
        &self,
        question: impl FnOnce(&LeasedGenerator) -> Result<T, Error>,
    ) -> Result<T, Error> {
        match &*self.state.borrow() {
            Ok(open) => question(&open.tenant.generator),
            Err(_) => Err(closed()),
        }
    }

    pub(crate) fn tenant(&self) -> Result<Arc<Tenant>, Error> {
        match &*self.state.borrow() {
            Ok(open) => Ok(Arc::clone(&open.tenant)),
            Err(_) => Err(closed()),
        }
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    pub(crate) fn node(&self) -> u64 {
        self.state.borrow().as_ref().map_or_else(|last| last.node, |open| open.generator().node())
    }

    pub(crate) fn stats(&self) -> Stats {
        let state = self.state.borrow();
        state.as_ref().map_or_else(|last| last.stats, |open| open.generator().stats())
    }

    pub(crate) fn status(&self) -> LeaseStatus {
        let state = self.state.borrow();
        state.as_ref().map_or_else(|last| last.status.clone(), |open| open.generator().lease())
    }

    /// Makes no more IDs. `None` if it was closed before.
    pub(crate) fn close(&self) -> Option<Ending> {
        let mut state = self.state.borrow_mut();
        let last = state.as_ref().ok().map(|open| Last {
            node: open.generator().node(),
            status: open.generator().lease(),
            stats: open.generator().stats(),
        })?;
        mem::replace(&mut *state, Err(last)).ok().map(Ending)
    }
}

impl Open {
    fn generator(&self) -> &LeasedGenerator {
        &self.tenant.generator
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
pub(crate) struct Ending(Open);

impl Ending {
    /// Gives the node back, once the calls that are under way are over.
    pub(crate) fn finish(self) {
        let Open { tenant, given_back } = self.0;
        drop(tenant);
        // Nothing is ever sent: it ends when there is no sender left.
        let _ = given_back.recv();
    }
}
