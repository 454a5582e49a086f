//! The thread that keeps the ring full.

use alloc::sync::Arc;
use core::time::Duration;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use super::buffer::Producer;
use super::stock::Stock;
use crate::sync::{AtomicU64, Ordering};
use crate::{Error, ErrorKind};

/// A function of the user that is called with an error.
pub(super) type Handler = Arc<dyn Fn(&Error) + Send + Sync>;

pub(super) struct Limits {
    /// The number of IDs below which the ring is refilled.
    pub(super) low: u64,
    pub(super) interval: Option<Duration>,
}

pub(super) struct Handlers {
    pub(super) put: Option<Handler>,
    pub(super) take: Option<Handler>,
}

pub(super) struct Shared {
    pub(super) stock: Stock,
    pub(super) limits: Limits,
    pub(super) handlers: Handlers,
    /// 1 from the request of a refill by a taker until the thread begins the refill.
    asked: AtomicU64,
    /// The error that stopped the last refill, other than a full tick. Only waiting threads read it.
    obstacle: Mutex<Option<Error>>,
    refilled: Condvar,
    pub(super) rejected_put: AtomicU64,
    pub(super) rejected_take: AtomicU64,
    pub(super) refills: AtomicU64,
}

impl Shared {
    pub(super) fn new(stock: Stock, limits: Limits, handlers: Handlers) -> Self {
        Self {
            stock,
            limits,
            handlers,
            asked: AtomicU64::new(0),
            obstacle: Mutex::new(None),
            refilled: Condvar::new(),
            rejected_put: AtomicU64::new(0),
            rejected_take: AtomicU64::new(0),
            refills: AtomicU64::new(0),
        }
    }

    /// Wakes the thread, unless another thread has done so since its last round.
    ///
    /// The first load may return an outdated 1, and the call then does not wake the thread; the next taker below the threshold
    /// does, and waiting calls repeat the request.
    #[inline]
    pub(super) fn ask(&self, refiller: &thread::Thread) {
        if self.asked.load(Ordering::Relaxed) == 0 && self.asked.swap(1, Ordering::AcqRel) == 0 {
            refiller.unpark();
        }
    }

    /// Locks the obstacle. Calls hold the lock while they check the ring before they wait, and the thread holds it while it
    /// announces IDs, so that no call misses an announcement.
    pub(super) fn obstacle(&self) -> MutexGuard<'_, Option<Error>> {
        self.obstacle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn wait<'a>(
        &self,
        guard: MutexGuard<'a, Option<Error>>,
        at_most: Duration,
    ) -> MutexGuard<'a, Option<Error>> {
        self.refilled.wait_timeout(guard, at_most).unwrap_or_else(PoisonError::into_inner).0
    }

    fn announce(&self, obstacle: Option<Error>) {
        *self.obstacle() = obstacle;
        self.refilled.notify_all();
    }
}

/// The next action of the thread.
enum Next {
    /// The ring is full enough: sleep until a taker requests a refill or the interval is over.
    Idle,
    /// The tick is full: continue when the next one begins.
    Tick(Duration),
    /// The generator refuses: try again after this time, regardless of requests.
    Retry(Duration),
    /// The generator will issue no more IDs.
    End,
}

pub(super) struct Refiller {
    shared: Arc<Shared>,
    producer: Producer,
    due: Option<Instant>,
    /// Whether a refill has begun, which continues until the ring is full.
    filling: bool,
}

impl Refiller {
    /// The interval at which a generator that refuses is tried again.
    const SHORTEST_RETRY: Duration = Duration::from_millis(10);
    const LONGEST_RETRY: Duration = Duration::from_secs(1);
    /// The longest delay in detecting the end of the generator while the thread waits for a tick.
    const LONGEST_SLEEP: Duration = Duration::from_millis(10);

    pub(super) fn new(shared: Arc<Shared>, producer: Producer) -> Self {
        let filling = producer.room(&shared.stock.buffer) > 0;
        Self { shared, producer, due: None, filling }
    }

    pub(super) fn run(mut self) {
        self.due = self.shared.limits.interval.map(|interval| Instant::now() + interval);
        while !self.shared.stock.is_stopped() {
            // Handlers and clocks of the user may panic. The IDs of an interrupted portion are lost and not repeated, because
            // the tail was not moved.
            let next = catch_unwind(AssertUnwindSafe(|| self.round()));
            match next.unwrap_or(Next::Retry(Self::SHORTEST_RETRY)) {
                Next::Idle => match self.due {
                    None => thread::park(),
                    Some(due) => {
                        thread::park_timeout(due.saturating_duration_since(Instant::now()));
                    }
                },
                Next::Tick(after) => self.sleep_to_tick(after),
                Next::Retry(after) => self.sleep(after),
                Next::End => return,
            }
        }
    }

    fn round(&mut self) -> Next {
        let shared = Arc::clone(&self.shared);
        // Acquire, and before the ring is checked, so that the IDs that the taker took are visible, and a later request
        // wakes the thread again.
        shared.asked.swap(0, Ordering::AcqRel);
        shared.stock.drop_stale();
        let now = Instant::now();
        if self.due.is_some_and(|due| due <= now) {
            self.due = shared.limits.interval.map(|interval| now + interval);
            self.filling = true;
        }
        self.filling |= shared.stock.buffer.len() < shared.limits.low;
        if !self.filling {
            return Next::Idle;
        }
        while !shared.stock.is_stopped() {
            match shared.stock.put(&mut self.producer) {
                Ok(0) => {
                    self.filling = false;
                    return Next::Idle;
                }
                Ok(_) => {
                    shared.refills.fetch_add(1, Ordering::Relaxed);
                    shared.announce(None);
                }
                Err(error) => return Self::obstructed(&shared, &error),
            }
        }
        Next::End
    }

    fn obstructed(shared: &Shared, error: &Error) -> Next {
        if error.kind() == ErrorKind::SequenceExhausted {
            return Next::Tick(error.retry_after().unwrap_or(Self::LONGEST_SLEEP));
        }
        shared.rejected_put.fetch_add(1, Ordering::Relaxed);
        let next = match error.kind() {
            ErrorKind::Closed | ErrorKind::Forked => Next::End,
            _ => {
                let after = error.retry_after().unwrap_or(Self::LONGEST_RETRY);
                Next::Retry(after.clamp(Self::SHORTEST_RETRY, Self::LONGEST_RETRY))
            }
        };
        shared.announce(Some(error.clone()));
        if let Some(handler) = &shared.handlers.put {
            handler(error);
        }
        next
    }

    fn sleep_to_tick(&self, after: Duration) {
        let clock = &self.shared.stock.generator.clock;
        let after = after.min(Self::LONGEST_SLEEP);
        if clock.is_system() {
            // Sleeps until the millisecond begins, so that little of the tick is lost.
            let until = clock.exact_unix_ms().saturating_add(after.as_millis() as i64);
            let _slept = clock.wait_until(until, after);
        } else {
            // A user's clock may move when a thread waits on it, so this thread only sleeps.
            self.sleep(after);
        }
    }

    /// Sleeps regardless of requests, but not after the generator has ended.
    fn sleep(&self, duration: Duration) {
        let until = Instant::now() + duration;
        while !self.shared.stock.is_stopped() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            thread::park_timeout(left);
        }
    }
}
