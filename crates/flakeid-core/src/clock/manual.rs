use alloc::sync::Arc;
use core::fmt;
use core::time::Duration;

use super::Clock;
use crate::calendar::whole_ms;
use crate::sync::{AtomicI64, Ordering};

/// A clock that stands still until it is set, for tests of code that generates IDs.
///
/// Clones are handles to the same clock: keep one handle, and pass the other handle to the generator. Waiting moves the
/// clock forward instead of sleeping, so tests do not wait and never hang. A new generator may issue IDs in the tick of
/// its creation, because no earlier process could have used this clock.
///
/// ```
/// use flakeid_core::{Generator, Layout, ManualClock};
///
/// let clock = ManualClock::new(1_505_914_988_849);
/// let generator = Generator::builder(Layout::TWITTER).node(569).clock(clock.clone()).build()?;
/// assert_eq!(generator.next_id()?.to_u64(), 910499571847892992);
/// clock.advance(std::time::Duration::from_millis(1));
/// assert_eq!(generator.next_id()?.to_u64(), 910499571852087296);
/// # Ok::<(), flakeid_core::Error>(())
/// ```
#[derive(Clone)]
pub struct ManualClock(Arc<AtomicI64>);

impl ManualClock {
    /// Creates a clock that is set to `unix_ms` milliseconds since the Unix epoch.
    #[must_use]
    pub fn new(unix_ms: i64) -> Self {
        Self(Arc::new(AtomicI64::new(unix_ms)))
    }

    /// Sets the clock to `unix_ms`, which may be later or earlier than the current reading.
    pub fn set(&self, unix_ms: i64) {
        self.0.store(unix_ms, Ordering::SeqCst);
    }

    /// Moves the clock forward by `duration`, rounded up to whole milliseconds.
    pub fn advance(&self, duration: Duration) {
        let step = step_of(duration);
        let mut now = self.unix_ms();
        while let Err(newer) = self.0.compare_exchange(
            now,
            now.saturating_add(step),
            Ordering::SeqCst,
            Ordering::SeqCst,
        ) {
            now = newer;
        }
    }
}

fn step_of(duration: Duration) -> i64 {
    i64::try_from(whole_ms(duration)).unwrap_or(i64::MAX)
}

impl Clock for ManualClock {
    fn unix_ms(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }

    /// Moves the clock forward to `unix_ms`, but by no more than `at_most`. The step is rounded up to whole
    /// milliseconds.
    fn wait_until(&self, unix_ms: i64, at_most: Duration) -> Option<Duration> {
        let now = self.unix_ms();
        let needed = Duration::from_millis(unix_ms.saturating_sub(now).max(0).cast_unsigned());
        let waited = needed.min(at_most);
        // Another thread may have advanced the clock in the meantime, and a wait must never move the clock backwards.
        self.0.fetch_max(now.saturating_add(step_of(waited)), Ordering::SeqCst);
        Some(waited)
    }
}

impl fmt::Debug for ManualClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ManualClock({})", self.unix_ms())
    }
}
