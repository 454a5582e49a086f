use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Params, Row as SqlRow, Value};

use super::cells::cell;
use super::transaction::{Facts, answer};
use crate::store::Fault;
use crate::store::gaps::Taken;
use crate::store::sql::{Care, Line, whole};

/// One transaction.
pub(super) struct Page<'a> {
    line: &'a Line,
    conn: &'a mut Conn,
    pub(super) namespace: &'a str,
    pub(super) facts: Facts,
    pub(super) care: &'a mut Care,
    failure: Option<Fault>,
}

impl<'a> Page<'a> {
    pub(super) const fn new(
        line: &'a Line,
        conn: &'a mut Conn,
        namespace: &'a str,
        facts: Facts,
        care: &'a mut Care,
    ) -> Self {
        Self { line, conn, namespace, facts, care, failure: None }
    }

    /// The first statement's that failed.
    pub(super) fn into_failure(self) -> Option<Fault> {
        self.failure
    }

    fn noted<T>(&mut self, outcome: Result<T, Fault>) -> Result<T, Fault> {
        if let Err(fault) = &outcome {
            self.failure.get_or_insert_with(|| fault.clone());
        }
        outcome
    }

    pub(super) fn conflict<T>(&mut self) -> Result<T, Fault> {
        self.noted(Err(Fault::Conflict))
    }

    /// Runs a query whose first parameter is the namespace.
    pub(super) fn query(&mut self, sql: &str, parameters: &[Value]) -> Result<Vec<SqlRow>, Fault> {
        let mut all = vec![Value::from(self.namespace)];
        all.extend_from_slice(parameters);
        let rows = answer(self.line, self.conn.exec(sql, Params::Positional(all)));
        self.noted(rows)
    }

    /// Runs a statement; returns how many rows it met.
    pub(super) fn execute(&mut self, sql: &str, parameters: Vec<Value>) -> Result<u64, Fault> {
        let done = answer(self.line, self.conn.exec_drop(sql, Params::Positional(parameters)));
        self.noted(done)?;
        Ok(self.conn.affected_rows())
    }
}

/// Reads that lock nothing. Left to itself the server may read all rows by another index.
impl Taken for Page<'_> {
    fn count(&mut self, low: u64, high: u64) -> Result<u64, Fault> {
        let (low, high) = (whole("node", low)?, whole("node", high)?);
        let rows = self.query(
            "SELECT COUNT(*) FROM flakeid_node FORCE INDEX (PRIMARY)
             WHERE namespace = ? AND node BETWEEN ? AND ?",
            &[low.into(), high.into()],
        )?;
        rows.first().map_or(Ok(0), |row| cell(row, 0))
    }

    fn nodes(&mut self, low: u64, high: u64) -> Result<Vec<u64>, Fault> {
        let (low, high) = (whole("node", low)?, whole("node", high)?);
        let rows = self.query(
            "SELECT node FROM flakeid_node FORCE INDEX (PRIMARY)
             WHERE namespace = ? AND node BETWEEN ? AND ? ORDER BY node",
            &[low.into(), high.into()],
        )?;
        rows.iter().map(|row| cell(row, 0)).collect()
    }
}
