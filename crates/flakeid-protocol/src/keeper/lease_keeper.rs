//! The keeper of a process's lease, with the lease's schedule, status and events for observers.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use flakeid_core::{Error, ErrorKind};

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
    /// The name of the store, for error messages.
    place: String,
    namespace: String,
    keeper: Keeper,
    schedule: RenewalSchedule,
    progress: Progress,
    /// Whether the store failed to respond to the latest attempt.
    is_lost: bool,
    events: VecDeque<LeaseEvent>,
}

/// The status of a lease, and the results of the attempts to acquire and renew it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The status of the lease.
    pub status: LeaseStatus,
    /// The number of completed attempts, including failed ones.
    pub attempts: u64,
    /// The number of grants and renewals that have taken effect.
    pub gains: u64,
    /// The nodes that are reserved for the lease until they are released.
    pub reserved: BTreeSet<u64>,
    /// The nodes whose release failed, and the keeper's times at which their rows expire.
    pub unreleased: BTreeMap<u64, Duration>,
    /// Whether the latest failure is permanent, so that a retry cannot succeed.
    pub cannot_be_fixed: bool,
    /// Whether another process has taken over the requested node, so that this keeper no longer requests the node.
    pub is_displaced: bool,
}

impl Progress {
    /// Whether the latest error shows that no attempt can succeed within the time `left`.
    #[must_use]
    pub fn cannot_succeed_within(&self, left: Duration) -> bool {
        let waits = self.status.last_error.as_ref().and_then(Error::retry_after);
        self.cannot_be_fixed || waits.is_some_and(|waits| waits > left)
    }

    /// Whether the latest error ends by itself at a known time: the store grants nothing for a while, for example after
    /// a restart. A program that opens a lease waits for that time.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        self.status.last_error.as_ref().is_some_and(|error| {
            let kinds = [ErrorKind::FenceInFuture, ErrorKind::ClockSkew];
            kinds.contains(&error.kind()) && error.retry_after().is_some()
        })
    }
}

impl LeaseKeeper {
    /// Creates a keeper that has no node yet. `place` is the name of the store, for error messages.
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
            events: VecDeque::new(),
        }
    }

    /// Returns this keeper with its progress set to `progress`, which comes from an earlier keeper of the same lease.
    #[must_use]
    pub fn with_progress(mut self, progress: Progress) -> Self {
        self.progress = progress;
        self
    }

    /// Replaces the options. Must not be called after the keeper has accepted its first grant.
    pub fn adopt(&mut self, options: KeeperOptions) {
        self.keeper.window = options.window();
        self.options = options;
    }

    /// Returns the [`Input::Wake`] with which the keeper checks the node of the holder `member`. The schedule
    /// determines when a renewal is due. The token `fresh` must never have been used before.
    #[must_use]
    pub fn wake(&self, passed: Duration, member: usize, fresh: Token) -> Input {
        let margin = self.schedule.margin(self.keeper.window, passed);
        let reserve = self.schedule.reserve(self.keeper.window);
        Input::Wake { member, margin, reserve, fresh }
    }

    /// Processes an input and returns instructions for the driver.
    pub fn handle(&mut self, reading: &Reading, input: Input) -> Vec<Output> {
        self.progress.unreleased.retain(|_, expires| *expires > reading.passed);
        self.keeper.handle(&self.options, reading, input)
    }

    /// Returns the time until the next [`Input::Wake`] is due. A caller that needs a window may wake the keeper
    /// earlier.
    pub fn rest(&mut self, reading: &Reading) -> Duration {
        let (layout, options) =
            (&self.options.acquire.layout, self.keeper.holder_options(&self.options));
        let reached = self.keeper.reached(&self.options, reading);
        let holders = self.keeper.holders.iter();
        self.schedule.until_next(layout, &options, holders, reached, reading.passed)
    }

    /// Returns the remaining time of the pause after a failure. During the pause, even a caller that needs a window
    /// must not wake the keeper.
    #[must_use]
    pub fn pause(&self, passed: Duration) -> Duration {
        self.schedule.pause(passed)
    }

    /// Returns the number of nodes that the lease requests.
    #[must_use]
    pub const fn nodes(&self) -> usize {
        self.options.nodes
    }

    /// Returns the status of the lease, and the results of the attempts to acquire and renew the lease.
    #[must_use]
    pub const fn progress(&self) -> &Progress {
        &self.progress
    }

    /// Whether the user has closed the lease.
    #[must_use]
    pub fn is_closing(&self) -> bool {
        self.keeper.is_closing()
    }

    /// Returns the next event for the observer, if there is one.
    pub fn next_event(&mut self) -> Option<LeaseEvent> {
        self.events.pop_front()
    }

    /// Updates the [progress](Self::progress), the schedule and the events after a report.
    pub fn report(&mut self, reading: &Reading, report: Report) {
        match report {
            Report::Granted(grant) => {
                self.progress.reserved.insert(grant.node);
                self.progress.unreleased.remove(&grant.node);
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
                self.succeeded(reading, true);
                for node in nodes {
                    self.emit(LeaseEvent::Acquired { node, start, fence });
                }
            }
            Report::Renewed { node, fence, lowest, expires, extends } => {
                let status = &mut self.progress.status;
                status.fence = status.fence.max(lowest);
                status.expires_unix_ms = expires;
                status.renewals += 1;
                self.succeeded(reading, extends);
                self.emit(LeaseEvent::Renewed { node, fence });
            }
            Report::NoClock(error) => self.failed(reading, error, None),
            // The failed release is ignored, because the row expires and the lease continues with another node.
            Report::NotReleased { node, .. } if !self.is_closing() => {
                self.progress.reserved.remove(&node);
                let ttl = Duration::from_millis(self.options.acquire.ttl_ms);
                self.progress.unreleased.insert(node, reading.passed.saturating_add(ttl));
            }
            Report::NotGranted { fault, has_node: false } | Report::NotReleased { fault, .. } => {
                let error = self.error(&fault);
                self.failed(reading, error, Some(&fault));
            }
            // The failed acquire request does not change the lease's status, because the holder still has a node.
            Report::NotGranted { fault, has_node: true } => {
                self.schedule.failed(None, reading.passed);
                if let Fault::Refused(_) = fault {
                    self.emit(LeaseEvent::Refused { error: self.error(&fault) });
                }
            }
            Report::NotRenewed { node, fault } => {
                let error = self.error(&fault);
                self.failed(reading, error.clone(), Some(&fault));
                if let Fault::Refused(Refusal::FencedOff | Refusal::Restored { .. }) = fault {
                    self.progress.status.fenced_off = true;
                    self.progress.reserved.remove(&node);
                    self.progress.is_displaced =
                        self.keeper.holders.iter().any(|holder| holder.displaced);
                    self.emit(LeaseEvent::FencedOff { node, error });
                    // The keeper requests another node immediately.
                    self.schedule.hurry();
                }
            }
            Report::Released { node } => {
                self.progress.reserved.remove(&node);
                self.emit(LeaseEvent::Released { node });
            }
        }
    }

    fn limit_to(&mut self, reading: &Reading, grant: &Grant) {
        let Acquire { window_ms, ttl_ms, .. } = self.options.acquire;
        let now = *reading.unix_ms.as_ref().unwrap_or(&i64::MIN);
        let left_ms = grant.expires.saturating_sub(now);
        self.schedule.set(window_ms.min(grant.max_window_ms), left_ms, ttl_ms);
    }

    /// Records a successful attempt.
    fn succeeded(&mut self, reading: &Reading, gains: bool) {
        self.schedule.succeeded(reading.passed, reading.jitter);
        if std::mem::take(&mut self.is_lost) {
            self.emit(LeaseEvent::StoreFound);
        }
        let Progress { status, attempts, gains: gained, cannot_be_fixed, .. } = &mut self.progress;
        status.fence_unix_ms = self.options.acquire.layout.unix_ms_at(status.fence);
        status.last_error = None;
        *cannot_be_fixed = false;
        *attempts += 1;
        *gained += u64::from(gains);
    }

    /// Records a failed attempt.
    fn failed(&mut self, reading: &Reading, error: Error, fault: Option<&Fault>) {
        self.schedule.failed(error.retry_after(), reading.passed);
        self.progress.status.failures += 1;
        self.progress.status.last_error = Some(error.clone());
        self.progress.cannot_be_fixed =
            !error.kind().is_retryable() && error.retry_after().is_none();
        self.progress.attempts += 1;
        let is_lost = matches!(fault, Some(Fault::Unavailable(_) | Fault::Conflict));
        let was_lost = std::mem::replace(&mut self.is_lost, is_lost);
        match fault {
            Some(fault) if fault.is_skew() => self.emit(LeaseEvent::ClockSkew { error }),
            _ if !is_lost => self.emit(LeaseEvent::Refused { error }),
            _ if !was_lost => self.emit(LeaseEvent::StoreLost { error }),
            _ => {}
        }
    }

    fn emit(&mut self, event: LeaseEvent) {
        self.events.push_back(event);
    }

    fn error(&self, fault: &Fault) -> Error {
        fault.to_error(&self.place, &self.namespace, &self.options.acquire.layout)
    }
}

#[cfg(test)]
mod tests {
    use flakeid_core::Layout;

    use super::*;

    #[test]
    fn node_whose_release_failed_counts_as_unreleased_until_its_row_expires() {
        let reading = |seconds| Reading {
            passed: Duration::from_secs(seconds),
            unix_ms: Ok(1_800_000_000_000),
            next: None,
            jitter: 1.0,
        };
        let acquire = Acquire {
            ttl_ms: 60_000,
            ..Acquire::any_node(Layout::TWITTER, Token::from_bits(1), 1_800_000_000_000)
        };
        let options = KeeperOptions { nodes: 1, acquire, moves: true };
        let ended = GeneratorState::Ended { used_until: 0 };
        let mut keeper = LeaseKeeper::new(options, "the store", "orders", ended, &reading(0));
        let fault = Fault::Unavailable("the connection was lost".into());
        keeper.report(&reading(10), Report::NotReleased { node: 7, fault });
        for (seconds, count) in [(10, 1), (69, 1), (70, 0)] {
            keeper.handle(&reading(seconds), Input::Close);
            assert_eq!(keeper.progress().unreleased.len(), count, "after {seconds} s");
        }
    }
}
