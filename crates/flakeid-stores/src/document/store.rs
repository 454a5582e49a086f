//! The implementation of `Store` for documents: the attempts of a transaction.

use std::thread;
use std::time::{Duration, Instant};

use super::transaction::Transaction;
use super::{Documents, Key};
use crate::random;
use flakeid_protocol::Namespace;
use flakeid_protocol::store::{Fault, Ledger, Store};

/// The total time limit for all attempts of a transaction: no attempt begins after this time. The client reads its own
/// clock only once, before the first attempt. If that reading became too old, the store would conclude that the
/// client's clock is wrong.
const TRANSACTION_TIMEOUT: Duration = Duration::from_secs(3);

/// The shortest upper limit of the pause after a conflict.
const LEAST_PAUSE: Duration = Duration::from_millis(20);

/// The number of attempts of other clients for which a client pauses after its first conflict, at most.
const ATTEMPTS_PAUSED: u32 = 8;

/// A store that keeps each namespace in one document.
pub(crate) struct DocumentStore<D>(pub(crate) D);

impl<D: Documents> Store for DocumentStore<D> {
    fn transact(
        &mut self,
        namespace: &str,
        work: &mut dyn FnMut(&mut dyn Ledger) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        Namespace::check_name(namespace).map_err(|error| Fault::Rejected(error.to_string()))?;
        let begun = Instant::now();
        let mut conflicts = 0_u32;
        loop {
            let attempt_begun = Instant::now();
            let outcome = attempt(&mut self.0, namespace, conflicts, work);
            if outcome != Err(Fault::Conflict) {
                return outcome;
            }
            conflicts += 1;
            let elapsed = begun.elapsed();
            if elapsed >= TRANSACTION_TIMEOUT {
                return Err(Fault::Unavailable(format!(
                    "{}: the transaction on namespace {namespace:?} did not succeed within {} s, \
                     because other clients changed the same document (conflicts: {conflicts})",
                    self.0.shown(),
                    TRANSACTION_TIMEOUT.as_secs()
                )));
            }
            thread::sleep(
                longest_pause(attempt_begun.elapsed(), elapsed).mul_f64(random::fraction()),
            );
        }
    }

    fn prepare(&mut self) -> Result<(), Fault> {
        self.0.prepare()
    }

    fn is_prepared(&mut self) -> Result<bool, Fault> {
        self.0.is_prepared()
    }

    fn namespaces(&mut self) -> Result<Vec<String>, Fault> {
        self.0.names()
    }
}

/// Runs `work` once, and writes its changes.
fn attempt<D: Documents>(
    documents: &mut D,
    namespace: &str,
    conflicts: u32,
    work: &mut dyn FnMut(&mut dyn Ledger) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let read_at = Instant::now();
    let reading = documents.read(Key::Namespace(namespace))?;
    let mut transaction = Transaction::new(documents, namespace, reading, read_at)?;
    work(&mut transaction)?;
    transaction.commit(conflicts)
}

/// Returns the upper limit of the pause after a conflict. All clients of a namespace compete for one document, so the
/// limit falls as the time of the transaction runs out: a client that has waited for long retries sooner than a client
/// that has just begun.
fn longest_pause(attempt: Duration, elapsed: Duration) -> Duration {
    let left = TRANSACTION_TIMEOUT.saturating_sub(elapsed);
    let share = left.as_secs_f64() / TRANSACTION_TIMEOUT.as_secs_f64();
    // A pause never takes up all of the remaining time.
    (attempt * ATTEMPTS_PAUSED).max(LEAST_PAUSE).mul_f64(share).min(left / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pause_becomes_shorter_as_the_transaction_grows_older() {
        let attempt = Duration::from_millis(10);
        let pauses =
            [0, 1_500, 3_000, 9_000].map(|ms| longest_pause(attempt, Duration::from_millis(ms)));
        assert_eq!(pauses, [80, 40, 0, 0].map(Duration::from_millis));
        assert_eq!(longest_pause(Duration::ZERO, Duration::ZERO), LEAST_PAUSE);
        let slow = longest_pause(Duration::from_secs(2), Duration::from_secs(2));
        assert_eq!(slow, Duration::from_millis(500));
    }
}
