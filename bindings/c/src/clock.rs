//! Manual clocks for tests.

use std::mem::MaybeUninit;
use std::time::Duration;

use flakeid_core::{Clock, ManualClock};

use crate::border::given;
use crate::guard::{free, guard, write_result};
use crate::status::Status;

/// A clock for tests of code that generates IDs. The clock moves only when the program sets or
/// advances it, or when a call waits: instead of sleeping, the call moves the clock forward.
pub struct ClockHandle(pub(crate) ManualClock);

/// Creates a clock that is set to `unix_ms`, in Unix milliseconds. The caller owns the clock and
/// must free it with flakeid_manual_clock_free(). Thread-safe.
///
/// Errors: FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_manual_clock_new(
    unix_ms: i64,
    clock: Option<&mut MaybeUninit<Box<ClockHandle>>>,
) -> Status {
    write_result(clock, "clock", || Ok(Box::new(ClockHandle(ManualClock::new(unix_ms)))))
}

/// Sets the clock, forward or back, to `unix_ms`, in Unix milliseconds. Thread-safe, even while
/// generators use the clock.
///
/// Errors: FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_manual_clock_set(clock: Option<&ClockHandle>, unix_ms: i64) -> Status {
    guard(|| {
        given(clock, "clock")?.0.set(unix_ms);
        Ok(())
    })
}

/// Moves the clock forward by `ms` milliseconds. Thread-safe, even while generators use the clock.
///
/// Errors: FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_manual_clock_advance(clock: Option<&ClockHandle>, ms: u64) -> Status {
    guard(|| {
        given(clock, "clock")?.0.advance(Duration::from_millis(ms));
        Ok(())
    })
}

/// Writes the clock's current time, in Unix milliseconds, to `unix_ms`. Thread-safe, even while
/// generators use the clock.
///
/// Errors: FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_manual_clock_get(
    clock: Option<&ClockHandle>,
    unix_ms: Option<&mut MaybeUninit<i64>>,
) -> Status {
    guard(|| {
        let clock = given(clock, "clock")?;
        given(unix_ms, "unix_ms")?.write(clock.0.unix_ms());
        Ok(())
    })
}

/// Frees the clock; NULL is allowed. Generators that were created with the clock keep a reference
/// to the clock, so the order of freeing does not matter. No other call may use the handle during
/// or after this call.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_manual_clock_free(clock: Option<Box<ClockHandle>>) {
    free(clock);
}
