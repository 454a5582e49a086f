//! The registry of open connections. When the server is full, the registry selects the connection that a new
//! connection replaces.
//!
//! Any client that can reach the server can open connections. If new connections merely waited for a free place, a
//! client that opens many connections without using them would lock out all other clients. The registry therefore
//! closes connections that no accepted request has used, beginning with the client that holds the most connections.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio::time::{sleep, sleep_until};

use crate::rate::Peer;

/// The number of connections that are compared to select a connection to close. When 10,000 connections are open,
/// comparing all connections would take a millisecond for each new connection.
const COMPARED: usize = 32;

/// The time after which an idle connection may be replaced, even if the server has accepted a request on that
/// connection.
pub(crate) const REPLACEABLE_AFTER: Duration = Duration::from_secs(5);

/// The interval at which a waiting connection checks again whether it can replace another connection.
const RETRY_INTERVAL: Duration = Duration::from_millis(50);

/// The factor by which the idle timeout is multiplied after an accepted request. The longer timeout allows clients to
/// keep connections in a pool. Many Redis clients treat a closed connection as an error.
pub(crate) const ACCEPTED_FACTOR: u32 = 10;

/// The open connections of one server.
#[derive(Debug)]
pub(crate) struct Connections {
    most: usize,
    most_per_client: usize,
    began: Instant,
    open: Mutex<Open>,
    closed: Notify,
}

#[derive(Debug, Default)]
struct Open {
    all: Vec<Arc<State>>,
    by_client: HashMap<Peer, Vec<Arc<State>>>,
    /// The state of the pseudorandom number generator that selects the connections to compare.
    seed: u64,
}

/// The state of a connection, which its task updates and the registry reads.
#[derive(Debug)]
pub(crate) struct State {
    began: Instant,
    pub(crate) listener: &'static str,
    client: Option<Peer>,
    /// The connection's index in the list of all connections.
    place: AtomicUsize,
    /// The connection's index in the list of the client's connections.
    place_of_client: AtomicUsize,
    is_registered: AtomicBool,
    /// Whether the client has sent a request that requires a token, and the server has accepted the request.
    is_accepted: AtomicBool,
    /// The number of requests whose responses have not been sent completely.
    busy: AtomicU32,
    /// Whether data is waiting to be sent, because the client does not read it.
    is_stalled: AtomicBool,
    /// The time of the last accepted request, in milliseconds after `began`. Before the first accepted request, this is
    /// the time at which the connection started.
    used_ms: AtomicU64,
    /// The time at which the last response was passed to the connection completely, in milliseconds after `began`.
    /// Before the first response, this is the time at which the connection started.
    responded_ms: AtomicU64,
    replaced: Notify,
}

/// The counts of open connections for the metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Count {
    /// The number of connections on which the server has accepted a request that requires a token.
    pub(crate) accepted: u64,
    pub(crate) unaccepted: u64,
}

impl Connections {
    pub(crate) fn new(most: usize, most_per_client: usize) -> Self {
        let (open, closed) = (Mutex::default(), Notify::new());
        let most = most.max(1);
        let most_per_client = most_per_client.clamp(1, most);
        Self { most, most_per_client, began: Instant::now(), open, closed }
    }

    /// The maximum number of open connections.
    pub(crate) const fn most(&self) -> usize {
        self.most
    }

    pub(crate) fn len(&self) -> usize {
        self.lock().all.len()
    }

    /// Registers a connection. If the server is full, the new connection replaces another connection, or waits until a
    /// connection ends. Returns `None` if the client has reached its own limit and none of its connections can be
    /// replaced.
    pub(crate) async fn enter(
        self: &Arc<Self>,
        listener: &'static str,
        peer: Option<Peer>,
    ) -> Option<Slot> {
        loop {
            let closed = self.closed.notified();
            match self.try_enter(listener, peer.map(Peer::client)) {
                Entry::Registered(slot) => return Some(slot),
                Entry::ClientIsFull => return None,
                Entry::ServerIsFull => tokio::select! {
                    () = closed => {}
                    () = sleep(RETRY_INTERVAL) => {}
                },
            }
        }
    }

    fn try_enter(self: &Arc<Self>, listener: &'static str, client: Option<Peer>) -> Entry {
        let now = self.now_ms();
        let mut open = self.lock();
        let of_client = client.and_then(|client| open.by_client.get(&client)).map_or(0, Vec::len);
        if of_client >= self.most_per_client && !open.replace_one(client, now) {
            return Entry::ClientIsFull;
        }
        if open.all.len() >= self.most && !open.replace_one(None, now) {
            return Entry::ServerIsFull;
        }
        let state = Arc::new(State {
            began: self.began,
            listener,
            client,
            place: AtomicUsize::new(0),
            place_of_client: AtomicUsize::new(0),
            is_registered: AtomicBool::new(true),
            is_accepted: AtomicBool::new(false),
            busy: AtomicU32::new(0),
            is_stalled: AtomicBool::new(false),
            used_ms: AtomicU64::new(now),
            responded_ms: AtomicU64::new(now),
            replaced: Notify::new(),
        });
        open.add(&state);
        Entry::Registered(Slot { connections: Arc::clone(self), state })
    }

    /// Waits until all connections have ended.
    pub(crate) async fn all_ended(&self) {
        loop {
            let closed = self.closed.notified();
            if self.lock().all.is_empty() {
                return;
            }
            closed.await;
        }
    }

    /// Counts the connections of a listener.
    pub(crate) fn count(&self, listener: &str) -> Count {
        let mut count = Count::default();
        for state in self.lock().all.iter().filter(|state| state.listener == listener) {
            if state.is_accepted() {
                count.accepted += 1;
            } else {
                count.unaccepted += 1;
            }
        }
        count
    }

    fn now_ms(&self) -> u64 {
        milliseconds(self.began.elapsed())
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

enum Entry {
    Registered(Slot),
    ClientIsFull,
    ServerIsFull,
}

impl Open {
    fn add(&mut self, state: &Arc<State>) {
        state.place.store(self.all.len(), Ordering::Relaxed);
        self.all.push(Arc::clone(state));
        if let Some(client) = state.client {
            let of_client = self.by_client.entry(client).or_default();
            state.place_of_client.store(of_client.len(), Ordering::Relaxed);
            of_client.push(Arc::clone(state));
        }
    }

    fn remove(&mut self, state: &State) {
        if !state.is_registered.swap(false, Ordering::Relaxed) {
            return;
        }
        let place = state.place.load(Ordering::Relaxed);
        self.all.swap_remove(place);
        if let Some(moved) = self.all.get(place) {
            moved.place.store(place, Ordering::Relaxed);
        }
        let Some(client) = state.client else { return };
        let Some(of_client) = self.by_client.get_mut(&client) else { return };
        let place = state.place_of_client.load(Ordering::Relaxed);
        of_client.swap_remove(place);
        if let Some(moved) = of_client.get(place) {
            moved.place_of_client.store(place, Ordering::Relaxed);
        }
        if of_client.is_empty() {
            self.by_client.remove(&client);
        }
    }

    /// Compares connections of `client`, or of all clients if `client` is `None`, and closes the connection that is
    /// most suitable for replacement. Returns `false` if every compared connection is in use.
    fn replace_one(&mut self, client: Option<Peer>, now_ms: u64) -> bool {
        let Some(replaced) = self.most_dispensable(client, now_ms) else { return false };
        self.remove(&replaced);
        replaced.replaced.notify_one();
        true
    }

    fn most_dispensable(&mut self, client: Option<Peer>, now_ms: u64) -> Option<Arc<State>> {
        // The multiplier and the increment come from Knuth's linear congruential generator for MMIX.
        self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005);
        self.seed = self.seed.wrapping_add(1_442_695_040_888_963_407);
        let candidates = match client {
            Some(client) => self.by_client.get(&client)?,
            None => &self.all,
        };
        let first = (self.seed >> 33) as usize % candidates.len().max(1);
        // The stride spreads the compared connections over the whole list.
        let stride = (candidates.len() / COMPARED).max(1);
        let compared = candidates.iter().cycle().skip(first).step_by(stride);
        let compared = compared.take(COMPARED.min(candidates.len()));
        let rank = |state: &&Arc<State>| {
            let of_client = state.client.and_then(|client| self.by_client.get(&client));
            (state.is_accepted(), usize::MAX - of_client.map_or(0, Vec::len), state.used_ms())
        };
        compared.filter(|state| state.is_replaceable(now_ms)).min_by_key(rank).cloned()
    }
}

impl State {
    pub(crate) fn is_accepted(&self) -> bool {
        self.is_accepted.load(Ordering::Relaxed)
    }

    fn used_ms(&self) -> u64 {
        self.used_ms.load(Ordering::Relaxed)
    }

    fn is_replaceable(&self, now_ms: u64) -> bool {
        let idle = now_ms.saturating_sub(self.used_ms());
        !self.is_accepted() || (self.is_idle() && idle >= REPLACEABLE_AFTER.as_millis() as u64)
    }

    /// Whether no request is in progress and no data is waiting to be sent.
    pub(crate) fn is_idle(&self) -> bool {
        self.busy.load(Ordering::Relaxed) == 0 && !self.is_stalled.load(Ordering::Relaxed)
    }

    /// Records that the server has accepted a request that requires a token.
    pub(crate) fn accept(&self, now: Instant) {
        self.is_accepted.store(true, Ordering::Relaxed);
        self.used_ms.store(milliseconds(now - self.began), Ordering::Relaxed);
    }

    /// Closes the connection, after the time for its last bytes.
    #[cfg(feature = "grpc")]
    pub(crate) fn close(&self) {
        self.replaced.notify_one();
    }

    async fn becomes_unused(&self, idle_timeout: Duration) {
        loop {
            let factor = if self.is_accepted() { ACCEPTED_FACTOR } else { 1 };
            let end = self.began + Duration::from_millis(self.used_ms()) + idle_timeout * factor;
            if end > Instant::now() {
                sleep_until(end.into()).await;
            } else if self.is_accepted() && !self.is_idle() {
                sleep(idle_timeout).await;
            } else {
                return;
            }
        }
    }

    /// Waits until the client has sent no complete request head for `idle_timeout`. The time begins at the end of the
    /// last response.
    pub(crate) async fn receives_no_request(&self, idle_timeout: Duration) {
        loop {
            let responded = Duration::from_millis(self.responded_ms.load(Ordering::Relaxed));
            let end = self.began + responded + idle_timeout;
            if end > Instant::now() {
                sleep_until(end.into()).await;
            } else if self.busy.load(Ordering::Relaxed) > 0 {
                sleep(idle_timeout).await;
            } else {
                return;
            }
        }
    }

    /// Ends the connection of a client that has misused the protocol.
    #[cfg(feature = "grpc")]
    pub(crate) fn end(&self) {
        self.replaced.notify_one();
    }

    pub(crate) fn set_stalled(&self, is_stalled: bool) {
        self.is_stalled.store(is_stalled, Ordering::Relaxed);
    }
}

/// A guard that counts a request as in progress until the guard is dropped.
#[derive(Debug)]
pub(crate) struct Busy(Arc<State>);

impl Busy {
    pub(crate) fn new(state: &Arc<State>) -> Self {
        state.busy.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(state))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.responded_ms.store(milliseconds(self.0.began.elapsed()), Ordering::Relaxed);
        self.0.busy.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A connection's place in the registry. The place becomes free when this value is dropped.
#[derive(Debug)]
pub(crate) struct Slot {
    connections: Arc<Connections>,
    pub(crate) state: Arc<State>,
}

impl Slot {
    /// Waits until another connection replaces this connection, or until the server has accepted no request on this
    /// connection for too long. Before the first accepted request, the limit is `idle_timeout`. After an accepted
    /// request, the limit is `ACCEPTED_FACTOR` times as long, and applies only to an idle connection.
    pub(crate) fn must_end(
        &self,
        idle_timeout: Duration,
    ) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let state = Arc::clone(&self.state);
        Box::pin(async move {
            tokio::select! {
                () = state.replaced.notified() => {}
                () = state.becomes_unused(idle_timeout) => {}
            }
        })
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.connections.lock().remove(&self.state);
        self.connections.closed.notify_waiters();
    }
}

fn milliseconds(of: Duration) -> u64 {
    u64::try_from(of.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "tests")]
mod tests {
    use super::*;

    fn client(number: u8) -> Peer {
        Peer::Address([192, 0, 2, number].into())
    }

    fn enter(connections: &Arc<Connections>, number: u8) -> Option<Slot> {
        match connections.try_enter("http", Some(client(number))) {
            Entry::Registered(slot) => Some(slot),
            Entry::ClientIsFull | Entry::ServerIsFull => None,
        }
    }

    fn is_open(slot: &Slot) -> bool {
        slot.state.is_registered.load(Ordering::Relaxed)
    }

    #[test]
    fn client_with_the_most_connections_makes_room_for_new_clients() {
        let connections = Arc::new(Connections::new(8, 8));
        let accepted = enter(&connections, 1).unwrap();
        accepted.state.accept(Instant::now());
        let single = enter(&connections, 2).unwrap();
        let many: Vec<_> = (0..6).map(|_| enter(&connections, 3).unwrap()).collect();
        let latest = enter(&connections, 4).unwrap();
        assert!(is_open(&accepted) && is_open(&single) && is_open(&latest));
        assert_eq!(many.iter().filter(|slot| is_open(slot)).count(), 5);
        assert_eq!(connections.count("http"), Count { accepted: 1, unaccepted: 7 });
        assert_eq!(connections.count("resp"), Count::default());
    }

    #[test]
    fn connections_in_use_are_never_replaced() {
        let connections = Arc::new(Connections::new(3, 3));
        let slots: Vec<_> = (0..3).map(|number| enter(&connections, number).unwrap()).collect();
        for slot in &slots {
            slot.state.accept(Instant::now());
        }
        assert!(matches!(connections.try_enter("http", Some(client(9))), Entry::ServerIsFull));
        let _busy = Busy::new(&slots[0].state);
        slots[1].state.set_stalled(true);
        let later = connections.now_ms() + REPLACEABLE_AFTER.as_millis() as u64;
        let idle = connections.lock().most_dispensable(None, later).unwrap();
        assert!(Arc::ptr_eq(&idle, &slots[2].state));
        assert!(slots.iter().all(is_open));
    }

    #[test]
    fn client_at_its_limit_replaces_only_its_own_connections() {
        let connections = Arc::new(Connections::new(100, 2));
        let other = enter(&connections, 1).unwrap();
        let first = enter(&connections, 2).unwrap();
        first.state.accept(Instant::now());
        let second = enter(&connections, 2).unwrap();
        let third = enter(&connections, 2).unwrap();
        assert!(is_open(&other) && is_open(&first) && !is_open(&second) && is_open(&third));
        third.state.accept(Instant::now());
        assert!(matches!(connections.try_enter("http", Some(client(2))), Entry::ClientIsFull));
        drop(second);
        assert!(is_open(&third), "the end of a replaced connection frees no other place");
    }

    #[test]
    fn registry_stays_consistent_when_connections_end_in_any_order() {
        let connections = Arc::new(Connections::new(50, 50));
        let mut slots: Vec<_> = (0..40).map(|n| enter(&connections, n % 3).unwrap()).collect();
        for step in 0..200_usize {
            drop(slots.swap_remove(step * 7 % slots.len()));
            slots.push(enter(&connections, (step % 5) as u8).unwrap());
            let open = connections.lock();
            assert_eq!(open.all.len(), 40);
            assert_eq!(open.by_client.values().map(Vec::len).sum::<usize>(), 40);
            for (place, state) in open.all.iter().enumerate() {
                assert_eq!(state.place.load(Ordering::Relaxed), place);
                let of_client = &open.by_client[&state.client.unwrap()];
                let place = state.place_of_client.load(Ordering::Relaxed);
                assert!(Arc::ptr_eq(&of_client[place], state));
            }
        }
        drop(slots);
        assert!(connections.lock().all.is_empty() && connections.lock().by_client.is_empty());
    }
}
