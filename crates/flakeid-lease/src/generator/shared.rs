use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use flakeid_core::{Error, Generator, Window};

use super::chain::Chain;
use super::terms::Terms;
use crate::keeper::{LeaseEvent, Lives, SharedClock, Source, Watch};
use crate::protocol::Grant;

pub(crate) type Observer = dyn Fn(&LeaseEvent) + Send + Sync;

/// What all generators of one lease share, and their keeper with them.
pub(crate) struct Shared {
    pub(crate) terms: Terms,
    pub(crate) source: Source,
    pub(crate) watch: Watch,
    pub(crate) observer: Option<Arc<Observer>>,
    /// One grant's generator after the other. Only the newest issues: each one is retired before the
    /// next is added, by the one keeper of the process.
    tenures: Chain<Arc<Generator>>,
    pub(crate) lives: Lives,
    /// The tick after the last one used by a generator that has ended.
    used_until: AtomicU64,
}

impl Shared {
    pub(crate) fn new(
        terms: Terms,
        source: Source,
        watch: Watch,
        observer: Option<Arc<Observer>>,
    ) -> Self {
        let (tenures, lives) = (Chain::new(), Lives::new());
        Self { terms, source, watch, observer, tenures, lives, used_until: AtomicU64::new(0) }
    }

    /// The present grant's generator, or that of the last one.
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

    /// A generator in what is common to the windows of grants.
    pub(crate) fn begin(
        &self,
        grants: &[Grant],
        start: u64,
        fence: u64,
    ) -> Result<Generator, Error> {
        let terms = &self.terms;
        let nodes: Vec<u64> = grants.iter().map(|grant| grant.node).collect();
        let max_ahead_ms = grants.iter().map(|grant| grant.max_ahead_ms).min().unwrap_or(0);
        let mut builder = Generator::builder(terms.layout)
            .nodes(&nodes)
            .window(Window::new(start, fence)?)
            .policy(terms.policy)
            .sequence_start(terms.sequence_start)
            .max_ahead(Duration::from_millis(max_ahead_ms))
            .max_wait(terms.max_wait);
        if let Some(mask) = terms.sequence_mask {
            builder = builder.sequence_mask(mask);
        }
        builder = match self.watch.system {
            Some(clock) => builder.clock(clock),
            None => builder.clock(SharedClock(Arc::clone(&self.watch.clock))),
        };
        builder.build()
    }
}
