//! The floor F: the minimum work of a strict shared generator.

use std::hint::black_box;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

use crate::clock;

/// One clock read, then one compare-and-swap loop on a counter that threads share. It occupies a cache line of its
/// own, like the generators, so that two threads contend for nothing else.
#[repr(align(128))]
pub(crate) struct Floor(AtomicU64);

impl Floor {
    pub(crate) const fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// Reads the clock and increments the counter. It is a bound and not a generator, because the counter only counts.
    ///
    /// The time is complete before the swap begins, as in any generator, whose swap depends on it. Otherwise the compiler
    /// would move the conversion to milliseconds after the swap, where it overlaps with the next call.
    #[inline]
    pub(crate) fn count(&self) -> u64 {
        black_box(clock::unix_ms());
        self.advance(|counter| counter + 1)
    }

    /// Reads the processor's counter instead of a clock and increments the counter. On a processor whose counter is not
    /// read, only the increment remains.
    #[inline]
    pub(crate) fn count_by_counter(&self) -> u64 {
        black_box(clock::counter());
        self.advance(|counter| counter + 1)
    }

    /// The cheapest generator: a counter that never falls behind the clock.
    #[inline]
    pub(crate) fn position(&self) -> u64 {
        let start = clock::unix_ms() << 22;
        self.advance(|counter| counter.max(start) + 1)
    }

    #[inline]
    fn advance(&self, next: impl Fn(u64) -> u64) -> u64 {
        let mut current = self.0.load(Ordering::Relaxed);
        loop {
            let next = next(current);
            match self.0.compare_exchange_weak(current, next, Ordering::Relaxed, Ordering::Relaxed)
            {
                Ok(_) => return next,
                Err(actual) => current = actual,
            }
        }
    }
}

/// F at a maximum rate: a fixed number of calls per millisecond, then a sleep until the next one begins. The length
/// of its waits depends only on the machine.
pub(crate) struct Capped {
    floor: Floor,
    cap: u32,
    unix_ms: u64,
    left: u32,
}

impl Capped {
    pub(crate) const fn new(cap: u32) -> Self {
        Self { floor: Floor::new(), cap, unix_ms: 0, left: 0 }
    }

    #[inline]
    pub(crate) fn count(&mut self) -> u64 {
        if self.left == 0 {
            self.begin();
        }
        self.left -= 1;
        self.floor.count()
    }

    #[cold]
    fn begin(&mut self) {
        let next = Duration::from_millis(self.unix_ms + 1);
        loop {
            // A clock before 1970 reads as 0.
            let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
            if now >= next {
                self.unix_ms = now.as_millis() as u64;
                self.left = self.cap;
                return;
            }
            thread::sleep(next.saturating_sub(now));
        }
    }
}
