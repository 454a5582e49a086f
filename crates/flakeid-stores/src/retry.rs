//! The timeout for a store's responses, and the retries of a transaction after conflicts.

use std::time::{Duration, Instant};

use crate::random;
use flakeid_protocol::store::Fault;

/// The longest time that a store may take to respond.
pub(super) const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);

/// The conflicts of a transaction so far.
pub(super) struct Conflicts {
    pub(super) number: u32,
    /// The time since the first attempt began.
    pub(super) elapsed: Duration,
    /// The duration of the last attempt.
    pub(super) attempt: Duration,
}

/// Calls `attempt` until the outcome is not a conflict, and passes the number of conflicts so far to each call. If a
/// conflict occurs after `timeout` has elapsed, `attempt` is not called again. A running attempt is not interrupted, so
/// the last attempt may end after the timeout. Sleeps for a `pause` after each conflict.
///
/// # Errors
/// Any error of `attempt` that is not a conflict; [`Fault::Unavailable`] with the message of `gave_up` if conflicts
/// persist until `timeout` has elapsed.
pub(super) fn retry<T>(
    timeout: Duration,
    pause: impl Fn(&Conflicts) -> Duration,
    gave_up: impl FnOnce(&Conflicts) -> String,
    mut attempt: impl FnMut(u32) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let begun = Instant::now();
    let mut number = 0;
    loop {
        let attempt_begun = Instant::now();
        match attempt(number) {
            Err(Fault::Conflict) => number += 1,
            outcome => return outcome,
        }
        let conflicts =
            Conflicts { number, elapsed: begun.elapsed(), attempt: attempt_begun.elapsed() };
        if conflicts.elapsed >= timeout {
            return Err(Fault::Unavailable(gave_up(&conflicts)));
        }
        std::thread::sleep(pause(&conflicts));
    }
}

/// Retries a transaction on rows, as [`retry`] does.
pub(super) fn retry_conflicts(
    shown: &str,
    namespace: &str,
    timeout: Duration,
    attempt: impl FnMut(u32) -> Result<(), Fault>,
) -> Result<(), Fault> {
    // The pause is random. Its upper limit is 2 ms after the first conflict, and doubles after each further
    // conflict, up to 50 ms.
    let pause = |conflicts: &Conflicts| {
        let longest_ms = f64::from(1_u32 << conflicts.number.min(6)).min(50.0);
        Duration::from_secs_f64(longest_ms * random::fraction() / 1_000.0)
    };
    retry(timeout, pause, |conflicts| gave_up(shown, namespace, timeout, conflicts), attempt)
}

/// Returns the message about a transaction whose conflicts persisted.
pub(super) fn gave_up(
    shown: &str,
    namespace: &str,
    timeout: Duration,
    conflicts: &Conflicts,
) -> String {
    format!(
        "{shown}: the transaction on namespace {namespace:?} did not succeed within {} s, because other clients \
         changed the same data (conflicts: {})",
        timeout.as_secs(),
        conflicts.number
    )
}
