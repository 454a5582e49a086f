//! One attempt of a transaction: the rows that the attempt has read, and the changes that it will write.

use std::collections::BTreeMap;

use super::text::{
    namespace_of, namespace_text, record_of, record_text, row_of, row_text, sub_grant_of,
    sub_grant_text,
};
use super::versioned_store::{Head, NewRow, NewSubGrant, ReadRow, VersionedStore, WriteSet};
use flakeid_protocol::store::{
    Candidates, Continuity, Fault, Ledger, RecordsAround, SubGrantsAround,
};
use flakeid_protocol::{Namespace, Owner, Record, Row, State, SubGrant};

/// One attempt to run a transaction.
pub(super) struct Transaction<'a, S: VersionedStore> {
    store: &'a mut S,
    /// The name of the namespace.
    name: &'a str,
    /// The number of candidate nodes that the attempt skips, so that conflicting clients choose different nodes.
    skip: u64,
    head: Option<Head<S::Version>>,
    read_rows: BTreeMap<u64, Option<(Row, S::Version)>>,
    read_all: bool,
    namespace: Option<Namespace>,
    rows: BTreeMap<u64, Row>,
    records: Vec<Record>,
    sub_grants: Vec<SubGrant>,
    removed_records: Vec<Record>,
    removed_sub_grants: Vec<SubGrant>,
    /// The incarnation that is about to be recorded in the namespace. Recording a new incarnation raises the floor.
    incarnation: Option<String>,
    resets_row_marks: bool,
}

impl<'a, S: VersionedStore> Transaction<'a, S> {
    pub(super) fn new(store: &'a mut S, name: &'a str, skip: u64) -> Self {
        Self {
            store,
            name,
            skip,
            head: None,
            read_rows: BTreeMap::new(),
            read_all: false,
            namespace: None,
            rows: BTreeMap::new(),
            records: Vec::new(),
            sub_grants: Vec::new(),
            removed_records: Vec::new(),
            removed_sub_grants: Vec::new(),
            incarnation: None,
            resets_row_marks: false,
        }
    }

    /// Writes all changes or none. Even a read-only transaction compares the versions of its rows, because rows may
    /// have changed between two reads. The comparison is omitted only if a read-only transaction has read all rows,
    /// because that read is a single step.
    pub(super) fn commit(self) -> Result<(), Fault> {
        let Some(head) = self.head else { return Ok(()) };
        let writes = self.namespace.is_some()
            || !self.rows.is_empty()
            || !self.records.is_empty()
            || !self.sub_grants.is_empty()
            || !self.removed_records.is_empty()
            || !self.removed_sub_grants.is_empty();
        let read_rows = &self.read_rows;
        let version = |row: &Option<(Row, S::Version)>| row.as_ref().map(|(_, v)| v.clone());
        let rows = self.rows.values().map(|row| {
            Ok(NewRow {
                node: row.node,
                fence: row.fence,
                text: row_text(row)?,
                is_new: read_rows.get(&row.node).is_none_or(Option::is_none),
            })
        });
        let records = self
            .records
            .iter()
            .map(|record| Ok((record.node, record.start, record.grant, record_text(record)?)));
        let sub_grants = self.sub_grants.iter().map(|sub| {
            let SubGrant { node, start, block_grant, grant, .. } = *sub;
            Ok(NewSubGrant { node, start, block_grant, grant, text: sub_grant_text(sub)? })
        });
        let write_set = WriteSet {
            namespace_read: head.namespace.map(|(_, version)| version),
            rows_read: if self.read_all {
                Vec::new()
            } else {
                read_rows.iter().map(|(node, row)| (*node, version(row))).collect()
            },
            read_all: self.read_all && writes,
            namespace: self.namespace.as_ref().map(namespace_text).transpose()?,
            rows: rows.collect::<Result<_, Fault>>()?,
            records: records.collect::<Result<_, Fault>>()?,
            sub_grants: sub_grants.collect::<Result<_, Fault>>()?,
            removed_records: self.removed_records,
            removed_sub_grants: self.removed_sub_grants,
            resets_row_marks: self.resets_row_marks,
        };
        self.store.commit(self.name, &write_set)
    }

    fn head(&mut self) -> Result<&mut Head<S::Version>, Fault> {
        let head = match self.head.take() {
            Some(head) => head,
            None => self.store.head(self.name)?,
        };
        Ok(self.head.insert(head))
    }

    /// Remembers a row when the transaction reads the row for the first time. Returns the row as first read, so that
    /// the transaction uses only one state of each row.
    fn remember(&mut self, read: ReadRow<S::Version>) -> Result<Option<Row>, Fault> {
        let row = row_of(self.name, read.node, &read.text)?;
        let first = self.read_rows.entry(read.node).or_insert(Some((row, read.version)));
        Ok(first.as_ref().map(|(row, _)| row.clone()))
    }

    fn is_complete(&mut self) -> Result<bool, Fault> {
        if let Some(is_complete) = self.head()?.is_complete {
            return Ok(is_complete);
        }
        let is_complete = self.store.is_complete(self.name)?;
        self.head()?.is_complete = Some(is_complete);
        Ok(is_complete)
    }

    /// Writes an empty row for each node whose row another program deleted. Also rewrites each row that lacks the mark
    /// of a granted node, because rewriting the row adds the mark. The same transaction raises the floor above all
    /// ticks that were granted under the deleted rows.
    fn replace_deleted_rows(&mut self, incarnation: &str) -> Result<(), Fault> {
        for node in self.store.mismatched_nodes(self.name)? {
            let row = self.row(node)?.unwrap_or_else(|| Row {
                node,
                fence: 0,
                start: 0,
                token: None,
                grant: 0,
                state: State::Free,
                owner: Owner::default(),
                acquired: 0,
                renewed: 0,
                expires: 0,
                incarnation: incarnation.into(),
                fixed: false,
                history_until: 0,
            });
            self.rows.insert(node, row);
        }
        self.resets_row_marks = true;
        Ok(())
    }
}

impl<S: VersionedStore> Ledger for Transaction<'_, S> {
    fn now(&mut self) -> Result<i64, Fault> {
        Ok(self.head()?.now)
    }

    fn continuity(&mut self, recorded: &str) -> Result<Continuity, Fault> {
        self.head()?;
        let is_same_run = self.store.is_same_run(self.name, recorded)?;
        // A grant or renewal detects a deleted row when it reads the row's node. A transaction that has read all rows
        // must check for deleted rows here.
        let known = self.head()?.is_complete;
        let is_complete = if self.read_all { self.is_complete()? } else { known.unwrap_or(true) };
        Ok(if is_same_run && is_complete { Continuity::Same } else { Continuity::Restored })
    }

    fn incarnation(&mut self) -> Result<String, Fault> {
        if let Some(incarnation) = &self.incarnation {
            return Ok(incarnation.clone());
        }
        self.head()?;
        let incarnation = self.store.incarnation(self.name)?;
        Ok(self.incarnation.insert(incarnation).clone())
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
        // Once the namespace has been written, the store assumes that no row is missing, so deleted rows must be
        // replaced now.
        if self.incarnation.is_some() && !self.resets_row_marks && !self.is_complete()? {
            self.replace_deleted_rows(&namespace.incarnation)?;
        }
        self.namespace = Some(namespace.clone());
        Ok(())
    }

    fn row(&mut self, node: u64) -> Result<Option<Row>, Fault> {
        Ok(self.rows_of(&[node])?.pop().flatten())
    }

    fn rows_of(&mut self, nodes: &[u64]) -> Result<Vec<Option<Row>>, Fault> {
        let is_unknown =
            |node: &u64| !self.rows.contains_key(node) && !self.read_rows.contains_key(node);
        let unknown: Vec<u64> = nodes.iter().copied().filter(is_unknown).collect();
        if !unknown.is_empty() {
            self.head()?;
            for (node, read) in unknown.iter().zip(self.store.rows_of(self.name, &unknown)?) {
                let row = match read {
                    Some((text, version)) => Some((row_of(self.name, *node, &text)?, version)),
                    None => None,
                };
                self.read_rows.insert(*node, row);
            }
        }
        let known = |node: &u64| {
            let read = || self.read_rows.get(node)?.as_ref().map(|(row, _)| row);
            self.rows.get(node).or_else(read).cloned()
        };
        Ok(nodes.iter().map(known).collect())
    }

    fn coldest(&mut self, candidates: &Candidates<'_>) -> Result<Option<Row>, Fault> {
        self.head()?;
        let enough = 1 + self.rows.len() + self.skip as usize;
        let mut found = Vec::new();
        for read in self.store.coldest(self.name, candidates, enough)? {
            // An unreadable row is not a candidate, and is reported only to the process that requests the row's node.
            let Ok(row) = row_of(self.name, read.node, &read.text) else { continue };
            if candidates.include(&row) && !self.rows.contains_key(&read.node) {
                found.push((row.fence, row.node, Some(read)));
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
            (_, _, Some(read)) => self.remember(read),
            (_, node, None) => self.row(node),
        }
    }

    fn unused(&mut self, from: u64, to: u64, first: u64) -> Result<Option<u64>, Fault> {
        self.head()?;
        for passed in 0..=self.rows.len() as u64 {
            let skip = self.skip + passed;
            match self.store.unused(self.name, (from, to), first, skip)? {
                Some(node) if self.rows.contains_key(&node) => {}
                found => return Ok(found),
            }
        }
        Ok(None)
    }

    fn rows(&mut self) -> Result<Vec<Row>, Fault> {
        self.head()?;
        let mut all = BTreeMap::new();
        for read in self.store.rows(self.name)? {
            let node = read.node;
            let earlier = self.read_rows.get(&node);
            if earlier.is_some_and(|row| row.as_ref().map(|(_, v)| v) != Some(&read.version)) {
                return Err(Fault::Conflict);
            }
            if let Some(row) = self.remember(read)? {
                all.insert(node, row);
            }
        }
        self.read_all = true;
        all.extend(self.rows.iter().map(|(node, row)| (*node, row.clone())));
        Ok(all.into_values().collect())
    }

    fn put_row(&mut self, before: Option<&Row>, after: &Row) -> Result<(), Fault> {
        if self.row(after.node)?.as_ref() != before {
            return Err(Fault::Conflict);
        }
        // After a row has been deleted, new rows are refused until the deletion is recorded. Otherwise, a new row would
        // be mistaken for the deleted row of the same node.
        if before.is_none() && self.incarnation.is_none() && self.head()?.is_complete == Some(false)
        {
            return Err(Fault::Rejected(format!(
                "a row of namespace {:?} was deleted by other means than flakeid, which refuses new rows \
                 until the deletion is recorded: start a lease, or run `flakeid leases adopt`",
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

    /// Returns the records around a tick. The commit does not compare the records themselves, because new records are
    /// written only when the node's row also changes. The caller has already read that row, and the commit compares the
    /// row's version.
    fn records_around(&mut self, node: u64, tick: u64) -> Result<RecordsAround, Fault> {
        self.head()?;
        let (found, next) = self.store.records_around(self.name, node, tick)?;
        let read =
            |text: Option<String>| text.map(|text| record_of(self.name, node, &text)).transpose();
        Ok((read(found)?, read(next)?))
    }

    fn oldest_records(&mut self, node: u64, limit: usize) -> Result<Vec<Record>, Fault> {
        self.head()?;
        let texts = self.store.oldest_records(self.name, node, limit)?;
        texts.iter().map(|text| record_of(self.name, node, text)).collect()
    }

    fn remove_records_through(&mut self, last: &Record) -> Result<(), Fault> {
        self.removed_records.push(last.clone());
        Ok(())
    }

    fn record_sub_grants(&mut self, sub_grants: &[SubGrant]) -> Result<(), Fault> {
        self.sub_grants.extend_from_slice(sub_grants);
        Ok(())
    }

    /// Returns the sub-grants around a tick. The commit does not compare the sub-grants themselves, because new
    /// sub-grants are written only when the block's row also changes. The caller has already read that row, and the
    /// commit compares the row's version.
    fn sub_grants_around(&mut self, node: u64, tick: u64) -> Result<SubGrantsAround, Fault> {
        self.head()?;
        let (found, next) = self.store.sub_grants_around(self.name, node, tick)?;
        let read = |text: Option<String>| {
            text.map(|text| sub_grant_of(self.name, node, &text)).transpose()
        };
        Ok((read(found)?, read(next)?))
    }

    fn oldest_sub_grants(
        &mut self,
        from: u64,
        to: u64,
        limit: usize,
    ) -> Result<Vec<SubGrant>, Fault> {
        self.head()?;
        let texts = self.store.oldest_sub_grants(self.name, (from, to), limit)?;
        texts.iter().map(|(node, text)| sub_grant_of(self.name, *node, text)).collect()
    }

    fn remove_sub_grants_through(&mut self, last: &SubGrant) -> Result<(), Fault> {
        self.removed_sub_grants.push(last.clone());
        Ok(())
    }
}
