use std::collections::BTreeMap;

use super::super::{Fault, Ledger};
use super::contents::{namespace_text, record_text, row_text};
use super::{Draft, Head, Seen, Shelf, Written, row_of};
use crate::protocol::{Namespace, Owner, Record, Row, State};

/// One try of a transaction: what it read, and what it wants written.
pub(super) struct Page<'a, S: Shelf> {
    pub(super) shelf: &'a mut S,
    pub(super) name: &'a str,
    /// How many candidates to pass over.
    pub(super) skip: u64,
    pub(super) head: Option<Head<S::Version>>,
    pub(super) seen: BTreeMap<u64, Option<(Row, S::Version)>>,
    pub(super) all_seen: bool,
    pub(super) namespace: Option<Namespace>,
    pub(super) rows: BTreeMap<u64, Row>,
    pub(super) records: Vec<Record>,
    /// What is being noted of the store as it is now, which raises the floor.
    pub(super) noted: Option<String>,
    pub(super) mends: bool,
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
            noted: None,
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

    pub(super) fn head(&mut self) -> Result<&mut Head<S::Version>, Fault> {
        let read = match self.head.take() {
            Some(head) => head,
            None => self.shelf.head(self.name)?,
        };
        Ok(self.head.insert(read))
    }

    /// Notes what was read, unless the same row was read before: a transaction sees one state.
    pub(super) fn note(&mut self, seen: Seen<S::Version>) -> Result<Option<Row>, Fault> {
        let row = row_of(self.name, seen.node, &seen.text)?;
        let known = self.seen.entry(seen.node).or_insert(Some((row, seen.version)));
        Ok(known.as_ref().map(|(row, _)| row.clone()))
    }

    pub(super) fn is_whole(&mut self) -> Result<bool, Fault> {
        if let Some(whole) = self.head()?.whole {
            return Ok(whole);
        }
        let whole = self.shelf.is_whole(self.name)?;
        self.head()?.whole = Some(whole);
        Ok(whole)
    }

    /// Rows that were deleted past this library get an empty one. The floor, which rises with it,
    /// is above whatever was granted under them.
    pub(super) fn mend(&mut self, incarnation: &str) -> Result<(), Fault> {
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
