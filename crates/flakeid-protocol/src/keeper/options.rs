//! The options of a lease, with their defaults and limits.

use std::time::Duration;

use flakeid_core::{Error, GeneratorBuilder, Layout, Policy, Window, is_invisible, whole_ms};

use super::KeeperOptions;
use crate::{Acquire, Bounds, Identity, Namespace, Owner, Token};

/// The options of a lease. Two generators in a process share a lease if all their options are equal.
#[derive(Clone, Debug, PartialEq)]
pub struct LeaseOptions {
    /// The name of the namespace.
    pub namespace: String,
    /// The layout of the IDs.
    pub layout: Layout,
    /// The identity, which determines the node to request.
    pub identity: Identity,
    /// The number of nodes to lease.
    pub node_count: u64,
    /// The lowest node that may be leased.
    pub from: u64,
    /// The highest node that may be leased.
    pub to: u64,
    /// The node at which the search for a free node begins.
    pub rotation: u64,
    /// Whether a node that was granted before may be granted again.
    pub reuse: bool,
    /// Whether a node from another broker may replace a node whose renewals fail.
    pub moves: bool,
    /// The length of a window, in milliseconds.
    pub window_ms: u64,
    /// The time for which a node stays reserved without a renewal, in milliseconds.
    pub ttl_ms: u64,
    /// The longest time that a call waits for an ID.
    pub max_wait: Duration,
    /// The policies for overflows and rollbacks.
    pub policy: Policy,
    /// The mask of the sequence numbers to use; `None` for all sequence numbers.
    pub sequence_mask: Option<u64>,
    /// The number of random low bits in the first sequence number of a tick.
    pub sequence_start: u64,
}

impl LeaseOptions {
    /// Creates the default options. The default window is the longest window that a namespace with default bounds
    /// allows.
    #[must_use]
    pub fn new(layout: Layout) -> Self {
        Self {
            namespace: "default".into(),
            layout,
            identity: Identity::Any,
            node_count: 1,
            from: 0,
            to: layout.max_node(),
            rotation: 0,
            reuse: true,
            moves: true,
            window_ms: Bounds::of(&layout).max_window_ms,
            ttl_ms: 60_000.max(layout.unit_ms().saturating_mul(12)),
            max_wait: Duration::from_secs(1)
                .max(Duration::from_millis(layout.unit_ms()).saturating_mul(2)),
            policy: Policy::default(),
            sequence_mask: None,
            sequence_start: 0,
        }
    }

    /// Sets the length of a window, rounded up to whole milliseconds.
    pub fn set_window(&mut self, window: Duration) {
        self.window_ms = whole_ms(window);
    }

    /// Sets the time for which a node stays reserved without a renewal, rounded up to whole milliseconds.
    pub fn set_ttl(&mut self, ttl: Duration) {
        self.ttl_ms = whole_ms(ttl);
    }

    /// Returns the builder of a generator that issues IDs of the granted nodes in the window from `start` to `fence`.
    ///
    /// # Errors
    /// [`InvalidOption`](flakeid_core::ErrorKind::InvalidOption) if the window has no ticks.
    pub fn generator(
        &self,
        nodes: GeneratorBuilder,
        max_ahead_ms: u64,
        (start, fence): (u64, u64),
    ) -> Result<GeneratorBuilder, Error> {
        let builder = nodes
            .window(Window::new(start, fence)?)
            .policy(self.policy)
            .max_ahead(Duration::from_millis(max_ahead_ms))
            .sequence_start(self.sequence_start)
            .max_wait(self.max_wait);
        Ok(match self.sequence_mask {
            Some(mask) => builder.sequence_mask(mask),
            None => builder,
        })
    }

    /// Returns the keeper's options for a process with the given host name and process ID.
    #[must_use]
    pub fn of_keeper(&self, host: String, pid: u32) -> KeeperOptions {
        let (name, is_fixed) = match &self.identity {
            Identity::Any => (String::new(), false),
            Identity::Name(name) => (name.clone(), false),
            Identity::Node(_) => (String::new(), true),
        };
        let acquire = Acquire {
            layout: self.layout,
            identity: self.identity.clone(),
            from: self.from,
            to: self.to,
            rotation: self.rotation,
            block_bits: 0,
            reuse: self.reuse,
            token: Token::from_bits(0),
            window_ms: self.window_ms,
            ttl_ms: self.ttl_ms,
            now: 0,
            waited_ms: 0,
            after: 0,
            owner: Owner { name, host, pid },
        };
        let nodes = usize::try_from(self.node_count).unwrap_or(usize::MAX);
        KeeperOptions { nodes, acquire, moves: self.moves && !is_fixed }
    }

    /// Checks the options as far as possible without a store.
    ///
    /// # Errors
    /// [`InvalidOption`](flakeid_core::ErrorKind::InvalidOption) or
    /// [`FieldOutOfRange`](flakeid_core::ErrorKind::FieldOutOfRange) with the name of the option.
    pub fn check(&self) -> Result<(), Error> {
        Namespace::check_name(&self.namespace)?;
        let max_node = self.layout.max_node();
        let (field, node) = match self.identity {
            Identity::Node(node) => ("node", node),
            Identity::Any | Identity::Name(_) => ("nodes_to", self.to),
        };
        if node > max_node {
            return Err(Error::option_out_of_range(field, &node, 0, max_node));
        }
        if self.from > self.to {
            return Err(Error::option_out_of_range("nodes_from", &self.from, 0, self.to));
        }
        let range = (self.to - self.from).saturating_add(1);
        if self.node_count < 1 || self.node_count > range {
            return Err(Error::option_out_of_range("node_count", &self.node_count, 1, range));
        }
        if !self.node_count.is_power_of_two() {
            return Err(Error::invalid_option(
                "node_count",
                &format!("{} must be a power of two", self.node_count),
            ));
        }
        if self.node_count > 1 && self.identity != Identity::Any {
            return Err(Error::invalid_option(
                "node_count",
                "a lease of several nodes cannot be combined with `name`, `node`, `datacenter` or \
                 `worker`; omit these options",
            ));
        }
        if let Identity::Name(name) = &self.identity
            && (name.is_empty() || name.len() > 128 || name.chars().any(is_invisible))
        {
            return Err(Error::invalid_option(
                "name",
                "must be 1 to 128 bytes long and must not contain control characters or other invisible characters",
            ));
        }
        let shortest = self.layout.unit_ms().saturating_mul(2);
        for (field, value, min) in
            [("window_ms", self.window_ms, shortest), ("ttl_ms", self.ttl_ms, 1)]
        {
            const MONTH: u64 = 30 * 86_400_000;
            if value < min || value > MONTH {
                return Err(Error::option_out_of_range(field, &value, min, MONTH));
            }
        }
        Ok(())
    }
}
