//! The slow path of ID generation, which applies all rules. An attempt either reserves the positions of the next IDs,
//! or returns the reason why no ID can be issued.

use core::time::Duration;

use super::cell::CLOSED;
use super::obstacle::Obstacle;
#[cfg(feature = "std")]
use super::queue::{Queue, Supply};
use super::shape::Run;
use super::tenure::{Ahead, Tenure};
use super::{Overflow, Rollback};
use crate::interrupt::{begin_wait, is_interrupted, shorten};
use crate::sync::back_off;
use crate::{Error, ErrorKind};

/// The policies' decision about a candidate position that is ahead of the clock.
enum Verdict {
    Issue,
    /// Issue the candidate, whose tick was current before the clock went backwards. The tick is not recorded as
    /// deliberately ahead of the clock, so that the next call also detects the rollback.
    Hold,
    /// Switch to another clock-sequence value.
    Switch,
    Wait(Obstacle),
}

/// A clock reading that is not before the layout's epoch or after its horizon.
#[derive(Clone, Copy)]
struct Now {
    unix_ms: i64,
    tick: u64,
}

#[cfg(feature = "std")]
impl Supply for Tenure {
    fn attempt(&self, wanted: u64) -> Result<Run, Obstacle> {
        self.attempt(wanted)
    }

    fn sleep(&self, until: i64, at_most: Duration, exact: bool) {
        if exact {
            self.clock.wait_in_parts(until, at_most);
        } else {
            self.clock.wait_until(until, at_most);
        }
    }
}

impl Tenure {
    /// Whether calls that may wait would wait after `error`.
    pub(super) fn would_wait(&self, error: &Error) -> bool {
        match error.kind() {
            // Every policy waits for the generator's first tick.
            ErrorKind::SequenceExhausted => {
                self.policy.overflow != Overflow::Error
                    || self.cell.split(self.cell.load()).1 == self.cell.start()
            }
            ErrorKind::ClockRollback => self.policy.rollback != Rollback::Error,
            _ => false,
        }
    }

    /// Returns the time until the clock has reached a tick in which the next ID may be issued.
    pub(super) fn wait_for_clock(&self) -> Duration {
        let word = self.cell.load();
        let (_, next) = self.cell.split(word);
        let tick = self.shape.tick(self.candidate(next, 0));
        let issues_at_once = match self.policy.rollback {
            Rollback::Continue => tick == self.shape.tick(next.saturating_sub(1)),
            Rollback::ClockSequence => true,
            Rollback::Wait | Rollback::Error => false,
        };
        if word == CLOSED || issues_at_once {
            return Duration::ZERO;
        }
        let ahead = if self.cell.is_windowed() { self.max_ahead } else { 0 };
        let until = self.layout.unix_ms_at(tick.saturating_sub(ahead));
        let ms = until.saturating_sub(self.clock.exact_unix_ms());
        Duration::from_millis(ms.max(0).cast_unsigned())
    }

    #[cfg(feature = "std")]
    #[cold]
    #[inline(never)]
    fn take_at_once(&self, queue: &Queue, wanted: u64) -> Result<Run, Error> {
        if queue.is_waiting() && self.may_queue() {
            queue.serve(self);
        }
        self.attempt(wanted).map_err(|obstacle| obstacle.error)
    }

    #[cold]
    #[inline(never)]
    pub(super) fn take_waiting(&self, wanted: u64, max_wait: Duration) -> Result<Run, Error> {
        #[cfg(feature = "std")]
        if let Some(queue) = self.queue.get() {
            return match max_wait {
                Duration::ZERO => self.take_at_once(queue, wanted),
                _ => self.take_in_turn(queue, wanted, max_wait),
            };
        }
        self.take_alone(wanted, max_wait)
    }

    #[cfg(feature = "std")]
    fn take_in_turn(&self, queue: &Queue, wanted: u64, max_wait: Duration) -> Result<Run, Error> {
        let joins_at_once = wanted > 1 && queue.is_waiting() && self.may_queue();
        if !joins_at_once {
            match self.attempt(wanted) {
                Ok(run) => return Ok(run),
                Err(Obstacle { until: Some(_), .. }) => {}
                Err(obstacle) => return Err(obstacle.error),
            }
        }
        self.cell.count_wait();
        queue.take(self, wanted, max_wait)
    }

    /// Whether calls may use the queue. A forked child, in which the limit is 0, must not use the queue, because a
    /// thread of the parent may have held the queue's lock during the fork.
    #[cfg(feature = "std")]
    fn may_queue(&self) -> bool {
        self.limit.get() != 0
    }

    fn take_alone(&self, wanted: u64, max_wait: Duration) -> Result<Run, Error> {
        let mut spent = Duration::ZERO;
        begin_wait();
        loop {
            let Obstacle { error, until } = match self.attempt(wanted) {
                Ok(run) => return Ok(run),
                Err(obstacle) => obstacle,
            };
            let waits = spent < max_wait && !is_interrupted();
            let (Some(until), true) = (until, waits) else { return Err(error) };
            let left = shorten(max_wait.saturating_sub(spent));
            let slept = if wanted == 1 {
                self.clock.wait_in_parts(until, left)
            } else {
                self.clock.wait_until(until, left)
            };
            let Some(slept) = slept else { return Err(error) };
            if spent.is_zero() {
                self.cell.count_wait();
            }
            // Each wait counts as at least 1 µs, so that a caller cannot wait forever on a clock whose waits take no
            // time.
            spent = spent.saturating_add(slept.max(Duration::from_micros(1)));
        }
    }

    /// Takes up to `wanted` positions of one tick, or returns the obstacle. An attempt that fails leaves the next free
    /// position unchanged.
    pub(super) fn attempt(&self, wanted: u64) -> Result<Run, Obstacle> {
        let mut word = self.cell.load();
        loop {
            let limit = self.limit.get();
            if word == CLOSED || limit == 0 {
                let ours = self.limit.is_ours();
                return Err(if ours { Error::closed() } else { Error::forked() }.into());
            }
            // The clock is read after `word` is loaded. Unless the clock went backwards, the reading is therefore not
            // earlier than the reading from which `word` was derived.
            let now = self.now()?;
            let (clock_sequence, next) = self.cell.split(word);
            let first = self.candidate(next, now.tick);
            if first >= limit {
                return Err(self.beyond_limit(first));
            }
            let tick = self.shape.tick(first);
            let verdict =
                if tick <= now.tick { Verdict::Issue } else { self.judge(next, tick, now) };
            let sanctioned = matches!(verdict, Verdict::Issue) && tick > now.tick;
            let (clock_sequence, first) = match verdict {
                Verdict::Issue | Verdict::Hold => (clock_sequence, first),
                Verdict::Wait(obstacle) => return Err(obstacle),
                Verdict::Switch => {
                    let floor = self.shape.position(now.tick);
                    match self.cell.other_clock_sequence(clock_sequence, next, floor) {
                        Some(other) => (other, self.start_of(now.tick)),
                        None => return Err(self.fallen_short(self.shape.tick(next - 1), now)),
                    }
                }
            };
            let left = self.sequence_mask - self.shape.sequence(first) + 1;
            let count = wanted.min(left);
            let tick = self.shape.tick(first);
            if sanctioned {
                // Before it publishes the new position, the generator records the bound below which positions may be
                // ahead of the clock. A thread that loads the new position therefore does not treat the position as a
                // sign of a rollback.
                let end = if self.ahead >= Ahead::Tick {
                    self.shape.position(tick + 1)
                } else {
                    first + count
                };
                self.cell.sanction(end);
            }
            if self.cell.swap(word, self.cell.join(clock_sequence, first + count)) {
                if tick > now.tick {
                    self.cell.count_ahead(tick - now.tick);
                }
                return Ok(Run { first, count, clock_sequence });
            }
            back_off();
            word = self.cell.load();
        }
    }

    fn now(&self) -> Result<Now, Error> {
        let unix_ms = self.clock.exact_unix_ms();
        Ok(Now { unix_ms, tick: self.layout.tick_at(unix_ms)? })
    }

    /// Returns the position to issue next: the start of tick `now`, or `next` if `next` is later. If all usable
    /// sequence numbers of the tick are used up, the result is the start of the following tick.
    fn candidate(&self, next: u64, now: u64) -> u64 {
        let first = if next <= self.shape.position(now) { self.start_of(now) } else { next };
        if self.shape.sequence(first) > self.sequence_mask {
            self.shape.position(self.shape.tick(first) + 1)
        } else {
            first
        }
    }

    fn beyond_limit(&self, first: u64) -> Obstacle {
        if self.shape.tick(first) > self.layout.max_tick() {
            Error::horizon_reached(self.layout.horizon()).into()
        } else {
            Error::lease_expired(Duration::from_millis(self.unit)).into()
        }
    }

    /// Decides how to handle a candidate whose tick is ahead of the clock.
    ///
    /// A candidate can be ahead of the clock for three reasons: the clock went backwards, the generator runs ahead on
    /// purpose (its window begins ahead of the clock, or it borrows), or the clock's tick is full.
    fn judge(&self, next: u64, tick: u64, now: Now) -> Verdict {
        let windowed = self.cell.is_windowed();
        let issued = self.shape.tick(next.saturating_sub(1));
        let issued_ahead = issued > now.tick;
        // Only a generator with a window may deliberately run ahead of the clock. Without a window, an issued tick that
        // is ahead of the clock proves a rollback.
        let (seen, sanctioned) = if windowed {
            (self.cell.note_reading(now.tick), next <= self.cell.ahead_until())
        } else {
            (0, false)
        };
        if now.tick < seen {
            return self.judge_rollback(issued, seen, tick, now);
        }
        if issued_ahead && !sanctioned {
            return self.judge_rollback(issued, issued, tick, now);
        }
        if windowed && (next == self.cell.start() || issued_ahead) {
            return self.within_max_ahead(next, tick, now);
        }
        match self.policy.overflow {
            Overflow::Borrow => self.within_max_ahead(next, tick, now),
            // Before the generator's first tick, no tick can be full; the generator only waits for its first tick to
            // begin.
            Overflow::Error if next != self.cell.start() => {
                let Obstacle { error, .. } = self.full_until(next, tick, now);
                Verdict::Wait(error.into())
            }
            Overflow::Wait | Overflow::Error => Verdict::Wait(self.full_until(next, tick, now)),
        }
    }

    /// Decides how to handle a rollback. `short_of` is the tick that the clock has to reach again. It is the highest
    /// tick that the clock had reached, or in which an ID had been issued, before the rollback.
    fn judge_rollback(&self, issued: u64, short_of: u64, tick: u64, now: Now) -> Verdict {
        self.cell.count_rollback(short_of);
        match self.policy.rollback {
            Rollback::Error => {
                let Obstacle { error, .. } = self.fallen_short(short_of, now);
                Verdict::Wait(error.into())
            }
            Rollback::Wait => Verdict::Wait(self.fallen_short(short_of, now)),
            Rollback::ClockSequence => Verdict::Switch,
            Rollback::Continue => {
                if tick == issued {
                    return Verdict::Hold;
                }
                if self.cell.is_windowed() && tick <= self.most_ahead(now) {
                    return Verdict::Issue;
                }
                let by = self.until(short_of, now);
                let until = self.layout.unix_ms_at(tick);
                Verdict::Wait(Obstacle {
                    error: Error::clock_rollback(by, self.until(tick, now)),
                    until: Some(until),
                })
            }
        }
    }

    fn most_ahead(&self, now: Now) -> u64 {
        now.tick.saturating_add(self.max_ahead)
    }

    fn within_max_ahead(&self, next: u64, tick: u64, now: Now) -> Verdict {
        if tick <= self.most_ahead(now) {
            Verdict::Issue
        } else {
            Verdict::Wait(self.full_until(next, tick - self.max_ahead, now))
        }
    }

    /// Returns the obstacle for a call that has to wait for `tick`: the available ticks are full or, if no ID has been
    /// issued, the first tick has not begun.
    fn full_until(&self, next: u64, tick: u64, now: Now) -> Obstacle {
        let wait = self.until(tick, now);
        let error = if next == self.cell.start() {
            Error::before_first_tick(wait)
        } else {
            Error::sequence_exhausted(wait)
        };
        Obstacle { error, until: Some(self.layout.unix_ms_at(tick)) }
    }

    /// Returns the obstacle for a call that has to wait until the clock reaches `tick` again after a rollback.
    fn fallen_short(&self, tick: u64, now: Now) -> Obstacle {
        let by = self.until(tick, now);
        Obstacle { error: Error::clock_rollback(by, by), until: Some(self.layout.unix_ms_at(tick)) }
    }

    fn until(&self, tick: u64, now: Now) -> Duration {
        let ms = self.layout.unix_ms_at(tick).saturating_sub(now.unix_ms);
        Duration::from_millis(ms.max(0).cast_unsigned())
    }
}
