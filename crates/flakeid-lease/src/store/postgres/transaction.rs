use std::future::Future;

use tokio_postgres::{Client, Error, SimpleQueryMessage, SimpleQueryRow};

use super::fault::fault;
use super::page::Page;
use super::schema;
use crate::store::location::ANSWER_TIMEOUT;
use crate::store::sql::{
    Care, LOCK_LIMIT_S, Line, STATEMENT_LIMIT_MS, check_version, missing_tables, rerun,
};
use crate::store::{Fault, Ledger, Store};

/// A connection to `PostgreSQL`.
pub(super) struct Postgres {
    line: Line,
    client: Client,
    /// Whether nobody knows what state the connection is in.
    lost: bool,
}

/// What every transaction looks at first.
pub(super) struct Facts {
    pub(super) now: i64,
    pub(super) incarnation: String,
}

impl Postgres {
    pub(super) const fn new(line: Line, client: Client) -> Self {
        Self { line, client, lost: false }
    }

    /// Runs statements without parameters, in one round trip.
    fn batch(&self, sql: &str) -> Result<Vec<SimpleQueryRow>, Fault> {
        let messages = answer(&self.line, self.client.simple_query(sql))?;
        let rows = messages.into_iter().filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some(row),
            _ => None,
        });
        Ok(rows.collect())
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
        let outcome = self.begin(namespace, *care).and_then(|facts| {
            let mut page = Page::new(&self.line, &self.client, namespace, facts, care);
            work(&mut page)?;
            // A statement that failed rolls everything back, whatever the work made of it.
            page.into_failure().map_or(Ok(()), Err)
        });
        let outcome = outcome.and_then(|()| self.batch("COMMIT").map(drop));
        match &outcome {
            Ok(()) => {}
            Err(Fault::Unavailable(_)) => self.lost = true,
            Err(_) => self.lost = self.batch("ROLLBACK").is_err(),
        }
        outcome
    }

    /// Begins a transaction and takes the namespace's lock: shared, or alone to change it. The lock
    /// is in the server's memory only, so renewals of all nodes share it at no cost.
    fn begin(&self, namespace: &str, care: Care) -> Result<Facts, Fault> {
        let lock =
            if care.alone { "pg_advisory_xact_lock" } else { "pg_advisory_xact_lock_shared" };
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
        self.checked(rows.last())
    }

    fn checked(&self, row: Option<&SimpleQueryRow>) -> Result<Facts, Fault> {
        let place = self.line.place();
        let cell = |index: usize| row.and_then(|row| row.try_get(index).ok().flatten());
        let odd = || Fault::Unavailable(format!("{place} gave an answer that is none"));
        if cell(0).ok_or_else(odd)? == "t" {
            return Err(Fault::Unavailable(format!(
                "{place} is a standby: leases need the primary (target_session_attrs=read-write \
                 finds it among several hosts)"
            )));
        }
        if cell(1).ok_or_else(odd)? != "on" {
            return Err(Fault::Rejected(format!(
                "{place} runs with fsync = off: it may forget what it confirmed; turn it on"
            )));
        }
        let version = cell(2).ok_or_else(|| missing_tables(place))?;
        check_version(place, version.parse().map_err(|_| odd())?)?;
        let now = cell(3).and_then(|text| text.parse().ok()).ok_or_else(odd)?;
        Ok(Facts { now, incarnation: cell(4).ok_or_else(odd)?.into() })
    }
}

impl Store for Postgres {
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
        let key = lock_key("schema", "");
        let create = schema::CREATE;
        let made = self
            .batch(&format!("BEGIN; SELECT pg_advisory_xact_lock({key}); {create}; COMMIT"))
            .map(drop);
        if made.is_err() {
            self.lost = self.batch("ROLLBACK").is_err();
        }
        made
    }

    fn is_prepared(&mut self) -> Result<bool, Fault> {
        let rows = self.batch("SELECT to_regclass('flakeid_schema')")?;
        Ok(rows.first().is_some_and(|row| row.get(0).is_some()))
    }

    fn namespaces(&mut self) -> Result<Vec<String>, Fault> {
        let rows = self.batch("SELECT name FROM flakeid_namespace ORDER BY name")?;
        Ok(rows.iter().filter_map(|row| row.get(0).map(str::to_owned)).collect())
    }
}

/// Waits for the answer to a statement.
pub(super) fn answer<T: Send>(
    line: &Line,
    statement: impl Future<Output = Result<T, Error>> + Send,
) -> Result<T, Fault> {
    line.wait(ANSWER_TIMEOUT, statement)?.map_err(|error| fault(line.place(), &error))
}

/// The advisory lock of a purpose and a name: the same in all versions of this library (FNV-1a).
pub(super) fn lock_key(purpose: &str, name: &str) -> i64 {
    let bytes = "flakeid ".bytes().chain(purpose.bytes()).chain([b' ']).chain(name.bytes());
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.fold(0xcbf2_9ce4_8422_2325, step).cast_signed()
}
