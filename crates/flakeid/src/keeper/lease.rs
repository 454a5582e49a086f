//! A lease that this process holds, with the options, store, clock and generators of the lease.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use flakeid_core::{Error, Generator};

use super::session::Sessions;
use super::source::{LeaseClock, SharedClock, StoreSource};
use crate::keeper::chain::Chain;
use flakeid_protocol::keeper::{Begin, LeaseEvent, LeaseOptions};

pub(crate) type Observer = dyn Fn(&LeaseEvent) + Send + Sync;

/// The data that a lease's keeper and generators share.
pub(crate) struct Lease {
    pub(crate) options: LeaseOptions,
    pub(crate) source: StoreSource,
    pub(crate) clock: LeaseClock,
    pub(crate) observer: Option<Arc<Observer>>,
    /// The generators of all grants so far. The keeper retires each generator before adding the next one, so only the
    /// newest generator issues IDs.
    tenures: Chain<Arc<Generator>>,
    pub(crate) sessions: Sessions,
    /// The first tick that no retired generator can have used.
    used_until: AtomicU64,
    /// Whether the keeper releases the node without lowering the node's fence.
    keeps_fence: AtomicBool,
}

impl Lease {
    pub(crate) fn new(
        options: LeaseOptions,
        source: StoreSource,
        clock: LeaseClock,
        observer: Option<Arc<Observer>>,
    ) -> Self {
        let (tenures, sessions) = (Chain::new(), Sessions::new());
        let (used_until, keeps_fence) = (AtomicU64::new(0), AtomicBool::new(false));
        Self { options, source, clock, observer, tenures, sessions, used_until, keeps_fence }
    }

    /// The generator of the most recent grant, even if the grant has ended, or `None` before the first grant.
    pub(crate) fn generator(&self) -> Option<&Arc<Generator>> {
        self.tenures.newest()
    }

    pub(crate) fn publish(&self, generator: Generator) {
        self.tenures.push(Arc::new(generator));
    }

    pub(crate) fn used_until(&self) -> u64 {
        self.used_until.load(Ordering::Acquire)
    }

    pub(crate) fn note_used(&self, until: u64) {
        self.used_until.fetch_max(until, Ordering::AcqRel);
    }

    /// Makes the keeper leave the node's fence unchanged when the node is released, because a generator outside this
    /// library may have used every tick in the window.
    pub(crate) fn keep_fence(&self) {
        self.keeps_fence.store(true, Ordering::Release);
    }

    pub(super) fn keeps_fence(&self) -> bool {
        self.keeps_fence.load(Ordering::Acquire)
    }

    /// Builds the generator for a grant.
    pub(crate) fn begin(&self, begin: &Begin) -> Result<Generator, Error> {
        let Begin { nodes, start, fence, max_ahead_ms } = begin;
        let options = &self.options;
        let builder = Generator::builder(options.layout).nodes(nodes);
        let builder = options.generator(builder, *max_ahead_ms, (*start, *fence))?;
        let builder = match self.clock.system {
            Some(clock) => builder.clock(clock),
            None => builder.clock(SharedClock(Arc::clone(&self.clock.exact))),
        };
        builder.build()
    }
}
