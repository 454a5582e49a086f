use std::cell::RefCell;

use tokio_postgres::types::{FromSql, ToSql, Type};
use tokio_postgres::{Client, Row as SqlRow};

use super::transaction::{Facts, answer, lock_key};
use crate::protocol::Row;
use crate::store::Fault;
use crate::store::sql::{Care, Line, RowCells, whole};

/// One transaction. Statements are unnamed, so that connection poolers may stand in between.
pub(super) struct Page<'a> {
    line: &'a Line,
    client: &'a Client,
    pub(super) namespace: &'a str,
    pub(super) facts: Facts,
    pub(super) care: &'a mut Care,
    failure: RefCell<Option<Fault>>,
}

/// A value with its type.
pub(super) type Parameter<'p> = (&'p (dyn ToSql + Sync), Type);

impl<'a> Page<'a> {
    pub(super) const fn new(
        line: &'a Line,
        client: &'a Client,
        namespace: &'a str,
        facts: Facts,
        care: &'a mut Care,
    ) -> Self {
        Self { line, client, namespace, facts, care, failure: RefCell::new(None) }
    }

    /// The first statement's that failed.
    pub(super) fn into_failure(self) -> Option<Fault> {
        self.failure.into_inner()
    }

    fn noted<T>(&self, outcome: Result<T, Fault>) -> Result<T, Fault> {
        if let Err(fault) = &outcome {
            self.failure.borrow_mut().get_or_insert_with(|| fault.clone());
        }
        outcome
    }

    pub(super) fn query(
        &self,
        sql: &str,
        parameters: &[Parameter<'_>],
    ) -> Result<Vec<SqlRow>, Fault> {
        let rows = answer(self.line, self.client.query_typed(sql, parameters));
        self.noted(rows)
    }

    pub(super) fn execute(&self, sql: &str, parameters: &[Parameter<'_>]) -> Result<u64, Fault> {
        let changed = answer(self.line, self.client.execute_typed(sql, parameters));
        self.noted(changed)
    }

    pub(super) fn conflict<T>(&self) -> Result<T, Fault> {
        self.noted(Err(Fault::Conflict))
    }

    /// The first row of an answer as one of `flakeid_node`.
    pub(super) fn first_row(&self, rows: &[SqlRow]) -> Result<Option<Row>, Fault> {
        rows.first().map(|row| self.row_of(row)).transpose()
    }

    pub(super) fn row_of(&self, row: &SqlRow) -> Result<Row, Fault> {
        let cells = RowCells {
            node: self.cell(row, 0)?,
            fence: self.cell(row, 1)?,
            start: self.cell(row, 2)?,
            token: self.cell(row, 3)?,
            grant: self.cell(row, 4)?,
            state: self.cell(row, 5)?,
            owner_name: self.cell(row, 6)?,
            owner_host: self.cell(row, 7)?,
            owner_pid: self.cell(row, 8)?,
            acquired: self.cell(row, 9)?,
            renewed: self.cell(row, 10)?,
            expires: self.cell(row, 11)?,
            incarnation: self.cell(row, 12)?,
        };
        cells.row(self.namespace)
    }

    pub(super) fn cell<'r, T: FromSql<'r>>(
        &self,
        row: &'r SqlRow,
        index: usize,
    ) -> Result<T, Fault> {
        row.try_get(index).map_err(|error| {
            let name = row.columns().get(index).map_or("", |column| column.name());
            let place = self.line.place();
            Fault::Rejected(format!("{place}: column {name} is not as `init` made it: {error}"))
        })
    }

    /// The first node from `from` to `to` that has no row and that no other transaction is about
    /// to give one, as `SKIP LOCKED` would find it if there were rows to lock.
    ///
    /// Finds the first gap by the index, then walks on from there, locking on the way what it
    /// looks at; the walk ends at the first node that it gets. Locks end with the transaction.
    pub(super) fn gap(&self, from: u64, to: u64) -> Result<Option<u64>, Fault> {
        let (from, to) = (whole("node", from)?, whole("node", to)?);
        let key = lock_key("node", self.namespace);
        let rows = self.query(
            "WITH RECURSIVE gap (node) AS (
                 SELECT CASE WHEN NOT EXISTS (
                     SELECT FROM flakeid_node WHERE namespace = $1 AND node = $2
                 ) THEN $2 ELSE (
                     SELECT n.node + 1 FROM flakeid_node n
                     WHERE n.namespace = $1 AND n.node >= $2 AND n.node < $3 AND NOT EXISTS (
                         SELECT FROM flakeid_node m
                         WHERE m.namespace = $1 AND m.node = n.node + 1
                     )
                     ORDER BY n.node LIMIT 1
                 ) END
             ), walk (node, got) AS (
                 SELECT node, pg_try_advisory_xact_lock($4 # node) FROM gap WHERE node IS NOT NULL
                 UNION ALL
                 SELECT node + 1, CASE WHEN EXISTS (
                     SELECT FROM flakeid_node n WHERE n.namespace = $1 AND n.node = walk.node + 1
                 ) THEN false ELSE pg_try_advisory_xact_lock($4 # (node + 1)) END
                 FROM walk WHERE NOT got AND node < $3
             )
             SELECT node FROM walk WHERE got",
            &[
                (&self.namespace, Type::TEXT),
                (&from, Type::INT8),
                (&to, Type::INT8),
                (&key, Type::INT8),
            ],
        )?;
        let Some(row) = rows.first() else { return Ok(None) };
        self.cell::<i64>(row, 0).map(i64::cast_unsigned).map(Some)
    }
}
