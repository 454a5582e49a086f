use std::cell::RefCell;

use tokio_postgres::types::{FromSql, ToSql, Type};
use tokio_postgres::{Client, Row as SqlRow};

use super::transaction::{Facts, answer, lock_key};
use crate::protocol::Row;
use crate::store::Fault;
use crate::store::gaps::{self, Found, Taken};
use crate::store::sql::{Care, Line, RowCells, whole};

/// How far a transaction walks past nodes that others are about to take, before it searches again.
const WALK: u64 = 255;

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
    pub(super) fn gap(&mut self, from: u64, to: u64) -> Result<Option<u64>, Fault> {
        let mut low = from;
        while let Found::Free(node) = gaps::search(self, low, to, 0)? {
            let last = to.min(node + WALK);
            if let Some(locked) = self.locked(node, last)? {
                return Ok(Some(locked));
            }
            low = last + 1;
        }
        Ok(None)
    }

    /// Walks over nodes, locking those without a row; the walk ends at the first node that it gets.
    /// Locks end with the transaction.
    fn locked(&self, from: u64, to: u64) -> Result<Option<u64>, Fault> {
        let (from, to) = (whole("node", from)?, whole("node", to)?);
        let key = lock_key("node", self.namespace);
        let rows = self.query(
            "WITH RECURSIVE walk (node, got) AS (
                 SELECT $2 - 1, false
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

impl Taken for Page<'_> {
    fn count(&mut self, low: u64, high: u64) -> Result<u64, Fault> {
        let (low, high) = (whole("node", low)?, whole("node", high)?);
        let rows = self.query(
            // In order, and so by the primary key: other indexes have no order to begin and end by.
            "SELECT count(*) FROM (
                 SELECT FROM flakeid_node
                 WHERE namespace = $1 AND node BETWEEN $2 AND $3 ORDER BY node OFFSET 0
             ) counted",
            &[(&self.namespace, Type::TEXT), (&low, Type::INT8), (&high, Type::INT8)],
        )?;
        rows.first().map_or(Ok(0), |row| self.cell::<i64>(row, 0).map(i64::cast_unsigned))
    }

    fn nodes(&mut self, low: u64, high: u64) -> Result<Vec<u64>, Fault> {
        let (low, high) = (whole("node", low)?, whole("node", high)?);
        let rows = self.query(
            "SELECT node FROM flakeid_node
             WHERE namespace = $1 AND node BETWEEN $2 AND $3 ORDER BY node",
            &[(&self.namespace, Type::TEXT), (&low, Type::INT8), (&high, Type::INT8)],
        )?;
        rows.iter().map(|row| self.cell::<i64>(row, 0).map(i64::cast_unsigned)).collect()
    }
}
