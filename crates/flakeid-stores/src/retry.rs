//! The timeout for a store's responses, and the retries of a transaction after conflicts.

use std::time::Duration;
use std::time::Instant;

use crate::random;
use flakeid_protocol::store::Fault;

/// The longest time that a store may take to respond.
pub(super) const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);

/// Calls `attempt` until the outcome is not a conflict, and passes the number of conflicts so far to each call. If a
/// conflict occurs after `timeout` has elapsed, `attempt` is not called again. A running attempt is not interrupted, so
/// the last attempt may end after the timeout.
///
/// # Errors
/// Any error of `attempt` that is not a conflict; [`Fault::Unavailable`] if conflicts persist until `timeout` has
/// elapsed.
pub(super) fn retry_conflicts(
    shown: &str,
    namespace: &str,
    timeout: Duration,
    mut attempt: impl FnMut(u32) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let begun = Instant::now();
    let mut conflicts = 0;
    loop {
        match attempt(conflicts) {
            Err(Fault::Conflict) => conflicts += 1,
            outcome => return outcome,
        }
        if begun.elapsed() >= timeout {
            return Err(Fault::Unavailable(format!(
                "{shown}: the transaction on namespace {namespace:?} did not succeed within {} s, \
                 because other clients changed the same rows (conflicts: {conflicts})",
                timeout.as_secs()
            )));
        }
        // The pause is random. Its upper limit is 2 ms after the first conflict, and doubles after each further
        // conflict, up to 50 ms.
        let longest_ms = f64::from(1_u32 << conflicts.min(6)).min(50.0);
        std::thread::sleep(Duration::from_secs_f64(longest_ms * random::fraction() / 1_000.0));
    }
}
