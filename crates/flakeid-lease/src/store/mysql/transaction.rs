use std::future::Future;

use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Error, Row as SqlRow};

use super::cells::cell;
use super::fault::fault;
use super::page::Page;
use super::schema;
use crate::random;
use crate::store::location::ANSWER_TIMEOUT;
use crate::store::sql::{
    Care, LOCK_LIMIT_S, Line, STATEMENT_LIMIT_MS, check_version, missing_tables, rerun,
};
use crate::store::{Fault, Ledger, Store};

/// A connection to `MySQL` or `MariaDB`.
pub(super) struct Mysql {
    line: Line,
    conn: Conn,
    is_mariadb: bool,
    /// Whether nobody knows what state the connection is in.
    lost: bool,
}

/// What every transaction looks at first.
pub(super) struct Facts {
    pub(super) now: i64,
    pub(super) incarnation: String,
}

/// Sets a fresh connection up; returns whether the server is `MariaDB`.
pub(super) fn session(line: &Line, conn: &mut Conn) -> Result<bool, Fault> {
    let version: Option<String> = answer(line, conn.query_first("SELECT VERSION()"))?;
    let is_mariadb = version.is_some_and(|version| version.contains("MariaDB"));
    let limits = if is_mariadb {
        let seconds = STATEMENT_LIMIT_MS as f64 / 1_000.0;
        let idle = ANSWER_TIMEOUT.as_secs();
        format!("max_statement_time = {seconds}, idle_transaction_timeout = {idle}")
    } else {
        // MySQL ends idle connections, not idle transactions: late enough for one that waits for
        // its next renewal, and a new one is made if it does not last.
        format!("max_execution_time = {STATEMENT_LIMIT_MS}, wait_timeout = 600")
    };
    // UTC, because local time is ambiguous once a year.
    let settings = format!(
        "SET SESSION autocommit = 1, time_zone = '+00:00',
             sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION',
             innodb_lock_wait_timeout = {LOCK_LIMIT_S}, lock_wait_timeout = {LOCK_LIMIT_S}, {limits}"
    );
    answer(line, conn.query_drop(settings))?;
    let isolation = "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED";
    answer(line, conn.query_drop(isolation))?;
    Ok(is_mariadb)
}

impl Mysql {
    pub(super) const fn new(line: Line, conn: Conn, is_mariadb: bool) -> Self {
        Self { line, conn, is_mariadb, lost: false }
    }

    fn run(&mut self, sql: &str) -> Result<(), Fault> {
        answer(&self.line, self.conn.query_drop(sql))
    }

    fn attempt(
        &mut self,
        namespace: &str,
        care: &mut Care,
        work: &mut dyn FnMut(&mut dyn Ledger) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        if self.lost {
            let place = self.line.place();
            return Err(Fault::Unavailable(format!("the connection to {place} was lost")));
        }
        let outcome = self.begin().and_then(|facts| {
            let mut page = Page::new(&self.line, &mut self.conn, namespace, facts, care);
            work(&mut page)?;
            // A statement that failed rolls everything back, whatever the work made of it.
            page.into_failure().map_or(Ok(()), Err)
        });
        let outcome = outcome.and_then(|()| self.run("COMMIT"));
        match &outcome {
            Ok(()) => {}
            Err(Fault::Unavailable(_)) => self.lost = true,
            Err(_) => self.lost = self.run("ROLLBACK").is_err(),
        }
        outcome
    }

    fn begin(&mut self) -> Result<Facts, Fault> {
        // The table of the run takes no part in transactions, so it is filled before one.
        if let Some(facts) = self.facts()? {
            self.run("START TRANSACTION")?;
            return Ok(facts);
        }
        let run = random::token().to_text();
        self.run(&format!("INSERT IGNORE INTO flakeid_run VALUES (1, '{run}')"))?;
        // Whoever was first decides.
        let facts = self.facts()?.ok_or_else(|| {
            Fault::Unavailable(format!("{} keeps nothing in flakeid_run", self.line.place()))
        })?;
        self.run("START TRANSACTION")?;
        Ok(facts)
    }

    /// `None` if nobody noted the run since the server started.
    fn facts(&mut self) -> Result<Option<Facts>, Fault> {
        let id = if self.is_mariadb { "" } else { "@@server_uuid, ' '," };
        let sql = format!(
            "SELECT @@global.read_only, @@global.innodb_flush_log_at_trx_commit,
                 (SELECT MAX(version) FROM flakeid_schema),
                 CAST(FLOOR(UNIX_TIMESTAMP(SYSDATE(3)) * 1000) AS SIGNED),
                 (SELECT run FROM flakeid_run WHERE id = 1),
                 CONCAT({id} @@server_id, '@', @@hostname, ':', @@port, '/', create_time), engine
             FROM information_schema.tables
             WHERE table_schema = DATABASE() AND table_name = 'flakeid_node'"
        );
        let row: Option<SqlRow> = answer(&self.line, self.conn.query_first(sql))?;
        let place = self.line.place();
        let row = row.ok_or_else(|| missing_tables(place))?;
        if cell::<i64>(&row, 0)? != 0 {
            return Err(Fault::Unavailable(format!(
                "{place} is read-only, so it is a replica: leases need the source"
            )));
        }
        let flush: i64 = cell(&row, 1)?;
        // MariaDB's 3 flushes even more often than 1.
        if flush != 1 && flush != 3 {
            return Err(Fault::Rejected(format!(
                "{place} runs with innodb_flush_log_at_trx_commit = {flush}: it may forget what it \
                 confirmed; set it to 1"
            )));
        }
        let version = cell::<Option<i64>>(&row, 2)?.ok_or_else(|| missing_tables(place))?;
        check_version(place, version)?;
        let engine: String = cell(&row, 6)?;
        if !engine.eq_ignore_ascii_case("InnoDB") {
            return Err(Fault::Rejected(format!(
                "{place}: flakeid_node is kept by {engine}, which has no transactions: only InnoDB \
                 will do"
            )));
        }
        let Some(run) = cell::<Option<String>>(&row, 4)? else { return Ok(None) };
        let server: String = cell(&row, 5)?;
        Ok(Some(Facts { now: cell(&row, 3)?, incarnation: format!("{run}/{server}") }))
    }
}

impl Store for Mysql {
    fn transact(
        &mut self,
        namespace: &str,
        work: &mut dyn FnMut(&mut dyn Ledger) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let place = self.line.place().to_owned();
        rerun(&place, |care| self.attempt(namespace, care, work))
    }

    /// Creates the tables if they are not there. If they are, needs no right to create any.
    fn prepare(&mut self) -> Result<(), Fault> {
        if self.is_prepared()? {
            return Ok(());
        }
        for sql in schema::CREATE {
            let outcome = self.line.wait(ANSWER_TIMEOUT, self.conn.query_drop(sql))?;
            match outcome {
                Err(Error::Server(error)) if error.code == schema::TRIGGER_EXISTS => {}
                outcome => outcome.map_err(|error| fault(self.line.place(), &error))?,
            }
        }
        Ok(())
    }

    fn is_prepared(&mut self) -> Result<bool, Fault> {
        let made = "SELECT COUNT(*) FROM information_schema.tables
             WHERE table_schema = DATABASE() AND table_name = 'flakeid_schema'";
        let count: Option<i64> = answer(&self.line, self.conn.query_first(made))?;
        if count != Some(1) {
            return Ok(false);
        }
        let version = "SELECT MAX(version) FROM flakeid_schema";
        let version: Option<Option<i64>> = answer(&self.line, self.conn.query_first(version))?;
        Ok(version.flatten().is_some())
    }

    fn namespaces(&mut self) -> Result<Vec<String>, Fault> {
        let sql = "SELECT name FROM flakeid_namespace ORDER BY name";
        answer(&self.line, self.conn.query(sql))
    }
}

/// Waits for the answer to a statement.
pub(super) fn answer<T: Send>(
    line: &Line,
    statement: impl Future<Output = Result<T, Error>> + Send,
) -> Result<T, Fault> {
    line.wait(ANSWER_TIMEOUT, statement)?.map_err(|error| fault(line.place(), &error))
}
