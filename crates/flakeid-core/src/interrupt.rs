//! Waits that the program can interrupt, for example with Ctrl-C. A binding sets a function for its thread, and every
//! wait on this thread calls the function regularly.

use core::time::Duration;

#[cfg(feature = "std")]
pub(crate) use threads::is_due;
#[cfg(feature = "std")]
pub use threads::{begin_wait, interruptible, is_interrupted, set_interrupt, shorten};

#[cfg(feature = "std")]
mod threads {
    use std::cell::Cell;
    use std::time::Instant;

    use super::Duration;

    /// The longest time for which a call waits before it checks whether it was interrupted.
    const INTERVAL: Duration = Duration::from_millis(100);

    /// The time between two waits after which the second one begins a new interval.
    const PAUSE: Duration = Duration::from_secs(1);

    /// A function that reports whether the program interrupts the calls of this thread.
    type Check = fn() -> bool;

    thread_local! {
        /// The function, and the time at which a wait calls it next.
        static CURRENT: Cell<Option<(Check, Option<Instant>)>> = const { Cell::new(None) };
    }

    /// Returns nothing in a thread that is exiting, because its thread-local values no longer exist.
    fn current() -> Option<(Check, Option<Instant>)> {
        CURRENT.try_with(Cell::get).ok().flatten()
    }

    fn replace(check: Option<Check>, due: Option<Instant>) -> Option<Check> {
        let next = check.map(|check| (check, due));
        CURRENT.try_with(|current| current.replace(next)).ok().flatten().map(|(check, _)| check)
    }

    /// Sets the function that waits on this thread call at least every 100 ms, and returns the previous function. If
    /// the function returns true, the wait ends as if its longest time had passed. The function may use any generator.
    #[expect(
        clippy::must_use_candidate,
        reason = "only a call within another one restores the previous function"
    )]
    pub fn set_interrupt(check: Option<Check>) -> Option<Check> {
        replace(check, None)
    }

    /// Runs `call`, in which waits call `check` as [`set_interrupt`] describes.
    pub fn interruptible<T>(check: Check, call: impl FnOnce() -> T) -> T {
        struct Previous(Option<Check>);
        impl Drop for Previous {
            fn drop(&mut self) {
                set_interrupt(self.0);
            }
        }
        let _previous = Previous(set_interrupt(Some(check)));
        call()
    }

    /// Begins a wait. Waits that follow each other without a pause share their intervals, so that the waits of a long
    /// fill can be interrupted although each of them is short.
    pub fn begin_wait() {
        if let Some((check, due)) = current() {
            let now = Instant::now();
            if due.is_none_or(|due| now > due + PAUSE) {
                replace(Some(check), Some(now + INTERVAL));
            }
        }
    }

    /// Whether the next call of [`is_interrupted`] calls the program's function. A wait that holds a lock must then
    /// unlock it.
    pub(crate) fn is_due() -> bool {
        current().is_some_and(|(_, due)| due.is_some_and(|due| Instant::now() >= due))
    }

    /// Whether the program interrupts the wait of this thread.
    #[must_use]
    pub fn is_interrupted() -> bool {
        let Some((check, due)) = current().filter(|_| is_due()) else { return false };
        // The function may wait itself, and must not call itself then.
        set_interrupt(None);
        let interrupts = check();
        replace(Some(check), if interrupts { due } else { Some(Instant::now() + INTERVAL) });
        interrupts
    }

    /// Limits the time for which a call waits before it calls [`is_interrupted`] again.
    #[must_use]
    pub fn shorten(wait: Duration) -> Duration {
        if current().is_some() { wait.min(INTERVAL) } else { wait }
    }
}

// Without threads, no function can be set.

#[cfg(not(feature = "std"))]
pub(crate) const fn begin_wait() {}

#[cfg(not(feature = "std"))]
pub(crate) const fn is_interrupted() -> bool {
    false
}

#[cfg(not(feature = "std"))]
pub(crate) const fn shorten(wait: Duration) -> Duration {
    wait
}

#[cfg(all(test, feature = "std", not(loom)))]
#[path = "interrupt_tests.rs"]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests;
