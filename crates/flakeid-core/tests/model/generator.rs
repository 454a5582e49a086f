//! A model of a generator. The model computes the result of each call with 128-bit integers and without concurrency.

use flakeid_core::{ErrorKind, Overflow, Policy, Rollback};

use crate::layout::BigLayout;

#[derive(Clone, Debug)]
pub struct Options {
    pub layout: BigLayout,
    pub node: u64,
    pub policy: Policy,
    pub sequence_mask: i128,
    pub max_ahead_ms: i128,
    pub max_wait_ms: i128,
    /// The window: its first tick, and the fence, which is the tick after the window's last tick.
    pub window: Option<(i128, i128)>,
}

/// The properties of the error that the caller receives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Failure {
    pub kind: ErrorKind,
    pub retry_after_ms: Option<i128>,
    pub by_ms: Option<i128>,
}

pub struct Model {
    options: Options,
    pub clock: i128,
    /// The next free position: `tick * per_tick + sequence`.
    next: i128,
    clock_sequence: usize,
    marks: Vec<i128>,
    seen: i128,
    ahead_until: i128,
    fence: i128,
    closed: bool,
    counted: Option<i128>,
    pub waits: u64,
    pub rollbacks: u64,
    pub largest_ahead: i128,
}

enum Step {
    Issued(Vec<i128>),
    /// The failure, and the instant until which the call can wait. The instant is `None` if waiting does not help.
    Stuck(Failure, Option<i128>),
}

/// The reason why an ID may be issued although its tick seems to be ahead of the clock.
enum Leave {
    /// An option allows the generator to run ahead of the clock.
    Ahead,
    /// The ID is in the tick that was current before the clock went backwards.
    Held,
    /// The generator switches to another clock sequence, so the ID is not ahead of the clock.
    Switched(usize),
}

fn fail(kind: ErrorKind) -> Step {
    Step::Stuck(Failure { kind, retry_after_ms: None, by_ms: None }, None)
}

impl Model {
    pub fn new(options: Options, clock: i128) -> Self {
        let start = options.window.map_or(0, |(start, _)| start) * per_tick(&options);
        let marks = vec![0; options.layout.most("clock_sequence") as usize + 1];
        let fence = options.window.map_or(i128::MAX, |(_, fence)| fence);
        Self {
            clock,
            next: start,
            clock_sequence: 0,
            marks,
            seen: 0,
            ahead_until: start,
            fence,
            closed: false,
            counted: None,
            waits: 0,
            rollbacks: 0,
            largest_ahead: 0,
            options,
        }
    }

    fn start(&self) -> i128 {
        self.options.window.map_or(0, |(start, _)| start) * self.per_tick()
    }

    fn per_tick(&self) -> i128 {
        per_tick(&self.options)
    }

    fn begins(&self, tick: i128) -> i128 {
        self.options.layout.epoch + tick * self.options.layout.unit
    }

    fn max_ahead(&self) -> i128 {
        let unit = self.options.layout.unit;
        (self.options.max_ahead_ms + unit - 1) / unit
    }

    pub fn take(&mut self, wanted: usize, waits: bool) -> Result<Vec<i128>, Failure> {
        let mut ids = Vec::new();
        while ids.len() < wanted {
            let mut budget = if waits { self.options.max_wait_ms } else { 0 };
            let mut stalled = false;
            let failure = loop {
                match self.step(wanted - ids.len()) {
                    Step::Issued(more) => {
                        ids.extend(more);
                        break None;
                    }
                    Step::Stuck(_, Some(until)) if budget > 0 => {
                        let wait = (until - self.clock).min(budget);
                        self.clock += wait;
                        budget -= wait;
                        self.waits += u64::from(!stalled);
                        stalled = true;
                    }
                    Step::Stuck(failure, _) => break Some(failure),
                }
            };
            match failure {
                Some(failure) if ids.is_empty() => return Err(failure),
                Some(_) => break,
                None => {}
            }
        }
        Ok(ids)
    }

    fn step(&mut self, wanted: usize) -> Step {
        if self.closed {
            return fail(ErrorKind::Closed);
        }
        let now = match self.options.layout.tick_at(self.clock) {
            Ok(now) => now,
            Err(ErrorKind::BeforeEpoch) => {
                let retry_after_ms = Some(self.options.layout.epoch - self.clock);
                let kind = ErrorKind::BeforeEpoch;
                return Step::Stuck(Failure { kind, retry_after_ms, by_ms: None }, None);
            }
            Err(kind) => return fail(kind),
        };
        let per_tick = self.per_tick();
        let mut sanctioned = false;
        let mut first = self.next.max(now * per_tick);
        if first % per_tick > self.options.sequence_mask {
            first = (first / per_tick + 1) * per_tick;
        }
        let tick = first / per_tick;
        if tick > self.options.layout.most("time") {
            return fail(ErrorKind::HorizonReached);
        }
        if tick >= self.fence {
            let retry_after_ms = Some(self.options.layout.unit);
            let kind = ErrorKind::LeaseExpired;
            return Step::Stuck(Failure { kind, retry_after_ms, by_ms: None }, None);
        }
        // Once a generator has entered a tick, it issues the tick's remaining IDs without checking the clock rules
        // again.
        let entered = self.may_use_up_ticks()
            && first == self.next
            && first < self.ahead_until
            && tick - now <= self.largest_ahead;
        if tick > now && !entered {
            let issued = (self.next - 1).div_euclid(per_tick);
            match self.judge(now, issued, tick) {
                Ok(Leave::Ahead) => sanctioned = self.options.window.is_some(),
                Ok(Leave::Held) => {}
                Ok(Leave::Switched(other)) => {
                    self.clock_sequence = other;
                    first = now * per_tick;
                }
                Err(stuck) => return stuck,
            }
        }
        let issued = self.issue(first, now, wanted);
        if sanctioned {
            let end = if self.may_use_up_ticks() { (tick + 1) * per_tick } else { self.next };
            self.ahead_until = self.ahead_until.max(end);
        }
        issued
    }

    fn may_use_up_ticks(&self) -> bool {
        self.options.window.is_some() && self.options.policy.rollback == Rollback::Continue
    }

    fn issue(&mut self, first: i128, now: i128, wanted: usize) -> Step {
        let per_tick = self.per_tick();
        let left = self.options.sequence_mask - first % per_tick + 1;
        let end = first + left.min(wanted as i128);
        self.next = end;
        if first / per_tick > now {
            self.largest_ahead = self.largest_ahead.max(first / per_tick - now);
        }
        let id = |position: i128| {
            self.options.layout.pack(&[
                ("time", (position / per_tick) as u64),
                ("node", self.options.node),
                ("clock_sequence", self.clock_sequence as u64),
                ("sequence", (position % per_tick) as u64),
            ])
        };
        Step::Issued((first..end).map(id).collect())
    }

    /// Decides whether an ID may be issued although its tick is ahead of the clock. Returns the reason, or the failure
    /// of the call.
    fn judge(&mut self, now: i128, issued: i128, tick: i128) -> Result<Leave, Step> {
        let windowed = self.options.window.is_some();
        let seen = if windowed { self.seen } else { 0 };
        self.seen = self.seen.max(now);
        let on_purpose = windowed && self.next <= self.ahead_until;
        let limit = now + self.max_ahead();
        let exhausted = |model: &Self, until: i128| {
            let until = model.begins(until);
            let retry_after_ms = Some(until - model.clock);
            let kind = ErrorKind::SequenceExhausted;
            Step::Stuck(Failure { kind, retry_after_ms, by_ms: None }, Some(until))
        };
        if now < seen {
            return self.judge_rollback(now, issued, seen, tick);
        }
        if issued > now && !on_purpose {
            return self.judge_rollback(now, issued, issued, tick);
        }
        let runs_ahead = windowed && (self.next == self.start() || issued > now);
        if runs_ahead || self.options.policy.overflow == Overflow::Borrow {
            return if tick <= limit {
                Ok(Leave::Ahead)
            } else {
                Err(exhausted(self, tick - self.max_ahead()))
            };
        }
        match (self.options.policy.overflow, exhausted(self, tick)) {
            (Overflow::Error, Step::Stuck(failure, _)) => Err(Step::Stuck(failure, None)),
            (_, stuck) => Err(stuck),
        }
    }

    fn judge_rollback(
        &mut self,
        now: i128,
        issued: i128,
        short_of: i128,
        tick: i128,
    ) -> Result<Leave, Step> {
        if self.counted.replace(short_of) != Some(short_of) {
            self.rollbacks += 1;
        }
        let by = self.begins(short_of) - self.clock;
        let clock = self.clock;
        let stuck = |until: i128, waits: bool| {
            let retry_after_ms = Some(until - clock);
            let kind = ErrorKind::ClockRollback;
            let failure = Failure { kind, retry_after_ms, by_ms: Some(by) };
            Err(Step::Stuck(failure, waits.then_some(until)))
        };
        let caught_up = self.begins(short_of);
        match self.options.policy.rollback {
            Rollback::Error => stuck(caught_up, false),
            Rollback::Wait => stuck(caught_up, true),
            Rollback::Continue => {
                let carries_on = self.options.window.is_some() && tick <= now + self.max_ahead();
                if tick == issued {
                    Ok(Leave::Held)
                } else if carries_on {
                    Ok(Leave::Ahead)
                } else {
                    stuck(self.begins(tick), true)
                }
            }
            Rollback::ClockSequence => {
                let count = self.marks.len();
                let current = self.clock_sequence;
                let floor = now * self.per_tick();
                self.marks[current] = self.marks[current].max(self.next);
                let unused = (1..count)
                    .map(|step| (current + step) % count)
                    .find(|value| self.marks[*value] <= floor);
                unused.map_or_else(|| stuck(caught_up, true), |value| Ok(Leave::Switched(value)))
            }
            other => panic!("no model of {other:?}"),
        }
    }

    pub fn extend(&mut self, fence: i128) -> Result<(), ErrorKind> {
        if self.options.window.is_none() {
            return Err(ErrorKind::InvalidOption);
        }
        if self.closed {
            return Err(ErrorKind::Closed);
        }
        self.fence = self.fence.max(fence);
        Ok(())
    }

    pub fn retire(&mut self) -> Result<Option<i128>, ErrorKind> {
        if std::mem::replace(&mut self.closed, true) {
            return Err(ErrorKind::Closed);
        }
        Ok((self.next > self.start()).then(|| (self.next - 1) / self.per_tick()))
    }
}

fn per_tick(options: &Options) -> i128 {
    options.layout.most("sequence") + 1
}
