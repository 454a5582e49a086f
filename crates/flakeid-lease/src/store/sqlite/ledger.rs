use rusqlite::params;

use super::page::{Page, row_cells};
use crate::machine;
use crate::protocol::{Namespace, Record, Row};
use crate::store::sql::{NamespaceCells, RecordCells, RowCells, whole};
use crate::store::{Candidates, Continuity, Fault, Forgotten, Ledger, gaps};

impl Ledger for Page<'_> {
    fn now(&mut self) -> Result<i64, Fault> {
        Ok(self.now)
    }

    fn continuity(&mut self, noted: &str) -> Result<Continuity, Fault> {
        let machine = noted.split('/').next().unwrap_or_default();
        Ok(if noted == self.incarnation {
            Continuity::Same
        } else if machine::may_become(machine, &self.machine) {
            Continuity::Restored
        } else {
            Continuity::Foreign
        })
    }

    fn incarnation(&mut self) -> Result<String, Fault> {
        Ok(self.incarnation.clone())
    }

    fn forgotten(&mut self) -> Result<Option<Forgotten>, Fault> {
        Ok(self.forgot_at.map(|at| Forgotten { at, bounds: *self.bounds }))
    }

    fn namespace(&mut self) -> Result<Option<Namespace>, Fault> {
        let sql =
            format!("SELECT {} FROM flakeid_namespace WHERE name = ?1", NamespaceCells::COLUMNS);
        let cells = self.one(&sql, [self.namespace], |row| {
            Ok(NamespaceCells {
                layout: row.get(0)?,
                floor: row.get(1)?,
                incarnation: row.get(2)?,
                max_window_ms: row.get(3)?,
                max_ahead_ms: row.get(4)?,
                max_skew_ms: row.get(5)?,
                keeps_history: row.get(6)?,
            })
        })?;
        cells.map(|cells| cells.namespace(self.namespace)).transpose()
    }

    fn put_namespace(&mut self, namespace: &Namespace) -> Result<(), Fault> {
        let cells = NamespaceCells::of(namespace)?;
        let name = self.namespace;
        let values = params![
            name,
            cells.layout,
            cells.floor,
            cells.incarnation,
            cells.max_window_ms,
            cells.max_ahead_ms,
            cells.max_skew_ms,
            cells.keeps_history,
        ];
        let updated = self.write(
            "UPDATE flakeid_namespace SET layout = ?2, floor = ?3, incarnation = ?4, \
             max_window_ms = ?5, max_ahead_ms = ?6, max_skew_ms = ?7, keeps_history = ?8 \
             WHERE name = ?1",
            values,
        )?;
        if updated == 0 {
            let columns = NamespaceCells::COLUMNS;
            let sql = format!(
                "INSERT INTO flakeid_namespace (name, {columns}) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"
            );
            self.write(&sql, values)?;
        }
        *self.bounds = self.bounds.fieldwise_max(&namespace.bounds);
        Ok(())
    }

    fn row(&mut self, node: u64) -> Result<Option<Row>, Fault> {
        self.node_where("namespace = ?1 AND node = ?2", (self.namespace, whole("node", node)?))
    }

    fn coldest(&mut self, candidates: &Candidates<'_>) -> Result<Option<Row>, Fault> {
        let Candidates { from, to, store_now, hottest, name } = *candidates;
        let hottest = i64::try_from(hottest).unwrap_or(i64::MAX);
        // A damaged fence or state is nobody's candidate.
        self.node_where(
            "namespace = ?1 AND node BETWEEN ?2 AND ?3 AND state IN ('free', 'held') \
             AND expires <= ?4 AND fence BETWEEN 0 AND ?5 AND (?6 IS NULL OR owner_name = ?6) \
             ORDER BY fence, node LIMIT 1",
            (self.namespace, whole("node", from)?, whole("node", to)?, store_now, hottest, name),
        )
    }

    fn unused(&mut self, from: u64, to: u64, first: u64) -> Result<Option<u64>, Fault> {
        gaps::unused(self, (from, to), first, 0)
    }

    fn rows(&mut self) -> Result<Vec<Row>, Fault> {
        let columns = RowCells::COLUMNS;
        let sql = format!("SELECT {columns} FROM flakeid_node WHERE namespace = ?1 ORDER BY node");
        let cells = self.all(&sql, [self.namespace], row_cells)?;
        cells.into_iter().map(|cells| cells.row(self.namespace)).collect()
    }

    fn put_row(&mut self, before: Option<&Row>, after: &Row) -> Result<(), Fault> {
        if self.row(after.node)?.as_ref() != before {
            return Err(Fault::Conflict);
        }
        let cells = RowCells::of(after)?;
        let sql = match before {
            None => format!(
                "INSERT INTO flakeid_node (namespace, {}) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
                RowCells::COLUMNS
            ),
            Some(_) => "UPDATE flakeid_node SET fence = ?3, start = ?4, token = ?5, \
                grant_number = ?6, state = ?7, owner_name = ?8, owner_host = ?9, owner_pid = ?10, \
                acquired = ?11, renewed = ?12, expires = ?13, incarnation = ?14 \
                WHERE namespace = ?1 AND node = ?2"
                .into(),
        };
        let namespace = self.namespace;
        let values = params![
            namespace,
            cells.node,
            cells.fence,
            cells.start,
            cells.token,
            cells.grant,
            cells.state,
            cells.owner_name,
            cells.owner_host,
            cells.owner_pid,
            cells.acquired,
            cells.renewed,
            cells.expires,
            cells.incarnation,
        ];
        self.write(&sql, values).map(drop)
    }

    fn record(&mut self, record: &Record) -> Result<(), Fault> {
        let namespace = self.namespace;
        let values = params![
            namespace,
            whole("node", record.node)?,
            whole("grant", record.grant)?,
            whole("start", record.start)?,
            record.owner.name,
            record.owner.host,
            record.owner.pid,
            record.acquired,
        ];
        let sql = "INSERT INTO flakeid_grant (namespace, node, grant_number, start, owner_name, \
                   owner_host, owner_pid, acquired) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
        self.write(sql, values).map(drop)
    }

    fn record_at(&mut self, node: u64, tick: u64) -> Result<Option<(Record, Option<u64>)>, Fault> {
        let tick = i64::try_from(tick).unwrap_or(i64::MAX);
        let Ok(node) = whole("node", node) else { return Ok(None) };
        let cells = self.one(
            "SELECT node, grant_number, start, owner_name, owner_host, owner_pid, acquired, \
             (SELECT min(later.start) FROM flakeid_grant AS later WHERE later.namespace = ?1 \
             AND later.node = ?2 AND later.grant_number > flakeid_grant.grant_number) \
             FROM flakeid_grant WHERE namespace = ?1 AND node = ?2 AND start <= ?3 \
             ORDER BY start DESC, grant_number DESC LIMIT 1",
            (self.namespace, node, tick),
            |row| {
                Ok(RecordCells {
                    node: row.get(0)?,
                    grant: row.get(1)?,
                    start: row.get(2)?,
                    owner_name: row.get(3)?,
                    owner_host: row.get(4)?,
                    owner_pid: row.get(5)?,
                    acquired: row.get(6)?,
                    next: row.get(7)?,
                })
            },
        )?;
        cells.map(|cells| cells.record(self.namespace)).transpose()
    }
}
