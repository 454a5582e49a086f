use std::time::Duration;

use flakeid_core::{Clock, ManualClock};
use napi::bindgen_prelude::{BigInt, External};
use napi_derive::napi;

use crate::number::{bits, signed};

/// A manual clock.
#[napi(catch_unwind)]
pub(crate) fn create_clock(unix_ms: BigInt) -> External<ManualClock> {
    External::new(ManualClock::new(signed(&unix_ms)))
}

/// What a manual clock reads.
#[napi(catch_unwind)]
pub(crate) fn read_clock(clock: &External<ManualClock>) -> BigInt {
    clock.unix_ms().into()
}

/// Sets a manual clock.
#[napi(catch_unwind)]
pub(crate) fn set_clock(clock: &External<ManualClock>, unix_ms: BigInt) {
    clock.set(signed(&unix_ms));
}

/// Moves a manual clock forward.
#[napi(catch_unwind)]
pub(crate) fn advance_clock(clock: &External<ManualClock>, ms: BigInt) {
    clock.advance(Duration::from_millis(bits(&ms)));
}
