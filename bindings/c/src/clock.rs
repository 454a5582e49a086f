//! A clock for tests.

use std::mem::MaybeUninit;
use std::time::Duration;

use flakeid_core::{Clock, ManualClock};

use crate::border::given;
use crate::guard::guard;
use crate::status::Status;

/// A clock that stands still until it is told otherwise, for tests of code that makes IDs. Waiting
/// on it does not sleep but moves it forward.
pub struct ClockHandle(pub(crate) ManualClock);

/// Makes a clock that reads `unix_ms` milliseconds since 1970. The caller owns it and frees it
/// with flakeid_manual_clock_free(). Any thread.
///
/// FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_manual_clock_new(
    unix_ms: i64,
    clock: Option<&mut MaybeUninit<Box<ClockHandle>>>,
) -> Status {
    guard(|| {
        given(clock, "clock")?.write(Box::new(ClockHandle(ManualClock::new(unix_ms))));
        Ok(())
    })
}

/// Sets the clock, forward or back. Any thread, also while generators use it.
///
/// FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_manual_clock_set(clock: Option<&ClockHandle>, unix_ms: i64) -> Status {
    guard(|| {
        given(clock, "clock")?.0.set(unix_ms);
        Ok(())
    })
}

/// Moves the clock forward by `ms` milliseconds. Any thread, also while generators use it.
///
/// FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_manual_clock_advance(clock: Option<&ClockHandle>, ms: u64) -> Status {
    guard(|| {
        given(clock, "clock")?.0.advance(Duration::from_millis(ms));
        Ok(())
    })
}

/// What the clock reads, in Unix milliseconds. Any thread, also while generators use it.
///
/// FLAKEID_NULL_ARGUMENT.
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

/// Frees the handle; NULL is allowed. Generators that were built with the clock keep a reference
/// of their own, so the order of freeing does not matter. No other call may use the handle
/// meanwhile or later.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_manual_clock_free(clock: Option<Box<ClockHandle>>) {
    let _ = guard(|| {
        drop(clock);
        Ok(())
    });
}
