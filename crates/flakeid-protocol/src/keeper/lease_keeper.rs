//! The keeper of a process's lease: a keeper with a schedule, a status and events for observers.

use std::time::Duration;

use flakeid_core::Error;

use super::{
    Begin, GeneratorState, Input, Keeper, KeeperOptions, LeaseEvent, LeaseStatus, Output, Reading,
    RenewalSchedule, Report,
};
use crate::store::Fault;
use crate::{Acquire, Grant, Refusal, Token};

/// A [`Keeper`] with the schedule and the status of its lease.
#[derive(Clone, Debug)]
pub struct LeaseKeeper {
    options: KeeperOptions,
    /// The name of the store in errors.
    place: String,
    namespace: String,
    keeper: Keeper,
    schedule: RenewalSchedule,
    progress: Progress,
    /// Whether the store did not answer the latest attempt.
    is_lost: bool,
}

/// The status of a lease, and the results of its attempts to acquire and renew.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The status.
    pub status: LeaseStatus,
    /// The number of attempts that have ended, with or without success.
    pub attempts: u64,
    /// The number of grants and renewals that have taken effect.
    pub gains: u64,
    /// Whether a node was ever granted, so that there is a node to release.
    pub is_granted: bool,
    /// Whether a retry cannot succeed after the latest failure.
    pub cannot_be_fixed: bool,
    /// Whether another process has taken over the requested node, so that this keeper stops trying.
    pub is_ousted: bool,
}

/// An event of a [`LeaseKeeper`].
#[derive(Clone, Debug, PartialEq)]
pub enum Notice {
    /// The [progress](LeaseKeeper::progress) has changed: show it to the waiting callers.
    Progress,
    /// An event for the observer.
    Event(LeaseEvent),
}

impl Progress {
    /// Returns whether the latest attempt shows that none can succeed within `left`.
    #[must_use]
    pub fn is_hopeless(&self, left: Duration) -> bool {
        let waits = self.status.last_error.as_ref().and_then(Error::retry_after);
        self.cannot_be_fixed || waits.is_some_and(|waits| waits > left)
    }
}

impl LeaseKeeper {
    /// Creates a keeper that has no node yet. `place` is the name of the store in errors.
    #[must_use]
    pub fn new(
        options: KeeperOptions,
        place: &str,
        namespace: &str,
        generator: GeneratorState,
        reading: &Reading,
    ) -> Self {
        let Acquire { window_ms, ttl_ms, .. } = options.acquire;
        Self {
            keeper: Keeper::new(&options, generator),
            schedule: RenewalSchedule::new(window_ms, ttl_ms, reading.passed, reading.jitter),
            options,
            place: place.to_owned(),
            namespace: namespace.to_owned(),
            progress: Progress::default(),
            is_lost: false,
        }
    }

    /// Continues the status of an earlier keeper of the same lease.
    #[must_use]
    pub fn with_progress(mut self, progress: Progress) -> Self {
        self.progress = progress;
        self
    }

    /// Replaces the options, before the first node is granted.
    pub fn adopt(&mut self, options: KeeperOptions) {
        self.keeper.window = options.window();
        self.options = options;
    }

    /// Checks one node of the lease, as [`Input::Wake`]: the schedule says when a renewal is due. The
    /// token `fresh` was never used before.
    pub fn wake(&mut self, reading: &Reading, member: usize, fresh: Token) -> Vec<Output<Notice>> {
        let margin = self.schedule.margin(self.keeper.window, reading.passed);
        let reserve = self.schedule.reserve(self.keeper.window);
        self.handle(reading, Input::Wake { member, margin, reserve, fresh })
    }

    /// Takes an input and returns the instructions to the driver.
    pub fn handle(&mut self, reading: &Reading, input: Input) -> Vec<Output<Notice>> {
        let mut outputs = Vec::new();
        for output in self.keeper.handle(&self.options, reading, input) {
            match output {
                Output::Begin(begin) => outputs.push(Output::Begin(begin)),
                Output::Extend { fence } => outputs.push(Output::Extend { fence }),
                Output::End => outputs.push(Output::End),
                Output::Event(report) => self.note(reading, report, &mut |notice| {
                    outputs.push(Output::Event(notice));
                }),
                Output::Demand(demand) => outputs.push(Output::Demand(demand)),
            }
        }
        outputs
    }

    /// Returns the time until the next wake is due, unless a caller needs a window earlier.
    pub fn rest(&mut self, reading: &Reading) -> Duration {
        let (layout, options) =
            (&self.options.acquire.layout, self.keeper.holder_options(&self.options));
        let reached = self.keeper.reached(&self.options, reading);
        let holders = self.keeper.holders.iter();
        self.schedule.until_next(layout, &options, holders, reached, reading.passed)
    }

    /// Returns the rest of the pause after a failure, before which not even a caller that needs a window
    /// causes a wake.
    #[must_use]
    pub fn pause(&self, passed: Duration) -> Duration {
        self.schedule.pause(passed)
    }

    /// Returns the number of nodes of the lease.
    #[must_use]
    pub const fn nodes(&self) -> usize {
        self.options.nodes
    }

    /// Returns the status of the lease.
    #[must_use]
    pub const fn progress(&self) -> &Progress {
        &self.progress
    }

    /// Returns whether the user has closed the lease.
    #[must_use]
    pub fn is_closing(&self) -> bool {
        self.keeper.is_closing()
    }

    fn note(&mut self, reading: &Reading, report: Report, emit: &mut dyn FnMut(Notice)) {
        match report {
            Report::Granted(grant) => {
                self.progress.is_granted = true;
                emit(Notice::Progress);
                self.limit_to(reading, &grant);
                self.schedule.succeeded(reading.passed, reading.jitter);
            }
            // The keeper requests another node immediately.
            Report::TooShort => self.schedule.hurry(),
            Report::Begun { begin: Begin { nodes, start, fence, .. }, expires } => {
                let status = &mut self.progress.status;
                (status.start, status.fence) = (start, fence);
                status.expires_unix_ms = expires;
                status.grants += 1;
                status.fenced_off = false;
                self.succeeded(reading, true, emit);
                for node in nodes {
                    emit(Notice::Event(LeaseEvent::Acquired { node, start, fence }));
                }
            }
            Report::Renewed { node, fence, lowest, expires, extends } => {
                let status = &mut self.progress.status;
                status.fence = status.fence.max(lowest);
                status.expires_unix_ms = expires;
                status.renewals += 1;
                self.succeeded(reading, extends, emit);
                emit(Notice::Event(LeaseEvent::Renewed { node, fence }));
            }
            Report::NoClock(error) => self.failed(reading, error, None, emit),
            // The row expires, and the lease continues with another node.
            Report::NotReleased { .. } if !self.is_closing() => {}
            Report::NotGranted { fault, has_node: false } | Report::NotReleased { fault } => {
                let error = self.error(&fault);
                self.failed(reading, error, Some(&fault), emit);
            }
            // The state of the lease depends on the node that it has.
            Report::NotGranted { fault, has_node: true } => {
                self.schedule.failed(None, reading.passed);
                if let Fault::Refused(_) = fault {
                    emit(Notice::Event(LeaseEvent::Refused { error: self.error(&fault) }));
                }
            }
            Report::NotRenewed { node, fault } => {
                let error = self.error(&fault);
                self.failed(reading, error.clone(), Some(&fault), emit);
                if let Fault::Refused(Refusal::FencedOff | Refusal::Restored { .. }) = fault {
                    self.progress.status.fenced_off = true;
                    self.progress.is_ousted =
                        self.keeper.holders.iter().any(|holder| holder.ousted);
                    emit(Notice::Event(LeaseEvent::FencedOff { node, error }));
                    // The keeper requests another node immediately.
                    self.schedule.hurry();
                }
            }
            Report::Released { node } => emit(Notice::Event(LeaseEvent::Released { node })),
        }
    }

    fn limit_to(&mut self, reading: &Reading, grant: &Grant) {
        let Acquire { window_ms, ttl_ms, .. } = self.options.acquire;
        let now = *reading.unix_ms.as_ref().unwrap_or(&i64::MIN);
        let left_ms = grant.expires.saturating_sub(now);
        self.schedule.set(window_ms.min(grant.max_window_ms), left_ms, ttl_ms);
    }

    /// Records an attempt that had success.
    fn succeeded(&mut self, reading: &Reading, gains: bool, emit: &mut dyn FnMut(Notice)) {
        self.schedule.succeeded(reading.passed, reading.jitter);
        if std::mem::take(&mut self.is_lost) {
            emit(Notice::Event(LeaseEvent::StoreFound));
        }
        let Progress { status, attempts, gains: gained, cannot_be_fixed, .. } = &mut self.progress;
        status.fence_unix_ms = self.options.acquire.layout.unix_ms_at(status.fence);
        status.last_error = None;
        *cannot_be_fixed = false;
        *attempts += 1;
        *gained += u64::from(gains);
        emit(Notice::Progress);
    }

    /// Records an attempt that had no success.
    fn failed(
        &mut self,
        reading: &Reading,
        error: Error,
        fault: Option<&Fault>,
        emit: &mut dyn FnMut(Notice),
    ) {
        self.schedule.failed(error.retry_after(), reading.passed);
        self.progress.status.failures += 1;
        self.progress.status.last_error = Some(error.clone());
        self.progress.cannot_be_fixed = !error.kind().is_retryable();
        self.progress.attempts += 1;
        emit(Notice::Progress);
        let is_lost = matches!(fault, Some(Fault::Unavailable(_) | Fault::Conflict));
        let was_lost = std::mem::replace(&mut self.is_lost, is_lost);
        match fault {
            Some(fault) if fault.is_skew() => emit(Notice::Event(LeaseEvent::ClockSkew { error })),
            _ if !is_lost => emit(Notice::Event(LeaseEvent::Refused { error })),
            _ if !was_lost => emit(Notice::Event(LeaseEvent::StoreLost { error })),
            _ => {}
        }
    }

    fn error(&self, fault: &Fault) -> Error {
        fault.to_error(&self.place, &self.namespace, &self.options.acquire.layout)
    }
}
