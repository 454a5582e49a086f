//! Schedules the pieces of long responses, so that long responses do not delay short requests. The
//! schedule assigns a time, called a turn, to each piece. While clients also send short requests,
//! each piece waits for its turn. While no client sends short requests, pieces are sent without
//! delay.
//!
//! Without turns, a long response would keep a processor busy for as long as the client reads the
//! response. The operating system would then decide when other requests get processor time.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The time after a short response during which the server expects another short request.
const EXPECTED_FOR: Duration = Duration::from_millis(100);

/// The time between two turns on a machine with at most three processors. A piece contains 4,096
/// IDs, so one piece per millisecond is the maximum rate of one node in Twitter's layout. Sending
/// at this rate uses between a tenth and a third of one processor's time.
const INTERVAL: Duration = Duration::from_millis(1);

/// The schedule for all of a server's long responses.
#[derive(Debug)]
pub(crate) struct Pacing {
    origin: Instant,
    interval_us: u64,
    /// The time of the latest short response, as the number of microseconds after `origin`, plus
    /// one. The value is 0 before the first short response.
    short_at: AtomicU64,
    /// The time of the next free turn, in microseconds after `origin`.
    free: AtomicU64,
}

impl Pacing {
    /// Creates a schedule that leaves at least half of this machine's processors free for other
    /// requests.
    pub(crate) fn new() -> Self {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        Self::of((processors as u64 / 2).max(1))
    }

    /// Creates a schedule with the given number of turns per `INTERVAL`.
    fn of(turns: u64) -> Self {
        Self {
            origin: Instant::now(),
            interval_us: micros(INTERVAL) / turns.min(micros(INTERVAL)),
            short_at: AtomicU64::new(0),
            free: AtomicU64::new(0),
        }
    }

    /// Records a short response.
    pub(crate) fn record_short(&self, now: Instant) {
        self.short_at.store(self.since_origin(now).saturating_add(1), Ordering::Relaxed);
    }

    /// Reserves a turn for the next piece of a long response. Returns the time of the turn, or
    /// `None` if the piece can be sent now.
    pub(crate) fn next(&self, now: Instant) -> Option<Instant> {
        let now_us = self.since_origin(now);
        let short_at = self.short_at.load(Ordering::Relaxed);
        if short_at == 0 || now_us.saturating_sub(short_at) >= micros(EXPECTED_FOR) {
            return None;
        }
        let free_after = |free: u64| free.max(now_us).saturating_add(self.interval_us);
        let relaxed = Ordering::Relaxed;
        let free = self.free.fetch_update(relaxed, relaxed, |free| Some(free_after(free)));
        let turn = free.unwrap_or_else(|free| free).max(now_us);
        (turn > now_us).then(|| self.origin + Duration::from_micros(turn))
    }

    fn since_origin(&self, now: Instant) -> u64 {
        micros(now.saturating_duration_since(self.origin))
    }
}

fn micros(of: Duration) -> u64 {
    u64::try_from(of.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
impl Pacing {
    /// Creates a schedule for two processors, and records a short response, so that long responses
    /// must wait for their turns.
    pub(crate) fn with_others() -> Self {
        let pacing = Self::of(1);
        pacing.record_short(Instant::now());
        pacing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_responses_are_delayed_only_after_recent_short_requests() {
        let pacing = Pacing::of(1);
        let began = pacing.origin;
        assert_eq!(pacing.next(began), None);
        pacing.record_short(began);
        assert_eq!(pacing.next(began), None, "the first turn must be now");
        assert!(pacing.next(began).is_some());
        let later = began + EXPECTED_FOR + Duration::from_millis(1);
        assert_eq!(pacing.next(later), None);
        assert_eq!(pacing.next(later), None, "every piece must have a turn at once");
    }

    #[test]
    fn turns_of_long_responses_are_one_millisecond_apart() {
        let pacing = Pacing::of(1);
        let now = pacing.origin + Duration::from_millis(5);
        pacing.record_short(now);
        let after = |ms| Some(now + Duration::from_millis(ms));
        let given: Vec<_> = (0..4).map(|_| pacing.next(now)).collect();
        assert_eq!(given, [None, after(1), after(2), after(3)]);
        // A piece that becomes ready long after the last turn is sent immediately. The next turn is
        // 1 ms later.
        let late = now + Duration::from_millis(50);
        assert_eq!(pacing.next(late), None);
        assert_eq!(pacing.next(late), Some(late + Duration::from_millis(1)));
    }

    #[test]
    fn long_responses_get_more_turns_on_machines_with_more_processors() {
        let pacing = Pacing::of(4);
        let now = pacing.origin + Duration::from_millis(5);
        pacing.record_short(now);
        let given: Vec<_> = (0..9).filter_map(|_| pacing.next(now)).collect();
        assert_eq!(given.len(), 8);
        assert_eq!(given.last(), Some(&(now + Duration::from_millis(2))));
    }
}
