//! A leased generator that can be closed while others use it.
//!
//! Locks here are taken by attached threads only, and nothing waits with one in hand. So with the
//! GIL they are never contended, and no `os.fork` finds one locked.

use std::mem;
use std::sync::{Arc, PoisonError, RwLock, RwLockWriteGuard};

use flakeid_core::{Error, ErrorKind, Id, Layout, Stats};
use flakeid_lease::{LeaseStatus, LeasedGenerator};
use pyo3::prelude::*;

/// A lease, or what was known of it at its end.
enum State {
    Open(Arc<LeasedGenerator>),
    Closed { node: u64, stats: Stats, status: Box<LeaseStatus> },
}

/// What a `Generator` holds, and what is closed when the interpreter ends.
pub(crate) struct Slot(RwLock<State>);

impl Slot {
    fn write(&self) -> RwLockWriteGuard<'_, State> {
        // A state is whole after every assignment.
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls with the generator, which must not wait.
    #[inline]
    fn with<T>(
        &self,
        call: impl FnOnce(&Arc<LeasedGenerator>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        // Only closing holds it so that nobody else can read.
        match self.0.try_read().as_deref() {
            Ok(State::Open(generator)) => call(generator),
            Ok(State::Closed { .. }) | Err(_) => {
                Err(Error::new(ErrorKind::Closed, "the generator was closed; lease another", None))
            }
        }
    }

    /// A generator for a call that waits: closing does not wait for that call.
    fn held(&self) -> Result<Arc<LeasedGenerator>, Error> {
        self.with(|generator| Ok(Arc::clone(generator)))
    }

    fn seen<T>(
        &self,
        open: impl FnOnce(&LeasedGenerator) -> T,
        closed: impl FnOnce(u64, Stats, &LeaseStatus) -> T,
    ) -> T {
        match &*self.0.read().unwrap_or_else(PoisonError::into_inner) {
            State::Open(generator) => open(generator),
            State::Closed { node, stats, status } => closed(*node, *stats, status),
        }
    }

    /// Ends it, and returns the generator if there was one: dropping that gives the node back,
    /// which takes up to a second and may call Python, so it is done without the GIL.
    pub(crate) fn end(&self) -> Option<Arc<LeasedGenerator>> {
        let mut place = self.write();
        let State::Open(generator) = &*place else { return None };
        let (node, stats) = (generator.node(), generator.stats());
        let lease = Box::new(generator.lease());
        match mem::replace(&mut *place, State::Closed { node, stats, status: lease }) {
            State::Open(generator) => Some(generator),
            State::Closed { .. } => None,
        }
    }
}

/// The leased kind of generator.
pub(crate) struct Leased {
    slot: Arc<Slot>,
    layout: Layout,
}

impl Leased {
    pub(crate) fn new(generator: LeasedGenerator) -> Self {
        let layout = *generator.layout();
        Self { slot: Arc::new(Slot(RwLock::new(State::Open(Arc::new(generator))))), layout }
    }

    pub(crate) fn slot(&self) -> &Arc<Slot> {
        &self.slot
    }

    #[inline]
    pub(crate) fn try_next_id(&self) -> Result<Id, Error> {
        self.slot.with(|generator| generator.try_next_id())
    }

    pub(crate) fn next_id(&self, py: Python<'_>) -> Result<Id, Error> {
        let generator = self.slot.held()?;
        py.detach(move || generator.next_id())
    }

    pub(crate) fn try_fill(&self, ids: &mut [Id]) -> Result<usize, Error> {
        self.slot.with(|generator| generator.try_fill(ids))
    }

    pub(crate) fn try_fill_detached(&self, py: Python<'_>, ids: &mut [Id]) -> Result<usize, Error> {
        let generator = self.slot.held()?;
        py.detach(move || generator.try_fill(ids))
    }

    pub(crate) fn fill(&self, py: Python<'_>, ids: &mut [Id]) -> Result<usize, Error> {
        let generator = self.slot.held()?;
        py.detach(move || generator.fill(ids))
    }

    pub(crate) fn close(&self, py: Python<'_>) {
        let ended = self.slot.end();
        py.detach(|| drop(ended));
    }

    pub(crate) fn node(&self) -> u64 {
        self.slot.seen(LeasedGenerator::node, |node, _, _| node)
    }

    pub(crate) fn stats(&self) -> Stats {
        self.slot.seen(LeasedGenerator::stats, |_, stats, _| stats)
    }

    pub(crate) fn status(&self) -> LeaseStatus {
        self.slot.seen(LeasedGenerator::lease, |_, _, status| status.clone())
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }
}

impl Drop for Leased {
    fn drop(&mut self) {
        let ended = self.slot.end();
        // Without the GIL, because an observer may be waiting for it. An interpreter that is gone
        // has no observers.
        let _ = Python::try_attach(|py| py.detach(|| drop(ended)));
    }
}
