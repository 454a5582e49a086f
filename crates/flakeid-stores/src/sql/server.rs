//! What the stores on SQL servers share: a connection that runs transactions.

use std::time::Duration;

use super::ledger::{DatabaseState, SqlLedger, SqlTransaction};
use crate::retry::retry_conflicts;
use flakeid_protocol::store::{Fault, Ledger, Store};

/// The version of the tables.
const SCHEMA_VERSION: i64 = 4;

/// The server's own limit for a statement: before the client gives up, so that what the client
/// reports is what the server says.
pub(crate) const STATEMENT_LIMIT_MS: u64 = 1_500;

/// The server's own limit for waiting for a lock: before the statement's, because it ends in a
/// conflict, of which it is certain that nothing was written. `MySQL` knows only whole seconds.
pub(crate) const LOCK_LIMIT_S: u64 = 1;

/// How long all attempts of a transaction together may take. One more may begin just before.
const PATIENCE: Duration = Duration::from_secs(5);

/// What a transaction does to stay out of others' way. The first attempt assumes that there are none;
/// a conflict shows what the next one needs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RetryHints {
    /// Locks the namespace for itself from the beginning, to change it.
    pub(crate) exclusive: bool,
    /// Looks for unused nodes at a random place, away from the others that were in conflict, where a
    /// server cannot pass over those that another is about to take.
    #[cfg_attr(not(feature = "mysql"), allow(dead_code, reason = "only MySQL needs it"))]
    pub(crate) spread: bool,
}

impl RetryHints {
    /// Before the namespace is written.
    ///
    /// # Errors
    /// [`Fault::Conflict`] unless the transaction has the namespace for itself; the next attempt will.
    pub(crate) fn require_exclusive(&mut self) -> Result<(), Fault> {
        if self.exclusive {
            return Ok(());
        }
        self.exclusive = true;
        Err(Fault::Conflict)
    }
}

/// A connection to one kind of server.
pub(crate) trait SqlServer: Send {
    type Transaction<'a>: SqlTransaction
    where
        Self: 'a;

    /// The server's URL as texts may show it.
    fn shown(&self) -> &str;

    /// Begins a transaction on a namespace.
    fn begin(&mut self, namespace: &str, hints: RetryHints) -> Result<DatabaseState, Fault>;

    /// The transaction that was begun.
    fn transaction<'a>(&'a mut self, hints: &'a mut RetryHints) -> Self::Transaction<'a>;

    /// Runs a statement that has no parameters and no answer.
    fn run(&mut self, sql: &str) -> Result<(), Fault>;

    fn has_tables(&mut self) -> Result<bool, Fault>;

    fn create_tables(&mut self) -> Result<(), Fault>;

    fn namespaces(&mut self) -> Result<Vec<String>, Fault>;
}

/// A store on a server.
pub(crate) struct SqlStore<S> {
    server: S,
    /// Whether nobody knows what state the connection is in.
    is_lost: bool,
}

impl<S: SqlServer> SqlStore<S> {
    pub(crate) const fn new(server: S) -> Self {
        Self { server, is_lost: false }
    }

    fn attempt(
        &mut self,
        namespace: &str,
        hints: &mut RetryHints,
        work: &mut dyn FnMut(&mut dyn Ledger) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        if self.is_lost {
            let shown = self.server.shown();
            return Err(Fault::Unavailable(format!("the connection to {shown} was lost")));
        }
        let outcome = self.server.begin(namespace, *hints).and_then(|state| {
            let mut ledger = SqlLedger::new(namespace, state, self.server.transaction(hints));
            work(&mut ledger)?;
            ledger.into_outcome()
        });
        let outcome = outcome.and_then(|()| self.server.run("COMMIT"));
        match &outcome {
            Ok(()) => {}
            Err(Fault::Unavailable(_)) => self.is_lost = true,
            Err(_) => self.roll_back(),
        }
        outcome
    }

    fn roll_back(&mut self) {
        self.is_lost = self.server.run("ROLLBACK").is_err();
    }
}

impl<S: SqlServer> Store for SqlStore<S> {
    fn transact(
        &mut self,
        namespace: &str,
        work: &mut dyn FnMut(&mut dyn Ledger) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let shown = self.server.shown().to_owned();
        let mut hints = RetryHints::default();
        retry_conflicts(&shown, namespace, PATIENCE, |conflicts| {
            hints.spread |= conflicts > 0 && !hints.exclusive;
            self.attempt(namespace, &mut hints, work)
        })
    }

    /// Creates the tables if they are not there. If they are, needs no right to create any.
    fn prepare(&mut self) -> Result<(), Fault> {
        if self.server.has_tables()? {
            return Ok(());
        }
        let created = self.server.create_tables();
        if created.is_err() {
            self.roll_back();
        }
        created
    }

    fn is_prepared(&mut self) -> Result<bool, Fault> {
        self.server.has_tables()
    }

    fn namespaces(&mut self) -> Result<Vec<String>, Fault> {
        self.server.namespaces()
    }
}

/// What is to be done about missing tables.
pub(crate) fn missing_tables(shown: &str) -> Fault {
    Fault::Rejected(format!("{shown} has no tables for leases: run `flakeid leases init`"))
}

/// Checks the version of the tables; `None` if they have none.
pub(crate) fn check_version(shown: &str, version: Option<i64>) -> Result<(), Fault> {
    match version {
        Some(SCHEMA_VERSION) => Ok(()),
        None => Err(missing_tables(shown)),
        Some(version) if version < SCHEMA_VERSION => Err(Fault::Rejected(format!(
            "the lease tables at {shown} have version {version}, of an earlier flakeid: in another \
             schema or database, create the namespaces with `flakeid leases init --lost`"
        ))),
        Some(version) => Err(Fault::Rejected(format!(
            "the lease tables at {shown} have version {version}, and this build knows version \
             {SCHEMA_VERSION}: use the flakeid that created them, or a newer one"
        ))),
    }
}
