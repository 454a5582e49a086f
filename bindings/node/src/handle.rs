//! The native side of the JavaScript class `Generator`.

use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use flakeid::{Error, Generator, Id, Layout, LeaseStatus, LocalGenerator, Stats};
use flakeid_core::ManualClock;

use crate::lease::Lease;
use crate::leases::{Leases, OpenLease, PendingClose};
use crate::options::OptionTexts;
use crate::slots::NextId;

/// The longest time for which a call may block the event loop without issuing an ID. A shorter `max_wait` reduces this
/// limit. A shorter tick also reduces the limit, but not for calls that use a ring.
const LONGEST_ON_LOOP: Duration = Duration::from_millis(10);

/// The largest number of IDs that one call for an asynchronous caller issues, so that the event loop can run other
/// callbacks between two calls.
const MOST_AT_ONCE: usize = 1 << 16;

/// The result of a call that did not wait: a value, or the time after which to repeat the call.
pub(crate) enum Polled<T> {
    Done(T),
    Pause(Duration),
}

/// A generator, together with the state that its JavaScript object needs. The handle cannot leave the thread of its
/// JavaScript environment.
pub(crate) struct Handle {
    generator: Generator,
    /// The lease; `None` if the node is fixed.
    lease: Option<Lease>,
    /// The longest time for which a call may block the event loop; `None` with a manual clock, because a wait advances
    /// a manual clock immediately.
    on_loop: Option<Duration>,
    /// The longest time for which a ring may block the event loop. A ring may have to wait for several ticks.
    on_ring: Duration,
}

impl Handle {
    pub(crate) fn open(
        options: &OptionTexts,
        clock: Option<&ManualClock>,
    ) -> Result<Arc<Self>, Error> {
        let mut builder = options.apply(Generator::builder(options.layout()?))?;
        if let Some(clock) = clock {
            builder = builder.clock(clock.clone());
        }
        Ok(Self::new(builder.build()?, None, clock.is_none()))
    }

    pub(crate) fn leased(generator: Generator, leases: &Rc<Leases>) -> Arc<Self> {
        let lease = Lease::new(generator.clone(), Rc::clone(leases));
        let handle = Self::new(generator, Some(lease), true);
        leases.add(&handle);
        handle
    }

    #[expect(
        clippy::arc_with_non_send_sync,
        reason = "only functions of one thread share the value"
    )]
    fn new(generator: Generator, lease: Option<Lease>, waiting_takes_time: bool) -> Arc<Self> {
        let on_ring = generator.max_wait().min(LONGEST_ON_LOOP);
        let tick = Duration::from_millis(generator.layout().unit_ms());
        let on_loop = waiting_takes_time.then(|| on_ring.min(tick));
        Arc::new(Self { generator, lease, on_loop, on_ring })
    }

    /// Returns the generator, or an error if its lease has been closed. The generator of a closed lease is closed
    /// later, off the event loop.
    #[inline]
    pub(crate) fn generator(&self) -> Result<&Generator, Error> {
        match &self.lease {
            Some(lease) if lease.is_closed() => Err(Lease::closed()),
            _ => Ok(&self.generator),
        }
    }

    /// The longest time for which a call may block the event loop; `None` with a manual clock, because a wait advances
    /// a manual clock immediately.
    #[inline]
    pub(crate) fn on_loop(&self) -> Option<Duration> {
        self.on_loop
    }

    /// The longest time for which a ring may block the event loop.
    pub(crate) fn on_ring(&self) -> Duration {
        self.on_ring
    }

    pub(crate) fn local(&self) -> LocalGenerator {
        self.generator.local()
    }

    pub(crate) fn next_ids(&self, n: usize) -> Result<Vec<Id>, Error> {
        let generator = self.generator()?;
        match self.on_loop {
            Some(longest) => generator.next_ids_within(n, longest),
            None => generator.next_ids(n),
        }
    }

    pub(crate) fn fill(&self, ids: &mut [Id]) -> Result<usize, Error> {
        let generator = self.generator()?;
        match self.on_loop {
            Some(longest) => generator.fill_within(ids, longest),
            None => generator.fill(ids),
        }
    }

    pub(crate) fn try_fill(&self, ids: &mut [Id]) -> Result<usize, Error> {
        self.generator()?.try_fill(ids)
    }

    /// Writes the available IDs to the array. Waits only for the first ID, and only if no ID is available.
    pub(crate) fn fill_some(&self, ids: &mut [Id]) -> Result<usize, Error> {
        if let Ok(count) = self.try_fill(ids) {
            return Ok(count);
        }
        let Some((first, rest)) = ids.split_first_mut() else { return Ok(0) };
        self.fill(std::slice::from_mut(first))?;
        // The next call reports any error that prevents the generator from issuing the remaining IDs.
        Ok(1 + self.try_fill(rest).unwrap_or_default())
    }

    /// Returns the next ID without waiting, as [`poll`](Self::poll) does.
    pub(crate) fn poll_next_id(&self, waited: Duration) -> Result<Polled<Id>, Error> {
        self.poll(waited, |generator| match self.on_loop {
            Some(_) => generator.try_next_id(),
            None => generator.next_id(),
        })
    }

    /// Returns at most `n` of the next IDs without waiting, as [`poll`](Self::poll) does.
    pub(crate) fn poll_next_ids(
        &self,
        n: usize,
        waited: Duration,
    ) -> Result<Polled<Vec<Id>>, Error> {
        let mut ids = vec![Id::from_u64(0); n.min(MOST_AT_ONCE)];
        self.poll(waited, |generator| {
            let filled = match self.on_loop {
                Some(_) => generator.try_fill(&mut ids),
                None => generator.fill(&mut ids),
            };
            ids.truncate(filled?);
            Ok(ids)
        })
    }

    /// Makes a call that does not wait, unless a wait advances a manual clock. If the call fails because it did not
    /// wait, the core decides whether to repeat the call, whose first attempt was made before the time `waited`.
    fn poll<T>(
        &self,
        waited: Duration,
        call: impl FnOnce(&Generator) -> Result<T, Error>,
    ) -> Result<Polled<T>, Error> {
        let generator = self.generator()?;
        call(generator)
            .map(Polled::Done)
            .or_else(|error| generator.retry_pause(&error, waited).map(Polled::Pause).ok_or(error))
    }

    pub(crate) fn extend(&self, fence: u64) -> Result<(), Error> {
        self.generator.extend(fence)
    }

    pub(crate) fn retire(&self) -> Result<Option<u64>, Error> {
        self.generator.retire()
    }

    pub(crate) fn stats(&self) -> Stats {
        let lease = self.lease.as_ref();
        lease.map_or_else(|| self.generator.stats(), Lease::stats)
    }

    pub(crate) fn layout(&self) -> &Layout {
        self.generator.layout()
    }

    pub(crate) fn nodes(&self) -> Vec<u64> {
        let lease = self.lease.as_ref();
        lease.map_or_else(|| self.generator.nodes().to_vec(), Lease::nodes)
    }

    /// The current state of the lease, or the last state of a closed lease; `None` if the node is fixed.
    pub(crate) fn lease_status(&self) -> Option<LeaseStatus> {
        self.lease.as_ref().map(Lease::status)
    }
}

impl OpenLease for Handle {
    fn close_lease(&self) -> Option<PendingClose> {
        self.lease.as_ref()?.close()
    }
}

impl NextId for Handle {
    #[inline]
    fn next_id(&self) -> Result<Id, Error> {
        let generator = self.generator()?;
        match self.on_loop {
            Some(longest) => generator.next_id_within(longest),
            None => generator.next_id(),
        }
    }

    #[inline]
    fn try_next_id(&self) -> Result<Id, Error> {
        self.generator()?.try_next_id()
    }
}
