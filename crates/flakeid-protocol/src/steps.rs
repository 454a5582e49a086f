//! The check for a host's clock that was set forward. A store without a server has no clock of its own, so it would
//! follow the host's clock and write fences and expiries of a wrong time.
//!
//! The check compares the wall clock with a clock that counts from the host's boot and is never set. A step forward is
//! a correction only if it lasts. Until then, the store refuses every change, so a step that is undone changes nothing.

use crate::{Bounds, Refusal};

/// A reading of both clocks of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostTime {
    /// The wall clock, in Unix milliseconds.
    pub unix_ms: i64,
    /// The time since the host's boot in milliseconds, including the time for which the host was suspended.
    pub boot_ms: i64,
    /// A number that identifies the boot.
    pub boot: u64,
}

/// The latest time that a store accepted, and the step that it has not accepted yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AcceptedTime {
    /// The accepted reading.
    pub time: HostTime,
    /// The first reading after the present step; `None` without a step. A later reading that does not agree with this
    /// one belongs to another step.
    pub stepped: Option<HostTime>,
}

/// The longest time for which a step is refused, in milliseconds. Namespaces may have far longer windows, but a clock
/// that stays wrong for a minute is not corrected by itself.
const LONGEST_REFUSAL_MS: i64 = 60_000;

/// The longest distance of two comparable readings, in milliseconds, unless the longest window is longer. Holders use a
/// store at least once in each window.
const LONGEST_PAUSE_MS: i64 = 600_000;

impl HostTime {
    /// Returns the milliseconds by which the wall clock was set forward since an earlier reading; negative if it was
    /// set back. Returns `None` if the readings are not comparable, because their distance exceeds `longest_pause_ms` or
    /// they count from different boots.
    fn step_since(self, earlier: Self, longest_pause_ms: i64) -> Option<i64> {
        let passed = self.boot_ms.saturating_sub(earlier.boot_ms);
        // Processes read their clocks before they lock the store, so readings may arrive in another order. Containers
        // may count from different boots.
        let is_comparable =
            self.boot == earlier.boot && passed.saturating_abs() <= longest_pause_ms;
        let step = self.unix_ms.saturating_sub(earlier.unix_ms).saturating_sub(passed);
        is_comparable.then_some(step)
    }
}

impl AcceptedTime {
    /// Accepts the first reading.
    #[must_use]
    pub const fn new(time: HostTime) -> Self {
        Self { time, stepped: None }
    }

    /// Accepts a reading, or returns the refusal of every change. In both cases, also returns the value to keep. The
    /// clock may be ahead of the accepted one by `max_skew`. A step must last for `max_window`, but not longer than the
    /// step itself.
    #[must_use]
    pub fn judge(self, now: HostTime, bounds: &Bounds) -> (Self, Option<Refusal>) {
        let ms = |bound: u64| i64::try_from(bound).unwrap_or(i64::MAX);
        let max_skew_ms = ms(bounds.max_skew_ms);
        let step_since =
            |earlier| now.step_since(earlier, ms(bounds.max_window_ms).max(LONGEST_PAUSE_MS));
        let Some(by_ms) = step_since(self.time).filter(|by_ms| *by_ms > max_skew_ms) else {
            return (Self::new(now), None);
        };
        let is_same_step = |stepped: &HostTime| {
            step_since(*stepped).is_some_and(|further| further.saturating_abs() <= max_skew_ms)
        };
        let stepped = self.stepped.filter(is_same_step).unwrap_or(now);
        let lasts_ms = now.boot_ms.saturating_sub(stepped.boot_ms);
        // A store that follows a step of 5 s is wrong for 5 s if the step is undone, so a longer refusal gains nothing.
        let longest_ms = ms(bounds.max_window_ms).min(LONGEST_REFUSAL_MS).min(by_ms);
        let left_ms = longest_ms.saturating_sub(lasts_ms);
        if left_ms <= 0 {
            return (Self::new(now), None);
        }
        let refusal = Refusal::ClockStep { by_ms, retry_after_ms: left_ms.cast_unsigned() };
        (Self { stepped: Some(stepped), ..self }, Some(refusal))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::{AcceptedTime, HostTime};
    use crate::{Bounds, Refusal};
    use flakeid_core::Layout;

    const START: HostTime = HostTime { unix_ms: 1_800_000_000_000, boot_ms: 5_000_000, boot: 7 };
    const HOURS_8: i64 = 8 * 3_600_000;

    fn at(boot_ms: i64, step_ms: i64) -> HostTime {
        let time = START;
        HostTime {
            unix_ms: time.unix_ms + boot_ms + step_ms,
            boot_ms: time.boot_ms + boot_ms,
            ..time
        }
    }

    /// Passes readings to the check, and returns whether each one was accepted.
    fn accepted(readings: &[HostTime]) -> Vec<bool> {
        let bounds = Bounds::of(&Layout::TWITTER);
        let mut kept = AcceptedTime::new(START);
        let judged = readings.iter().map(|now| {
            let (next, refusal) = kept.judge(*now, &bounds);
            kept = next;
            refusal.is_none()
        });
        judged.collect()
    }

    #[test]
    fn step_forward_is_refused_until_it_has_lasted_for_a_window() {
        let jump = [at(1_000, HOURS_8), at(3_999, HOURS_8), at(4_000, 0), at(5_000, 0)];
        assert_eq!(accepted(&jump), [false, false, true, true]);
        let correction = [at(1_000, HOURS_8), at(10_999, HOURS_8), at(11_000, HOURS_8)];
        assert_eq!(accepted(&correction), [false, false, true]);
        // A step that was undone does not make the next one older.
        let twice = [at(1_000, HOURS_8), at(4_000, 0), at(20_000, HOURS_8), at(29_000, HOURS_8)];
        assert_eq!(accepted(&twice), [false, true, false, false]);
        let another = [at(1_000, HOURS_8), at(10_000, HOURS_8 / 2), at(19_000, HOURS_8 / 2)];
        assert_eq!(accepted(&another), [false; 3]);
    }

    #[test]
    fn refusal_states_the_step_and_the_time_to_wait() {
        let bounds = Bounds::of(&Layout::TWITTER);
        let (kept, _) = AcceptedTime::new(START).judge(at(1_000, HOURS_8), &bounds);
        let (_, refusal) = kept.judge(at(4_000, HOURS_8), &bounds);
        let expected = Refusal::ClockStep { by_ms: HOURS_8, retry_after_ms: 7_000 };
        assert_eq!(refusal, Some(expected));
        let (hour, minute) = (Bounds { max_window_ms: 3_600_000, ..bounds }, 60_000);
        // A window of an hour is renewed after twenty minutes.
        for reading in [at(0, HOURS_8), at(20 * 60_000, HOURS_8)] {
            let (_, refusal) = AcceptedTime::new(START).judge(reading, &hour);
            let expected = Refusal::ClockStep { by_ms: HOURS_8, retry_after_ms: minute };
            assert_eq!(refusal, Some(expected));
        }
    }

    #[test]
    fn small_steps_and_steps_back_are_accepted() {
        assert_eq!(accepted(&[at(10, 1_000), at(20, 2_000)]), [true, true]);
        assert_eq!(accepted(&[at(10, -HOURS_8), at(20, -HOURS_8)]), [true, true]);
        assert_eq!(accepted(&[at(10, 1_001)]), [false]);
    }

    #[test]
    fn suspend_reboot_and_long_pauses_are_no_steps() {
        let rebooted = HostTime { boot_ms: 20_000, boot: 8, ..at(60_000, 0) };
        let other_container = HostTime { boot_ms: START.boot_ms - 86_400_000, ..at(10, 0) };
        let unused = at(700_000, HOURS_8);
        // A suspended host counts the time.
        let suspended = at(HOURS_8, 0);
        for reading in [rebooted, other_container, unused, suspended] {
            assert_eq!(accepted(&[reading]), [true], "{reading:?}");
        }
    }

    #[test]
    fn short_step_is_refused_no_longer_than_the_step() {
        // A paused virtual machine counts no time, and its clock is set by the length of the pause afterwards.
        let paused = [at(1_000, 5_000), at(5_999, 5_000), at(6_000, 5_000)];
        assert_eq!(accepted(&paused), [false, false, true]);
    }

    #[test]
    fn readings_may_arrive_in_another_order() {
        assert_eq!(
            accepted(&[at(10, 0), at(5, 0), at(3, HOURS_8), at(12, 0)]),
            [true, true, false, true]
        );
    }
}
