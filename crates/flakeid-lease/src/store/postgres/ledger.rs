use tokio_postgres::types::{ToSql, Type};

use super::page::{Page, Parameter};
use crate::protocol::{Namespace, Record, Row};
use crate::store::sql::{NamespaceCells, RecordCells, RowCells, whole};
use crate::store::{Candidates, Continuity, Fault, Ledger};

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

    fn namespace(&mut self) -> Result<Option<Namespace>, Fault> {
        let columns = NamespaceCells::COLUMNS;
        let rows = self.query(
            &format!("SELECT {columns} FROM flakeid_namespace WHERE name = $1"),
            &[(&self.namespace, Type::TEXT)],
        )?;
        let Some(row) = rows.first() else { return Ok(None) };
        let cells = NamespaceCells {
            layout: self.cell(row, 0)?,
            floor: self.cell(row, 1)?,
            incarnation: self.cell(row, 2)?,
            max_window_ms: self.cell(row, 3)?,
            max_ahead_ms: self.cell(row, 4)?,
            max_skew_ms: self.cell(row, 5)?,
            keeps_history: self.cell(row, 6)?,
        };
        cells.namespace(self.namespace).map(Some)
    }

    fn put_namespace(&mut self, namespace: &Namespace) -> Result<(), Fault> {
        if !self.care.alone {
            self.care.alone = true;
            return self.conflict();
        }
        let cells = NamespaceCells::of(namespace)?;
        let parameters: [Parameter<'_>; 8] = [
            (&self.namespace, Type::TEXT),
            (&cells.layout, Type::TEXT),
            (&cells.floor, Type::INT8),
            (&cells.incarnation, Type::TEXT),
            (&cells.max_window_ms, Type::INT8),
            (&cells.max_ahead_ms, Type::INT8),
            (&cells.max_skew_ms, Type::INT8),
            (&cells.keeps_history, Type::BOOL),
        ];
        let columns = NamespaceCells::COLUMNS;
        let update = format!(
            "UPDATE flakeid_namespace SET ({columns}) = ($2, $3, $4, $5, $6, $7, $8)
             WHERE name = $1"
        );
        // Not an upsert: roles that may not create namespaces may still note a restoration.
        if self.execute(&update, &parameters)? == 0 {
            let insert = format!(
                "INSERT INTO flakeid_namespace (name, {columns})
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8)"
            );
            self.execute(&insert, &parameters)?;
        }
        Ok(())
    }

    fn row(&mut self, node: u64) -> Result<Option<Row>, Fault> {
        let (columns, node) = (RowCells::COLUMNS, whole("node", node)?);
        let rows = self.query(
            &format!(
                "SELECT {columns} FROM flakeid_node WHERE namespace = $1 AND node = $2 FOR UPDATE"
            ),
            &[(&self.namespace, Type::TEXT), (&node, Type::INT8)],
        )?;
        self.first_row(&rows)
    }

    fn coldest(&mut self, candidates: &Candidates<'_>) -> Result<Option<Row>, Fault> {
        let columns = RowCells::COLUMNS;
        let (from, to) = (whole("node", candidates.from)?, whole("node", candidates.to)?);
        let hottest = i64::try_from(candidates.hottest).unwrap_or(i64::MAX);
        let named = candidates.name.map_or("", |_| "AND owner_name = $6 AND owner_name <> ''");
        let mut parameters: Vec<Parameter<'_>> = vec![
            (&self.namespace, Type::TEXT),
            (&from, Type::INT8),
            (&to, Type::INT8),
            (&candidates.store_now, Type::INT8),
            (&hottest, Type::INT8),
        ];
        if let Some(name) = &candidates.name {
            parameters.push((name, Type::TEXT));
        }
        let rows = self.query(
            &format!(
                "SELECT {columns} FROM flakeid_node
                 WHERE namespace = $1 AND node BETWEEN $2 AND $3 AND state IN ('free', 'held')
                     AND expires <= $4 AND fence <= $5 {named}
                 ORDER BY fence, node LIMIT 1 FOR UPDATE SKIP LOCKED"
            ),
            &parameters,
        )?;
        self.first_row(&rows)
    }

    fn unused(&mut self, from: u64, to: u64, first: u64) -> Result<Option<u64>, Fault> {
        let above = self.gap(first, to)?;
        if above.is_some() || first == from { Ok(above) } else { self.gap(from, first - 1) }
    }

    fn rows(&mut self) -> Result<Vec<Row>, Fault> {
        let columns = RowCells::COLUMNS;
        let rows = self.query(
            &format!("SELECT {columns} FROM flakeid_node WHERE namespace = $1 ORDER BY node"),
            &[(&self.namespace, Type::TEXT)],
        )?;
        rows.iter().map(|row| self.row_of(row)).collect()
    }

    fn put_row(&mut self, before: Option<&Row>, after: &Row) -> Result<(), Fault> {
        let new = RowCells::of(after)?;
        let old = before.map(RowCells::of).transpose()?;
        let mut parameters: Vec<Parameter<'_>> = vec![
            (&self.namespace, Type::TEXT),
            (&new.node, Type::INT8),
            (&new.fence, Type::INT8),
            (&new.start, Type::INT8),
            (&new.token, Type::TEXT),
            (&new.grant, Type::INT8),
            (&new.state, Type::TEXT),
            (&new.owner_name, Type::TEXT),
            (&new.owner_host, Type::TEXT),
            (&new.owner_pid, Type::INT8),
            (&new.acquired, Type::INT8),
            (&new.renewed, Type::INT8),
            (&new.expires, Type::INT8),
            (&new.incarnation, Type::TEXT),
        ];
        let columns = RowCells::COLUMNS;
        let values = "$2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14";
        let sql = if let Some(old) = &old {
            parameters.extend([
                (&old.fence as &(dyn ToSql + Sync), Type::INT8),
                (&old.token, Type::TEXT),
                (&old.state, Type::TEXT),
                (&old.grant, Type::INT8),
            ]);
            format!(
                "UPDATE flakeid_node SET ({columns}) = ({values})
                 WHERE namespace = $1 AND node = $2 AND fence = $15
                     AND token IS NOT DISTINCT FROM $16 AND state = $17 AND grant_number = $18"
            )
        } else {
            format!(
                "INSERT INTO flakeid_node (namespace, {columns}) VALUES ($1, {values})
                 ON CONFLICT DO NOTHING"
            )
        };
        if self.execute(&sql, &parameters)? == 0 { self.conflict() } else { Ok(()) }
    }

    fn record(&mut self, record: &Record) -> Result<(), Fault> {
        let node = whole("node", record.node)?;
        let grant = whole("grant", record.grant)?;
        let start = whole("start", record.start)?;
        let pid = i64::from(record.owner.pid);
        self.execute(
            "INSERT INTO flakeid_grant (namespace, node, grant_number, start, owner_name,
                 owner_host, owner_pid, acquired) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
            &[
                (&self.namespace, Type::TEXT),
                (&node, Type::INT8),
                (&grant, Type::INT8),
                (&start, Type::INT8),
                (&record.owner.name, Type::TEXT),
                (&record.owner.host, Type::TEXT),
                (&pid, Type::INT8),
                (&record.acquired, Type::INT8),
            ],
        )?;
        Ok(())
    }

    fn record_at(&mut self, node: u64, tick: u64) -> Result<Option<(Record, Option<u64>)>, Fault> {
        let (node, tick) = (whole("node", node)?, i64::try_from(tick).unwrap_or(i64::MAX));
        let rows = self.query(
            "SELECT node, grant_number, start, owner_name, owner_host, owner_pid, acquired, (
                 SELECT min(start) FROM flakeid_grant later
                 WHERE later.namespace = $1 AND later.node = $2
                     AND later.grant_number > found.grant_number
             ) FROM flakeid_grant found
             WHERE namespace = $1 AND node = $2 AND start <= $3
             ORDER BY start DESC, grant_number DESC LIMIT 1",
            &[(&self.namespace, Type::TEXT), (&node, Type::INT8), (&tick, Type::INT8)],
        )?;
        let Some(row) = rows.first() else { return Ok(None) };
        let cells = RecordCells {
            node: self.cell(row, 0)?,
            grant: self.cell(row, 1)?,
            start: self.cell(row, 2)?,
            owner_name: self.cell(row, 3)?,
            owner_host: self.cell(row, 4)?,
            owner_pid: self.cell(row, 5)?,
            acquired: self.cell(row, 6)?,
            next: self.cell(row, 7)?,
        };
        cells.record(self.namespace).map(Some)
    }
}
