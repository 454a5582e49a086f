//! A connection to `MySQL` or `MariaDB` that checks the server and begins transactions.

use std::thread;
use std::time::Duration;

use mysql_async::prelude::{FromValue, Queryable};
use mysql_async::{Conn, Error, Row};

use super::fault::fault;
use super::galera;
use super::transaction::MysqlTransaction;
use crate::random;
use crate::retry::ANSWER_TIMEOUT;
use crate::sql::{
    BlockingRuntime, DatabaseState, LOCK_LIMIT_S, RetryHints, SCHEMA_VERSION, STATEMENT_LIMIT_MS,
    SqlServer, check_version,
};
use flakeid_protocol::store::Fault;

/// The statements that create the tables and their triggers. Each statement is a separate transaction and may be
/// repeated. The last statement marks the tables as complete.
///
/// The triggers apply to all users except those who may drop triggers. The triggers ensure that rows are never deleted
/// and that entries of the history are never modified. Only `prune`, which sets a session variable, can delete entries
/// of the history. The triggers also ensure that safety-critical numbers only increase, except that a release may lower
/// a fence.
const SCHEMA: &str = include_str!("schema.sql");

/// The name of the lock for the creation of the tables. Locks of all databases share one set of names.
const SCHEMA_LOCK: &str = "CONCAT('flakeid ', MD5(DATABASE()))";

/// The server's error code for a trigger that already exists.
const TRIGGER_EXISTS: u16 = 1359;

/// A connection to `MySQL` or `MariaDB`.
pub(super) struct MysqlServer {
    runtime: BlockingRuntime,
    connection: Conn,
    is_mariadb: bool,
    is_galera: bool,
}

impl MysqlServer {
    /// Sets up a new connection.
    pub(super) fn new(runtime: BlockingRuntime, connection: Conn) -> Result<Self, Fault> {
        let mut server = Self { runtime, connection, is_mariadb: false, is_galera: false };
        let version: Option<String> = server.read("SELECT VERSION()")?;
        server.is_mariadb = version.is_some_and(|version| version.contains("MariaDB"));
        let limits = if server.is_mariadb {
            let seconds = STATEMENT_LIMIT_MS as f64 / 1_000.0;
            let idle = ANSWER_TIMEOUT.as_secs();
            format!("max_statement_time = {seconds}, idle_transaction_timeout = {idle}")
        } else {
            // MySQL can limit the idle time of connections, but not of transactions. The limit is longer than the time
            // between renewals. If the server closes an idle connection, flakeid opens a new connection.
            format!("max_execution_time = {STATEMENT_LIMIT_MS}, wait_timeout = 600")
        };
        // The time zone is UTC, because local time is ambiguous for an hour when daylight saving time ends.
        server.run(&format!(
            "SET SESSION autocommit = 1, time_zone = '+00:00',
                 sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION',
                 innodb_lock_wait_timeout = {LOCK_LIMIT_S}, lock_wait_timeout = {LOCK_LIMIT_S},
                 {limits}"
        ))?;
        server.run("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")?;
        let member: Option<(String, String)> = server.read(galera::IS_MEMBER)?;
        server.is_galera = member.is_some_and(|(_, value)| value == "ON");
        if server.is_galera {
            server.run(galera::READ_WHAT_IS_CONFIRMED)?;
        }
        Ok(server)
    }

    /// Returns the first row of a query without parameters.
    fn read<T>(&mut self, sql: &str) -> Result<Option<T>, Fault>
    where
        T: mysql_async::prelude::FromRow + Send + 'static,
    {
        self.runtime.wait_for_answer(fault, self.connection.query_first(sql))
    }

    /// Checks that the server is writable and, in a Galera cluster, is the member that writes leases. Checking
    /// `read_only` is sufficient, because the server also sets `read_only` when `super_read_only` is set.
    pub(super) fn check_writable(&mut self) -> Result<(), Fault> {
        self.check_member()?;
        match self.read("SELECT @@global.read_only")? {
            Some(0_i64) => Ok(()),
            _ => Err(self.read_only()),
        }
    }

    /// Checks that a Galera member may write leases, and returns an identifier of the cluster and its current
    /// membership. Returns an empty string for a server outside a cluster.
    fn check_member(&mut self) -> Result<String, Fault> {
        if !self.is_galera {
            return Ok(String::new());
        }
        let state = self.connection.query(galera::STATE);
        let state = self.runtime.wait_for_answer(fault, state)?;
        Ok(format!("/{}", galera::check_first(self.shown(), state)?))
    }

    /// Runs the statements of the schema. Concurrent runs would wait for each other, and other clients' transactions
    /// would fail.
    fn run_schema(&mut self) -> Result<(), Fault> {
        for sql in SCHEMA.split(";\n\n") {
            match self.runtime.wait(ANSWER_TIMEOUT, self.connection.query_drop(sql))? {
                Err(Error::Server(error)) if error.code == TRIGGER_EXISTS => {}
                outcome => outcome.map_err(|error| fault(self.runtime.shown(), &error))?,
            }
        }
        Ok(())
    }

    fn read_only(&self) -> Fault {
        let shown = self.shown();
        Fault::Unavailable(format!(
            "{shown} is read-only, so it may be a replica, but leases need the source: name the \
             source in the URL"
        ))
    }

    /// Reads the server's state. Fails for a replica, and for a server that may lose committed transactions. Returns
    /// `None` if no client has recorded the run since the server started.
    fn check_source(&mut self) -> Result<Option<DatabaseState>, Fault> {
        let id = if self.is_mariadb { "" } else { "@@server_uuid, ' '," };
        let row: Option<Row> = self.read(&format!(
            "SELECT @@global.read_only, @@global.innodb_flush_log_at_trx_commit,
                 (SELECT MAX(version) FROM flakeid_schema),
                 CAST(FLOOR(UNIX_TIMESTAMP(SYSDATE(3)) * 1000) AS SIGNED),
                 (SELECT run FROM flakeid_run WHERE id = 1),
                 CONCAT({id} @@server_id, '@', @@hostname, ':', @@port, '/', create_time), engine,
                 CAST((UNIX_TIMESTAMP(create_time) + 1) * 1000 AS SIGNED)
             FROM information_schema.tables
             WHERE table_schema = DATABASE() AND table_name = 'flakeid_node'"
        ))?;
        let shown = self.shown();
        let row = row.ok_or(Fault::MissingTables)?;
        if cell::<i64>(shown, &row, 0)? != 0 {
            return Err(self.read_only());
        }
        let flush: i64 = cell(shown, &row, 1)?;
        // In MariaDB, the setting 3 makes the server flush the log even more often than the setting 1.
        if flush != 1 && flush != 3 {
            return Err(Fault::Rejected(format!(
                "{shown} runs with innodb_flush_log_at_trx_commit = {flush}, so it may lose confirmed \
                 transactions: set it to 1"
            )));
        }
        check_version(shown, cell(shown, &row, 2)?)?;
        // The server returns NULL while another client creates the table's triggers.
        let engine: Option<String> = cell(shown, &row, 6)?;
        let engine = engine.ok_or(Fault::Conflict)?;
        if !engine.eq_ignore_ascii_case("InnoDB") {
            return Err(Fault::Rejected(format!(
                "{shown}: the engine of table flakeid_node is {engine}, which does not support \
                 transactions: it must be InnoDB"
            )));
        }
        let Some(run) = cell::<Option<String>>(shown, &row, 4)? else { return Ok(None) };
        let (now, server): (i64, String) = (cell(shown, &row, 3)?, cell(shown, &row, 5)?);
        // A dump that is restored within the second in which the tables were created gives them the same time again.
        let until_distinct = cell::<i64>(shown, &row, 7)?.saturating_sub(now);
        if (1..=1_000).contains(&until_distinct) {
            thread::sleep(Duration::from_millis(until_distinct.cast_unsigned()));
            return self.check_source();
        }
        Ok(Some(DatabaseState { now, incarnation: format!("{run}/{server}") }))
    }
}

fn cell<T: FromValue>(shown: &str, row: &Row, index: usize) -> Result<T, Fault> {
    row.get_opt(index).and_then(Result::ok).ok_or_else(|| {
        let name = row.columns_ref().get(index).map(|column| column.name_str().into_owned());
        let name = name.unwrap_or_default();
        Fault::Rejected(format!(
            "{shown}: column {name} has changed since `flakeid leases init` created it"
        ))
    })
}

impl SqlServer for MysqlServer {
    type Transaction<'a> = MysqlTransaction<'a>;

    fn shown(&self) -> &str {
        self.runtime.shown()
    }

    fn begin(&mut self, _namespace: &str, _hints: RetryHints) -> Result<DatabaseState, Fault> {
        let cluster = self.check_member()?;
        // The identifier of the run is stored in an in-memory table that does not support transactions, so the
        // identifier is written before the transaction begins.
        let mut state = self.check_source()?;
        if state.is_none() {
            let run = random::token().to_text();
            self.run(&format!("INSERT IGNORE INTO flakeid_run VALUES (1, '{run}')"))?;
            // The identifier is read again, because another client may have written a different identifier first.
            state = self.check_source()?;
        }
        let mut state = state.ok_or_else(|| {
            Fault::Unavailable(format!(
                "{}: a row just written to flakeid_run cannot be read back",
                self.shown()
            ))
        })?;
        state.incarnation += &cluster;
        self.run("START TRANSACTION")?;
        Ok(state)
    }

    fn transaction<'a>(&'a mut self, hints: &'a mut RetryHints) -> MysqlTransaction<'a> {
        MysqlTransaction { runtime: &self.runtime, connection: &mut self.connection, hints }
    }

    fn run(&mut self, sql: &str) -> Result<(), Fault> {
        self.runtime.wait_for_answer(fault, self.connection.query_drop(sql))
    }

    fn has_tables(&mut self) -> Result<bool, Fault> {
        let count: Option<i64> = self.read(
            "SELECT COUNT(*) FROM information_schema.tables
             WHERE table_schema = DATABASE() AND table_name = 'flakeid_schema'",
        )?;
        if count != Some(1) {
            return Ok(false);
        }
        let version: Option<Option<i64>> = self.read("SELECT MAX(version) FROM flakeid_schema")?;
        Ok(version.flatten().is_some())
    }

    fn has_old_triggers(&mut self) -> Result<bool, Fault> {
        // For a user without the right to replace the triggers, the count is 0, because the user cannot see the
        // triggers.
        let count: Option<i64> = self.read(&format!(
            "SELECT COUNT(*) FROM information_schema.triggers
             WHERE trigger_schema = DATABASE() AND trigger_name = 'flakeid_grant_stays'
                 AND action_statement NOT LIKE '%@flakeid_prune%'
                 AND (SELECT MAX(version) FROM flakeid_schema) = {SCHEMA_VERSION}"
        ))?;
        Ok(count != Some(0))
    }

    fn create_tables(&mut self) -> Result<(), Fault> {
        if self.is_galera {
            // The cluster executes such statements one at a time, and supports no named locks.
            return self.run_schema();
        }
        if self.read(&format!("SELECT GET_LOCK({SCHEMA_LOCK}, {LOCK_LIMIT_S})"))?
            != Some(Some(1_i64))
        {
            return Err(Fault::Conflict);
        }
        let is_done = self.has_tables().and_then(|has| Ok(has && !self.has_old_triggers()?));
        let created = is_done.and_then(|done| if done { Ok(()) } else { self.run_schema() });
        let unlocked = self.run(&format!("DO RELEASE_LOCK({SCHEMA_LOCK})"));
        created.and(unlocked)
    }

    fn namespaces(&mut self) -> Result<Vec<String>, Fault> {
        let names = self.connection.query("SELECT name FROM flakeid_namespace ORDER BY name");
        self.runtime.wait_for_answer(fault, names)
    }
}
