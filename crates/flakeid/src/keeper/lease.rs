//! One lease of this process: its options, store, clock and generators.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use flakeid_core::{Error, Generator};

use super::session::Sessions;
use super::source::{LeaseClock, SharedClock, StoreSource};
use crate::keeper::chain::Chain;
use flakeid_protocol::Grant;
use flakeid_protocol::keeper::{LeaseEvent, LeaseOptions};

pub(crate) type Observer = dyn Fn(&LeaseEvent) + Send + Sync;

/// What the generators of one lease and its keeper share.
pub(crate) struct Lease {
    pub(crate) options: LeaseOptions,
    pub(crate) source: StoreSource,
    pub(crate) clock: LeaseClock,
    pub(crate) observer: Option<Arc<Observer>>,
    /// The generators of all grants so far. Only the newest issues IDs: the keeper retires each one
    /// before it adds the next.
    tenures: Chain<Arc<Generator>>,
    pub(crate) sessions: Sessions,
    /// The tick after the last one used by a generator that has ended.
    used_until: AtomicU64,
    /// Whether the release leaves the fence where it is.
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

    /// The present grant's generator, or that of the last one.
    pub(crate) fn generator(&self) -> Option<&Arc<Generator>> {
        self.tenures.newest()
    }

    pub(crate) fn publish(&self, generator: Generator) {
        self.tenures.push(Arc::new(generator));
    }

    /// The tick that the clock has come to; 0 if it does not say.
    pub(crate) fn tick_now(&self) -> u64 {
        self.clock.unix_ms().and_then(|now| self.options.layout.tick_at(now)).unwrap_or(0)
    }

    pub(crate) fn used_until(&self) -> u64 {
        self.used_until.load(Ordering::Acquire)
    }

    pub(crate) fn note_used(&self, until: u64) {
        self.used_until.fetch_max(until, Ordering::AcqRel);
    }

    /// Makes the release leave the fence where it is, because another generator may have used every tick
    /// of the window.
    pub(crate) fn keep_fence(&self) {
        self.keeps_fence.store(true, Ordering::Release);
    }

    /// Returns the tick from which on nothing was used, for the release: the end of the layout if the
    /// fence stays, because the store lowers a fence to this tick and never raises it.
    pub(crate) fn released_from(&self) -> u64 {
        if self.keeps_fence.load(Ordering::Acquire) {
            self.options.layout.max_tick() + 1
        } else {
            self.used_until()
        }
    }

    /// Makes a generator for the nodes of `grants`, in the window from `start` to `fence`.
    pub(crate) fn begin(
        &self,
        grants: &[Grant],
        start: u64,
        fence: u64,
    ) -> Result<Generator, Error> {
        let options = &self.options;
        let nodes: Vec<u64> = grants.iter().map(|grant| grant.node).collect();
        let max_ahead_ms = grants.iter().map(|grant| grant.max_ahead_ms).min().unwrap_or(0);
        let builder = Generator::builder(options.layout).nodes(&nodes);
        let builder = options.generator(builder, max_ahead_ms, (start, fence))?;
        let builder = match self.clock.system {
            Some(clock) => builder.clock(clock),
            None => builder.clock(SharedClock(Arc::clone(&self.clock.exact))),
        };
        builder.build()
    }
}
