//! A watch that detects whether the wall clock was set while the command ran.
//!
//! Two readings of the clock cannot reveal that the clock was set forward and then back between the
//! readings. In that case, IDs that the command generated in between are ahead of the clock. The
//! watch therefore arms a timer that the kernel cancels whenever the clock is set or the system is
//! suspended (`TFD_TIMER_CANCEL_ON_SET`).
//!
//! In addition, the watch checks that the difference between the wall clock and `CLOCK_BOOTTIME`
//! stays the same. `CLOCK_BOOTTIME` is slewed together with the wall clock but is never set. A
//! change in the difference therefore reveals a clock step that the kernel has not yet reported
//! through the timer.

#[cfg(target_os = "linux")]
pub(super) use linux::ClockWatch;

/// A watch for systems other than Linux. These systems do not report clock steps, so the watch always
/// reports that the clock was set.
#[cfg(not(target_os = "linux"))]
pub(super) struct ClockWatch;

#[cfg(not(target_os = "linux"))]
#[allow(clippy::unused_self, clippy::unnecessary_wraps, reason = "as on Linux")]
impl ClockWatch {
    pub(super) fn start() -> std::io::Result<Self> {
        Ok(Self)
    }

    pub(super) fn check(&mut self) {}

    pub(super) fn was_set(&self) -> bool {
        true
    }
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs::File;
    use std::io::{self, ErrorKind, Read};

    use flakeid_core::{Clock, SystemClock};
    use rustix::time::{
        ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec,
        clock_gettime, timerfd_create, timerfd_settime,
    };

    /// The tolerance for rounding errors in the difference between two clocks, in nanoseconds.
    const SLACK: i64 = 10_000;
    const MS: i64 = 1_000_000;

    pub(in super::super) struct ClockWatch {
        timer: File,
        /// The lowest and the highest possible value of the wall clock minus `CLOCK_BOOTTIME`, in
        /// nanoseconds.
        distance: (i64, i64),
        was_set: bool,
    }

    impl ClockWatch {
        /// Starts the watch.
        pub(in super::super) fn start() -> io::Result<Self> {
            let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
            let timer = timerfd_create(TimerfdClockId::Realtime, flags)?;
            let zero = Timespec { tv_sec: 0, tv_nsec: 0 };
            // The timer is set to a time that never arrives, because the timer only has to detect
            // clock steps.
            let never = Timespec { tv_sec: i64::MAX, tv_nsec: 0 };
            let flags = TimerfdTimerFlags::ABSTIME | TimerfdTimerFlags::CANCEL_ON_SET;
            timerfd_settime(&timer, flags, &Itimerspec { it_interval: zero, it_value: never })?;
            Ok(Self { timer: timer.into(), distance: distance(), was_set: false })
        }

        /// Checks whether the clock was set. Each check also narrows the range of possible
        /// differences between the wall clock and `CLOCK_BOOTTIME`.
        pub(in super::super) fn check(&mut self) {
            let read = self.timer.read(&mut [0; 8]);
            let is_cancelled = !read.is_err_and(|error| error.kind() == ErrorKind::WouldBlock);
            let (low, high) = distance();
            self.distance = (self.distance.0.max(low), self.distance.1.min(high));
            let has_moved = self.distance.0 > self.distance.1 + SLACK;
            self.was_set = self.was_set || is_cancelled || has_moved;
        }

        pub(in super::super) fn was_set(&self) -> bool {
            self.was_set
        }
    }

    /// Returns the range of possible values for the wall clock minus `CLOCK_BOOTTIME`, in
    /// nanoseconds. The exact value is unknown, because time passes between the readings of the two
    /// clocks, and the wall clock has a resolution of 1 ms.
    fn distance() -> (i64, i64) {
        let before = since_boot();
        let wall = SystemClock.unix_ms() * MS;
        (wall - since_boot(), wall + MS - before)
    }

    fn since_boot() -> i64 {
        let Timespec { tv_sec, tv_nsec } = clock_gettime(ClockId::Boottime);
        tv_sec * 1_000_000_000 + tv_nsec
    }
}
