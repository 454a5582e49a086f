//! Calls that wait for IDs of one generator, served in the order in which they came.
//!
//! If every waiting call slept for itself, whoever woke first would use up the next tick, too, and the others would
//! sleep on, some of them for many ticks. So one of them, the leader, sleeps for all, then takes what all want by
//! one compare-and-swap and divides it. Calls that need not wait know nothing of this.

use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use core::time::Duration;
use std::sync::{PoisonError, TryLockError};
use std::time::Instant;

use super::obstacle::Obstacle;
use super::shape::Run;
use crate::Error;
use crate::sync::{AtomicU64, Condvar, Mutex, MutexGuard, Ordering};

/// Where a queue gets IDs, and how it sleeps.
pub(super) trait Supply {
    /// Takes up to so many positions of one tick, or says what stands in the way.
    fn attempt(&self, wanted: u64) -> Result<Run, Obstacle>;

    /// Sleeps until the clock reads `until`, or for a part of that, but no longer than `at_most`. If it is to be
    /// exact it is called again after each part.
    fn sleep(&self, until: i64, at_most: Duration, exact: bool);
}

pub(super) struct Queue {
    /// How many calls are in it, for those that must not overtake them.
    length: AtomicU64,
    state: Mutex<State>,
    /// Some calls were served, or the leader has left.
    changed: Condvar,
    #[cfg(all(test, loom))]
    flaw: Option<Flaw>,
}

/// What a twin does wrong, for the models.
#[cfg(all(test, loom))]
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Flaw {
    /// Tells nobody that calls were served, or that the leader has left.
    TellsNobody,
    /// A leader that others have served leaves without letting another one lead.
    LeavesNoLeader,
}

#[derive(Default)]
struct State {
    /// By rising tickets.
    waiting: VecDeque<Call>,
    /// By ticket: what calls were given and have not fetched yet.
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

    /// A twin with a flaw, for the models.
    #[cfg(all(test, loom))]
    pub(super) fn with_flaw(flaw: Flaw) -> Self {
        Self { flaw: Some(flaw), ..Self::new() }
    }

    /// Whether a call waits. May be out of date at once.
    #[inline]
    pub(super) fn is_waiting(&self) -> bool {
        self.length.load(Ordering::Relaxed) > 0
    }

    /// Waits for its turn, at most `max_wait`, and returns up to `wanted` positions of one tick.
    pub(super) fn take(
        &self,
        supply: &impl Supply,
        wanted: u64,
        max_wait: Duration,
    ) -> Result<Run, Error> {
        let start = Instant::now();
        let mut state = self.lock();
        let ticket = state.join(wanted);
        let mut has_led = false;
        loop {
            self.length.store(state.waiting.len() as u64, Ordering::Relaxed);
            if let Some(run) = state.served.remove(&ticket) {
                if has_led && !state.waiting.is_empty() {
                    self.pass_on_the_lead();
                }
                return Ok(run);
            }
            let left = max_wait.saturating_sub(start.elapsed());
            if left.is_zero() {
                self.leave(state, ticket);
                // Without this a call that was told how long to wait would fail at the very moment.
                return supply.attempt(wanted).map_err(|obstacle| obstacle.error);
            }
            if state.led {
                let woken = self.changed.wait_timeout(state, left);
                state = woken.unwrap_or_else(PoisonError::into_inner).0;
                continue;
            }
            match state.serve(supply) {
                Ok(()) => self.tell(),
                Err(Obstacle { until: Some(until), .. }) => {
                    (state.led, has_led) = (true, true);
                    let exact = state.waiting.iter().any(|call| call.wanted == 1);
                    drop(state);
                    supply.sleep(until, left, exact);
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

    /// Serves the calls that wait, if there are IDs for them now. For a call that does not wait: if it only took
    /// what it wants, one that tries again and again would use up each tick before the leader is awake.
    pub(super) fn serve(&self, supply: &impl Supply) {
        let mut state = match self.state.try_lock() {
            Ok(state) => state,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            // Whoever has it serves them, or has just found that there is nothing.
            Err(TryLockError::WouldBlock) => return,
        };
        if !state.waiting.is_empty() && state.serve(supply).is_ok() {
            self.length.store(state.waiting.len() as u64, Ordering::Relaxed);
            self.tell();
        }
    }

    /// Takes a call out of the queue, and lets another one lead.
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
        if self.flaw == Some(Flaw::LeavesNoLeader) {
            return;
        }
        self.tell();
    }

    fn tell(&self) {
        #[cfg(all(test, loom))]
        if self.flaw == Some(Flaw::TellsNobody) {
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

    /// Takes what all want and divides it: one each in the order of arrival, then the rest in equal parts among
    /// those that want more.
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

/// How many of `count` positions each call gets: none more than it wants, all as many as the others if it wants as
/// many. Nothing is left over if together they want at least `count`.
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
