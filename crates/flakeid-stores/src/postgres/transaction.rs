//! The statements of one `PostgreSQL` transaction, and the search for a node that no other transaction is about to take.

use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Row};

use super::fault::fault;
use crate::gaps::{self, Found};
use crate::machine::fnv_1a;
use crate::sql::{BlockingRuntime, Dialect, RetryHints, SqlLedger, SqlTransaction};
use crate::values::Value;
use flakeid_protocol::Namespace;
use flakeid_protocol::store::Fault;

/// The maximum number of locked nodes that one query skips. A node is locked while another transaction is about to take
/// the node. If the query finds no unlocked node, a new search begins.
const WALK: u64 = 255;

/// One `PostgreSQL` transaction. Its statements are unnamed, so that the client can connect through a connection
/// pooler.
pub(super) struct PostgresTransaction<'a> {
    pub(super) runtime: &'a BlockingRuntime,
    pub(super) client: &'a Client,
    pub(super) hints: &'a mut RetryHints,
}

impl PostgresTransaction<'_> {
    fn value(&self, row: &Row, index: usize) -> Result<Value, Fault> {
        let column = &row.columns()[index];
        let value = match *column.type_() {
            Type::INT8 => row.try_get::<_, Option<i64>>(index).map(Value::from),
            Type::BOOL => row.try_get::<_, Option<bool>>(index).map(Value::from),
            _ => row.try_get::<_, Option<String>>(index).map(Value::from),
        };
        value.map_err(|error| {
            let (shown, name) = (self.runtime.shown(), column.name());
            Fault::Rejected(format!(
                "{shown}: column {name} has changed since `flakeid leases init` created it ({error})"
            ))
        })
    }
}

/// Converts a value into a parameter that the driver accepts, together with the parameter's type.
fn parameter(value: &Value) -> (&(dyn ToSql + Sync), Type) {
    match value {
        Value::Null => (&None::<&str>, Type::TEXT),
        Value::Integer(number) => (number, Type::INT8),
        Value::Text(text) => (text, Type::TEXT),
        Value::Boolean(boolean) => (boolean, Type::BOOL),
    }
}

impl SqlTransaction for PostgresTransaction<'_> {
    const DIALECT: Dialect = Dialect {
        lock: "FOR UPDATE",
        lock_unless_locked: "FOR UPDATE SKIP LOCKED",
        is: "IS NOT DISTINCT FROM",
        by_fence: "",
        by_name: "",
        // The server uses the index of owner names only with this condition, because the index contains only rows with
        // an owner name.
        is_named: "AND owner_name <> ''",
        by_node: "",
        insert_node: ["VALUES (", ") ON CONFLICT DO NOTHING"],
        insert_new: ["INSERT INTO", "ON CONFLICT DO NOTHING"],
        // The ORDER BY clause makes the server use the primary key, because no other index has this order.
        count_nodes: "SELECT count(*) FROM (
                 SELECT FROM flakeid_node
                 WHERE namespace = ?1 AND node BETWEEN ?2 AND ?3 ORDER BY node OFFSET 0
             ) counted",
    };

    fn query(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Vec<Value>>, Fault> {
        let (sql, values) =
            (sql.replace('?', "$"), values.iter().map(parameter).collect::<Vec<_>>());
        let rows = self.runtime.wait_for_answer(fault, self.client.query_typed(&sql, &values))?;
        let cells = |row: &Row| (0..row.len()).map(|index| self.value(row, index)).collect();
        rows.iter().map(cells).collect()
    }

    fn execute(&mut self, sql: &str, values: &[Value]) -> Result<u64, Fault> {
        let (sql, values) =
            (sql.replace('?', "$"), values.iter().map(parameter).collect::<Vec<_>>());
        self.runtime.wait_for_answer(fault, self.client.execute_typed(&sql, &values))
    }

    /// Runs a statement that deletes entries of the history. The setting that permits the deletion ends with the
    /// transaction, so a pooler cannot pass the permission to another client.
    fn delete_history(&mut self, sql: &str, values: &[Value]) -> Result<u64, Fault> {
        self.query("SELECT set_config('flakeid.prune', 'on', true)", &[])?;
        self.execute(sql, values)
    }

    fn before_namespace_write(&mut self, _namespace: &Namespace) -> Result<(), Fault> {
        self.hints.require_exclusive()
    }

    /// Returns a node without a row. Skips nodes for which another transaction is about to insert a row. The clause
    /// `SKIP LOCKED` is not sufficient for this purpose, because it skips only existing rows.
    fn unused(
        ledger: &mut SqlLedger<'_, Self>,
        (from, to): (u64, u64),
        first: u64,
    ) -> Result<Option<u64>, Fault> {
        let above = lock_unused(ledger, first, to)?;
        if above.is_some() || first == from {
            Ok(above)
        } else {
            lock_unused(ledger, from, first - 1)
        }
    }
}

type PostgresLedger<'a, 't> = SqlLedger<'a, PostgresTransaction<'t>>;

/// Locks the first node from `from` to `to` that has no row and is not locked by another transaction.
fn lock_unused(
    ledger: &mut PostgresLedger<'_, '_>,
    from: u64,
    to: u64,
) -> Result<Option<u64>, Fault> {
    let mut low = from;
    while let Found::Free(node) = gaps::search(ledger, low, to, 0)? {
        let last = to.min(node + WALK);
        if let Some(locked) = lock_first(ledger, node, last)? {
            return Ok(Some(locked));
        }
        low = last + 1;
    }
    Ok(None)
}

/// Tries to lock the nodes without a row, one after another, until a lock is obtained. Returns the node that this call
/// has locked. The lock is released at the end of the transaction.
fn lock_first(
    ledger: &mut PostgresLedger<'_, '_>,
    from: u64,
    to: u64,
) -> Result<Option<u64>, Fault> {
    let mut values = ledger.range(from, to)?;
    values.push(lock_key("node", ledger.namespace).into());
    let nodes = ledger.numbers(
        "WITH RECURSIVE walk (node, got) AS (
             SELECT ?2 - 1, false
             UNION ALL
             SELECT node + 1, CASE WHEN EXISTS (
                 SELECT FROM flakeid_node n WHERE n.namespace = ?1 AND n.node = walk.node + 1
             ) THEN false ELSE pg_try_advisory_xact_lock(?4 # (node + 1)) END
             FROM walk WHERE NOT got AND node < ?3
         )
         SELECT node FROM walk WHERE got",
        &values,
    )?;
    Ok(nodes.first().copied())
}

/// Computes the key of the advisory lock for a purpose and a name. The key is an FNV-1a hash and must be the same in
/// all versions of this library.
pub(super) fn lock_key(purpose: &str, name: &str) -> i64 {
    let bytes = "flakeid ".bytes().chain(purpose.bytes()).chain([b' ']).chain(name.bytes());
    fnv_1a(bytes).cast_signed()
}
