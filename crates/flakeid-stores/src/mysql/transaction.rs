//! The statements of one `MySQL` or `MariaDB` transaction.

use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Params, Row, Value as Cell};

use super::fault::fault;
use crate::sql::{BlockingRuntime, Dialect, RetryHints, SqlLedger, SqlTransaction};
use crate::values::Value;
use crate::{gaps, random};
use flakeid_protocol::Namespace;
use flakeid_protocol::store::Fault;

/// One transaction in `MySQL` or `MariaDB`.
pub(super) struct MysqlTransaction<'a> {
    pub(super) runtime: &'a BlockingRuntime,
    pub(super) connection: &'a mut Conn,
    pub(super) hints: &'a mut RetryHints,
}

impl SqlTransaction for MysqlTransaction<'_> {
    const DIALECT: Dialect = Dialect {
        lock: "FOR UPDATE",
        lock_unless_locked: "FOR UPDATE SKIP LOCKED",
        is: "<=>",
        // Forces the server to read the rows in the order of an index. Otherwise, the server would lock all rows to
        // sort them.
        by_fence: "FORCE INDEX (flakeid_node_coldest)",
        by_name: "FORCE INDEX (flakeid_node_name)",
        is_named: "",
        // Without this clause, the server may read all rows through another index.
        by_node: "FORCE INDEX (PRIMARY)",
        // Inserting a duplicate row fails with an error that counts as a conflict.
        insert_node: ["VALUES (", ")"],
        insert_new: ["INSERT IGNORE INTO", ""],
        count_nodes: "SELECT COUNT(*) FROM flakeid_node FORCE INDEX (PRIMARY)
             WHERE namespace = ?1 AND node BETWEEN ?2 AND ?3",
    };

    fn query(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Vec<Value>>, Fault> {
        let (sql, parameters) = positional(sql, values);
        let rows: Vec<Row> =
            self.runtime.wait_for_answer(fault, self.connection.exec(sql, parameters))?;
        let cells = |row: Row| row.unwrap_raw().into_iter().flatten().map(value).collect();
        Ok(rows.into_iter().map(cells).collect())
    }

    fn execute(&mut self, sql: &str, values: &[Value]) -> Result<u64, Fault> {
        let (sql, parameters) = positional(sql, values);
        self.runtime.wait_for_answer(fault, self.connection.exec_drop(sql, parameters))?;
        Ok(self.connection.affected_rows())
    }

    /// Runs a statement that deletes entries of the history. A session variable permits the deletion. The variable is
    /// set only while the statement runs, because the end of a transaction does not reset session variables.
    fn delete_history(&mut self, sql: &str, values: &[Value]) -> Result<u64, Fault> {
        self.permit_deletion("1")?;
        let deleted = self.execute(sql, values);
        // After a timeout, the connection is in an unknown state and is closed. Closing the connection also resets the
        // session variable.
        if matches!(deleted, Err(Fault::Unavailable(_))) {
            return deleted;
        }
        let forbidden = self.permit_deletion("NULL");
        deleted.and_then(|rows| forbidden.map(|()| rows))
    }

    /// Returns the clause that locks the namespace. The lock is exclusive if the transaction changes the namespace, and
    /// otherwise shared, so that renewals do not wait for each other.
    fn namespace_lock(&self) -> &'static str {
        if self.hints.exclusive { "FOR UPDATE" } else { "LOCK IN SHARE MODE" }
    }

    fn before_namespace_write(&mut self, _namespace: &Namespace) -> Result<(), Fault> {
        self.hints.require_exclusive()
    }

    fn unused(
        ledger: &mut SqlLedger<'_, Self>,
        (from, to): (u64, u64),
        first: u64,
    ) -> Result<Option<u64>, Fault> {
        // After a conflict, each client begins its search at a random node, so that the clients do not all choose the
        // same node again.
        let is_spread = ledger.transaction.hints.spread;
        let first = if is_spread { from + random::below(to - from + 1) } else { first };
        gaps::unused(ledger, (from, to), first, 0)
    }
}

impl MysqlTransaction<'_> {
    fn permit_deletion(&mut self, value: &str) -> Result<(), Fault> {
        let sql = format!("SET @flakeid_prune = {value}");
        self.runtime.wait_for_answer(fault, self.connection.query_drop(sql))
    }
}

/// Replaces each numbered parameter `?n` with a `?` and a separate copy of its value, because the server does not
/// support numbered parameters.
fn positional(sql: &str, values: &[Value]) -> (String, Params) {
    let mut parts = sql.split('?');
    let mut text = parts.next().unwrap_or_default().to_owned();
    let mut parameters = Vec::new();
    for part in parts {
        let digits = part.bytes().take_while(u8::is_ascii_digit).count();
        let number: usize = part[..digits].parse().unwrap_or(0);
        parameters.push(values.get(number.wrapping_sub(1)).map_or(Cell::NULL, parameter));
        text.push('?');
        text.push_str(&part[digits..]);
    }
    (text, if parameters.is_empty() { Params::Empty } else { Params::Positional(parameters) })
}

fn parameter(value: &Value) -> Cell {
    match value {
        Value::Null => Cell::NULL,
        Value::Integer(number) => number.into(),
        Value::Text(text) => text.into(),
        Value::Boolean(boolean) => boolean.into(),
    }
}

/// Converts a cell of a query result. If a column has changed since `flakeid leases init` created it, a cell may have
/// an unexpected type. The cell then becomes a string, which is later rejected as invalid.
fn value(cell: Cell) -> Value {
    match cell {
        Cell::NULL => Value::Null,
        Cell::Int(number) => Value::Integer(number),
        Cell::Bytes(bytes) => String::from_utf8_lossy(&bytes).into_owned().into(),
        other => other.as_sql(true).into(),
    }
}
