use mysql_async::Value;

use super::cells::{namespace_of, record_of, row_of, values_of};
use super::page::Page;
use crate::protocol::{Namespace, Record, Row};
use crate::store::sql::{NamespaceCells, RowCells, part, whole};
use crate::store::{Candidates, Continuity, Fault, Ledger, gaps};

impl Ledger for Page<'_> {
    fn now(&mut self) -> Result<i64, Fault> {
        Ok(self.facts.now)
    }

    fn continuity(&mut self, noted: &str) -> Result<Continuity, Fault> {
        let same = noted == self.facts.incarnation;
        Ok(if same { Continuity::Same } else { Continuity::Restored })
    }

    fn incarnation(&mut self) -> Result<String, Fault> {
        Ok(self.facts.incarnation.clone())
    }

    /// Locks the namespace: shared, as all renewals do, or alone to change it.
    fn namespace(&mut self) -> Result<Option<Namespace>, Fault> {
        let columns = NamespaceCells::COLUMNS;
        let lock = if self.care.alone { "FOR UPDATE" } else { "LOCK IN SHARE MODE" };
        let sql = format!("SELECT {columns} FROM flakeid_namespace WHERE name = ? {lock}");
        let rows = self.query(&sql, &[])?;
        rows.first().map(|row| namespace_of(self.namespace, row)).transpose()
    }

    fn put_namespace(&mut self, namespace: &Namespace) -> Result<(), Fault> {
        if !self.care.alone {
            self.care.alone = true;
            return self.conflict();
        }
        let cells = NamespaceCells::of(namespace)?;
        // The name comes last, where an update compares it.
        let values: Vec<Value> = vec![
            cells.layout.into(),
            cells.floor.into(),
            cells.incarnation.into(),
            cells.max_window_ms.into(),
            cells.max_ahead_ms.into(),
            cells.max_skew_ms.into(),
            cells.keeps_history.into(),
            self.namespace.into(),
        ];
        let columns = NamespaceCells::COLUMNS;
        let assigned = columns.replace(", ", " = ?, ");
        let update = format!("UPDATE flakeid_namespace SET {assigned} = ? WHERE name = ?");
        // Not an upsert: users who may not create namespaces may still note a restoration.
        if self.execute(&update, values.clone())? == 0 {
            let insert = format!(
                "INSERT INTO flakeid_namespace ({columns}, name) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
            );
            self.execute(&insert, values)?;
        }
        Ok(())
    }

    fn row(&mut self, node: u64) -> Result<Option<Row>, Fault> {
        let (columns, node) = (RowCells::COLUMNS, whole("node", node)?);
        let rows = self.query(
            &format!(
                "SELECT {columns} FROM flakeid_node WHERE namespace = ? AND node = ? FOR UPDATE"
            ),
            &[node.into()],
        )?;
        rows.first().map(|row| row_of(self.namespace, row)).transpose()
    }

    fn coldest(&mut self, candidates: &Candidates<'_>) -> Result<Option<Row>, Fault> {
        let columns = RowCells::COLUMNS;
        let mut parameters: Vec<Value> = vec![
            whole("node", candidates.from)?.into(),
            whole("node", candidates.to)?.into(),
            candidates.store_now.into(),
            i64::try_from(candidates.hottest).unwrap_or(i64::MAX).into(),
        ];
        // By the index and in its order: otherwise the server would lock all rows to sort them.
        let (index, named) = if let Some(name) = candidates.name {
            parameters.push(name.into());
            ("flakeid_node_name", "AND owner_name = ?")
        } else {
            ("flakeid_node_coldest", "")
        };
        let rows = self.query(
            &format!(
                "SELECT {columns} FROM flakeid_node FORCE INDEX ({index})
                 WHERE namespace = ? AND node BETWEEN ? AND ? AND state IN ('free', 'held')
                     AND expires <= ? AND fence <= ? {named}
                 ORDER BY fence, node LIMIT 1 FOR UPDATE SKIP LOCKED"
            ),
            &parameters,
        )?;
        rows.first().map(|row| row_of(self.namespace, row)).transpose()
    }

    fn unused(&mut self, from: u64, to: u64, first: u64) -> Result<Option<u64>, Fault> {
        // Who was in conflict looks elsewhere, as everybody else who was.
        let spread = (part() * (to - from) as f64) as u64;
        let first = if self.care.apart { from + spread.min(to - from) } else { first };
        gaps::unused(self, (from, to), first, 0)
    }

    fn rows(&mut self) -> Result<Vec<Row>, Fault> {
        let columns = RowCells::COLUMNS;
        let sql = format!("SELECT {columns} FROM flakeid_node WHERE namespace = ? ORDER BY node");
        let rows = self.query(&sql, &[])?;
        rows.iter().map(|row| row_of(self.namespace, row)).collect()
    }

    fn put_row(&mut self, before: Option<&Row>, after: &Row) -> Result<(), Fault> {
        let columns = RowCells::COLUMNS;
        let mut parameters = values_of(RowCells::of(after)?);
        parameters.push(self.namespace.into());
        let Some(before) = before else {
            let marks = vec!["?"; parameters.len()].join(", ");
            let sql = format!("INSERT INTO flakeid_node ({columns}, namespace) VALUES ({marks})");
            // A duplicate is a conflict.
            self.execute(&sql, parameters)?;
            return Ok(());
        };
        let old = RowCells::of(before)?;
        parameters.extend([
            old.node.into(),
            old.fence.into(),
            old.token.into(),
            old.state.into(),
            old.grant.into(),
        ]);
        let assigned = columns.replace(", ", " = ?, ");
        let sql = format!(
            "UPDATE flakeid_node SET {assigned} = ?
             WHERE namespace = ? AND node = ? AND fence = ? AND token <=> ? AND state = ?
                 AND grant_number = ?"
        );
        if self.execute(&sql, parameters)? == 0 { self.conflict() } else { Ok(()) }
    }

    fn record(&mut self, record: &Record) -> Result<(), Fault> {
        self.execute(
            "INSERT INTO flakeid_grant (namespace, node, grant_number, start, owner_name,
                 owner_host, owner_pid, acquired) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            vec![
                self.namespace.into(),
                whole("node", record.node)?.into(),
                whole("grant", record.grant)?.into(),
                whole("start", record.start)?.into(),
                record.owner.name.as_str().into(),
                record.owner.host.as_str().into(),
                record.owner.pid.into(),
                record.acquired.into(),
            ],
        )?;
        Ok(())
    }

    fn record_at(&mut self, node: u64, tick: u64) -> Result<Option<(Record, Option<u64>)>, Fault> {
        let tick = i64::try_from(tick).unwrap_or(i64::MAX);
        let rows = self.query(
            "SELECT node, grant_number, start, owner_name, owner_host, owner_pid, acquired, (
                 SELECT MIN(later.start) FROM flakeid_grant later
                 WHERE later.namespace = found.namespace AND later.node = found.node
                     AND later.grant_number > found.grant_number
             ) FROM flakeid_grant found
             WHERE namespace = ? AND node = ? AND start <= ?
             ORDER BY start DESC, grant_number DESC LIMIT 1",
            &[whole("node", node)?.into(), tick.into()],
        )?;
        rows.first().map(|row| record_of(self.namespace, row)).transpose()
    }
}
