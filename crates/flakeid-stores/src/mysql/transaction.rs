//! The statements of one transaction.

use mysql_async::prelude::Queryable;
use mysql_async::{Conn, Params, Row, Value as Cell};

use super::fault::fault;
use crate::sql::{BlockingRuntime, Dialect, RetryHints, SqlLedger, SqlTransaction};
use crate::values::Value;
use crate::{gaps, random};
use flakeid_protocol::Namespace;
use flakeid_protocol::store::Fault;

/// One transaction.
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
        // By the index and in its order: otherwise the server would lock all rows to sort them.
        by_fence: "FORCE INDEX (flakeid_node_coldest)",
        by_name: "FORCE INDEX (flakeid_node_name)",
        is_named: "",
        // Left to itself the server may read all rows by another index.
        by_node: "FORCE INDEX (PRIMARY)",
        // A duplicate is a conflict.
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

    /// Shared, as all renewals lock it, or exclusive to change it.
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
        // Clients that were in conflict search from different places.
        let is_spread = ledger.transaction.hints.spread;
        let first = if is_spread { from + random::below(to - from + 1) } else { first };
        gaps::unused(ledger, (from, to), first, 0)
    }
}

/// The server numbers no parameters: each `?n` becomes a `?` with its own copy of the value.
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

/// What has another type than `flakeid leases init` gave its column is text that makes no sense there.
fn value(cell: Cell) -> Value {
    match cell {
        Cell::NULL => Value::Null,
        Cell::Int(number) => Value::Integer(number),
        Cell::Bytes(bytes) => String::from_utf8_lossy(&bytes).into_owned().into(),
        other => other.as_sql(true).into(),
    }
}
