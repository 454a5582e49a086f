//! How long the command of `flakeid exec` may use its node.

use std::mem::ManuallyDrop;

use flakeid::LeasedGenerator;
use flakeid_core::{Clock, Error, ErrorKind, SystemClock};

use super::clock_watch::ClockWatch;
use crate::terminal;

/// How long before the end of the lease the command is killed, in milliseconds, unless the window is short.
pub(super) const LAST_MS: u64 = 250;

/// The node's lease, as long as the command may use it.
pub(super) struct Lease {
    generator: ManuallyDrop<LeasedGenerator>,
    node: u64,
    /// Whether the command has begun.
    is_used: bool,
    /// What has watched the clock since then. Without it the command's IDs may be ahead of the clock.
    watch: Option<ClockWatch>,
    /// How long before the end the command is asked to end, and is killed, in milliseconds.
    grace_ms: i64,
    last_ms: i64,
    /// When the first tick of the grant begins.
    first_ms: i64,
    /// Where the last window of the first grant ends: the command knows of no other node.
    fence_ms: i64,
    /// Whether that end was reached while the command, or a process that it has started, was running.
    is_over: bool,
}

/// What is to be done with the command.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    Continue,
    End,
    Kill,
}

impl Lease {
    pub(super) fn new(generator: LeasedGenerator, grace_ms: u64) -> Self {
        let status = generator.lease();
        let (first_ms, fence_ms) =
            (generator.layout().unix_ms_at(status.start), status.fence_unix_ms);
        // Renewals come when about half of the window is left, or more: none that is in time ends the command.
        let window_ms = fence_ms.saturating_sub(first_ms);
        let grace_ms = grace_ms.cast_signed().min(window_ms / 4);
        let last_ms = LAST_MS.cast_signed().min(window_ms / 8);
        Self {
            node: generator.node(),
            generator: ManuallyDrop::new(generator),
            is_used: false,
            watch: None,
            grace_ms,
            last_ms,
            first_ms,
            fence_ms,
            is_over: false,
        }
    }

    /// The command's node. The generator may take another one when this one is lost.
    pub(super) fn node(&self) -> u64 {
        self.node
    }

    /// Returns the time until the first tick of the grant: another process may have used those before.
    pub(super) fn ms_to_first_tick(&self) -> u64 {
        self.first_ms.saturating_sub(SystemClock.unix_ms()).max(0).cast_unsigned()
    }

    /// Notes that the command has begun. From here on only [`release`](Self::release) releases the node:
    /// after an error, when the command may still be running, the lease expires instead.
    pub(super) fn begin(&mut self, watch: Option<ClockWatch>) {
        self.is_used = true;
        self.watch = watch;
    }

    /// Looks at the clock and the lease, and returns what they mean for the command.
    pub(super) fn order(&mut self) -> Order {
        if let Some(watch) = &mut self.watch {
            watch.look();
        }
        let lease = self.generator.lease();
        let is_lost = lease.grants != 1 || lease.fenced_off;
        if !is_lost {
            self.fence_ms = lease.fence_unix_ms;
        }
        let left = self.fence_ms.saturating_sub(SystemClock.unix_ms());
        self.is_over = self.is_over || left <= 0;
        if left <= self.last_ms {
            Order::Kill
        } else if is_lost || left <= self.grace_ms {
            Order::End
        } else {
            Order::Continue
        }
    }

    /// Returns why the lease was lost.
    pub(super) fn error(&self) -> Error {
        let why = self.generator.lease().last_error;
        why.unwrap_or_else(|| {
            let text = "the lease of the command's node was not renewed in time";
            Error::new(ErrorKind::StoreUnavailable, text, None)
        })
    }

    /// Releases the node once the command and all that it has started have ended, above everything that
    /// they can have used.
    pub(super) fn release(mut self) {
        // An ID of the present tick, above which the fence falls if the clock was never set. It is taken
        // before the last look at the clock, so that no step comes between the two.
        let is_issued = self.watch.is_some() && self.generator.try_next_id().is_ok();
        self.order();
        if self.is_over {
            terminal::note(&format!(
                "flakeid: node {} is not released, because it was in use when its lease ended; it becomes \
                 free when the lease expires",
                self.node
            ));
        } else if is_issued && self.watch.as_ref().is_some_and(|watch| !watch.was_set()) {
            self.generator.close();
        } else {
            self.generator.close_at_fence();
        }
    }
}

impl Drop for Lease {
    /// Releases a node that was never used.
    fn drop(&mut self) {
        if !self.is_used {
            self.generator.close();
        }
    }
}
