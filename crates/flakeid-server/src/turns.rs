//! When a long answer goes on: at once, or in turns of a millisecond while others ask for little.
//!
//! An answer of very many IDs would otherwise keep a processor busy for as long as its client can take
//! it, and everybody else would wait for the operating system to divide the rest.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// For how long after a short answer its client, or another one, is expected to ask again.
const EXPECTED_FOR: Duration = Duration::from_millis(100);

/// How far apart two turns are on two processors. One piece has 4,096 IDs, so this is as much as
/// Twitter's layout has, and between a tenth and a third of one processor's time.
const INTERVAL: Duration = Duration::from_millis(1);

/// The turns of all long answers of a server.
#[derive(Debug)]
pub(crate) struct Turns {
    origin: Instant,
    interval_us: u64,
    /// When the latest short answer was given; in microseconds after the origin, plus one. 0 before the
    /// first.
    short_at: AtomicU64,
    /// From when on there is a turn that is nobody's, in microseconds after the origin.
    free: AtomicU64,
}

impl Turns {
    /// Turns that leave at least half of this machine's processors to others.
    pub(crate) fn new() -> Self {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        Self::of((processors as u64 / 2).max(1))
    }

    /// With so many turns at the same time.
    fn of(turns: u64) -> Self {
        Self {
            origin: Instant::now(),
            interval_us: micros(INTERVAL) / turns.min(micros(INTERVAL)),
            short_at: AtomicU64::new(0),
            free: AtomicU64::new(0),
        }
    }

    /// Somebody was given a short answer.
    pub(crate) fn note_short(&self, now: Instant) {
        self.short_at.store(self.since_origin(now).saturating_add(1), Ordering::Relaxed);
    }

    /// When the next piece of a long answer has its turn; `None` if that is now. A turn that is given
    /// is nobody else's.
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
impl Turns {
    /// Beside others who have just been answered, on two processors.
    pub(crate) fn with_others() -> Self {
        let turns = Self::of(1);
        turns.note_short(Instant::now());
        turns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_responses_do_not_wait_without_short_requests() {
        let turns = Turns::of(1);
        let began = turns.origin;
        assert_eq!(turns.next(began), None);
        turns.note_short(began);
        assert_eq!(turns.next(began), None, "the first turn is now");
        assert!(turns.next(began).is_some());
        let later = began + EXPECTED_FOR + Duration::from_millis(1);
        assert_eq!(turns.next(later), None);
        assert_eq!(turns.next(later), None, "and for as many as ask");
    }

    #[test]
    fn turns_are_distinct_and_a_millisecond_apart() {
        let turns = Turns::of(1);
        let now = turns.origin + Duration::from_millis(5);
        turns.note_short(now);
        let after = |ms| Some(now + Duration::from_millis(ms));
        let given: Vec<_> = (0..4).map(|_| turns.next(now)).collect();
        assert_eq!(given, [None, after(1), after(2), after(3)]);
        // Whoever comes late has a turn at once, and the next one is a millisecond after that.
        let late = now + Duration::from_millis(50);
        assert_eq!(turns.next(late), None);
        assert_eq!(turns.next(late), Some(late + Duration::from_millis(1)));
    }

    #[test]
    fn turns_are_more_frequent_on_more_processors() {
        let turns = Turns::of(4);
        let now = turns.origin + Duration::from_millis(5);
        turns.note_short(now);
        let given: Vec<_> = (0..9).filter_map(|_| turns.next(now)).collect();
        assert_eq!(given.len(), 8);
        assert_eq!(given.last(), Some(&(now + Duration::from_millis(2))));
    }
}
