//! The lease builder. Its options can be set by method or by name.

use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use flakeid_core::internal::TenureSource;
use flakeid_core::{
    Clock, Error, Generator, Layout, NamedClock, NamedOption, OptionKind, Overflow, Policy,
    Rollback, SetByName,
};

use super::{LeaseUsers, find_or_add};
use crate::OPEN_WAIT;
use crate::broker::Broker;
use crate::default_store::default_store_url;
use crate::keeper::{KeptLease, LeaseClock, Observer, StoreSource};
use flakeid_protocol::keeper::{Begin, LeaseEvent, LeaseOptions};
use flakeid_protocol::store::{CONNECT_TIMEOUT, Fault, Store};
use flakeid_protocol::{Identity, Lessor};
use flakeid_stores::{Location, user_rotation};

/// The options of a lease. All options have defaults.
///
/// ```
/// use std::time::Duration;
///
/// use flakeid::{Identity, Layout, Overflow};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let url = format!("sqlite://{}/ids.db", folder.path().display());
/// let generator = flakeid::lease(&url, Layout::TWITTER)?
///     .namespace("orders")
///     .identity(Identity::Name("worker-3".into()))
///     .max_wait(Duration::from_millis(200))
///     .overflow(Overflow::Error)
///     .open()?;
/// assert_eq!(generator.max_wait(), Duration::from_millis(200));
/// # Ok::<(), flakeid::Error>(())
/// ```
#[must_use = "a builder does nothing until it is opened"]
pub struct LeaseBuilder {
    options: LeaseOptions,
    /// The value of the option `node`, if the option was set by name. When the lease is opened, this field and the
    /// fields `datacenter`, `worker` and `name` are converted to an identity.
    node: Option<u64>,
    datacenter: Option<u64>,
    worker: Option<u64>,
    name: Option<String>,
    source: StoreSource,
    clock: LeaseClock,
    observer: Option<Arc<Observer>>,
    open_wait: Duration,
}

impl LeaseBuilder {
    /// Returns a builder for a lease from a store whose URL has already been parsed. [`lease`] does the
    /// same with a URL.
    ///
    /// ```
    /// use flakeid::{LeaseBuilder, Layout, Location};
    ///
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let url = format!("sqlite://{}/ids.db", folder.path().display());
    /// let store = Location::parse(&url)?;
    /// let generator = LeaseBuilder::from_location(store, Layout::TWITTER).open()?;
    /// assert!(generator.is_leased());
    /// # Ok::<(), flakeid::Error>(())
    /// ```
    pub fn from_location(location: Location, layout: Layout) -> Self {
        Self::with(StoreSource::Location(location), layout)
    }

    /// Returns a builder for a lease from your own kind of store. `open` is called for every new connection.
    ///
    /// ```
    /// use flakeid::{LeaseBuilder, Layout, MemoryStore};
    ///
    /// let store = MemoryStore::new();
    /// let open = move || Ok(Box::new(store.clone()) as _);
    /// let generator = LeaseBuilder::from_store(Layout::TWITTER, open).open()?;
    /// generator.next_id()?;
    /// # Ok::<(), flakeid::Error>(())
    /// ```
    pub fn from_store(
        layout: Layout,
        open: impl Fn() -> Result<Box<dyn Store>, Fault> + Send + Sync + 'static,
    ) -> Self {
        let open = move || open().map(|store| Box::new(store) as Box<dyn Lessor>);
        Self::with(StoreSource::Opener(Arc::new(open)), layout)
    }

    /// Returns a builder for a lease from a broker that runs in this process.
    pub fn from_broker(broker: &Broker) -> Self {
        let (layout, namespace) = (*broker.layout(), broker.namespace().name.clone());
        let broker = broker.clone();
        let open = move || Ok(Box::new(broker.clone()) as Box<dyn Lessor>);
        Self::with(StoreSource::Opener(Arc::new(open)), layout).namespace(&namespace)
    }

    fn with(source: StoreSource, layout: Layout) -> Self {
        Self {
            options: LeaseOptions::new(layout),
            node: None,
            datacenter: None,
            worker: None,
            name: None,
            source,
            clock: LeaseClock::default(),
            observer: None,
            open_wait: OPEN_WAIT,
        }
    }

    /// Sets the namespace: 1 to 64 characters of `A-Z a-z 0-9 . _ -`. The default is `default`.
    pub fn namespace(mut self, namespace: &str) -> Self {
        self.options.namespace = namespace.into();
        self
    }

    /// Sets the identity, which determines the node to lease. The default is any node.
    pub fn identity(mut self, identity: Identity) -> Self {
        self.options.identity = identity;
        self
    }

    /// Sets the range of nodes from which a node is leased, such as `512..=1023`. The default is all nodes of the layout.
    pub fn node_range(mut self, nodes: RangeInclusive<u64>) -> Self {
        (self.options.from, self.options.to) = nodes.into_inner();
        self
    }

    /// Sets the number of nodes to lease for one generator: a power of two, by default 1. With `count` nodes, the
    /// generator issues up to `count` times as many IDs per second, still in increasing order. The generator issues IDs
    /// only while all its nodes are leased. See [`GeneratorBuilder::nodes`](flakeid_core::GeneratorBuilder::nodes).
    pub fn node_count(mut self, count: u64) -> Self {
        self.options.node_count = count;
        self
    }

    /// Sets the node at which the search for a never-used node begins. The default is 0.
    pub fn rotation(mut self, rotation: u64) -> Self {
        self.options.rotation = rotation;
        self
    }

    /// Sets whether a node that was leased before may be leased again. The default is true. If false, each start of a
    /// program uses up a node until none is left, as with Baidu's disposable worker IDs.
    pub fn reuse(mut self, reuse: bool) -> Self {
        self.options.reuse = reuse;
        self
    }

    /// Keeps the node until its window ends, even if renewals fail and another broker could grant a different node. Use
    /// this option if you pass the node number to another library, because that library would continue to use the old
    /// number.
    pub fn keep_node(mut self) -> Self {
        self.options.moves = false;
        self
    }

    /// Sets the length of the window that each renewal requests. The length is measured from the time of the renewal,
    /// and is rounded up to whole milliseconds. The allowed lengths range from two ticks to the namespace's maximum.
    /// The default is 10 s. While the store is unavailable, the generator can issue IDs for at most this long.
    pub fn window(mut self, window: Duration) -> Self {
        self.options.set_window(window);
        self
    }

    /// Sets the time for which the node stays reserved for this process without a renewal, rounded up to whole
    /// milliseconds. The default is 60 s. The uniqueness of IDs does not depend on this time.
    pub fn ttl(mut self, ttl: Duration) -> Self {
        self.options.set_ttl(ttl);
        self
    }

    /// Sets the longest time that a call waits for an ID. The default is 1 s or two ticks, whichever is longer.
    pub fn max_wait(mut self, max_wait: Duration) -> Self {
        self.options.max_wait = max_wait;
        self
    }

    /// Sets the behaviour when a tick is full. The default is [`Overflow::Wait`].
    pub fn overflow(mut self, overflow: Overflow) -> Self {
        self.options.policy.overflow = overflow;
        self
    }

    /// Sets the behaviour when the clock goes backwards. The default is [`Rollback::Continue`].
    pub fn rollback(mut self, rollback: Rollback) -> Self {
        self.options.policy.rollback = rollback;
        self
    }

    /// Sets the behaviour both when a tick is full and when the clock goes backwards.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.options.policy = policy;
        self
    }

    /// Sets the largest sequence number. Behaves like
    /// [`GeneratorBuilder::sequence_mask`](flakeid_core::GeneratorBuilder::sequence_mask).
    pub fn sequence_mask(mut self, mask: u64) -> Self {
        self.options.sequence_mask = Some(mask);
        self
    }

    /// Sets the number of random bits in the first sequence number of a tick. Behaves like
    /// [`GeneratorBuilder::sequence_start`](flakeid_core::GeneratorBuilder::sequence_start).
    pub fn sequence_start(mut self, bits: u64) -> Self {
        self.options.sequence_start = bits;
        self
    }

    /// Sets the clock. The default is the system clock, read through [`GatedClock`](flakeid_core::GatedClock). A custom
    /// clock is also used by stores that have no clock, such as `SQLite`. A lease with a custom clock is not shared
    /// with other generators.
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = LeaseClock::new(clock);
        self
    }

    /// Sets the longest time for which [`open`](Self::open) waits while the store grants nothing: after a restart, a
    /// failover or a restore, or after the clock of an `SQLite` store's host was set forward. If the store would grant
    /// later than that, opening fails at once. The default is 30 s.
    pub const fn open_wait(mut self, open_wait: Duration) -> Self {
        self.open_wait = open_wait;
        self
    }

    /// Sets a function that receives each event of the lease. The function runs on the keeper's thread, so it should
    /// return quickly. The function may close or drop generators of the lease. Its calls do not wait for a renewal or a
    /// release, because the keeper continues only after the function has returned.
    pub fn observer(mut self, observer: impl Fn(&LeaseEvent) + Send + Sync + 'static) -> Self {
        self.observer = Some(Arc::new(observer));
        self
    }

    /// Acquires a node. If another generator in this process has the same store and options, shares that generator's
    /// lease instead. A lease with a custom clock or an observer is never shared. This method takes at most `max_wait`
    /// plus the connection timeout of 2 s, or [`open_wait`](Self::open_wait) if the store grants nothing for a while.
    ///
    /// # Errors
    /// [`InvalidOption`](flakeid_core::ErrorKind::InvalidOption) and
    /// [`FieldOutOfRange`](flakeid_core::ErrorKind::FieldOutOfRange) for invalid options;
    /// [`InvalidLayout`](flakeid_core::ErrorKind::InvalidLayout) if the layout can only decode IDs;
    /// [`StoreUnavailable`](flakeid_core::ErrorKind::StoreUnavailable) if the store does not respond;
    /// [`StoreRejected`](flakeid_core::ErrorKind::StoreRejected) for a wrong password, a missing namespace, another
    /// layout and similar problems;
    /// [`NoFreeNode`](flakeid_core::ErrorKind::NoFreeNode);
    /// [`ClockSkew`](flakeid_core::ErrorKind::ClockSkew);
    /// [`FenceInFuture`](flakeid_core::ErrorKind::FenceInFuture).
    pub fn open(mut self) -> Result<Generator, Error> {
        self.resolve_identity()?;
        self.options.check()?;
        self.check_generator()?;
        let timeout = self.options.max_wait.saturating_add(CONNECT_TIMEOUT);
        let make = || {
            let (source, clock) = (self.source.clone(), self.clock.clone());
            let lease = KeptLease::new(self.options.clone(), source, clock, self.observer.clone());
            LeaseUsers::new(Arc::new(lease))
        };
        let users = if self.is_shareable() {
            find_or_add(|users| self.is_same(users.lease()), make)
        } else {
            Arc::new(make())
        };
        match users.acquire(timeout, self.open_wait).map(Arc::clone) {
            Ok(first) => Ok(Generator::leased(first, users)),
            Err(error) => {
                users.leave(false);
                Err(error)
            }
        }
    }

    /// Converts the options `node`, `datacenter`, `worker` and `name`, if set by name, to an identity.
    fn resolve_identity(&mut self) -> Result<(), Error> {
        let layout = &self.options.layout;
        let name = self.name.as_deref();
        match Identity::resolve(self.node, self.datacenter, self.worker, name, layout)? {
            Identity::Any => {}
            identity if self.options.identity == Identity::Any => self.options.identity = identity,
            _ => {
                let reason = "given both as an identity and by name: omit one of them";
                return Err(Error::invalid_option("node", reason));
            }
        }
        Ok(())
    }

    /// Checks that a generator can be built with the options. This check precedes all requests to the store.
    fn check_generator(&self) -> Result<(), Error> {
        let trial =
            KeptLease::new(self.options.clone(), self.source.clone(), self.clock.clone(), None);
        let node = match self.options.identity {
            Identity::Node(node) => node,
            _ => self.options.from,
        };
        let nodes = (0..self.options.node_count).map(|more| node + more).collect();
        trial.begin(&Begin { nodes, start: 0, fence: 2, max_ahead_ms: 0 }).map(drop)
    }

    fn is_shareable(&self) -> bool {
        self.clock.system.is_some()
            && self.observer.is_none()
            && matches!(self.source, StoreSource::Location(_))
    }

    fn is_same(&self, other: &KeptLease) -> bool {
        let same_store = match (&self.source, &other.source) {
            (StoreSource::Location(mine), StoreSource::Location(theirs)) => mine == theirs,
            _ => false,
        };
        let same_clock = other.clock.system == self.clock.system;
        same_store && same_clock && other.observer.is_none() && self.options == other.options
    }
}

/// The lease options that can be set by name. When the lease is opened, [`Identity::resolve`] converts the node options
/// to an identity.
impl SetByName for LeaseBuilder {
    const OPTIONS: &'static [NamedOption<Self>] = &[
        NamedOption::text("namespace", |b, name| {
            b.options.namespace = name.into();
            Ok(())
        }),
        NamedOption::text("name", |b, name| {
            b.name = Some(name.into());
            Ok(())
        }),
        NamedOption::number("node", max_node, |b, node| b.node = Some(node)),
        NamedOption::number(
            "datacenter",
            |b| b.options.layout.max_datacenter_and_worker().unwrap_or_default().0,
            |b, datacenter| b.datacenter = Some(datacenter),
        ),
        NamedOption::number(
            "worker",
            |b| b.options.layout.max_datacenter_and_worker().unwrap_or_default().1,
            |b, worker| b.worker = Some(worker),
        ),
        NamedOption::number("nodes_from", max_node, |b, from| b.options.from = from),
        NamedOption::number("nodes_to", max_node, |b, to| b.options.to = to),
        NamedOption {
            name: "node_count",
            kind: OptionKind::Number {
                min: 1,
                max: |b| max_node(b).saturating_add(1),
                set: |b, count| b.options.node_count = count,
            },
        },
        NamedOption::duration("ttl_ms", |b, ttl| b.options.set_ttl(ttl)),
        NamedOption::duration("window_ms", |b, window| b.options.set_window(window)),
        NamedOption::duration("max_wait_ms", |b, max_wait| b.options.max_wait = max_wait),
        NamedOption::duration("open_wait_ms", |b, open_wait| b.open_wait = open_wait),
        NamedOption::text("overflow", |b, text| {
            text.parse().map(|overflow| b.options.policy.overflow = overflow)
        }),
        NamedOption::text("rollback", |b, text| {
            text.parse().map(|rollback| b.options.policy.rollback = rollback)
        }),
        NamedOption::number(
            "sequence_mask",
            |b| b.options.layout.max_sequence(),
            |b, mask| b.options.sequence_mask = Some(mask),
        ),
        NamedOption::number(
            "sequence_start",
            |b| b.options.layout.max_sequence().count_ones().into(),
            |b, bits| b.options.sequence_start = bits,
        ),
        NamedOption { name: "reuse", kind: OptionKind::Flag(|b, reuse| b.options.reuse = reuse) },
        NamedOption::text("clock", |b, text| {
            text.parse().map(|clock: NamedClock| b.clock = LeaseClock::new(clock))
        }),
    ];
}

fn max_node(builder: &LeaseBuilder) -> u64 {
    builder.options.layout.max_node()
}

/// Returns a builder for a lease from the store or broker at a URL.
///
/// # Errors
/// [`InvalidOption`](flakeid_core::ErrorKind::InvalidOption) if the URL does not specify a supported store or
/// broker.
pub fn lease(url: &str, layout: Layout) -> Result<LeaseBuilder, Error> {
    Ok(LeaseBuilder::from_location(Location::parse(url)?, layout))
}

/// Returns a builder for a lease that is configured by environment variables. `FLAKEID_STORE` contains the URL of
/// the store; if the variable is not set, the lease is from the store that root has named for this host, or from this
/// user's embedded store ([`default_store_url`](crate::default_store_url)). `FLAKEID_NAMESPACE` contains the namespace,
/// by default `default`.
///
/// # Errors
/// [`InvalidOption`](flakeid_core::ErrorKind::InvalidOption) if the URL does not specify a supported store or
/// broker; the errors of [`default_store_url`](crate::default_store_url), for example inside a container, if
/// `FLAKEID_STORE` is not set.
pub fn auto(layout: Layout) -> Result<LeaseBuilder, Error> {
    let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    let builder = match variable("FLAKEID_STORE") {
        Some(url) => LeaseBuilder::from_location(Location::parse(&url)?, layout),
        // The search for a node begins at a different node for each user and machine. Programs whose IDs are later
        // merged by mistake therefore seldom share a node.
        None => LeaseBuilder::from_location(Location::parse(&default_store_url()?)?, layout)
            .rotation(user_rotation()),
    };
    Ok(match variable("FLAKEID_NAMESPACE") {
        Some(namespace) => builder.namespace(&namespace),
        None => builder,
    })
}

impl fmt::Debug for LeaseBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LeaseBuilder")
            .field("store", &format_args!("{}", self.source))
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
