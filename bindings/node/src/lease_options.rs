//! The options of a lease.

use std::time::Duration;

use flakeid_core::{Error, Layout, NamedClock, Overflow, Rollback};
use flakeid_lease::protocol::Identity;
use flakeid_lease::{LeaseBuilder, LeasedGenerator};
use napi_derive::napi;

use crate::number::optional;
use crate::options::{self, milliseconds, sequence_start, small};

/// The options of a lease, as text: numbers in decimal, whatever their size.
#[napi(object, object_to_js = false)]
#[derive(Default)]
pub struct LeaseTexts {
    /// Where the store is. Without it, `FLAKEID_STORE` says so, or it is this host's embedded
    /// store.
    pub url: Option<String>,
    /// The namespace in the store.
    pub namespace: Option<String>,
    /// The name that keeps its node.
    pub name: Option<String>,
    /// Lease exactly this node.
    pub node: Option<String>,
    /// The high part of the node.
    pub datacenter: Option<String>,
    /// The low part of the node.
    pub worker: Option<String>,
    /// The first of the nodes to choose from.
    pub nodes_from: Option<String>,
    /// The last of them.
    pub nodes_to: Option<String>,
    /// How many nodes to lease: a power of two.
    pub node_count: Option<String>,
    /// A descriptor or a preset's name.
    pub layout: Option<String>,
    /// Unix milliseconds of tick 0.
    pub epoch: Option<String>,
    /// How long other processes cannot have the node after its last renewal.
    pub ttl_ms: Option<String>,
    /// How long IDs go on without a renewal.
    pub window_ms: Option<String>,
    /// How long a call waits without issuing an ID.
    pub max_wait_ms: Option<String>,
    /// What to do when a tick is full.
    pub overflow: Option<String>,
    /// What to do when the clock goes back.
    pub rollback: Option<String>,
    /// The largest sequence number to use.
    pub sequence_mask: Option<String>,
    /// Random bits at the start of a tick.
    pub sequence_start: Option<String>,
    /// The name of a clock of the system's.
    pub clock: Option<String>,
    /// Whether to take nodes that were leased before.
    pub reuse: Option<bool>,
}

impl LeaseTexts {
    pub(crate) fn max_wait(&self) -> Result<Option<Duration>, Error> {
        milliseconds("max_wait_ms", self.max_wait_ms.as_ref())
    }

    /// Everything but the observer.
    pub(crate) fn builder(&self) -> Result<LeaseBuilder, Error> {
        let layout = options::layout(self.layout.as_ref(), self.epoch.as_ref())?;
        let mut builder = match &self.url {
            Some(url) => LeasedGenerator::builder(url, layout)?,
            None => LeaseBuilder::auto(layout)?,
        };
        if let Some(namespace) = &self.namespace {
            builder = builder.namespace(namespace);
        }
        builder = builder.identity(self.identity(&layout)?);
        let max_node = layout.max_node();
        let from = optional("nodes from", self.nodes_from.as_ref(), max_node)?;
        let to = optional("nodes to", self.nodes_to.as_ref(), max_node)?;
        if let (Some(from), Some(to)) = (from, to) {
            builder = builder.nodes(from, to);
        }
        if let Some(count) = small("node_count", self.node_count.as_ref())? {
            builder = builder.node_count(count);
        }
        if let Some(ttl) = milliseconds("ttl_ms", self.ttl_ms.as_ref())? {
            builder = builder.ttl(ttl);
        }
        if let Some(window) = milliseconds("window_ms", self.window_ms.as_ref())? {
            builder = builder.window(window);
        }
        if let Some(max_wait) = self.max_wait()? {
            builder = builder.max_wait(max_wait);
        }
        if let Some(reuse) = self.reuse {
            builder = builder.reuse(reuse);
        }
        if let Some(name) = &self.clock {
            builder = builder.clock(name.parse::<NamedClock>()?);
        }
        self.sequence_and_policy(builder, &layout)
    }

    fn sequence_and_policy(
        &self,
        mut builder: LeaseBuilder,
        layout: &Layout,
    ) -> Result<LeaseBuilder, Error> {
        let mask = self.sequence_mask.as_ref();
        if let Some(mask) = optional("sequence_mask", mask, layout.max_sequence())? {
            builder = builder.sequence_mask(mask);
        }
        if let Some(bits) = sequence_start(self.sequence_start.as_ref(), layout)? {
            builder = builder.sequence_start(bits);
        }
        if let Some(overflow) = &self.overflow {
            builder = builder.overflow(overflow.parse::<Overflow>()?);
        }
        if let Some(rollback) = &self.rollback {
            builder = builder.rollback(rollback.parse::<Rollback>()?);
        }
        Ok(builder)
    }

    fn identity(&self, layout: &Layout) -> Result<Identity, Error> {
        let (most_datacenter, most_worker) = layout.max_datacenter_and_worker().unwrap_or_default();
        let node = optional("node", self.node.as_ref(), layout.max_node())?;
        let datacenter = optional("datacenter", self.datacenter.as_ref(), most_datacenter)?;
        let worker = optional("worker", self.worker.as_ref(), most_worker)?;
        Identity::resolve(node, datacenter, worker, self.name.as_deref(), layout)
    }
}
