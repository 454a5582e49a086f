//! When the keeper asks the store again.

use std::time::Duration;

use flakeid_core::Layout;

use crate::{Holder, HolderOptions};

/// When the keeper asks the store again.
#[derive(Clone, Debug)]
pub struct RenewalSchedule {
    window_ms: u64,
    ttl: Duration,
    /// Failures in a row.
    failures: u32,
    retry_after: Option<Duration>,
    /// When it began or succeeded last, by the caller's clock, which never goes back.
    succeeded: Duration,
    failed: Option<Duration>,
    /// Between 0.8 and 1.2, drawn anew for every renewal, so that processes that were started
    /// together do not renew together.
    jitter: f64,
    hurry: bool,
}

impl RenewalSchedule {
    /// The longest time between two attempts after failures.
    const LONGEST: Duration = Duration::from_secs(2);
    /// The shortest time between two attempts after a failure, however urgent the next one is.
    const SHORTEST: Duration = Duration::from_millis(20);

    /// Returns a schedule that begins at `now`; `jitter` is a random number from 0.8 to 1.2.
    #[must_use]
    pub fn new(window_ms: u64, ttl_ms: u64, now: Duration, jitter: f64) -> Self {
        Self {
            window_ms,
            ttl: Duration::from_millis(ttl_ms),
            failures: 0,
            retry_after: None,
            succeeded: now,
            failed: None,
            jitter,
            hurry: false,
        }
    }

    /// After a grant that expires in so many milliseconds, and at most `ttl_ms`.
    pub fn set(&mut self, window_ms: u64, left_ms: i64, ttl_ms: u64) {
        self.window_ms = window_ms;
        // By the lessor's clock; if ours is wrong, renewals are no more frequent than usual.
        let left_ms = left_ms.max(0).cast_unsigned().max(window_ms);
        self.ttl = Duration::from_millis(left_ms.min(ttl_ms));
    }

    /// Notes a successful attempt at `now`; `jitter` is as in [`new`](Self::new).
    pub fn succeeded(&mut self, now: Duration, jitter: f64) {
        self.failures = 0;
        self.retry_after = None;
        self.failed = None;
        self.succeeded = now;
        self.jitter = jitter;
    }

    /// Notes a failed attempt at `now`.
    pub fn failed(&mut self, retry_after: Option<Duration>, now: Duration) {
        self.failures = self.failures.saturating_add(1);
        self.retry_after = retry_after;
        self.failed = Some(now);
    }

    /// The next attempt is for something else and does not have to wait.
    pub fn hurry(&mut self) {
        self.hurry = true;
    }

    /// A renewal is due when fewer ticks than this are left of the window: about two thirds of it.
    /// Once half the TTL has passed without a renewal, one is due in any case: if the clock was set
    /// back, the fence is far away, but the row still expires by the store's clock.
    #[must_use]
    pub fn margin(&self, window: u64, now: Duration) -> u64 {
        if now.saturating_sub(self.succeeded) > self.ttl / 2 {
            return u64::MAX;
        }
        renewal_margin(window, self.jitter)
    }

    /// With fewer ticks than this left, a holder whose renewals fail asks other lessors: about half of
    /// the window, so that one slow answer costs no node, and there is time for several requests.
    #[must_use]
    pub fn reserve(&self, window: u64) -> u64 {
        (window as f64 / 2.0 * self.jitter).ceil() as u64
    }

    /// How long until something is due, if no caller asks, when the clock and the next ID have come to
    /// the tick `reached`.
    pub fn until_next<'a>(
        &mut self,
        layout: &Layout,
        options: &HolderOptions,
        holders: impl Iterator<Item = &'a Holder> + Clone,
        reached: u64,
        now: Duration,
    ) -> Duration {
        if std::mem::take(&mut self.hurry) {
            self.failed = None;
            return Duration::ZERO;
        }
        let window = self.window_ms.div_ceil(layout.unit_ms());
        let duration = |ticks: u64| Duration::from_millis(ticks.saturating_mul(layout.unit_ms()));
        if self.failures > 0 {
            let back_off = Self::SHORTEST.saturating_mul(1 << self.failures.min(10));
            // Waiting as long as the store said, but not so long that an early release is missed.
            let wanted = self.retry_after.unwrap_or_default().max(back_off);
            let retry = wanted.min(Self::LONGEST).mul_f64(self.jitter);
            let reserve = self.reserve(window);
            let others =
                holders.filter_map(|holder| holder.until_others(options, reached, reserve));
            return others.map(duration).min().map_or(retry, |others| others.min(retry));
        }
        // Often enough to see the clock being set.
        let often = Duration::from_millis(self.window_ms / 3).min(self.ttl / 4);
        let holds = holders.filter_map(|holder| holder.hold.as_ref());
        let fences = holds.filter(|hold| !hold.fenced_off).map(|hold| hold.grant.fence);
        let Some(fence) = fences.min() else { return often };
        let left = fence.saturating_sub(reached);
        let idle = duration(left.saturating_sub(self.margin(window, now).saturating_sub(1)));
        idle.min(often).max(Duration::from_millis(1))
    }

    /// What is left of the shortest pause after a failure.
    #[must_use]
    pub fn pause(&self, now: Duration) -> Duration {
        self.failed.map_or(Duration::ZERO, |failed| {
            Self::SHORTEST.saturating_sub(now.saturating_sub(failed))
        })
    }
}

/// Returns the number of ticks that must be left of a window for a renewal not to be due: two thirds of
/// the window, times `jitter`.
#[must_use]
pub fn renewal_margin(window: u64, jitter: f64) -> u64 {
    // Rounded up, or a window of two ticks would be renewed only once it is used up.
    ((window as f64 * 2.0 / 3.0 * jitter).ceil() as u64).clamp(1, window.max(1))
}
