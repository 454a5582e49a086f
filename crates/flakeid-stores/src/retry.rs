//! How long a store may take, and how transactions in conflict are run again.

use std::time::{Duration, Instant};

use crate::random;
use flakeid_protocol::store::Fault;

/// How long a store may take to answer.
pub(super) const ANSWER_TIMEOUT: Duration = Duration::from_secs(2);

/// Runs `attempt`, with the number of conflicts so far, until it ends in anything but a conflict. All
/// attempts together may take as long as `timeout`; one more may begin just before.
///
/// # Errors
/// What `attempt` returned; [`Fault::Unavailable`] when it was in conflict for too long.
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
                "{shown}: other clients changed the same rows of namespace {namespace:?} \
                 {conflicts} times within {} s",
                timeout.as_secs()
            )));
        }
        // Up to 2 ms after the first conflict, twice as long after each further one.
        let longest_ms = f64::from(1_u32 << conflicts.min(6)).min(50.0);
        std::thread::sleep(Duration::from_secs_f64(longest_ms * random::fraction() / 1_000.0));
    }
}
