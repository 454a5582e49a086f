//! The queue of calls that wait for IDs from one generator. The calls are served in the order of arrival.
//!
//! If every waiting call slept on its own, the first call to wake up could use up the whole next tick. The other calls
//! would continue to sleep, possibly for many ticks. Therefore, one call, the leader, sleeps for all waiting calls. The
//! leader then takes IDs for all calls with one compare-and-swap and divides the IDs among the calls. Calls that do not
//! have to wait do not use the queue.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use core::time::Duration;
use std::sync::{PoisonError, TryLockError};
use std::time::Instant;

use super::obstacle::Obstacle;
use super::shape::Run;
use crate::Error;
use crate::interrupt::{begin_wait, is_due, is_interrupted, shorten};
use crate::sync::{AtomicU64, Condvar, Mutex, MutexGuard, Ordering};

/// A source of positions for a queue, with a method that sleeps until new positions may be available.
pub(super) trait Supply {
    /// Takes up to `wanted` positions of one tick, or returns the obstacle.
    fn attempt(&self, wanted: u64) -> Result<Run, Obstacle>;

    /// Sleeps until the clock reads `until`, but no longer than `at_most`. The function may return early, and the queue
    /// then calls the function again. If `exact` is set, the function divides the sleep into parts to wake up closer to
    /// `until`.
    fn sleep(&self, until: i64, at_most: Duration, exact: bool);
}

pub(super) struct Queue {
    /// The number of calls in the queue. New calls read this number, so that they do not overtake the waiting calls.
    length: AtomicU64,
    state: Mutex<State>,
    /// The condition variable that is notified when calls have been served or the leader has left.
    changed: Condvar,
    #[cfg(all(test, loom))]
    flaw: Option<Flaw>,
}

/// The deliberate bug in a copy of the queue, for the loom models.
#[cfg(all(test, loom))]
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Flaw {
    /// Does not notify the waiting calls when calls have been served or when the leader leaves.
    NotifiesNoCall,
    /// A leader that has been served by another call leaves without appointing a new leader.
    LeavesNoSuccessor,
}

#[derive(Default)]
struct State {
    /// The waiting calls, in the order of their tickets.
    waiting: VecDeque<Call>,
    /// The positions that have been assigned to calls but have not been returned yet, keyed by the ticket of the call.
    served: BTreeMap<u64, Run>,
    tickets: u64,
    led: bool,
}

struct Call {
    ticket: u64,
    wanted: u64,
}

impl Queue {
    pub(super) fn new() -> Self {
        Self {
            length: AtomicU64::new(0),
            state: Mutex::new(State::default()),
            changed: Condvar::new(),
            #[cfg(all(test, loom))]
            flaw: None,
        }
    }

    /// Creates a queue with a deliberate bug, for the loom models.
    #[cfg(all(test, loom))]
    pub(super) fn with_flaw(flaw: Flaw) -> Self {
        Self { flaw: Some(flaw), ..Self::new() }
    }

    /// Whether a call is waiting. The result may already be outdated when the function returns.
    #[inline]
    pub(super) fn is_waiting(&self) -> bool {
        self.length.load(Ordering::Relaxed) > 0
    }

    /// Waits at most `max_wait` for the call's turn, and returns up to `wanted` positions of one tick.
    pub(super) fn take(
        &self,
        supply: &impl Supply,
        wanted: u64,
        max_wait: Duration,
    ) -> Result<Run, Error> {
        let start = Instant::now();
        begin_wait();
        let mut state = self.lock();
        let ticket = state.join(wanted);
        let (mut has_led, mut interrupted) = (false, false);
        loop {
            self.length.store(state.waiting.len() as u64, Ordering::Relaxed);
            if let Some(run) = state.served.remove(&ticket) {
                if has_led && !state.waiting.is_empty() {
                    self.pass_on_the_lead();
                }
                return Ok(run);
            }
            let left = max_wait.saturating_sub(start.elapsed());
            if left.is_zero() || interrupted {
                self.leave(state, ticket);
                // Without this last attempt, a call whose `max_wait` equals `retry_after` would fail although IDs have
                // just become available.
                return supply.attempt(wanted).map_err(|obstacle| obstacle.error);
            }
            if is_due() {
                // The program's function may use the queue, too. Meanwhile another call leads.
                if !state.led {
                    self.tell();
                }
                drop(state);
                interrupted = is_interrupted();
                state = self.lock();
                continue;
            }
            if state.led {
                let woken = self.changed.wait_timeout(state, shorten(left));
                state = woken.unwrap_or_else(PoisonError::into_inner).0;
                continue;
            }
            match state.serve(supply) {
                Ok(()) => self.tell(),
                Err(Obstacle { until: Some(until), .. }) => {
                    (state.led, has_led) = (true, true);
                    let exact = state.waiting.iter().any(|call| call.wanted == 1);
                    drop(state);
                    supply.sleep(until, shorten(left), exact);
                    state = self.lock();
                    state.led = false;
                }
                Err(Obstacle { error, until: None }) => {
                    self.leave(state, ticket);
                    return Err(error);
                }
            }
        }
    }

    /// Serves the waiting calls if IDs are available now. Nonblocking calls use this function, because a thread that
    /// repeats a nonblocking call in a loop could otherwise use up each tick before the leader wakes up.
    pub(super) fn serve(&self, supply: &impl Supply) {
        let mut state = match self.state.try_lock() {
            Ok(state) => state,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            // If another thread holds the lock, that thread serves the calls, or has just found that no IDs are
            // available.
            Err(TryLockError::WouldBlock) => return,
        };
        if !state.waiting.is_empty() && state.serve(supply).is_ok() {
            self.length.store(state.waiting.len() as u64, Ordering::Relaxed);
            self.tell();
        }
    }

    /// Removes a call from the queue. If the queue has no leader, notifies the waiting calls, so that one of the calls
    /// becomes the leader.
    fn leave(&self, mut state: MutexGuard<'_, State>, ticket: u64) {
        if let Ok(place) = state.waiting.binary_search_by_key(&ticket, |call| call.ticket) {
            state.waiting.remove(place);
        }
        self.length.store(state.waiting.len() as u64, Ordering::Relaxed);
        if !state.led {
            self.tell();
        }
    }

    fn pass_on_the_lead(&self) {
        #[cfg(all(test, loom))]
        if self.flaw == Some(Flaw::LeavesNoSuccessor) {
            return;
        }
        self.tell();
    }

    fn tell(&self) {
        #[cfg(all(test, loom))]
        if self.flaw == Some(Flaw::NotifiesNoCall) {
            return;
        }
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn join(&mut self, wanted: u64) -> u64 {
        self.tickets += 1;
        self.waiting.push_back(Call { ticket: self.tickets, wanted });
        self.tickets
    }

    /// Takes positions for the waiting calls, and distributes the positions. The calls get one position each, in the
    /// order of arrival, until no position is left. The calls that want more positions share the remaining positions
    /// evenly.
    fn serve(&mut self, supply: &impl Supply) -> Result<(), Obstacle> {
        let wanted = self.waiting.iter().fold(0, |sum: u64, call| sum.saturating_add(call.wanted));
        let mut rest = supply.attempt(wanted)?;
        let calls = usize::try_from(rest.count).unwrap_or(usize::MAX).min(self.waiting.len());
        let calls: Vec<Call> = self.waiting.drain(..calls).collect();
        let shares = shares(&calls, rest.count);
        for (call, count) in calls.iter().zip(shares) {
            self.served.insert(call.ticket, Run { count, ..rest });
            rest.first += count;
        }
        Ok(())
    }
}

/// Divides `count` positions among the calls as evenly as possible, and returns the number of positions for each call.
/// No call gets more positions than it wants. All positions are used if the calls together want at least `count`.
fn shares(calls: &[Call], count: u64) -> Vec<u64> {
    let mut shares = alloc::vec![0; calls.len()];
    let mut modest_first: Vec<usize> = (0..calls.len()).collect();
    modest_first.sort_by_key(|index| calls[*index].wanted);
    let mut rest = count;
    for (done, index) in modest_first.into_iter().enumerate() {
        let share = rest.div_ceil((calls.len() - done) as u64).min(calls[index].wanted);
        shares[index] = share;
        rest -= share;
    }
    shares
}

#[cfg(all(test, not(loom)))]
#[path = "queue_tests.rs"]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;
