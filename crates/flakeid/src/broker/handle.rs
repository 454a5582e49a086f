//! The handle on a broker, for the server and for programs.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, MutexGuard};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use flakeid_core::{Clock, Error, Layout, SystemClock};

use super::options::BrokerOptions;
use super::state::{Phase, Shared, State};
use super::thread::{BlockKeeper, Opener};
use flakeid_protocol::broker::Denial;
use flakeid_protocol::store::{Fault, Store};
use flakeid_protocol::{
    Acquire, Grant, Lessor, Namespace, Refusal, Release, Renew, Renewed, Row, operations,
};
use flakeid_stores::Location;

/// A broker: grants nodes of the blocks that it leases from a store.
///
/// Clones share one broker. It ends when [`close`](Self::close) is called or the last clone is dropped, and then
/// releases its blocks.
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
    /// Opens further connections to the store, in addition to the thread's.
    open: Arc<Opener>,
    /// Ends the broker with the last clone. The broker's thread does not hold it.
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
    /// Whether it grants nodes, until it is closed.
    pub is_open: bool,
    /// The number of blocks that it holds.
    pub blocks: usize,
    /// The number of nodes of these blocks that have a holder.
    pub holders: usize,
    /// The time until which the broker can serve all holders without the store, in Unix milliseconds: the end of its
    /// first block to end. `None` while it has no block, because no process has requested a node yet.
    pub served_until_unix_ms: Option<i64>,
    /// How far this host's clock is ahead of the store's, in milliseconds. Beyond the namespace's maximum the store
    /// refuses more blocks.
    pub skew_ms: i64,
    /// The number of its grants that the store's history will never contain, because the broker kept too many grants
    /// or lost their block.
    pub unrecorded: u64,
    /// The number of its grants that expired without a renewal or a release: clients that ended early or did not wait
    /// for the response.
    pub abandoned: u64,
    /// The error of the store's latest request, if it failed.
    pub last_error: Option<Error>,
}

impl Broker {
    /// Starts a broker on the store at a location, and creates the namespace of an embedded store if it does not
    /// exist. The broker leases no block before a process requests a node.
    ///
    /// # Errors
    /// [`StoreUnavailable`](flakeid_core::ErrorKind::StoreUnavailable) if the store does not respond;
    /// [`StoreRejected`](flakeid_core::ErrorKind::StoreRejected) if the namespace is missing, for another
    /// layout, or not one of blocks; [`FieldOutOfRange`](flakeid_core::ErrorKind::FieldOutOfRange) and
    /// [`InvalidOption`](flakeid_core::ErrorKind::InvalidOption) naming an option.
    pub fn start(location: &Location, options: BrokerOptions) -> Result<Self, Error> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let (place, location) = (location.to_string(), location.clone());
        let its_clock = Arc::clone(&clock);
        Self::start_on(&place, move || location.connect(&its_clock), options, clock)
    }

    /// Does the same as [`start`](Self::start) on a store of the program, which errors call `place`, and on a clock.
    ///
    /// # Errors
    /// Those of [`start`](Self::start).
    pub fn start_on(
        place: &str,
        open: impl Fn() -> Result<Box<dyn Store>, Fault> + Send + Sync + 'static,
        options: BrokerOptions,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, Error> {
        Namespace::check_name(&options.namespace)?;
        let wanted = options.wanted()?;
        let described = open().and_then(|mut store| Ok((describe(&mut *store, &wanted)?, store)));
        let told = |fault: Fault| fault.to_error(place, &options.namespace, &options.layout);
        let (namespace, store) = described.map_err(told)?;
        options.check(&namespace)?;
        let shared = Arc::new(Shared::new(options, namespace, clock));
        let open: Arc<Opener> = Arc::new(open);
        BlockKeeper::start(Arc::clone(&shared), place, Arc::clone(&open), store)?;
        Ok(Self { _end: Arc::new(CloseOnDrop(Arc::clone(&shared))), open, shared })
    }

    pub(super) fn state(&self) -> Result<MutexGuard<'_, State>, Fault> {
        self.shared.state()
    }

    /// The time of its clock, in Unix milliseconds.
    #[must_use]
    pub fn unix_ms(&self) -> i64 {
        self.shared.clock.unix_ms()
    }

    pub(super) fn open_store(&self) -> Result<Box<dyn Store>, Fault> {
        (self.open)()
    }

    /// The namespace as it was when the broker started.
    #[must_use]
    pub fn namespace(&self) -> &Namespace {
        &self.shared.namespace
    }

    /// The layout of its IDs.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.shared.namespace.layout
    }

    /// The address at which holders reach it.
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

    /// Returns up to `limit` rows of the nodes that were granted in its current blocks, from a node on, ordered by
    /// node.
    ///
    /// # Errors
    /// [`Fault::Rejected`] in a forked child.
    pub fn rows(&self, from: u64, limit: usize) -> Result<Vec<Row>, Fault> {
        Ok(self.shared.state()?.blocks.rows(from).take(limit).cloned().collect())
    }

    /// Grants a node to a request whose clock was read at `read`. Waits for another block for at most the `max_wait`
    /// of the options; [`acquiring`](Self::acquiring) blocks no thread.
    ///
    /// # Errors
    /// Those of [`Lessor::acquire`].
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

    /// Does the same as [`acquire`](Self::acquire) for asynchronous callers. The future is ready when the node is
    /// granted or refused, and has no timeout of its own: add a deadline, and report the fault of
    /// [`why_waiting`](Self::why_waiting) after it.
    pub fn acquiring(&self, request: Acquire, read: Instant) -> Acquiring {
        Acquiring { shared: Arc::clone(&self.shared), request, read, seen: None }
    }

    /// The timeout for [`acquiring`](Self::acquiring).
    #[must_use]
    pub fn max_wait(&self) -> Duration {
        self.shared.options.max_wait
    }

    /// Returns the reason why waiting requests have no node yet.
    #[must_use]
    pub fn why_waiting(&self) -> Fault {
        self.shared.state().map_or_else(|fault| fault, |state| no_block_yet(&state))
    }

    /// Raises a fence for a request whose clock was read at `read`. Returns `None` if the node's block does not
    /// belong to this broker.
    ///
    /// # Errors
    /// Those of [`Lessor::renew`].
    pub fn renew_here(&self, request: &Renew, read: Instant) -> Result<Option<Renewed>, Fault> {
        let mut state = self.shared.state()?;
        let waited_ms = request.waited_ms.saturating_add(ms_since(read));
        let request = Renew { waited_ms, ..*request };
        match state.blocks.renew(&request, self.shared.clock.unix_ms()) {
            Ok(renewed) => Ok(Some(renewed)),
            Err(Denial::NotHeld) => Ok(None),
            Err(Denial::Refused(refusal)) => Err(refusal.into()),
            Err(Denial::BlockFence | Denial::NoRoom) => Err(block_fence_reached(&state)),
        }
    }

    /// Releases a node. Does nothing if the holder of the request no longer holds it.
    ///
    /// # Errors
    /// [`Fault::Rejected`] in a forked child.
    pub fn take_back(&self, request: &Release) -> Result<(), Fault> {
        self.shared.state()?.blocks.release(request, self.shared.clock.unix_ms());
        Ok(())
    }

    /// Stops granting and releases the blocks. Waits at most `timeout` for the release.
    pub fn close(&self, timeout: Duration) {
        let deadline = Instant::now() + timeout;
        // A forked child has nothing to release.
        if self.shared.close().is_ok()
            && let Ok(state) = self.shared.state()
        {
            drop(self.shared.wait(state, deadline, |state| state.phase == Phase::Ended));
        }
    }
}

impl Lessor for Broker {
    fn acquire(&mut self, _: &str, request: &Acquire, read: Instant) -> Result<Grant, Fault> {
        Self::acquire(self, request, read)
    }

    fn renew(&mut self, _: &str, request: &Renew, read: Instant) -> Result<Renewed, Fault> {
        // No other broker can hold the block.
        self.renew_here(request, read)?.ok_or_else(|| Refusal::FencedOff.into())
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
    /// Tries to grant a node, and returns `None` if another block is needed first. `seen` is the number of attempts
    /// to lease a block when the request arrived.
    fn try_acquire(
        &self,
        state: &mut State,
        request: &Acquire,
        read: Instant,
        seen: &mut Option<u64>,
    ) -> Result<Option<Grant>, Fault> {
        if state.phase != Phase::Open {
            return Err(Fault::Unavailable("this broker is shutting down: use another one".into()));
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
        self.update(|state| state.phase = state.phase.max(Phase::Closing))
    }
}

/// Returns the namespace, and creates it if every user of the store may do so.
fn describe(store: &mut dyn Store, wanted: &Namespace) -> Result<Namespace, Fault> {
    let name = &wanted.name;
    let missing = Err(Fault::Refused(Refusal::MissingNamespace));
    let prepared = store.is_prepared()?;
    let described = if prepared { operations::describe(store, name) } else { missing.clone() };
    let kept = if described == missing && store.creates_namespaces() {
        operations::init(store, wanted)?
    } else if described == missing {
        return Err(Fault::Rejected(format!(
            "the store has no namespace {name:?}: create it with `flakeid leases init --block-bits {}`",
            wanted.block_bits
        )));
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
    Ok(kept)
}

/// Returns the fault for holders whose windows cannot grow because the store does not renew the block.
fn block_fence_reached(state: &State) -> Fault {
    let why = state.failure.as_ref().map(|fault| format!(": {fault}")).unwrap_or_default();
    Fault::Unavailable(format!("the broker's own lease of the block has not been renewed yet{why}"))
}

fn no_block_yet(state: &State) -> Fault {
    state.failure.clone().unwrap_or_else(|| {
        Fault::Unavailable("the store has not granted the broker another block in time".into())
    })
}

fn ms_since(read: Instant) -> u64 {
    u64::try_from(read.elapsed().as_millis()).unwrap_or(u64::MAX)
}

struct CloseOnDrop(Arc<Shared>);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        // A forked child has nothing to release.
        if self.0.is_ours() {
            drop(self.0.close());
        }
    }
}
