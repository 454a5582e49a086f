//! A broker as those see it who ask it.

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
/// Clones are the same broker. It ends when [`close`](Self::close) is called or the last clone is
/// dropped; then the blocks are given back.
#[derive(Clone)]
pub struct Broker {
    shared: Arc<Shared>,
    /// Connects to the store, apart from the thread's connection.
    open: Arc<Opener>,
    /// Only clones have it, and the thread does not.
    _end: Arc<CloseOnDrop>,
}

/// How a broker stands.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BrokerStatus {
    /// Whether it grants at all: until it is closed.
    pub is_open: bool,
    /// How many blocks it holds.
    pub blocks: usize,
    /// How many nodes of them have a holder.
    pub holders: usize,
    /// Until when holders can be served if the store does not answer any more, in Unix milliseconds:
    /// where the first of its blocks ends. `None` while it has no block, because nobody has asked yet.
    pub served_until_unix_ms: Option<i64>,
    /// How far this host's clock is ahead of the store's, in milliseconds; at most what the namespace
    /// allows, or the store refuses more blocks.
    pub skew_ms: i64,
    /// How many of its grants the store's history will never have: more were made than are kept until they
    /// are handed over, or their block was lost.
    pub unrecorded: u64,
    /// The number of its grants that expired without having been renewed or released: clients that ended
    /// early, or that did not wait for the answer.
    pub abandoned: u64,
    /// Why the store's latest answer was no, or none.
    pub last_error: Option<Error>,
}

impl Broker {
    /// Starts a broker on the store at a location. An embedded store's namespace is created if there is
    /// none. No block is leased before somebody asks for a node.
    ///
    /// # Errors
    /// [`StoreUnavailable`](flakeid_core::ErrorKind::StoreUnavailable) if the store does not answer;
    /// [`StoreRejected`](flakeid_core::ErrorKind::StoreRejected) if the namespace is missing, for another
    /// layout, or not one of blocks; [`FieldOutOfRange`](flakeid_core::ErrorKind::FieldOutOfRange) and
    /// [`InvalidOption`](flakeid_core::ErrorKind::InvalidOption) naming an option.
    pub fn start(location: &Location, options: BrokerOptions) -> Result<Self, Error> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let (place, location) = (location.to_string(), location.clone());
        let its_clock = Arc::clone(&clock);
        Self::start_on(&place, move || location.connect(&its_clock), options, clock)
    }

    /// As [`start`](Self::start), on a store of your own, which errors call `place`, and on a clock.
    ///
    /// # Errors
    /// As [`start`](Self::start).
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

    /// Its clock, in Unix milliseconds.
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

    /// Where holders reach it.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.shared.options.address
    }

    /// How it stands.
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

    /// The rows of the nodes that were granted in its present blocks: those from a node on, by node, up
    /// to `limit` of them.
    ///
    /// # Errors
    /// [`Fault::Rejected`] in a forked child.
    pub fn rows(&self, from: u64, limit: usize) -> Result<Vec<Row>, Fault> {
        Ok(self.shared.state()?.blocks.rows(from).take(limit).cloned().collect())
    }

    /// Grants a node, by a request whose clock was read at `read`. Waits for another block for as long as
    /// the options say; [`acquiring`](Self::acquiring) does not keep a thread waiting.
    ///
    /// # Errors
    /// As [`Lessor::acquire`].
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

    /// As [`acquire`](Self::acquire), for asynchronous callers. It is ready when the node is granted or
    /// refused, and waits for as long as it is polled: give it a deadline, and
    /// [`why_waiting`](Self::why_waiting) says what to tell after that.
    pub fn acquiring(&self, request: Acquire, read: Instant) -> Acquiring {
        Acquiring { shared: Arc::clone(&self.shared), request, read, seen: None }
    }

    /// How long [`acquiring`](Self::acquiring) should be waited for.
    #[must_use]
    pub fn max_wait(&self) -> Duration {
        self.shared.options.max_wait
    }

    /// Why a request that waits has no node yet.
    #[must_use]
    pub fn why_waiting(&self) -> Fault {
        self.shared.state().map_or_else(|fault| fault, |state| no_block_yet(&state))
    }

    /// Moves a fence up, by a request whose clock was read at `read`. `None` if the node's block is not
    /// this broker's.
    ///
    /// # Errors
    /// As [`Lessor::renew`].
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

    /// Takes a node back; does nothing if the request's holder holds nothing there any more.
    ///
    /// # Errors
    /// [`Fault::Rejected`] in a forked child.
    pub fn take_back(&self, request: &Release) -> Result<(), Fault> {
        self.shared.state()?.blocks.release(request, self.shared.clock.unix_ms());
        Ok(())
    }

    /// Grants nothing more and gives the blocks back; waits for that for at most `timeout`.
    pub fn close(&self, timeout: Duration) {
        let deadline = Instant::now() + timeout;
        // In a forked child there is nothing to give back.
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
        // There is no other broker that could hold the block.
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

/// A node that is being asked for.
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
    /// `None` if another block is needed first. `seen` is which attempt to lease one was the latest when
    /// this request came.
    fn try_acquire(
        &self,
        state: &mut State,
        request: &Acquire,
        read: Instant,
        seen: &mut Option<u64>,
    ) -> Result<Option<Grant>, Fault> {
        if state.phase != Phase::Open {
            return Err(Fault::Unavailable("this broker is ending: ask another one".into()));
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

/// The namespace, which is created if the store lets whoever can open it do that.
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

/// Why holders do not get longer windows: the store does not renew the block.
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
        // A forked child has nothing to give back.
        if self.0.is_ours() {
            drop(self.0.close());
        }
    }
}
