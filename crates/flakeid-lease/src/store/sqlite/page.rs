use std::path::Path;

use rusqlite::{Connection, OptionalExtension, Params, Row as Found};

use super::trouble::trouble;
use crate::protocol::{Bounds, Row};
use crate::store::Fault;
use crate::store::gaps::Taken;
use crate::store::sql::{RowCells, whole};

/// A namespace in one transaction.
pub(super) struct Page<'s> {
    pub(super) connection: &'s Connection,
    pub(super) file: &'s Path,
    pub(super) namespace: &'s str,
    pub(super) now: i64,
    /// This machine's name.
    pub(super) machine: String,
    /// Machine, inode and run.
    pub(super) incarnation: String,
    pub(super) forgot_at: Option<i64>,
    /// The widest of any namespace that was ever here.
    pub(super) bounds: &'s mut Bounds,
    pub(super) changed: &'s mut bool,
}

impl Page<'_> {
    pub(super) fn one<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnOnce(&Found<'_>) -> rusqlite::Result<T>,
    ) -> Result<Option<T>, Fault> {
        let found = self.connection.query_row(sql, values, read).optional();
        found.map_err(|error| trouble(self.file, &error))
    }

    pub(super) fn all<T>(
        &self,
        sql: &str,
        values: impl Params,
        read: impl FnMut(&Found<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, Fault> {
        let found = self
            .connection
            .prepare(sql)
            .and_then(|mut select| select.query_map(values, read)?.collect());
        found.map_err(|error| trouble(self.file, &error))
    }

    /// Writes; how many rows it changed.
    pub(super) fn write(&mut self, sql: &str, values: impl Params) -> Result<usize, Fault> {
        *self.changed = true;
        self.connection.execute(sql, values).map_err(|error| trouble(self.file, &error))
    }

    pub(super) fn node_where(&self, rest: &str, values: impl Params) -> Result<Option<Row>, Fault> {
        let sql = format!("SELECT {} FROM flakeid_node WHERE {rest}", RowCells::COLUMNS);
        let cells = self.one(&sql, values, row_cells)?;
        cells.map(|cells| cells.row(self.namespace)).transpose()
    }
}

impl Taken for Page<'_> {
    fn count(&mut self, low: u64, high: u64) -> Result<u64, Fault> {
        let count = self.one(
            "SELECT count(*) FROM flakeid_node WHERE namespace = ?1 AND node BETWEEN ?2 AND ?3",
            (self.namespace, whole("node", low)?, whole("node", high)?),
            |row| row.get::<_, i64>(0),
        )?;
        Ok(count.map_or(0, i64::cast_unsigned))
    }

    fn nodes(&mut self, low: u64, high: u64) -> Result<Vec<u64>, Fault> {
        let values = (self.namespace, whole("node", low)?, whole("node", high)?);
        self.all(
            "SELECT node FROM flakeid_node WHERE namespace = ?1 AND node BETWEEN ?2 AND ?3 \
             ORDER BY node",
            values,
            |row| row.get(0).map(i64::cast_unsigned),
        )
    }
}

pub(super) fn row_cells(row: &Found<'_>) -> rusqlite::Result<RowCells> {
    Ok(RowCells {
        node: row.get(0)?,
        fence: row.get(1)?,
        start: row.get(2)?,
        token: row.get(3)?,
        grant: row.get(4)?,
        state: row.get(5)?,
        owner_name: row.get(6)?,
        owner_host: row.get(7)?,
        owner_pid: row.get(8)?,
        acquired: row.get(9)?,
        renewed: row.get(10)?,
        expires: row.get(11)?,
        incarnation: row.get(12)?,
    })
}
