//! How long the command of `flakeid exec` may use its node.

use std::thread::sleep;
use std::time::Duration;

use flakeid_core::{Clock, Error, ErrorKind, SystemClock};
use flakeid_lease::LeasedGenerator;

use crate::terminal;

/// How long before the end of the lease the command is killed, in milliseconds, unless the window is short.
pub(super) const LAST_MS: u64 = 250;
/// The clock may be set meanwhile.
const LONGEST_SLEEP_MS: u64 = 1_000;

/// The node's lease, as long as the command may use it.
pub(super) struct Lease {
    generator: LeasedGenerator,
    /// How long before the end the command is asked to end, and is killed, in milliseconds.
    grace_ms: i64,
    last_ms: i64,
    /// Where the last window of the first grant ends: the command knows of no other node.
    fence_ms: i64,
}

/// What is to be done with the command.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    GoOn,
    End,
    Kill,
}

impl Lease {
    /// Waits until the node's first tick has come: another process may have used those before.
    pub(super) fn begin(generator: LeasedGenerator, grace_ms: u64) -> Self {
        let status = generator.lease();
        let (first, fence_ms) = (generator.layout().unix_ms_at(status.start), status.fence_unix_ms);
        // Renewals come when about half of the window is left, or more: none that is in time ends the command.
        let window_ms = fence_ms.saturating_sub(first);
        let grace_ms = grace_ms.cast_signed().min(window_ms / 4);
        let last_ms = LAST_MS.cast_signed().min(window_ms / 8);
        loop {
            let left = first.saturating_sub(SystemClock.unix_ms());
            if left <= 0 {
                return Self { generator, grace_ms, last_ms, fence_ms };
            }
            sleep(Duration::from_millis(left.cast_unsigned().min(LONGEST_SLEEP_MS)));
        }
    }

    pub(super) fn order(&mut self) -> Order {
        let lease = self.generator.lease();
        let is_lost = lease.grants != 1 || lease.fenced_off;
        if !is_lost {
            self.fence_ms = lease.fence_unix_ms;
        }
        let left = self.fence_ms.saturating_sub(SystemClock.unix_ms());
        if left <= self.last_ms {
            Order::Kill
        } else if is_lost || left <= self.grace_ms {
            Order::End
        } else {
            Order::GoOn
        }
    }

    /// Why the lease was lost.
    pub(super) fn error(&self) -> Error {
        let why = self.generator.lease().last_error;
        why.unwrap_or_else(|| {
            let text = "the lease of the command's node was not renewed in time";
            Error::new(ErrorKind::StoreUnavailable, text, None)
        })
    }

    /// Gives the node back above everything that the command can have used.
    pub(super) fn end(self) {
        // An ID of this tick, so that the next holder begins above it, and above those of the command. Without
        // one the node is not given back, and becomes free when its lease has expired.
        match self.generator.try_next_id() {
            Ok(_) => self.generator.close(),
            Err(error) => {
                terminal::note(&format!("flakeid: the node is not given back: {error}"));
                std::mem::forget(self.generator);
            }
        }
    }
}
