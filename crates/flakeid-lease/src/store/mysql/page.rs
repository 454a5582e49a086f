use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Params, Row as SqlRow, Value};

use super::cells::cell;
use super::transaction::{Facts, answer};
use crate::store::Fault;
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

    /// The first node from `from` to `to` that has no row: `from` itself, or the first that comes
    /// right after a row and has none.
    pub(super) fn gap(&mut self, from: u64, to: u64) -> Result<Option<u64>, Fault> {
        let (from, to) = (whole("node", from)?, whole("node", to)?);
        let taken = "SELECT node FROM flakeid_node WHERE namespace = ? AND node = ?";
        if self.query(taken, &[from.into()])?.is_empty() {
            return Ok(Some(from.cast_unsigned()));
        }
        let rows = self.query(
            "SELECT n.node + 1 FROM flakeid_node n
             LEFT JOIN flakeid_node m ON m.namespace = n.namespace AND m.node = n.node + 1
             WHERE n.namespace = ? AND n.node >= ? AND n.node < ? AND m.node IS NULL
             ORDER BY n.node LIMIT 1",
            &[from.into(), to.into()],
        )?;
        let Some(row) = rows.first() else { return Ok(None) };
        cell::<i64>(row, 0).map(i64::cast_unsigned).map(Some)
    }
}
