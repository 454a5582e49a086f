//! The lease that `flakeid exec` holds. The lease determines how long the command may use the node.

use std::mem::ManuallyDrop;

use flakeid::Generator;
use flakeid_core::{Clock, Error, ErrorKind, SystemClock};

use super::clock_watch::ClockWatch;
use crate::terminal;

/// The default time from SIGKILL to the end of the lease, in milliseconds. If the window is shorter
/// than 2 s, the time is one eighth of the window.
pub(super) const KILL_MARGIN_MS: u64 = 250;

/// The lease on the node, and the period in which the command may use the node.
pub(super) struct Lease {
    generator: ManuallyDrop<Generator>,
    node: u64,
    /// Whether the command has started.
    is_used: bool,
    /// The clock watch, which runs while the command runs. Without a watch, flakeid must assume
    /// that the command's IDs are ahead of the clock.
    watch: Option<ClockWatch>,
    /// The time in milliseconds from SIGTERM to the end of the lease.
    grace_ms: i64,
    /// The time in milliseconds from SIGKILL to the end of the lease.
    kill_margin_ms: i64,
    /// The time at which the first tick of the grant begins, in Unix milliseconds.
    first_ms: i64,
    /// The time at which the latest window of the first grant ends, in Unix milliseconds. The
    /// command uses only the node of the first grant.
    fence_ms: i64,
    /// Whether the latest window ended while the command, or a process that it started, was
    /// running.
    is_over: bool,
}

/// The action that the supervisor must take, which depends on the state of the lease.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    Continue,
    End,
    Kill,
}

impl Lease {
    pub(super) fn new(generator: Generator, grace_ms: u64) -> Self {
        let status = flakeid::Lease::of(&generator).map(|lease| lease.status()).unwrap_or_default();
        let (first_ms, fence_ms) =
            (generator.layout().unix_ms_at(status.start), status.fence_unix_ms);
        // A renewal is due at the latest when about half of the window is left. The command is ended
        // only in the last quarter of the window. If the lease is renewed in time, the command is
        // therefore never ended.
        let window_ms = fence_ms.saturating_sub(first_ms);
        let grace_ms = grace_ms.cast_signed().min(window_ms / 4);
        let kill_margin_ms = KILL_MARGIN_MS.cast_signed().min(window_ms / 8);
        Self {
            // The generator has just been opened, so it has a node.
            node: generator.node().unwrap_or_default(),
            generator: ManuallyDrop::new(generator),
            is_used: false,
            watch: None,
            grace_ms,
            kill_margin_ms,
            first_ms,
            fence_ms,
            is_over: false,
        }
    }

    /// The node of the command, even if the generator has since lost this node and leased another
    /// one.
    pub(super) fn node(&self) -> u64 {
        self.node
    }

    /// Returns the time in milliseconds until the first tick of the grant. The command must not
    /// start before this tick, because another process may have used earlier ticks.
    pub(super) fn ms_to_first_tick(&self) -> u64 {
        self.first_ms.saturating_sub(SystemClock.unix_ms()).max(0).cast_unsigned()
    }

    /// Records that the command has started. After this call, only [`release`](Self::release)
    /// releases the node. If an error occurs, the lease is left to expire, because the command may
    /// still be running.
    pub(super) fn begin(&mut self, watch: Option<ClockWatch>) {
        self.is_used = true;
        self.watch = watch;
    }

    /// Checks the clock and the lease, and returns the action that the supervisor must take.
    pub(super) fn order(&mut self) -> Order {
        if let Some(watch) = &mut self.watch {
            watch.check();
        }
        let lease =
            flakeid::Lease::of(&self.generator).map(|lease| lease.status()).unwrap_or_default();
        let is_lost = lease.grants != 1 || lease.fenced_off;
        if !is_lost {
            self.fence_ms = lease.fence_unix_ms;
        }
        let left = self.fence_ms.saturating_sub(SystemClock.unix_ms());
        self.is_over = self.is_over || left <= 0;
        if left <= self.kill_margin_ms {
            Order::Kill
        } else if is_lost || left <= self.grace_ms {
            Order::End
        } else {
            Order::Continue
        }
    }

    /// Returns the error that ended the lease.
    pub(super) fn error(&self) -> Error {
        let why = flakeid::Lease::of(&self.generator).and_then(|lease| lease.status().last_error);
        why.unwrap_or_else(|| {
            let text = "the lease on the command's node was not renewed in time";
            Error::new(ErrorKind::StoreUnavailable, text, None)
        })
    }

    /// Releases the node, unless the lease ended while the node was in use. Call this function only
    /// after the command and all processes that it started have ended. The fence stays above every
    /// tick that these processes could have used.
    pub(super) fn release(mut self) {
        // An ID is generated in the current tick. If the clock was never set, the fence can be
        // lowered to the tick directly after the ID's tick. The ID is generated before the clock is
        // checked for the last time, so that the check covers this ID as well.
        let is_issued = self.watch.is_some() && self.generator.try_next_id().is_ok();
        self.order();
        if self.is_over {
            terminal::note(&format!(
                "flakeid: node {} is not released, because it was in use when its lease ended; it can be leased \
                 again when the lease expires",
                self.node
            ));
        } else if is_issued && self.watch.as_ref().is_some_and(|watch| !watch.was_set()) {
            self.generator.close();
        } else {
            flakeid::Lease::of(&self.generator).iter().for_each(flakeid::Lease::close_at_fence);
        }
    }
}

impl Drop for Lease {
    /// Releases the node if the command was never started.
    fn drop(&mut self) {
        if !self.is_used {
            self.generator.close();
        }
    }
}
