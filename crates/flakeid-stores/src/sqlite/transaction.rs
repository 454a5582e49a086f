//! The SQL statements of one `SQLite` transaction, and the conversion of their values.

use std::path::Path;

use rusqlite::types::{ToSqlOutput, Value as Cell};
use rusqlite::{Connection, ToSql, params_from_iter};

use super::fault::sqlite_fault;
use crate::machine;
use crate::sql::{Dialect, SqlTransaction};
use crate::values::Value;
use flakeid_protocol::store::{Continuity, Fault, Forgotten};
use flakeid_protocol::{Bounds, Namespace};

/// One transaction in an `SQLite` file.
pub(super) struct SqliteTransaction<'s> {
    pub(super) connection: &'s Connection,
    pub(super) file: &'s Path,
    /// The name of this machine.
    pub(super) machine: String,
    pub(super) forgot_at: Option<i64>,
    /// For each bound, the largest value that any namespace of this store has ever had.
    pub(super) bounds: &'s mut Bounds,
    pub(super) changed: &'s mut bool,
}

impl SqlTransaction for SqliteTransaction<'_> {
    const DIALECT: Dialect = Dialect {
        // Row locks are unnecessary, because no other process uses the file during a transaction.
        lock: "",
        lock_unless_locked: "",
        is: "IS",
        by_fence: "",
        by_name: "",
        is_named: "",
        by_node: "",
        // The statement itself checks for an existing row, because the trigger that protects existing rows fires before
        // `SQLite` applies a conflict clause.
        insert_node: [
            "SELECT ",
            " WHERE NOT EXISTS (SELECT 1 FROM flakeid_node WHERE namespace = ?1 AND node = ?2)",
        ],
        insert_new: ["INSERT OR IGNORE INTO", ""],
        count_nodes: "SELECT count(*) FROM flakeid_node \
             WHERE namespace = ?1 AND node BETWEEN ?2 AND ?3",
    };

    fn compare_incarnation(&self, recorded: &str) -> Continuity {
        let machine = recorded.split('/').next().unwrap_or_default();
        if machine::may_become(machine, &self.machine) {
            Continuity::Restored
        } else {
            Continuity::Foreign("the store's files come from another machine".into())
        }
    }

    fn forgotten(&self) -> Option<Forgotten> {
        self.forgot_at.map(|at| Forgotten { at, bounds: *self.bounds })
    }

    fn query(&mut self, sql: &str, values: &[Value]) -> Result<Vec<Vec<Value>>, Fault> {
        let rows = || {
            let mut statement = self.connection.prepare(sql)?;
            let columns = statement.column_count();
            let cells = |row: &rusqlite::Row<'_>| {
                (0..columns).map(|index| row.get(index).map(value)).collect()
            };
            statement.query_map(params_from_iter(values), cells)?.collect()
        };
        let rows: rusqlite::Result<_> = rows();
        rows.map_err(|error| sqlite_fault(self.file, &error))
    }

    fn execute(&mut self, sql: &str, values: &[Value]) -> Result<u64, Fault> {
        *self.changed = true;
        let changed = self.connection.execute(sql, params_from_iter(values));
        changed.map(|rows| rows as u64).map_err(|error| sqlite_fault(self.file, &error))
    }

    fn before_namespace_write(&mut self, namespace: &Namespace) -> Result<(), Fault> {
        *self.bounds = self.bounds.fieldwise_max(&namespace.bounds);
        Ok(())
    }
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match self {
            Self::Null => Ok(ToSqlOutput::Owned(Cell::Null)),
            Self::Integer(number) => number.to_sql(),
            Self::Text(text) => text.to_sql(),
            Self::Boolean(boolean) => boolean.to_sql(),
        }
    }
}

/// Converts a cell of a table into a value. Real numbers and blobs are not expected, because the columns of the
/// `STRICT` tables contain only integers and text.
fn value(cell: Cell) -> Value {
    match cell {
        Cell::Null => Value::Null,
        Cell::Integer(number) => Value::Integer(number),
        Cell::Text(text) => Value::Text(text),
        Cell::Real(number) => Value::Text(number.to_string()),
        Cell::Blob(_) => Value::Text("a blob".into()),
    }
}
