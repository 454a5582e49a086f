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

/// A function of the user that is told of an error.
pub(super) type Handler = Arc<dyn Fn(&Error) + Send + Sync>;

pub(super) struct Limits {
    /// Refill when fewer are left.
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
    /// 1 from the moment a taker asks for a refill until the thread begins with it.
    asked: AtomicU64,
    /// What stopped the last refill, other than a full tick. Only threads that wait look at it.
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

    /// Wakes the thread unless somebody has done so since its last round.
    ///
    /// The first look may be at an old 1, and then nobody wakes it for this call; the next taker
    /// below the threshold does, and those who wait ask again.
    #[inline]
    pub(super) fn ask(&self, refiller: &thread::Thread) {
        if self.asked.load(Ordering::Relaxed) == 0 && self.asked.swap(1, Ordering::AcqRel) == 0 {
            refiller.unpark();
        }
    }

    /// Held by those who look at the ring before they wait, and by the thread when it announces
    /// IDs, so that nobody looks too early and waits too late.
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

/// What the thread does next.
enum Next {
    /// The ring is full enough: sleep until somebody asks or the interval is over.
    Idle,
    /// The tick is full: go on when the next one begins.
    Tick(Duration),
    /// The generator refuses: try again then, whoever asks.
    Retry(Duration),
    /// Nothing is issued ever again.
    End,
}

pub(super) struct Refiller {
    shared: Arc<Shared>,
    producer: Producer,
    due: Option<Instant>,
    /// A refill that was begun goes on until the ring is full.
    filling: bool,
}

impl Refiller {
    /// Generators that refuse are not asked more often, nor left alone for longer, than this.
    const SHORTEST_RETRY: Duration = Duration::from_millis(10);
    const LONGEST_RETRY: Duration = Duration::from_secs(1);
    /// How late the end of the generator may be noticed while it waits for a tick.
    const LONGEST_SLEEP: Duration = Duration::from_millis(10);

    pub(super) fn new(shared: Arc<Shared>, producer: Producer) -> Self {
        let filling = producer.room(&shared.stock.buffer) > 0;
        Self { shared, producer, due: None, filling }
    }

    pub(super) fn run(mut self) {
        self.due = self.shared.limits.interval.map(|interval| Instant::now() + interval);
        while !self.shared.stock.is_stopped() {
            // Handlers and clocks are the user's. IDs of a portion that was cut short are lost, not
            // repeated: the tail was not moved.
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
        // Acquire, and before the ring is looked at: what the asker took is seen, and who asks
        // later wakes the thread again.
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
            // To the beginning of the millisecond, so that little of the tick is lost.
            let until = clock.exact_unix_ms().saturating_add(after.as_millis() as i64);
            let _slept = clock.wait_until(until, after);
        } else {
            // A clock of the user's may move when it is waited on, which is not for this thread.
            self.sleep(after);
        }
    }

    /// Sleeps even if somebody asks, but not if the generator ends.
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
