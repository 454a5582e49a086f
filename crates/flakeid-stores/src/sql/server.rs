//! The code that the stores on all SQL servers share: a connection that runs transactions.

use std::time::Duration;

use super::ledger::{DatabaseState, SqlLedger, SqlTransaction};
use crate::retry::retry_conflicts;
use flakeid_protocol::store::{Fault, Ledger, Store};

/// The version of the database tables that this build supports. New triggers do not change the version, because every
/// build can use tables with new triggers.
pub(crate) const SCHEMA_VERSION: i64 = 4;

/// The server's own time limit for a statement, in milliseconds. The limit is shorter than the client's timeout, so
/// that the client can report the server's error.
pub(crate) const STATEMENT_LIMIT_MS: u64 = 1_500;

/// The server's own lock timeout, in seconds. The lock timeout is shorter than the statement limit, because a lock
/// timeout counts as a conflict and guarantees that nothing was written. `MySQL` supports only whole seconds.
pub(crate) const LOCK_LIMIT_S: u64 = 1;

/// The total time limit for all attempts at a transaction. If a conflict occurs after this time, the transaction is not
/// retried.
const TRANSACTION_TIMEOUT: Duration = Duration::from_secs(5);

/// The total time limit for the creation of the tables, which another client may be creating.
const CREATION_TIMEOUT: Duration = Duration::from_secs(30);

/// The measures that a transaction takes to avoid conflicts. The first attempt assumes that there are no other
/// transactions. A conflict shows which measures the next attempt needs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RetryHints {
    /// Whether the transaction locks the namespace exclusively from the start, because it changes the namespace.
    pub(crate) exclusive: bool,
    /// Whether the search for unused nodes begins at a random node, so that the search does not conflict with other
    /// clients. Servers need the random start if they cannot skip nodes that another transaction is about to take.
    #[cfg_attr(not(feature = "mysql"), allow(dead_code, reason = "only MySQL needs it"))]
    pub(crate) spread: bool,
}

impl RetryHints {
    /// Checks that the transaction has locked the namespace exclusively. Call this method before writing the namespace.
    ///
    /// # Errors
    /// [`Fault::Conflict`] if the transaction has no exclusive lock. The next attempt then takes the lock.
    pub(crate) fn require_exclusive(&mut self) -> Result<(), Fault> {
        if self.exclusive {
            return Ok(());
        }
        self.exclusive = true;
        Err(Fault::Conflict)
    }
}

/// A connection to one kind of SQL server, such as `PostgreSQL` or `MySQL`.
pub(crate) trait SqlServer: Send {
    type Transaction<'a>: SqlTransaction
    where
        Self: 'a;

    /// The server's URL in a form that is safe to show in messages.
    fn shown(&self) -> &str;

    /// Begins a transaction on a namespace, and reads the state of the database.
    fn begin(&mut self, namespace: &str, hints: RetryHints) -> Result<DatabaseState, Fault>;

    /// Returns the transaction that [`begin`](Self::begin) started.
    fn transaction<'a>(&'a mut self, hints: &'a mut RetryHints) -> Self::Transaction<'a>;

    /// Runs a statement that has no parameters and returns no rows.
    fn run(&mut self, sql: &str) -> Result<(), Fault>;

    fn has_tables(&mut self) -> Result<bool, Fault>;

    /// Whether tables of the current version still have triggers that an earlier build created. Such triggers prevent
    /// the pruning of the history.
    fn has_old_triggers(&mut self) -> Result<bool, Fault>;

    /// Creates the tables that do not exist, and replaces old triggers, unless another client has just done so.
    fn create_tables(&mut self) -> Result<(), Fault>;

    fn namespaces(&mut self) -> Result<Vec<String>, Fault>;
}

/// A store on a server.
pub(crate) struct SqlStore<S> {
    server: S,
    /// Whether the connection is lost or in an unknown state.
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
        retry_conflicts(&shown, namespace, TRANSACTION_TIMEOUT, |conflicts| {
            hints.spread |= conflicts > 0 && !hints.exclusive;
            self.attempt(namespace, &mut hints, work)
        })
    }

    /// Creates the tables if they do not exist. If the tables exist, tries to replace old triggers. A failure to
    /// replace triggers is ignored, so that the database user does not need the right to create tables or triggers.
    fn prepare(&mut self) -> Result<(), Fault> {
        let has_tables = self.server.has_tables()?;
        if has_tables && !self.server.has_old_triggers()? {
            return Ok(());
        }
        let shown = self.server.shown().to_owned();
        let created = retry_conflicts(&shown, "", CREATION_TIMEOUT, |_| {
            let created = self.server.create_tables();
            if created.is_err() {
                self.roll_back();
            }
            created
        });
        if has_tables { Ok(()) } else { created }
    }

    fn is_prepared(&mut self) -> Result<bool, Fault> {
        self.server.has_tables()
    }

    fn namespaces(&mut self) -> Result<Vec<String>, Fault> {
        self.server.namespaces()
    }
}

/// Checks that this build supports the version of the tables. `version` is `None` if no version is stored in the
/// tables.
pub(crate) fn check_version(shown: &str, version: Option<i64>) -> Result<(), Fault> {
    match version {
        Some(SCHEMA_VERSION) => Ok(()),
        None => Err(Fault::MissingTables),
        Some(version) if version < SCHEMA_VERSION => Err(Fault::Rejected(format!(
            "the lease tables at {shown} have version {version}, which is of an earlier flakeid: create \
             the namespaces in another schema or database with `flakeid leases init --lost`"
        ))),
        Some(version) => Err(Fault::Rejected(format!(
            "the lease tables at {shown} have version {version}, but this build supports version \
             {SCHEMA_VERSION}: use the flakeid that created them, or a newer one"
        ))),
    }
}
