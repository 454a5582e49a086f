//! A connection to `PostgreSQL` that checks the server and begins transactions.

use tokio_postgres::{Client, SimpleQueryMessage, SimpleQueryRow};

use super::fault::fault;
use super::transaction::{PostgresTransaction, lock_key};
use crate::retry::ANSWER_TIMEOUT;
use crate::sql::{
    BlockingRuntime, DatabaseState, LOCK_LIMIT_S, RetryHints, SCHEMA_VERSION, STATEMENT_LIMIT_MS,
    SqlServer, check_version,
};
use flakeid_protocol::store::Fault;

/// The statements that create the tables and their triggers, in one transaction. If two clients create the tables at
/// the same time, the second client waits for the first.
///
/// The triggers apply to all roles except the owners of the tables. The triggers ensure that rows are never deleted,
/// that history never changes, and that only `prune` deletes history. The triggers also ensure that safety-critical
/// numbers only increase, except that a release may lower a fence.
const SCHEMA: &str = include_str!("schema.sql");

/// A connection to `PostgreSQL`.
pub(super) struct PostgresServer {
    pub(super) runtime: BlockingRuntime,
    pub(super) client: Client,
}

impl PostgresServer {
    /// Runs statements without parameters, in one round trip.
    fn batch(&self, sql: &str) -> Result<Vec<SimpleQueryRow>, Fault> {
        let messages = self.runtime.wait_for_answer(fault, self.client.simple_query(sql))?;
        let rows = messages.into_iter().filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some(row),
            _ => None,
        });
        Ok(rows.collect())
    }

    /// Reads the server's state from a query result. Fails for a standby, and for a server that may lose committed
    /// transactions.
    fn check_primary(&self, row: Option<&SimpleQueryRow>) -> Result<DatabaseState, Fault> {
        let shown = self.shown();
        let cell = |index: usize| row.and_then(|row| row.try_get(index).ok().flatten());
        let unexpected = || Fault::Unavailable(format!("{shown} sent an unexpected response"));
        if cell(0).ok_or_else(unexpected)? == "t" {
            return Err(Fault::Unavailable(format!(
                "{shown} is a standby, but leases need the primary: name it, or several hosts with \
                 target_session_attrs=read-write"
            )));
        }
        if cell(1).ok_or_else(unexpected)? != "on" {
            return Err(Fault::Rejected(format!(
                "{shown} runs with fsync = off, so it may lose confirmed transactions: set fsync to on"
            )));
        }
        let version = cell(2).map(|text| text.parse().map_err(|_| unexpected())).transpose()?;
        check_version(shown, version)?;
        let now = cell(3).and_then(|text| text.parse().ok()).ok_or_else(unexpected)?;
        Ok(DatabaseState { now, incarnation: cell(4).ok_or_else(unexpected)?.into() })
    }
}

impl SqlServer for PostgresServer {
    type Transaction<'a> = PostgresTransaction<'a>;

    fn shown(&self) -> &str {
        self.runtime.shown()
    }

    /// Begins a transaction and locks the namespace. The lock is exclusive if the transaction changes the namespace,
    /// and otherwise shared. The lock exists only in the server's memory, so the renewals of different nodes can share
    /// the lock at almost no cost.
    fn begin(&mut self, namespace: &str, hints: RetryHints) -> Result<DatabaseState, Fault> {
        let lock =
            if hints.exclusive { "pg_advisory_xact_lock" } else { "pg_advisory_xact_lock_shared" };
        let key = lock_key("namespace", namespace);
        let idle_ms = ANSWER_TIMEOUT.as_millis();
        let rows = self.batch(&format!(
            "BEGIN ISOLATION LEVEL READ COMMITTED;
             SET LOCAL statement_timeout = {STATEMENT_LIMIT_MS};
             SET LOCAL lock_timeout = '{LOCK_LIMIT_S}s';
             SET LOCAL idle_in_transaction_session_timeout = {idle_ms};
             SELECT set_config('synchronous_commit', 'on', true)
                 WHERE current_setting('synchronous_commit') = 'off';
             SELECT {lock}({key});
             SELECT pg_is_in_recovery(), current_setting('fsync'),
                 (SELECT max(version) FROM flakeid_schema),
                 floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint,
                 (pg_control_system()).system_identifier
                     || '/' || pg_database.oid
                     || '/' || 'flakeid_node'::regclass::oid
                     || '/' || floor(extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint
                 FROM pg_database WHERE datname = current_database()",
        ))?;
        self.check_primary(rows.last())
    }

    fn transaction<'a>(&'a mut self, hints: &'a mut RetryHints) -> PostgresTransaction<'a> {
        PostgresTransaction { runtime: &self.runtime, client: &self.client, hints }
    }

    fn run(&mut self, sql: &str) -> Result<(), Fault> {
        self.batch(sql).map(drop)
    }

    fn has_tables(&mut self) -> Result<bool, Fault> {
        let rows = self.batch("SELECT to_regclass('flakeid_schema')")?;
        Ok(rows.first().is_some_and(|row| row.get(0).is_some()))
    }

    fn has_old_triggers(&mut self) -> Result<bool, Fault> {
        // The bit with the value 8 in a trigger's type means DELETE.
        let rows = self.batch(&format!(
            "SELECT WHERE (SELECT max(version) FROM flakeid_schema) = {SCHEMA_VERSION} AND EXISTS (
                 SELECT FROM pg_trigger
                 WHERE tgrelid = to_regclass('flakeid_grant') AND tgname = 'flakeid_keep' AND tgtype & 8 <> 0
             )"
        ))?;
        Ok(!rows.is_empty())
    }

    fn create_tables(&mut self) -> Result<(), Fault> {
        let key = lock_key("schema", "");
        self.run(&format!(
            "BEGIN; SET LOCAL lock_timeout = '{LOCK_LIMIT_S}s'; SELECT pg_advisory_xact_lock({key})"
        ))?;
        // Another client may have created the tables while this client waited for the lock.
        if !self.has_tables()? || self.has_old_triggers()? {
            self.run(SCHEMA)?;
        }
        self.run("COMMIT")
    }

    fn namespaces(&mut self) -> Result<Vec<String>, Fault> {
        let rows = self.batch("SELECT name FROM flakeid_namespace ORDER BY name")?;
        Ok(rows.iter().filter_map(|row| row.get(0).map(str::to_owned)).collect())
    }
}
