use std::collections::BTreeMap;

use super::super::{Candidates, Continuity, Fault, Ledger};
use super::page::Page;
use super::{Seen, Shelf, namespace_of, record_of, row_of};
use crate::protocol::{Namespace, Record, Row};

impl<S: Shelf> Ledger for Page<'_, S> {
    fn now(&mut self) -> Result<i64, Fault> {
        Ok(self.head()?.now)
    }

    fn continuity(&mut self, noted: &str) -> Result<Continuity, Fault> {
        self.head()?;
        let remembers = self.shelf.remembers(self.name, noted)?;
        // Who grants or renews is told of a deleted row when it comes to that node; who has read all
        // rows wants to know at once.
        let known = self.head()?.whole;
        let whole = if self.all_seen { self.is_whole()? } else { known.unwrap_or(true) };
        Ok(if remembers && whole { Continuity::Same } else { Continuity::Restored })
    }

    fn incarnation(&mut self) -> Result<String, Fault> {
        if let Some(noted) = &self.noted {
            return Ok(noted.clone());
        }
        self.head()?;
        let noted = self.shelf.incarnation(self.name)?;
        Ok(self.noted.insert(noted).clone())
    }

    fn namespace(&mut self) -> Result<Option<Namespace>, Fault> {
        if self.namespace.is_some() {
            return Ok(self.namespace.clone());
        }
        let name = self.name;
        let kept = self.head()?.namespace.as_ref();
        kept.map(|(text, _)| namespace_of(name, text)).transpose()
    }

    fn put_namespace(&mut self, namespace: &Namespace) -> Result<(), Fault> {
        // Nothing else may take the present rows for all that ever were.
        if self.noted.is_some() && !self.mends && !self.is_whole()? {
            self.mend(&namespace.incarnation)?;
        }
        self.namespace = Some(namespace.clone());
        Ok(())
    }

    fn row(&mut self, node: u64) -> Result<Option<Row>, Fault> {
        if let Some(written) = self.rows.get(&node) {
            return Ok(Some(written.clone()));
        }
        if let Some(known) = self.seen.get(&node) {
            return Ok(known.as_ref().map(|(row, _)| row.clone()));
        }
        self.head()?;
        if let Some((text, version)) = self.shelf.row(self.name, node)? {
            return self.note(Seen { node, text, version });
        }
        self.seen.insert(node, None);
        Ok(None)
    }

    fn coldest(&mut self, candidates: &Candidates<'_>) -> Result<Option<Row>, Fault> {
        self.head()?;
        let enough = 1 + self.rows.len() + self.skip as usize;
        let mut found = Vec::new();
        for seen in self.shelf.coldest(self.name, candidates, enough)? {
            // What cannot be read is no candidate; whoever wants that very node is told.
            let Ok(row) = row_of(self.name, seen.node, &seen.text) else { continue };
            if candidates.include(&row) && !self.rows.contains_key(&seen.node) {
                found.push((row.fence, row.node, Some(seen)));
            }
        }
        let written = self.rows.values().filter(|row| candidates.include(row));
        found.extend(written.map(|row| (row.fence, row.node, None)));
        found.sort_by_key(|(fence, node, _)| (*fence, *node));
        if found.is_empty() {
            return Ok(None);
        }
        let chosen = self.skip as usize % found.len();
        match found.swap_remove(chosen) {
            (_, _, Some(seen)) => self.note(seen),
            (_, node, None) => self.row(node),
        }
    }

    fn unused(&mut self, from: u64, to: u64, first: u64) -> Result<Option<u64>, Fault> {
        self.head()?;
        for passed in 0..=self.rows.len() as u64 {
            let skip = self.skip + passed;
            match self.shelf.unused(self.name, (from, to), first, skip)? {
                Some(node) if self.rows.contains_key(&node) => {}
                found => return Ok(found),
            }
        }
        Ok(None)
    }

    fn rows(&mut self) -> Result<Vec<Row>, Fault> {
        self.head()?;
        let mut all = BTreeMap::new();
        for seen in self.shelf.rows(self.name)? {
            let node = seen.node;
            let known = self.seen.get(&node);
            if known.is_some_and(|known| known.as_ref().map(|(_, v)| v) != Some(&seen.version)) {
                return Err(Fault::Conflict);
            }
            if let Some(row) = self.note(seen)? {
                all.insert(node, row);
            }
        }
        self.all_seen = true;
        all.extend(self.rows.iter().map(|(node, row)| (*node, row.clone())));
        Ok(all.into_values().collect())
    }

    fn put_row(&mut self, before: Option<&Row>, after: &Row) -> Result<(), Fault> {
        if self.row(after.node)?.as_ref() != before {
            return Err(Fault::Conflict);
        }
        // It would be taken for the one that is gone.
        if before.is_none() && self.noted.is_none() && self.head()?.whole == Some(false) {
            return Err(Fault::Rejected(format!(
                "a row of namespace {:?} was deleted past this library: no new one is written \
                 until the next lease, or `flakeid leases adopt`, has noted that",
                self.name
            )));
        }
        self.rows.insert(after.node, after.clone());
        Ok(())
    }

    fn record(&mut self, record: &Record) -> Result<(), Fault> {
        self.records.push(record.clone());
        Ok(())
    }

    fn record_at(&mut self, node: u64, tick: u64) -> Result<Option<(Record, Option<u64>)>, Fault> {
        // The history of a node grows only when its row changes, so that the row stands for it.
        self.row(node)?;
        let found = self.shelf.record_at(self.name, node, tick)?;
        found.map(|(text, next)| Ok((record_of(self.name, node, &text)?, next))).transpose()
    }
}
