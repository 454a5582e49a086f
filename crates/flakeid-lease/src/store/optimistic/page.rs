use std::collections::BTreeMap;

use super::super::{Candidates, Continuity, Fault, Ledger};
use super::contents::{namespace_text, record_text, row_text};
use super::{Draft, Head, Seen, Shelf, Written, namespace_of, record_of, row_of};
use crate::protocol::{Namespace, Owner, Record, Row, State};

/// One try of a transaction: what it read, and what it wants written.
pub(super) struct Page<'a, S: Shelf> {
    shelf: &'a mut S,
    name: &'a str,
    /// How many candidates to pass over.
    skip: u64,
    head: Option<Head<S::Version>>,
    seen: BTreeMap<u64, Option<(Row, S::Version)>>,
    all_seen: bool,
    namespace: Option<Namespace>,
    rows: BTreeMap<u64, Row>,
    records: Vec<Record>,
    /// Whether what the store is now is being noted, which raises the floor.
    notes: bool,
    mends: bool,
}

impl<'a, S: Shelf> Page<'a, S> {
    pub(super) fn new(shelf: &'a mut S, name: &'a str, skip: u64) -> Self {
        Self {
            shelf,
            name,
            skip,
            head: None,
            seen: BTreeMap::new(),
            all_seen: false,
            namespace: None,
            rows: BTreeMap::new(),
            records: Vec::new(),
            notes: false,
            mends: false,
        }
    }

    /// Writes everything, or nothing. What only read is compared too, because its reads were
    /// several; not all rows, though, which came in one.
    pub(super) fn commit(self) -> Result<(), Fault> {
        let Some(head) = self.head else { return Ok(()) };
        let writes = self.namespace.is_some() || !self.rows.is_empty() || !self.records.is_empty();
        let seen = &self.seen;
        let version = |known: &Option<(Row, S::Version)>| known.as_ref().map(|(_, v)| v.clone());
        let draft = Draft {
            namespace_seen: head.namespace.map(|(_, version)| version),
            rows_seen: if self.all_seen {
                Vec::new()
            } else {
                seen.iter().map(|(node, known)| (*node, version(known))).collect()
            },
            all_seen: self.all_seen && writes,
            namespace: self.namespace.as_ref().map(namespace_text),
            rows: self
                .rows
                .values()
                .map(|row| Written {
                    node: row.node,
                    #[cfg(feature = "redis")]
                    fence: row.fence,
                    text: row_text(row),
                    #[cfg(feature = "etcd")]
                    is_new: seen.get(&row.node).is_none_or(Option::is_none),
                })
                .collect(),
            records: self
                .records
                .iter()
                .map(|record| (record.node, record.start, record.grant, record_text(record)))
                .collect(),
            mends: self.mends,
        };
        self.shelf.commit(self.name, &draft)
    }

    fn head(&mut self) -> Result<&Head<S::Version>, Fault> {
        let read = match self.head.take() {
            Some(head) => head,
            None => self.shelf.head(self.name)?,
        };
        Ok(self.head.insert(read))
    }

    /// Notes what was read, unless the same row was read before: a transaction sees one state.
    fn note(&mut self, seen: Seen<S::Version>) -> Result<Option<Row>, Fault> {
        let row = row_of(self.name, seen.node, &seen.text)?;
        let known = self.seen.entry(seen.node).or_insert(Some((row, seen.version)));
        Ok(known.as_ref().map(|(row, _)| row.clone()))
    }

    /// Rows that were deleted past this library get an empty one. The floor, which rises with it,
    /// is above whatever was granted under them.
    fn mend(&mut self, incarnation: &str) -> Result<(), Fault> {
        for node in self.shelf.strays(self.name)? {
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
            });
            self.rows.insert(node, row);
        }
        self.mends = true;
        Ok(())
    }
}

impl<S: Shelf> Ledger for Page<'_, S> {
    fn now(&mut self) -> Result<i64, Fault> {
        Ok(self.head()?.now)
    }

    fn continuity(&mut self, noted: &str) -> Result<Continuity, Fault> {
        self.head()?;
        let same =
            self.head.as_ref().is_some_and(|head| head.whole && self.shelf.remembers(head, noted));
        Ok(if same { Continuity::Same } else { Continuity::Restored })
    }

    fn incarnation(&mut self) -> Result<String, Fault> {
        self.notes = true;
        Ok(self.head()?.incarnation.clone())
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
        if !self.head()?.whole && self.notes && !self.mends {
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
