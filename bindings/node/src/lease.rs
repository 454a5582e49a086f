//! The lease of a generator, and its last state after it has been closed.

use std::cell::OnceCell;
use std::rc::Rc;

use flakeid::{Generator, LeaseStatus};
use flakeid_core::{Error, ErrorKind, Stats};

use crate::leases::{Leases, PendingClose};

/// The lease of one generator. The lease cannot leave the thread of its JavaScript environment.
pub(crate) struct Lease {
    generator: Generator,
    /// The last state of the lease, which is recorded when the lease is closed.
    last: OnceCell<Last>,
    leases: Rc<Leases>,
}

/// The last state of a closed lease.
struct Last {
    nodes: Vec<u64>,
    status: LeaseStatus,
    stats: Stats,
}

impl Lease {
    pub(crate) fn new(generator: Generator, leases: Rc<Leases>) -> Self {
        Self { generator, last: OnceCell::new(), leases }
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

    pub(crate) fn nodes(&self) -> Vec<u64> {
        self.last.get().map_or_else(|| self.generator.nodes().to_vec(), |last| last.nodes.clone())
    }

    pub(crate) fn stats(&self) -> Stats {
        self.last.get().map_or_else(|| self.generator.stats(), |last| last.stats)
    }

    pub(crate) fn status(&self) -> LeaseStatus {
        self.last.get().map_or_else(|| self.present(), |last| last.status.clone())
    }

    fn present(&self) -> LeaseStatus {
        flakeid::Lease::of(&self.generator).map(|lease| lease.status()).unwrap_or_default()
    }

    /// Stops issuing IDs, and returns the remaining work of closing the lease; `None` if the lease
    /// has already been closed.
    pub(crate) fn close(&self) -> Option<PendingClose> {
        let last = Last {
            nodes: self.generator.nodes().to_vec(),
            status: self.present(),
            stats: self.generator.stats(),
        };
        self.last.set(last).ok()?;
        Some(PendingClose(self.generator.clone()))
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
