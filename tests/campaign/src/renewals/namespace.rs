//! A namespace in an empty store, with holders that renew and clients that acquire.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use flakeid_core::{Clock, Layout, SystemClock};
use flakeid_protocol::store::{Fault, Store};
use flakeid_protocol::{Acquire, Namespace, Owner, Renew, Row, State, Token, operations};
use flakeid_stores::Location;

use super::speed::{Speed, Timed};

/// The number of acquires to time, which is also the number of nodes released before.
pub(super) const ACQUIRES: u64 = 200;
/// The number of connections that acquire at the same time.
const ACQUIRERS: usize = 4;
/// The time after the first acquire in which further ones may start.
const ACQUIRE_LIMIT: Duration = Duration::from_secs(3);
const MAX_TRIES: u32 = 5;
/// The default window of a lease.
const WINDOW_MS: u64 = 10_000;
/// A TTL that does not expire during a measurement.
const TTL_MS: u64 = 3_600_000;
/// The number of nodes in the layout, 2^20: enough for a million processes.
pub(super) const LAYOUT_NODES: u64 = 1 << 20;

fn layout() -> Result<Layout, Fault> {
    "t41.n20.s2@1767225600000/1ms"
        .parse()
        .map_err(|error: flakeid_core::Error| Fault::Rejected(error.to_string()))
}

/// A holder's data about its lease.
#[derive(Clone, Copy)]
pub(super) struct Held {
    node: u64,
    start: u64,
    token: Token,
}

/// A namespace in a store.
pub(super) struct TestNamespace {
    location: Location,
    clock: Arc<dyn Clock>,
    namespace: String,
    layout: Layout,
}

impl TestNamespace {
    pub(super) fn new(url: &str, namespace: &str) -> Result<Self, Fault> {
        let location = Location::parse(url).map_err(|error| Fault::Rejected(error.to_string()))?;
        let created = Self {
            location,
            clock: Arc::new(SystemClock),
            namespace: namespace.into(),
            layout: layout()?,
        };
        operations::init(&mut *created.connect()?, &Namespace::new(namespace, created.layout))?;
        Ok(created)
    }

    fn connect(&self) -> Result<Box<dyn Store>, Fault> {
        self.location.connect(&self.clock)
    }

    fn tick(&self) -> Result<u64, Fault> {
        self.layout
            .tick_at(self.clock.unix_ms())
            .map_err(|error| Fault::Rejected(error.to_string()))
    }

    /// Runs `work` on all parts at the same time, each over a separate connection.
    fn in_parallel<T: Send, R: Send>(
        &self,
        parts: Vec<T>,
        work: impl Fn(&mut Box<dyn Store>, T) -> Result<R, Fault> + Sync,
    ) -> Result<Vec<R>, Fault> {
        let stores = parts.iter().map(|_| self.connect()).collect::<Result<Vec<_>, _>>()?;
        thread::scope(|scope| {
            let work = &work;
            let pairs = stores.into_iter().zip(parts);
            let threads: Vec<_> = pairs
                .map(|(mut store, part)| scope.spawn(move || work(&mut store, part)))
                .collect();
            let ended = threads.into_iter().map(|thread| {
                thread.join().unwrap_or_else(|_| Err(Fault::Rejected("a thread panicked".into())))
            });
            ended.collect()
        })
    }

    /// Writes rows as acquires and releases would leave them, but many in one transaction: first
    /// the rows of released nodes, then `holders` rows of held nodes.
    pub(super) fn fill(&self, holders: u64) -> Result<Vec<Held>, Fault> {
        let start = self.tick()?;
        let row = |node| Held { node, start, token: token() };
        let free: Vec<Held> = (0..ACQUIRES).map(row).collect();
        let held: Vec<Held> = (ACQUIRES..ACQUIRES + holders).map(row).collect();
        self.write(&free, State::Free)?;
        self.write(&held, State::Held)?;
        Ok(held)
    }

    fn write(&self, rows: &[Held], state: State) -> Result<(), Fault> {
        /// The number of rows in a transaction: etcd allows 128 operations, and each row needs two.
        const BATCH: usize = 32;
        let parts = rows.chunks(rows.len().div_ceil(ACQUIRERS)).collect();
        let is_held = state == State::Held;
        let write = |store: &mut Box<dyn Store>, part: &[Held]| {
            part.chunks(BATCH).try_for_each(|batch| {
                self.retrying(store, |store| {
                    store.transact(&self.namespace, &mut |ledger| {
                        let now = ledger.now()?;
                        let kept = ledger.namespace()?;
                        let incarnation = kept.map(|kept| kept.incarnation).unwrap_or_default();
                        batch.iter().try_for_each(|held| {
                            let row = Row {
                                node: held.node,
                                fence: held.start + if is_held { WINDOW_MS } else { 0 },
                                start: held.start,
                                token: is_held.then_some(held.token),
                                grant: 1,
                                state,
                                owner: owner(),
                                acquired: now,
                                renewed: now,
                                expires: if is_held { now + TTL_MS.cast_signed() } else { 0 },
                                incarnation: incarnation.clone(),
                                fixed: false,
                                history_until: 0,
                            };
                            ledger.put_row(None, &row)
                        })
                    })
                })
            })
        };
        self.in_parallel(parts, write).map(drop)
    }

    /// Counts renewals. Each connection renews its part of the nodes in turn.
    pub(super) fn renewals(
        &self,
        held: &mut [Held],
        connections: usize,
        duration: Duration,
    ) -> Result<Speed, Fault> {
        let began = Instant::now();
        let parts = held.chunks_mut(held.len().div_ceil(connections)).collect();
        let parts = self.in_parallel(parts, |store, part: &mut [Held]| {
            let mut timed = Timed::default();
            for at in (0..part.len()).cycle() {
                if began.elapsed() >= duration {
                    break;
                }
                let holder = &mut part[at];
                let Held { node, start, token: current } = *holder;
                let next = token().of_grant(current);
                let renew = Renew {
                    node,
                    start,
                    token: current,
                    next,
                    confirmed: start,
                    wanted: self.tick()? + WINDOW_MS,
                    ttl_ms: TTL_MS,
                    now: SystemClock.unix_ms(),
                    waited_ms: 0,
                };
                let read = Instant::now();
                // A retry sends the same request. If the store has applied it before, the store
                // recognises it by its token.
                self.retrying(store, |store| {
                    timed.call(|| operations::renew_read_at(store, &self.namespace, &renew, read))
                })?;
                holder.token = next;
            }
            Ok(timed)
        })?;
        Ok(Speed::new(parts, began.elapsed()))
    }

    /// Retries a call that got no response on a new connection, like keepers do, up to `MAX_TRIES`
    /// times.
    fn retrying<T>(
        &self,
        store: &mut Box<dyn Store>,
        mut work: impl FnMut(&mut dyn Store) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        for _ in 0..MAX_TRIES {
            match work(&mut **store) {
                Err(Fault::Unavailable(_) | Fault::Conflict) => *store = self.connect()?,
                settled => return settled,
            }
        }
        work(&mut **store)
    }

    /// Measures acquires of any node from 0 to `to`, over several connections at the same time.
    pub(super) fn acquires(&self, to: u64) -> Result<Speed, Fault> {
        let began = Instant::now();
        let parts = self.in_parallel(vec![(); ACQUIRERS], |store, ()| {
            let mut timed = Timed::default();
            for _ in 0..ACQUIRES / ACQUIRERS as u64 {
                if began.elapsed() >= ACQUIRE_LIMIT {
                    break;
                }
                let any = Acquire::any_node(self.layout, token(), self.clock.unix_ms());
                let request =
                    Acquire { to, window_ms: WINDOW_MS, ttl_ms: TTL_MS, owner: owner(), ..any };
                let read = Instant::now();
                self.retrying(store, |store| {
                    timed.call(|| {
                        operations::acquire_read_at(store, &self.namespace, &request, read)
                    })
                })?;
            }
            Ok(timed)
        })?;
        Ok(Speed::new(parts, began.elapsed()))
    }
}

fn owner() -> Owner {
    Owner { name: String::new(), host: "host-000.example".into(), pid: std::process::id() }
}

/// Returns a token that this process has not used before.
fn token() -> Token {
    static LAST: AtomicU64 = AtomicU64::new(0);
    Token::from_bits(u128::from(LAST.fetch_add(1, Ordering::Relaxed)) + 1)
}
