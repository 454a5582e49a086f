//! The schedule of a keeper's requests to the store.

use std::time::Duration;

use flakeid_core::Layout;

use crate::{Holder, HolderOptions};

/// The schedule of a keeper's requests to the store.
#[derive(Clone, Debug)]
pub struct RenewalSchedule {
    window_ms: u64,
    ttl: Duration,
    /// The number of consecutive failures.
    failures: u32,
    retry_after: Option<Duration>,
    /// The time of the latest success, measured by the caller's monotonic clock. Before the first success, this field
    /// contains the time at which the schedule was created.
    succeeded: Duration,
    failed: Option<Duration>,
    /// A random factor from 0.8 to 1.2. The factor changes with every renewal, so that processes that started
    /// together do not renew at the same times.
    jitter: f64,
    hurry: bool,
}

impl RenewalSchedule {
    /// The maximum pause after a failure, before the random factor is applied.
    const LONGEST: Duration = Duration::from_secs(2);
    /// The minimum pause after a failure, even if the next attempt is urgent.
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

    /// Adapts the schedule to a grant that expires after `left_ms` or `ttl_ms` milliseconds, whichever is shorter.
    pub fn set(&mut self, window_ms: u64, left_ms: i64, ttl_ms: u64) {
        self.window_ms = window_ms;
        // A value of `left_ms` below one window is raised to one window, because a wrong clock on this host must not
        // make renewals more frequent.
        let left_ms = left_ms.max(0).cast_unsigned().max(window_ms);
        self.ttl = Duration::from_millis(left_ms.min(ttl_ms));
    }

    /// Records a successful attempt at `now`. `jitter` is a random number from 0.8 to 1.2.
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

    /// Makes the next attempt due immediately, even after a failure. Suitable only if the next attempt does not repeat
    /// the failed attempt.
    pub fn hurry(&mut self) {
        self.hurry = true;
    }

    /// Returns the number of remaining ticks below which a renewal is due: about two thirds of the window. If the
    /// latest success was more than half the TTL ago, a renewal is always due. Without this rule, setting the clock
    /// back could delay the renewal until after the row has expired.
    #[must_use]
    pub fn margin(&self, window: u64, now: Duration) -> u64 {
        if now.saturating_sub(self.succeeded) > self.ttl / 2 {
            return u64::MAX;
        }
        renewal_margin(window, self.jitter)
    }

    /// Returns the number of remaining ticks below which a holder with failing renewals requests a node from other
    /// lessors. The number is about half of the window, which is sufficient for one slow response and several further
    /// requests.
    #[must_use]
    pub fn reserve(&self, window: u64) -> u64 {
        (window as f64 / 2.0 * self.jitter).ceil() as u64
    }

    /// Returns the time until the keeper's next check is due. A caller that needs IDs may wake the keeper earlier.
    /// `reached` is the later of the clock's tick and the next ID's tick.
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
            // The pause is the longer of the back-off and the delay that the store advises, but at most `LONGEST`,
            // because a node may become free earlier.
            let wanted = self.retry_after.unwrap_or_default().max(back_off);
            let retry = wanted.min(Self::LONGEST).mul_f64(self.jitter);
            let reserve = self.reserve(window);
            let others =
                holders.filter_map(|holder| holder.until_others(options, reached, reserve));
            return others.map(duration).min().map_or(retry, |others| others.min(retry));
        }
        // The keeper wakes several times per window and per TTL, so that it detects a change of the clock before the
        // window ends or the row expires.
        let often = Duration::from_millis(self.window_ms / 3).min(self.ttl / 4);
        let holds = holders.filter_map(|holder| holder.hold.as_ref());
        let fences = holds.filter(|hold| !hold.fenced_off).map(|hold| hold.grant.fence);
        let Some(fence) = fences.min() else { return often };
        let left = fence.saturating_sub(reached);
        let idle = duration(left.saturating_sub(self.margin(window, now).saturating_sub(1)));
        idle.min(often).max(Duration::from_millis(1))
    }

    /// Returns the remaining part of the minimum pause after a failure.
    #[must_use]
    pub fn pause(&self, now: Duration) -> Duration {
        self.failed.map_or(Duration::ZERO, |failed| {
            Self::SHORTEST.saturating_sub(now.saturating_sub(failed))
        })
    }
}

/// Returns the number of remaining ticks below which a window is renewed: two thirds of the window, times `jitter`.
#[must_use]
pub fn renewal_margin(window: u64, jitter: f64) -> u64 {
    // The number is rounded up. Otherwise, a window of two ticks would be renewed only after both ticks had been used
    // up.
    ((window as f64 * 2.0 / 3.0 * jitter).ceil() as u64).clamp(1, window.max(1))
}
