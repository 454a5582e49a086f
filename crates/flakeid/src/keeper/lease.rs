//! A lease that this process holds, with the options, store, clock and tenures of the lease.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use flakeid_core::internal::{Chain, Tenure};
use flakeid_core::{Error, Generator};

use super::session::Sessions;
use super::source::{LeaseClock, SharedClock, StoreSource};
use flakeid_protocol::keeper::{Begin, LeaseEvent, LeaseOptions};

pub(crate) type Observer = dyn Fn(&LeaseEvent) + Send + Sync;

/// The data that a lease's keeper and generators share.
pub(crate) struct KeptLease {
    pub(crate) options: LeaseOptions,
    pub(crate) source: StoreSource,
    pub(crate) clock: LeaseClock,
    pub(crate) observer: Option<Arc<Observer>>,
    /// The tenures of all grants so far. The keeper retires each tenure before adding the next one, so only the newest
    /// tenure issues IDs.
    tenures: Chain<Arc<Tenure>>,
    pub(crate) sessions: Sessions,
    /// The first tick that no ended tenure can have used.
    used_until: AtomicU64,
    /// Whether the keeper releases the node without lowering the node's fence.
    keeps_fence: AtomicBool,
}

impl KeptLease {
    pub(crate) fn new(
        options: LeaseOptions,
        source: StoreSource,
        clock: LeaseClock,
        observer: Option<Arc<Observer>>,
    ) -> Self {
        let (tenures, sessions) = (Chain::default(), Sessions::new());
        let (used_until, keeps_fence) = (AtomicU64::new(0), AtomicBool::new(false));
        Self { options, source, clock, observer, tenures, sessions, used_until, keeps_fence }
    }

    /// The tenure of the most recent grant, even if the grant has ended, or `None` before the first grant.
    pub(crate) fn tenure(&self) -> Option<&Arc<Tenure>> {
        self.tenures.newest()
    }

    pub(crate) fn publish(&self, tenure: Tenure) {
        self.tenures.push(Arc::new(tenure));
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

    /// Builds the tenure of a grant.
    pub(crate) fn begin(&self, begin: &Begin) -> Result<Tenure, Error> {
        let Begin { nodes, start, fence, max_ahead_ms } = begin;
        let options = &self.options;
        let builder = Generator::builder(options.layout).nodes(nodes);
        let builder = options.generator(builder, *max_ahead_ms, (*start, *fence))?;
        let builder = match self.clock.system {
            Some(clock) => builder.clock(clock),
            None => builder.clock(SharedClock(Arc::clone(&self.clock.exact))),
        };
        builder.build_tenure()
    }
}
