//! The implementation of `Store` for documents: the attempts of a transaction.

use std::time::{Duration, Instant};

use super::transaction::Transaction;
use super::{Documents, Key};
use crate::random;
use crate::retry::{Conflicts, gave_up, retry};
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
        // The attempts borrow the store of documents.
        let shown = self.0.shown().to_owned();
        let pause = |conflicts: &Conflicts| {
            longest_pause(conflicts.attempt, conflicts.elapsed).mul_f64(random::fraction())
        };
        retry(
            TRANSACTION_TIMEOUT,
            pause,
            |conflicts| gave_up(&shown, namespace, TRANSACTION_TIMEOUT, conflicts),
            |conflicts| attempt(&mut self.0, namespace, conflicts, work),
        )
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
#[allow(clippy::unwrap_used, clippy::panic, reason = "tests only")]
mod tests {
    use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

    use flakeid_core::Layout;
    use flakeid_protocol::operations::{acquire, init};
    use flakeid_protocol::{Acquire, Grant, Refusal, Token};
    use serde_json::Value;

    use super::super::{Change, Reading, Stored};
    use super::*;
    use crate::backend::{DocumentLimits, OldDocuments};

    /// A server with one object, whose clock is set by the test.
    #[derive(Default)]
    struct Server {
        now: i64,
        /// The identity that the next object gets.
        next_identity: &'static str,
        object: Option<Object>,
        /// The documents of all writes.
        writes: Vec<String>,
        /// The time for which the next writer is paused between its read and its write, in milliseconds.
        pause_ms: i64,
    }

    #[derive(Clone)]
    struct Object {
        identity: &'static str,
        text: String,
        nonce: Token,
        changed: i64,
    }

    #[derive(Clone)]
    struct Connection(Arc<Mutex<Server>>);

    impl Connection {
        fn new() -> Self {
            let server =
                Server { now: 1_800_000_000_000, next_identity: "first", ..Server::default() };
            Self(Arc::new(Mutex::new(server)))
        }

        fn server(&self) -> MutexGuard<'_, Server> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner)
        }

        fn acquire(&self, store: &mut dyn Store) -> Result<Grant, Fault> {
            let request = Acquire::any_node(Layout::TWITTER, random::token(), self.server().now);
            acquire(store, "orders", &request)
        }
    }

    impl Documents for Connection {
        type Version = (Token, &'static str);

        const LIMITS: DocumentLimits = DocumentLimits {
            largest: 1 << 20,
            old: OldDocuments::Current,
            requests: 2.0,
            price: None,
        };

        fn shown(&self) -> &'static str {
            "test"
        }

        fn read(&mut self, _: Key<'_>) -> Result<Reading<Self::Version>, Fault> {
            let server = self.server();
            let stored = server.object.as_ref().map(|object| Stored {
                text: object.text.clone(),
                version: (object.nonce, object.identity),
                change: Change::At(object.changed),
            });
            let identity = server.object.as_ref().map(|object| object.identity.to_owned());
            Ok(Reading { now: server.now, identity, stored })
        }

        fn write(
            &mut self,
            _: Key<'_>,
            text: &str,
            nonce: Token,
            version: Option<&Self::Version>,
        ) -> Result<i64, Fault> {
            let mut server = self.server();
            server.now += std::mem::take(&mut server.pause_ms);
            let current = server.object.as_ref().map(|object| (object.nonce, object.identity));
            if current.as_ref() != version {
                return Err(Fault::Conflict);
            }
            let identity = current.map_or(server.next_identity, |(_, identity)| identity);
            server.object =
                Some(Object { identity, text: text.to_owned(), nonce, changed: server.now });
            server.writes.push(text.to_owned());
            Ok(server.now)
        }

        fn names(&mut self) -> Result<Vec<String>, Fault> {
            Ok(Vec::new())
        }

        fn prepare(&mut self) -> Result<(), Fault> {
            Ok(())
        }

        fn is_prepared(&mut self) -> Result<bool, Fault> {
            Ok(true)
        }
    }

    fn is_restored(outcome: &Result<Grant, Fault>) -> bool {
        matches!(outcome, Err(Fault::Refused(Refusal::Restored { .. })))
    }

    #[test]
    fn first_object_has_no_namespace_until_its_identity_is_known() {
        let connection = Connection::new();
        let mut store = DocumentStore(connection.clone());
        init(&mut store, &Namespace::new("orders", Layout::TWITTER)).unwrap();
        let parse = |text: &String| serde_json::from_str::<Value>(text).unwrap();
        let writes: Vec<Value> = connection.server().writes.iter().map(parse).collect();
        assert_eq!(writes.len(), 2);
        assert!(writes[0]["namespace"].is_null() && writes[1]["namespace"].is_object());
        assert_eq!((&writes[0]["identity"], &writes[1]["identity"]), (&"".into(), &"first".into()));
    }

    #[test]
    fn process_that_ended_after_the_first_write_is_continued_by_the_next() {
        let connection = Connection::new();
        let mut store = DocumentStore(connection.clone());
        let namespace = Namespace::new("orders", Layout::TWITTER);
        init(&mut store, &namespace).unwrap();
        let first = connection.server().writes[0].clone();
        let object = connection.server().object.clone().unwrap();
        connection.server().object = Some(Object { text: first, ..object });
        let missing = connection.acquire(&mut store);
        assert!(matches!(missing, Err(Fault::Refused(Refusal::MissingNamespace))), "{missing:?}");
        init(&mut store, &namespace).unwrap();
        connection.acquire(&mut store).unwrap();
    }

    #[test]
    fn copy_from_before_the_first_grant_counts_as_restored_in_another_object() {
        let connection = Connection::new();
        let mut store = DocumentStore(connection.clone());
        init(&mut store, &Namespace::new("orders", Layout::TWITTER)).unwrap();
        let copy = connection.server().object.clone().unwrap();
        connection.acquire(&mut store).unwrap();
        connection.server().object = Some(Object { identity: "second", ..copy });
        assert!(is_restored(&connection.acquire(&mut store)));
    }

    #[test]
    fn grant_that_was_written_late_is_not_used_and_counts_as_restored() {
        let connection = Connection::new();
        let mut store = DocumentStore(connection.clone());
        init(&mut store, &Namespace::new("orders", Layout::TWITTER)).unwrap();
        connection.acquire(&mut store).unwrap();
        connection.server().pause_ms = 5_000;
        let late = connection.acquire(&mut store);
        let Err(Fault::Unavailable(text)) = &late else { panic!("{late:?}") };
        assert!(text.contains("5000 ms after it was read"), "{text}");
        let mut other = DocumentStore(connection.clone());
        assert!(is_restored(&connection.acquire(&mut other)));

        let connection = Connection::new();
        let mut store = DocumentStore(connection.clone());
        init(&mut store, &Namespace::new("orders", Layout::TWITTER)).unwrap();
        connection.server().pause_ms = 4_500;
        connection.acquire(&mut store).unwrap();
    }

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
