//! The schedule of the keeper's requests to the store.

use std::time::Duration;

use flakeid_core::Layout;

use crate::{Holder, HolderOptions};

/// The schedule of the keeper's requests to the store.
#[derive(Clone, Debug)]
pub struct RenewalSchedule {
    window_ms: u64,
    ttl: Duration,
    /// The number of consecutive failures.
    failures: u32,
    retry_after: Option<Duration>,
    /// The time of the start or of the latest success, by the caller's clock, which never goes backwards.
    succeeded: Duration,
    failed: Option<Duration>,
    /// A random factor from 0.8 to 1.2, new for every renewal, so that processes that started together do not renew
    /// together.
    jitter: f64,
    hurry: bool,
}

impl RenewalSchedule {
    /// The maximum time between two attempts after failures.
    const LONGEST: Duration = Duration::from_secs(2);
    /// The minimum time between two attempts after a failure, however urgent the next one is.
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

    /// Sets the schedule after a grant that expires in `left_ms` milliseconds, and at most in `ttl_ms`.
    pub fn set(&mut self, window_ms: u64, left_ms: i64, ttl_ms: u64) {
        self.window_ms = window_ms;
        // The expiry follows the lessor's clock. If this host's clock is wrong, renewals must not become more
        // frequent.
        let left_ms = left_ms.max(0).cast_unsigned().max(window_ms);
        self.ttl = Duration::from_millis(left_ms.min(ttl_ms));
    }

    /// Records a successful attempt at `now`; `jitter` is as in [`new`](Self::new).
    pub fn succeeded(&mut self, now: Duration, jitter: f64) {
        self.failures = 0;
        self.retry_after = None;
        self.failed = None;
        self.succeeded = now;
        self.jitter = jitter;
    }

    /// Records a failed attempt at `now`.
    pub fn failed(&mut self, retry_after: Option<Duration>, now: Duration) {
        self.failures = self.failures.saturating_add(1);
        self.retry_after = retry_after;
        self.failed = Some(now);
    }

    /// Ends the pause, because the next attempt is for another purpose and need not wait.
    pub fn hurry(&mut self) {
        self.hurry = true;
    }

    /// Returns the number of remaining ticks below which a renewal is due: about two thirds of the window. Once half
    /// the TTL has passed without a renewal, one is due in any case, because the fence is far away after the clock
    /// was set back, but the row still expires by the store's clock.
    #[must_use]
    pub fn margin(&self, window: u64, now: Duration) -> u64 {
        if now.saturating_sub(self.succeeded) > self.ttl / 2 {
            return u64::MAX;
        }
        renewal_margin(window, self.jitter)
    }

    /// Returns the number of remaining ticks below which a holder whose renewals fail asks other lessors: about half
    /// of the window, so that one slow response costs no node and several requests are possible.
    #[must_use]
    pub fn reserve(&self, window: u64) -> u64 {
        (window as f64 / 2.0 * self.jitter).ceil() as u64
    }

    /// Returns the time until the next request is due, without any caller, when the clock and the next ID have
    /// reached the tick `reached`.
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
            // The pause follows the store's advice, but is short enough to use an early release.
            let wanted = self.retry_after.unwrap_or_default().max(back_off);
            let retry = wanted.min(Self::LONGEST).mul_f64(self.jitter);
            let reserve = self.reserve(window);
            let others =
                holders.filter_map(|holder| holder.until_others(options, reached, reserve));
            return others.map(duration).min().map_or(retry, |others| others.min(retry));
        }
        // Often enough to detect a step of the clock.
        let often = Duration::from_millis(self.window_ms / 3).min(self.ttl / 4);
        let holds = holders.filter_map(|holder| holder.hold.as_ref());
        let fences = holds.filter(|hold| !hold.fenced_off).map(|hold| hold.grant.fence);
        let Some(fence) = fences.min() else { return often };
        let left = fence.saturating_sub(reached);
        let idle = duration(left.saturating_sub(self.margin(window, now).saturating_sub(1)));
        idle.min(often).max(Duration::from_millis(1))
    }

    /// Returns the rest of the minimum pause after a failure.
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
    // Rounded up, because otherwise a window of two ticks would be renewed only once it is used up.
    ((window as f64 * 2.0 / 3.0 * jitter).ceil() as u64).clamp(1, window.max(1))
}
