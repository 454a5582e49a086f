//! Converts the core's errors to JavaScript errors.

use std::cell::Cell;
use std::time::Duration;

use flakeid_core::Error;
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    /// A JavaScript function that builds an `Error` from the fields of a core error.
    #[derive(Clone)]
    pub type MakeError;

    #[wasm_bindgen(method)]
    fn call(
        this: &MakeError,
        receiver: &JsValue,
        code: &str,
        message: &str,
        retry_after_ms: Option<f64>,
        by_ms: Option<f64>,
        horizon: Option<i64>,
        field: Option<String>,
    ) -> JsValue;
}

thread_local! {
    static MAKE_ERROR: Cell<Option<MakeError>> = const { Cell::new(None) };
}

/// Sets the function that builds JavaScript errors. JavaScript calls `setup` before any other function.
#[wasm_bindgen]
pub fn setup(make_error: MakeError) {
    MAKE_ERROR.set(Some(make_error));
}

/// Converts a core error to the JavaScript error that the caller throws. Intended as the argument of `map_err`.
#[inline(never)]
#[expect(clippy::needless_pass_by_value, reason = "map_err passes the error by value")]
pub(crate) fn thrown(error: Error) -> JsValue {
    let spelled = error.spelled(&SPELLING);
    let message = spelled.to_string();
    // The function is put back before it is called, because it may call functions that fail.
    let make_error = MAKE_ERROR.take();
    MAKE_ERROR.set(make_error.clone());
    match make_error {
        None => JsValue::from_str(&message),
        Some(make_error) => make_error.call(
            &JsValue::UNDEFINED,
            error.code(),
            &message,
            error.retry_after().map(milliseconds),
            error.rollback().map(milliseconds),
            error.horizon(),
            spelled.field().map(str::to_owned),
        ),
    }
}

/// Returns a duration in whole milliseconds. Unlike `Duration::as_millis`, this function does not require 128-bit
/// arithmetic.
fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs() as f64 * 1000.0 + f64::from(duration.subsec_millis())
}

#[rustfmt::skip]
pub(crate) const SPELLING: flakeid_core::Spelling<'static> = flakeid_core::Spelling {
    options: &[
        // [options: all names]
        ("nodes_from", "nodes[0]"),
        ("nodes_to", "nodes[1]"),
        ("node_count", "nodeCount"),
        ("ttl_ms", "ttlMs"),
        ("window_ms", "windowMs"),
        ("window_start", "window.start"),
        ("window_fence", "window.fence"),
        ("sequence_mask", "sequenceMask"),
        ("sequence_start", "sequenceStart"),
        ("max_ahead_ms", "maxAheadMs"),
        ("max_wait_ms", "maxWaitMs"),
        ("open_wait_ms", "openWaitMs"),
        ("boost_power", "boostPower"),
        ("padding_factor", "paddingFactor"),
        ("refill_interval_ms", "refillIntervalMs"),
        ("max_age_ms", "maxAgeMs"),
        ("max_window_ms", "maxWindowMs"),
        ("max_skew_ms", "maxSkewMs"),
        ("quiet_ms", "quietMs"),
        ("block_bits", "blockBits"),
        // [/options]
    ],
    fields: &[
        // [options: id names]
        ("unix_ms", "unixMs"),
        ("clock_sequence", "clockSequence"),
        ("create_namespace", "createNamespace()"),
        ("next_id", "nextIdAsync()"),
        // [/options]
    ],
};
