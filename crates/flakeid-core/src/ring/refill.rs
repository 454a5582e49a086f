//! The thread that refills a ring buffer of IDs.

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

/// A user-supplied function that handles an error.
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
    /// The flag for a pending refill request: 1 from the request until the refill thread starts its next round,
    /// otherwise 0.
    asked: AtomicU64,
    /// The error that stopped the last refill, or `None` if IDs have been added to the ring since then. A full tick is
    /// not recorded as an error. Only waiting threads read this field.
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

    /// Requests a refill, and wakes the refill thread unless a request is already pending.
    ///
    /// The flag `asked` is 1 while a request is pending. If this call reads a stale 1, it does not wake the refill
    /// thread. In that case, the next taker that finds too few IDs in the ring wakes the refill thread, and waiting
    /// calls repeat the request.
    #[inline]
    pub(super) fn ask(&self, refiller: &thread::Thread) {
        if self.asked.load(Ordering::Relaxed) == 0 && self.asked.swap(1, Ordering::AcqRel) == 0 {
            refiller.unpark();
        }
    }

    /// Locks the obstacle, which is the error that stopped the last refill. A waiting call holds the lock from its
    /// check of the ring until it starts to wait. The refill thread takes the lock after adding IDs and before
    /// notifying waiting calls, so that no call misses a notification.
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

/// The next action of the refill thread.
enum Next {
    /// Sleep until a taker requests a refill or the refill interval ends, because the ring contains enough IDs.
    Idle,
    /// Sleep until the next tick begins, because the current tick is full.
    Tick(Duration),
    /// Wait for the given time before the next attempt to fill the ring, regardless of refill requests, because the
    /// last attempt failed.
    Retry(Duration),
    /// End the thread, because the ring is closed or the generator can issue no more IDs.
    End,
}

pub(super) struct Refiller {
    shared: Arc<Shared>,
    producer: Producer,
    due: Option<Instant>,
    /// Whether a refill is in progress. A refill continues until the ring is full.
    filling: bool,
}

impl Refiller {
    /// The shortest time between a failed attempt to fill the ring and the next attempt.
    const SHORTEST_RETRY: Duration = Duration::from_millis(10);
    const LONGEST_RETRY: Duration = Duration::from_secs(1);
    /// The longest sleep while the thread waits for the next tick. Short sleeps ensure that the thread soon detects
    /// that the generator has been retired.
    const LONGEST_SLEEP: Duration = Duration::from_millis(10);

    pub(super) fn new(shared: Arc<Shared>, producer: Producer) -> Self {
        let filling = producer.room(&shared.stock.buffer) > 0;
        Self { shared, producer, due: None, filling }
    }

    pub(super) fn run(mut self) {
        self.due = self.shared.limits.interval.map(|interval| Instant::now() + interval);
        while !self.shared.stock.is_stopped() {
            // User-supplied handlers and clocks may panic. If a panic interrupts a batch, the ring's tail has not been
            // moved yet. The IDs of the batch are then lost, but no ID is issued twice.
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
        // The acquire ordering ensures that this thread sees which IDs were taken before the request. The swap precedes
        // the check of the ring, so that a later request wakes this thread again.
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
        let clock = &self.shared.stock.tenure.clock;
        let after = after.min(Self::LONGEST_SLEEP);
        if clock.is_system() {
            // `wait_until` returns at the beginning of a millisecond, so that the thread can fill the ring as soon as
            // the next tick begins.
            let until = clock.exact_unix_ms().saturating_add(after.as_millis() as i64);
            let _slept = clock.wait_until(until, after);
        } else {
            // The thread does not call the user-supplied clock's `wait_until` method, because this method may advance
            // the clock. The thread sleeps instead.
            self.sleep(after);
        }
    }

    /// Sleeps for the given time regardless of refill requests, but returns early if the ring is closed.
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
