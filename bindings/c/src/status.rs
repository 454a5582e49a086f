//! The statuses of calls, with the numbers from `tests/vectors/errors.json`.

use std::ffi::{CStr, c_char};

use flakeid_core::ErrorKind;

/// The result of a call: 0 is success, and every other number is an error. Numbers are never
/// reused.
pub type Status = i32;

/// The call succeeded.
pub const FLAKEID_OK: Status = 0;
/// The fields, epoch and unit do not form a valid layout, or the layout cannot generate IDs.
pub const FLAKEID_INVALID_LAYOUT: Status = 1;
/// A value is outside the range that its field allows.
pub const FLAKEID_FIELD_OUT_OF_RANGE: Status = 2;
/// An argument (a string, byte sequence or number) is not a valid ID.
pub const FLAKEID_INVALID_ID: Status = 3;
/// An option is invalid, or cannot be combined with another option.
pub const FLAKEID_INVALID_OPTION: Status = 4;
/// The clock went backwards.
pub const FLAKEID_CLOCK_ROLLBACK: Status = 10;
/// All sequence numbers of the tick have been used.
pub const FLAKEID_SEQUENCE_EXHAUSTED: Status = 11;
/// The clock is past the last tick of the layout.
pub const FLAKEID_HORIZON_REACHED: Status = 12;
/// The clock is before the layout's epoch.
pub const FLAKEID_BEFORE_EPOCH: Status = 13;
/// The generator has been retired, and issues no more IDs.
pub const FLAKEID_CLOSED: Status = 14;
/// The generator's node belongs to the parent of this forked process.
pub const FLAKEID_FORKED: Status = 15;
/// The ring buffer of pre-generated IDs is empty.
pub const FLAKEID_RING_EMPTY: Status = 16;
/// The window of ticks that the lease grants has been used up.
pub const FLAKEID_LEASE_EXPIRED: Status = 20;
/// The lease store cannot grant a node at this time.
pub const FLAKEID_NO_FREE_NODE: Status = 21;
/// This host's clock and the store's clock are too far apart.
pub const FLAKEID_CLOCK_SKEW: Status = 22;
/// The node's fence is too far ahead of the clock for a generator to start at the fence.
pub const FLAKEID_FENCE_IN_FUTURE: Status = 23;
/// The lease store is not responding.
pub const FLAKEID_STORE_UNAVAILABLE: Status = 24;
/// The lease store rejected a request.
pub const FLAKEID_STORE_REJECTED: Status = 25;
/// An argument that must not be NULL is NULL.
pub const FLAKEID_NULL_ARGUMENT: Status = 100;
/// The buffer is too small; the message of the last error states the required size.
pub const FLAKEID_BUFFER_TOO_SMALL: Status = 101;
/// The library caught an internal error, which is a bug.
pub const FLAKEID_PANIC: Status = 102;

/// The number, the code and the message of each status.
const ROWS: [(Status, &CStr, &CStr); 21] = [
    (FLAKEID_OK, c"FLAKEID_OK", c"success"),
    (
        FLAKEID_INVALID_LAYOUT,
        c"FLAKEID_INVALID_LAYOUT",
        c"the fields, epoch and unit do not form a valid layout, or the layout cannot generate IDs",
    ),
    (
        FLAKEID_FIELD_OUT_OF_RANGE,
        c"FLAKEID_FIELD_OUT_OF_RANGE",
        c"a value is outside the range that its field allows",
    ),
    (FLAKEID_INVALID_ID, c"FLAKEID_INVALID_ID", c"the string, bytes or number is not an ID"),
    (
        FLAKEID_INVALID_OPTION,
        c"FLAKEID_INVALID_OPTION",
        c"an option is invalid, or cannot be combined with another option",
    ),
    (FLAKEID_CLOCK_ROLLBACK, c"FLAKEID_CLOCK_ROLLBACK", c"the clock went backwards"),
    (
        FLAKEID_SEQUENCE_EXHAUSTED,
        c"FLAKEID_SEQUENCE_EXHAUSTED",
        c"every sequence number of the tick is used up",
    ),
    (
        FLAKEID_HORIZON_REACHED,
        c"FLAKEID_HORIZON_REACHED",
        c"the clock is past the last tick of the layout",
    ),
    (FLAKEID_BEFORE_EPOCH, c"FLAKEID_BEFORE_EPOCH", c"the clock is before the layout's epoch"),
    (FLAKEID_CLOSED, c"FLAKEID_CLOSED", c"the generator was retired"),
    (
        FLAKEID_FORKED,
        c"FLAKEID_FORKED",
        c"the generator's node belongs to the parent of this forked process",
    ),
    (FLAKEID_RING_EMPTY, c"FLAKEID_RING_EMPTY", c"the ring buffer of pre-generated IDs is empty"),
    (FLAKEID_LEASE_EXPIRED, c"FLAKEID_LEASE_EXPIRED", c"the granted window of ticks is used up"),
    (FLAKEID_NO_FREE_NODE, c"FLAKEID_NO_FREE_NODE", c"no node can be leased now"),
    (
        FLAKEID_CLOCK_SKEW,
        c"FLAKEID_CLOCK_SKEW",
        c"this host's clock and the store's clock are too far apart",
    ),
    (
        FLAKEID_FENCE_IN_FUTURE,
        c"FLAKEID_FENCE_IN_FUTURE",
        c"no lease can start yet: retry after flakeid_retry_after_ms(), and check the clocks",
    ),
    (FLAKEID_STORE_UNAVAILABLE, c"FLAKEID_STORE_UNAVAILABLE", c"the lease store is not responding"),
    (FLAKEID_STORE_REJECTED, c"FLAKEID_STORE_REJECTED", c"the lease store rejected a request"),
    (FLAKEID_NULL_ARGUMENT, c"FLAKEID_NULL_ARGUMENT", c"an argument that must not be NULL is NULL"),
    (
        FLAKEID_BUFFER_TOO_SMALL,
        c"FLAKEID_BUFFER_TOO_SMALL",
        c"the buffer is too small; the message of the last error contains the required size",
    ),
    (FLAKEID_PANIC, c"FLAKEID_PANIC", c"internal error in flakeid; please report it"),
];

// This check ensures that `ROWS` contains the same numbers and codes as the core. `ROWS` repeats
// the codes to add the final NUL that C requires.
const _: () = {
    let mut index = 0;
    while index < ErrorKind::ALL.len() {
        let kind = ErrorKind::ALL[index];
        let (status, code, _) = ROWS[index + 1];
        assert!(status == kind.status());
        let (ours, theirs) = (code.to_bytes(), kind.code().as_bytes());
        assert!(ours.len() == theirs.len());
        let mut at = 0;
        while at < ours.len() {
            assert!(ours[at] == theirs[at]);
            at += 1;
        }
        index += 1;
    }
};

fn row(status: Status) -> Option<&'static (Status, &'static CStr, &'static CStr)> {
    ROWS.iter().find(|row| row.0 == status)
}

/// Returns the message of a status, or "unknown status" for an unknown number. Never returns NULL.
/// flakeid_last_error() describes a particular failure in more detail. The string is static.
/// Thread-safe.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_status_message(status: Status) -> *const c_char {
    row(status).map_or(c"unknown status", |row| row.2).as_ptr()
}

/// Returns the code of a status, such as "FLAKEID_CLOSED", or "FLAKEID_UNKNOWN_STATUS" for an
/// unknown number. The codes are the same in every language. Never returns NULL. The string is
/// static. Thread-safe.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_status_code(status: Status) -> *const c_char {
    row(status).map_or(c"FLAKEID_UNKNOWN_STATUS", |row| row.1).as_ptr()
}
