//! The handle through which the server and other programs use a broker.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, MutexGuard};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use flakeid_core::{Clock, Error, Layout, SystemClock};

use super::options::BrokerOptions;
use super::state::{Drain, Phase, Shared, State};
use super::thread::{BlockKeeper, Opener};
use flakeid_protocol::broker::Denial;
use flakeid_protocol::store::{Fault, Store};
use flakeid_protocol::{
    Acquire, Grant, Lessor, Namespace, Refusal, Release, Renew, Renewed, Row, operations,
};
use flakeid_stores::Location;

/// A broker, which grants nodes from the blocks that it leases from a store.
///
/// Clones share one broker. When [`close`](Self::close) is called or the last clone is dropped, the broker releases
/// its blocks and ends.
///
/// ```
/// use flakeid::broker::{Broker, BrokerOptions};
/// use flakeid::{Layout, LeaseBuilder, Location};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let url = format!("sqlite://{}/ids.db", folder.path().display());
/// let options = BrokerOptions::new("orders", Layout::TWITTER, "http://ids-1:7117");
/// let broker = Broker::start(&Location::parse(&url)?, options)?;
/// let generator = LeaseBuilder::from_broker(&broker).open()?;
/// generator.next_id()?;
/// # Ok::<(), flakeid::Error>(())
/// ```
#[derive(Clone)]
pub struct Broker {
    shared: Arc<Shared>,
    /// The function that opens additional connections to the store. The broker's thread has a connection of its own.
    open: Arc<Opener>,
    /// The guard that ends the broker when the last clone of the handle is dropped. The broker's thread does not hold a
    /// clone of this guard.
    _end: Arc<CloseOnDrop>,
}

/// The state of a broker.
///
/// ```
/// # use flakeid::broker::{Broker, BrokerOptions};
/// # use flakeid::{Layout, Location};
/// # let folder = tempfile::tempdir().unwrap();
/// # let url = format!("sqlite://{}/ids.db", folder.path().display());
/// # let options = BrokerOptions::new("orders", Layout::TWITTER, "http://ids-1:7117");
/// # let broker = Broker::start(&Location::parse(&url).unwrap(), options).unwrap();
/// let status = broker.status()?;
/// assert!(status.is_open && status.blocks == 0, "no process has requested a node");
/// # Ok::<(), flakeid_protocol::store::Fault>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BrokerStatus {
    /// Whether the broker still grants nodes. A broker stops granting nodes when it is drained or closed.
    pub is_open: bool,
    /// The number of blocks that the broker holds.
    pub blocks: usize,
    /// The number of nodes that currently have a holder, in all of the broker's blocks.
    pub holders: usize,
    /// The earliest Unix time, in milliseconds, at which the window of one of the broker's blocks ends. Until this
    /// time, the broker can serve all holders without the store. `None` while the broker has no block, for example
    /// because no process has requested a node yet.
    pub served_until_unix_ms: Option<i64>,
    /// The number of milliseconds by which this host's clock is ahead of the store's clock. If the difference exceeds
    /// the namespace's `max_skew`, the store refuses to grant more blocks.
    pub skew_ms: i64,
    /// The number of grants that the broker will never write to the store's history. The broker omits a grant from the
    /// history if too many grants are waiting to be written, or if the broker loses the grant's block.
    pub unrecorded: u64,
    /// The number of grants that expired without a renewal or a release. A grant can expire in this way if the client
    /// exits early or does not wait for the response.
    pub abandoned: u64,
    /// The error of the latest request to the store, or `None` if that request succeeded.
    pub last_error: Option<Error>,
}

impl Broker {
    /// Starts a broker for the store at a location. If the store is embedded, creates a missing namespace. The broker
    /// leases its first block when a process requests a node.
    ///
    /// # Errors
    /// [`StoreUnavailable`](flakeid_core::ErrorKind::StoreUnavailable) if the store does not respond;
    /// [`StoreRejected`](flakeid_core::ErrorKind::StoreRejected) if the namespace is missing, has another layout, or
    /// has no blocks; [`FieldOutOfRange`](flakeid_core::ErrorKind::FieldOutOfRange) and
    /// [`InvalidOption`](flakeid_core::ErrorKind::InvalidOption) with the name of an invalid option.
    pub fn start(location: &Location, options: BrokerOptions) -> Result<Self, Error> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let (place, location) = (location.to_string(), location.clone());
        let its_clock = Arc::clone(&clock);
        Self::start_on(&place, move || location.connect(&its_clock), options, clock)
    }

    /// Starts a broker like [`start`](Self::start), but with a store and a clock that the program provides. Error
    /// messages refer to the store as `place`.
    ///
    /// # Errors
    /// The same errors as [`start`](Self::start).
    pub fn start_on(
        place: &str,
        open: impl Fn() -> Result<Box<dyn Store>, Fault> + Send + Sync + 'static,
        options: BrokerOptions,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, Error> {
        Namespace::check_name(&options.namespace)?;
        let wanted = options.wanted()?;
        let described = open().and_then(|mut store| Ok((describe(&mut *store, &wanted)?, store)));
        let to_error = |fault: Fault| match fault {
            Fault::MissingTables | Fault::Refused(Refusal::MissingNamespace) => {
                fault.missing_namespace(place, &wanted.name, &wanted.layout, wanted.block_bits)
            }
            _ => fault.to_error(place, &wanted.name, &wanted.layout),
        };
        let (namespace, store) = described.map_err(to_error)?;
        options.check(&namespace)?;
        let shared = Arc::new(Shared::new(options, namespace, clock));
        let open: Arc<Opener> = Arc::new(open);
        BlockKeeper::start(Arc::clone(&shared), place, Arc::clone(&open), store)?;
        Ok(Self { _end: Arc::new(CloseOnDrop(Arc::clone(&shared))), open, shared })
    }

    /// Calls a function after each of the broker's requests to the store, except those of [`whois`](Self::whois). The
    /// function receives the duration of the request, including the time to connect, and whether the store responded.
    /// The function runs on the broker's thread, so it must return quickly. A broker has only one observer, so later
    /// calls to this method have no effect.
    pub fn observe_store(&self, observer: impl Fn(Duration, bool) + Send + Sync + 'static) {
        // Setting a second observer fails, so the first one is kept.
        drop(self.shared.store_observer.set(Box::new(observer)));
    }

    pub(super) fn state(&self) -> Result<MutexGuard<'_, State>, Fault> {
        self.shared.state()
    }

    /// The time on the broker's clock, in Unix milliseconds.
    #[doc(hidden)]
    #[must_use]
    pub fn unix_ms(&self) -> i64 {
        self.shared.clock.unix_ms()
    }

    pub(super) fn open_store(&self) -> Result<Box<dyn Store>, Fault> {
        (self.open)()
    }

    /// The namespace, as it was when the broker started.
    #[must_use]
    pub fn namespace(&self) -> &Namespace {
        &self.shared.namespace
    }

    /// The layout of the broker's IDs.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.shared.namespace.layout
    }

    /// The address at which holders reach the broker.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.shared.options.address
    }

    /// Returns the state of the broker.
    ///
    /// # Errors
    /// [`Fault::Rejected`] in a forked child.
    pub fn status(&self) -> Result<BrokerStatus, Fault> {
        let state = self.shared.state()?;
        let layout = self.layout();
        let fence = state.blocks.blocks().map(|(_, fence, _)| fence).min();
        let name = &self.shared.options.namespace;
        Ok(BrokerStatus {
            is_open: state.phase == Phase::Open,
            blocks: state.blocks.blocks().count(),
            holders: state.blocks.holders(),
            served_until_unix_ms: fence.map(|fence| layout.unix_ms_at(fence)),
            skew_ms: state.skew_ms,
            unrecorded: state.blocks.dropped(),
            abandoned: state.blocks.abandoned(),
            last_error: state
                .failure
                .as_ref()
                .map(|fault| fault.to_error("the store", name, layout)),
        })
    }

    /// Returns at most `limit` rows, one for each node that was granted in the current blocks. The rows are sorted by
    /// node, beginning with node `from` or the next granted node.
    ///
    /// # Errors
    /// [`Fault::Rejected`] in a forked child.
    pub fn rows(&self, from: u64, limit: usize) -> Result<Vec<Row>, Fault> {
        Ok(self.shared.state()?.blocks.rows(from).take(limit).cloned().collect())
    }

    /// Grants a node. `read` is the instant at which the clock was read for `request`. If the broker needs another
    /// block, waits for the block, but no longer than the `max_wait` in the options. To grant a node without blocking a
    /// thread, use [`acquiring`](Self::acquiring).
    ///
    /// # Errors
    /// The same errors as [`Lessor::acquire`].
    pub fn acquire(&self, request: &Acquire, read: Instant) -> Result<Grant, Fault> {
        let deadline = Instant::now() + self.shared.options.max_wait;
        let mut seen = None;
        loop {
            let mut state = self.shared.state()?;
            if let Some(grant) = self.shared.try_acquire(&mut state, request, read, &mut seen)? {
                return Ok(grant);
            }
            let attempts = state.attempts;
            state = self.shared.wait(state, deadline, |state| {
                state.attempts != attempts || state.phase != Phase::Open
            });
            if Instant::now() >= deadline {
                return Err(no_block_yet(&state));
            }
        }
    }

    /// Grants a node, as [`acquire`](Self::acquire) does, but asynchronously. The future completes when the node is
    /// granted or refused. The future has no timeout, so the caller must set a deadline. After the deadline, the caller
    /// should report the fault from [`waiting_fault`](Self::waiting_fault).
    #[doc(hidden)]
    pub fn acquiring(&self, request: Acquire, read: Instant) -> Acquiring {
        Acquiring { shared: Arc::clone(&self.shared), request, read, seen: None }
    }

    /// The longest time for which a caller should wait for [`acquiring`](Self::acquiring).
    #[must_use]
    pub fn max_wait(&self) -> Duration {
        self.shared.options.max_wait
    }

    /// Returns the fault that explains why the waiting requests have not been granted a node yet.
    #[doc(hidden)]
    #[must_use]
    pub fn waiting_fault(&self) -> Fault {
        self.shared.state().map_or_else(|fault| fault, |state| no_block_yet(&state))
    }

    /// Raises the fence of a node. `read` is the instant at which the clock was read for `request`. Returns `None` if
    /// the node is not in a block of this broker.
    ///
    /// # Errors
    /// The same errors as [`Lessor::renew`].
    #[doc(hidden)]
    pub fn renew_here(&self, request: &Renew, read: Instant) -> Result<Option<Renewed>, Fault> {
        let mut state = self.shared.state()?;
        let waited_ms = request.waited_ms.saturating_add(ms_since(read));
        let request = Renew { waited_ms, ..*request };
        match state.blocks.renew(&request, self.shared.clock.unix_ms()) {
            Ok(renewed) => {
                let leaving = state.drain.is_some_and(|drain| drain.has_reached(request.node));
                Ok(Some(Renewed { leaving, ..renewed }))
            }
            Err(Denial::NotHeld) => Ok(None),
            Err(Denial::Refused(refusal)) => Err(refusal.into()),
            Err(Denial::BlockFence | Denial::NoRoom) => Err(block_fence_reached(&state)),
        }
    }

    /// Releases a node. Has no effect if the request's holder no longer holds the node.
    ///
    /// # Errors
    /// [`Fault::Rejected`] in a forked child.
    #[doc(hidden)]
    pub fn take_back(&self, request: &Release) -> Result<(), Fault> {
        self.shared.state()?.blocks.release(request, self.shared.clock.unix_ms());
        Ok(())
    }

    /// Stops granting nodes, but continues to renew leases. Holders that know other brokers move to those brokers, at
    /// different times in the first half of `length`. Call [`close`](Self::close) afterwards.
    pub fn drain(&self, length: Duration) {
        // In a forked child, the update fails. The error is ignored, because the child has no holders that could move.
        drop(self.shared.update(|state| {
            state.phase = state.phase.max(Phase::Draining);
            state.drain.get_or_insert(Drain { began: Instant::now(), length });
        }));
    }

    /// Stops granting nodes, and releases the blocks. Waits at most `timeout` for the release. Returns the number of
    /// blocks that were not released. They stay reserved until their leases expire.
    #[allow(clippy::must_use_candidate, reason = "a caller that has no log ignores the number")]
    pub fn close(&self, timeout: Duration) -> usize {
        let deadline = Instant::now() + timeout;
        // A forked child does not own the broker's blocks, so the child must not release them.
        let closed = self.shared.close().and_then(|()| self.shared.state());
        closed.map_or(0, |state| {
            self.shared.wait(state, deadline, |state| state.phase == Phase::Ended).unreleased
        })
    }
}

impl Lessor for Broker {
    fn acquire(&mut self, _: &str, request: &Acquire, read: Instant) -> Result<Grant, Fault> {
        Self::acquire(self, request, read)
    }

    fn renew(&mut self, _: &str, request: &Renew, read: Instant) -> Result<Renewed, Fault> {
        // This lessor has only one broker, so no other broker can renew or replace the node.
        let renewed = self.renew_here(request, read)?.ok_or(Refusal::FencedOff)?;
        Ok(Renewed { leaving: false, ..renewed })
    }

    fn release(&mut self, _: &str, request: &Release) -> Result<(), Fault> {
        self.take_back(request)
    }

    fn outlives_faults(&self) -> bool {
        true
    }
}

impl fmt::Debug for Broker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Broker").field("options", &self.shared.options).finish_non_exhaustive()
    }
}

/// A pending request for a node.
///
/// ```
/// use std::time::Instant;
///
/// use flakeid::broker::Broker;
/// use flakeid_protocol::store::Fault;
/// use flakeid_protocol::{Acquire, Grant};
///
/// async fn grant(broker: &Broker, request: Acquire) -> Result<Grant, Fault> {
///     broker.acquiring(request, Instant::now()).await
/// }
/// ```
#[must_use = "a future does nothing unless it is polled"]
pub struct Acquiring {
    shared: Arc<Shared>,
    request: Acquire,
    read: Instant,
    seen: Option<u64>,
}

impl Future for Acquiring {
    type Output = Result<Grant, Fault>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { shared, request, read, seen } = self.get_mut();
        let mut state = shared.state()?;
        let granted = shared.try_acquire(&mut state, request, *read, seen)?;
        granted.map_or_else(
            || {
                state.wakers.push(context.waker().clone());
                Poll::Pending
            },
            |grant| Poll::Ready(Ok(grant)),
        )
    }
}

impl fmt::Debug for Acquiring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Acquiring").field("request", &self.request).finish_non_exhaustive()
    }
}

impl Shared {
    /// Tries to grant a node. Returns `None` if the broker needs another block first. When the request begins to wait,
    /// stores in `seen` the number of times that the broker has tried to lease blocks so far.
    fn try_acquire(
        &self,
        state: &mut State,
        request: &Acquire,
        read: Instant,
        seen: &mut Option<u64>,
    ) -> Result<Option<Grant>, Fault> {
        if state.phase != Phase::Open {
            return Err(Fault::Unavailable(
                "this broker is shutting down: use another broker".into(),
            ));
        }
        let waited_ms = request.waited_ms.saturating_add(ms_since(read));
        let request = Acquire { waited_ms, ..request.clone() };
        match state.blocks.acquire_owned(request, self.clock.unix_ms()) {
            Ok(grant) => Ok(Some(grant)),
            Err(Denial::Refused(refusal)) => Err(refusal.into()),
            Err(Denial::BlockFence | Denial::NotHeld) => Err(block_fence_reached(state)),
            Err(Denial::NoRoom) => {
                let seen = *seen.get_or_insert(state.attempts);
                if state.attempts > seen
                    && let Some(failure) = &state.failure
                {
                    return Err(failure.clone());
                }
                state.waiting += 1;
                self.wake_thread();
                Ok(None)
            }
        }
    }

    fn close(&self) -> Result<(), Fault> {
        self.update(|state| {
            if state.phase < Phase::Closing {
                state.phase = Phase::Closing;
                state.unreleased = state.blocks.blocks().count();
            }
        })
    }
}

/// Returns the stored description of the namespace `wanted`. If this namespace does not exist, creates it, provided
/// that the store allows every user to create namespaces.
fn describe(store: &mut dyn Store, wanted: &Namespace) -> Result<Namespace, Fault> {
    let name = &wanted.name;
    let missing = Err(Fault::Refused(Refusal::MissingNamespace));
    let prepared = store.is_prepared()?;
    let described = if prepared { operations::describe(store, name) } else { missing.clone() };
    let kept = if described == missing && store.creates_namespaces() {
        operations::init(store, wanted)?
    } else {
        described?
    };
    if !kept.layout.is_same_space(&wanted.layout) {
        let (namespace, client) = (kept.layout, wanted.layout);
        return Err(Refusal::OtherLayout { namespace, client }.into());
    }
    if kept.block_bits == 0 {
        return Err(Refusal::BlockBits { namespace: 0, client: wanted.block_bits }.into());
    }
    // If the store was restarted, its quiet time begins now and not when a client requests a node.
    operations::touch(store, name)?;
    Ok(kept)
}

/// Returns the fault for a request whose window would end after the block's fence, because the store has not renewed
/// the block yet.
fn block_fence_reached(state: &State) -> Fault {
    let why = state.failure.as_ref().map(|fault| format!(": {fault}")).unwrap_or_default();
    Fault::Unavailable(format!("the broker's own lease on the block has not been renewed yet{why}"))
}

fn no_block_yet(state: &State) -> Fault {
    state.failure.clone().unwrap_or_else(|| {
        Fault::Unavailable("the store did not grant the broker another block in time".into())
    })
}

fn ms_since(read: Instant) -> u64 {
    u64::try_from(read.elapsed().as_millis()).unwrap_or(u64::MAX)
}

struct CloseOnDrop(Arc<Shared>);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        // A forked child does not own the broker's blocks, so the child must not release them.
        if self.0.is_ours() {
            drop(self.0.close());
        }
    }
}
