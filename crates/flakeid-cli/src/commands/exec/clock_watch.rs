//! A watch on the wall clock: detects whether it was set while the command ran.
//!
//! Two readings of the clock do not show a step forward and a step back between them, and
//! afterwards the IDs that the command generated meanwhile are ahead of the clock. So this arms a
//! timer that the kernel cancels at every step and every suspension (`TFD_TIMER_CANCEL_ON_SET`). In
//! addition, the wall clock must keep its distance to `CLOCK_BOOTTIME`, which is slewed with it and
//! never set. This reveals a step that the kernel has not yet reported to the timer.

#[cfg(target_os = "linux")]
pub(super) use linux::ClockWatch;

/// A watch that always reports a step, because other systems do not report steps of the clock.
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

    /// The largest rounding error of a distance, in nanoseconds.
    const SLACK: i64 = 10_000;
    const MS: i64 = 1_000_000;

    pub(in super::super) struct ClockWatch {
        timer: File,
        /// The range of the wall clock minus `CLOCK_BOOTTIME`, in nanoseconds.
        distance: (i64, i64),
        was_set: bool,
    }

    impl ClockWatch {
        /// Starts the watch.
        pub(in super::super) fn start() -> io::Result<Self> {
            let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
            let timer = timerfd_create(TimerfdClockId::Realtime, flags)?;
            let zero = Timespec { tv_sec: 0, tv_nsec: 0 };
            // The timer never expires, because the watch waits only for a step.
            let never = Timespec { tv_sec: i64::MAX, tv_nsec: 0 };
            let flags = TimerfdTimerFlags::ABSTIME | TimerfdTimerFlags::CANCEL_ON_SET;
            timerfd_settime(&timer, flags, &Itimerspec { it_interval: zero, it_value: never })?;
            Ok(Self { timer: timer.into(), distance: distance(), was_set: false })
        }

        /// Checks for a step. Each check also narrows the range of the distance.
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

    /// Returns a range, because time passes between two readings, and the wall clock has a
    /// resolution of 1 ms.
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
