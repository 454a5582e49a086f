//! One attempt of a transaction on a namespace's document.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::time::{Duration, Instant};

use super::history::{Entries, TAIL, part_of_row, record_key, sub_grant_key};
use super::namespace_document::NamespaceDocument;
use super::{Change, Documents, Key, Reading, Stored};
use crate::backend::{OldDocuments, longest_age_ms};
use crate::random;
use flakeid_protocol::store::{
    Candidates, Continuity, Fault, Ledger, RecordsAround, SubGrantsAround,
};
use flakeid_protocol::{Namespace, Record, Row, SubGrant};

/// The largest difference, in milliseconds, between the time at which the store changed a document and the time that the
/// document itself contains. The time in the document is the time of the read before the write, so the limit covers
/// [`OLDEST_READ`], the time limit for a response, and the rounding of both times.
const LONGEST_WRITE_MS: u64 = 4_500;

/// The longest time between a read and the write that depends on it.
const OLDEST_READ: Duration = Duration::from_millis(1_500);

/// The number of bytes below the size limit that new rows leave free, so that existing rows can always be renewed and
/// history can be added.
const RESERVE: usize = 24 << 10;

/// The number of entries in a namespace's document above which even an attempt after a conflict moves entries to a
/// history document.
const LONGEST_TAIL: usize = 4 * TAIL;

/// One attempt to run a transaction.
pub(super) struct Transaction<'a, D: Documents> {
    documents: &'a mut D,
    name: &'a str,
    now: i64,
    read_at: Instant,
    /// The version of the document that was read; `None` if the namespace had no document.
    version: Option<D::Version>,
    /// The identity of the object that contains the document; `None` if it gets one when it is created.
    identity: Option<String>,
    /// The size of the document that was read, in bytes.
    size: usize,
    /// The document, including the transaction's writes so far.
    document: NamespaceDocument,
    /// The run to record: the run of the document, or a new run if the document is not the latest one.
    run: String,
    /// Whether the store reports the times of changes, or may report them once the document exists.
    is_timed: bool,
    changed: bool,
    /// The history entries that were already part of the document when it was read.
    tail_read: Entries,
    /// The history documents that were read, by part and number.
    history: BTreeMap<(usize, u64), HistoryDocument<D::Version>>,
}

/// A history document that was read, and its changes.
struct HistoryDocument<V> {
    version: Option<V>,
    /// The size of the document that was read, in bytes.
    size: usize,
    entries: Entries,
    changed: bool,
}

impl<'a, D: Documents> Transaction<'a, D> {
    pub(super) fn new(
        documents: &'a mut D,
        name: &'a str,
        reading: Reading<D::Version>,
        read_at: Instant,
    ) -> Result<Self, Fault> {
        let Reading { now, identity, stored } = reading;
        let Some(Stored { text, version, change }) = stored else {
            let run = random::token().to_text();
            return Ok(Self {
                documents,
                name,
                now,
                read_at,
                version: None,
                identity,
                size: 0,
                document: NamespaceDocument::new(run.clone()),
                run,
                is_timed: true,
                changed: false,
                tail_read: Entries::default(),
                history: BTreeMap::new(),
            });
        };
        let document = NamespaceDocument::parse(name, &text)?;
        let is_current = is_current(&document, identity.as_deref(), change, now, D::LIMITS.old);
        let run = if is_current { document.run.clone() } else { random::token().to_text() };
        Ok(Self {
            documents,
            name,
            now,
            read_at,
            version: Some(version),
            identity,
            size: text.len(),
            tail_read: document.tail.clone(),
            document,
            run,
            is_timed: matches!(change, Change::At(_)),
            changed: false,
            history: BTreeMap::new(),
        })
    }

    /// Writes all changes. `conflicts` is the number of earlier attempts.
    pub(super) fn commit(mut self, conflicts: u32) -> Result<(), Fault> {
        if !self.changed {
            return Ok(());
        }
        let Some(identity) = self.identity.take() else {
            return self.create_without_namespace();
        };
        // Many clients with conflicts must not also compete for the history documents.
        let longest = if conflicts == 0 { TAIL } else { LONGEST_TAIL };
        if self.tail_read.len() > longest {
            self.move_tail()?;
        }
        for ((part, number), history) in &self.history {
            if history.changed {
                let nonce = random::token();
                let text = history.entries.to_text(nonce)?;
                let key = Key::History(self.name, *part, *number);
                self.documents.write(key, &text, nonce, history.version.as_ref())?;
            }
        }
        self.document.run = self.run;
        self.document.identity = identity;
        self.document.written = self.now;
        let nonce = random::token();
        let text = self.document.to_text(nonce)?;
        if text.len() > D::LIMITS.largest {
            return Err(full(self.documents.shown(), self.name, text.len(), D::LIMITS.largest));
        }
        // An older read could make the time in the document differ from the time of the write by too much. The documents
        // of the history, which were written before, may contain the same entries again.
        if self.is_timed && self.read_at.elapsed() > OLDEST_READ {
            return Err(Fault::Unavailable(format!(
                "{}: the document of namespace {:?} was read {} ms ago, which is too long ago to write it",
                self.documents.shown(),
                self.name,
                self.read_at.elapsed().as_millis()
            )));
        }
        let key = Key::Namespace(self.name);
        let written = self.documents.write(key, &text, nonce, self.version.as_ref())?;
        // The age by the store's clock includes a pause after the check above, and the time that this host slept. The
        // store may have been restored in the meantime to the state that was read, so nothing that was granted may be
        // used.
        let age = written.saturating_sub(self.now);
        if age > LONGEST_WRITE_MS as i64 {
            return Err(Fault::Unavailable(format!(
                "{}: the document of namespace {:?} was written {age} ms after it was read, because this process was \
                 paused or a clock was set; the store may have been restored in the meantime",
                self.documents.shown(),
                self.name
            )));
        }
        Ok(())
    }

    /// Creates an object without a namespace, which cannot grant anything, and begins the transaction again. The object
    /// then has an identity. If this process ends before, the next one finds the same object.
    fn create_without_namespace(self) -> Result<(), Fault> {
        let mut document = NamespaceDocument::new(self.run);
        document.written = self.now;
        let nonce = random::token();
        let text = document.to_text(nonce)?;
        self.documents.write(Key::Namespace(self.name), &text, nonce, None)?;
        Err(Fault::Conflict)
    }

    /// Moves entries that were already confirmed to the history document to which most of them belong.
    fn move_tail(&mut self) -> Result<(), Fault> {
        let Some(namespace) = self.document.namespace.clone() else { return Ok(()) };
        let part = self.tail_read.largest_part(&namespace);
        let mut confirmed = self.tail_read.clone();
        // Entries that this transaction removes are in `tail_read`, but no longer in the document.
        confirmed.records.retain(|key, _| self.document.tail.records.contains_key(key));
        confirmed.sub_grants.retain(|key, _| self.document.tail.sub_grants.contains_key(key));
        let moved = confirmed.split_off(&namespace, part);
        let size = moved.to_text(random::token())?.len();
        let newest = self.document.newest[part];
        let is_full = self.history(part, newest)?.size + size > D::LIMITS.largest;
        let newest = newest + u64::from(is_full);
        self.document.newest[part] = newest;
        let history = self.history(part, newest)?;
        if !history.entries.contains(&moved) {
            history.entries.add(&moved);
            history.changed = true;
        }
        let tail = &mut self.document.tail;
        tail.records.retain(|key, _| !moved.records.contains_key(key));
        tail.sub_grants.retain(|key, _| !moved.sub_grants.contains_key(key));
        Ok(())
    }

    /// Returns a history document, reading it if necessary. A missing document has no entries.
    fn history(
        &mut self,
        part: usize,
        number: u64,
    ) -> Result<&mut HistoryDocument<D::Version>, Fault> {
        match self.history.entry((part, number)) {
            Entry::Occupied(read) => Ok(read.into_mut()),
            Entry::Vacant(place) => {
                let stored = self.documents.read(Key::History(self.name, part, number))?.stored;
                let (entries, version, size) = match stored {
                    Some(Stored { text, version, .. }) => {
                        (Entries::from_text(self.name, &text)?, Some(version), text.len())
                    }
                    None => (Entries::default(), None, 0),
                };
                Ok(place.insert(HistoryDocument { version, size, entries, changed: false }))
            }
        }
    }

    /// Returns all entries of the part of the history to which a row belongs.
    fn entries_of_row(&mut self, row: u64) -> Result<Entries, Fault> {
        let part = part_of_row(row);
        let mut entries = Entries::default();
        for number in 0..=self.document.newest[part] {
            entries.add(&self.history(part, number)?.entries);
        }
        entries.add(&self.document.tail);
        Ok(entries)
    }

    /// Removes entries from all history documents of the part to which a row belongs.
    fn remove(
        &mut self,
        row: u64,
        mut remove: impl FnMut(&mut Entries) -> bool,
    ) -> Result<(), Fault> {
        self.changed = true;
        remove(&mut self.document.tail);
        let part = part_of_row(row);
        for number in 0..=self.document.newest[part] {
            let history = self.history(part, number)?;
            history.changed |= remove(&mut history.entries);
        }
        Ok(())
    }

    fn row_of_node(&self, node: u64) -> u64 {
        self.document.namespace.as_ref().map_or(node, |namespace| namespace.row_of(node))
    }
}

/// Whether a document is the latest document that this library wrote, as far as can be determined.
fn is_current(
    document: &NamespaceDocument,
    identity: Option<&str>,
    change: Change,
    now: i64,
    old_documents: OldDocuments,
) -> bool {
    let Some(namespace) = &document.namespace else {
        // Nothing was granted yet.
        return true;
    };
    let is_same_object = identity.is_some_and(|identity| document.identity == identity);
    let is_own_change = match change {
        Change::Unknown => true,
        Change::Foreign => false,
        Change::At(time) => time.abs_diff(document.written) <= LONGEST_WRITE_MS,
    };
    let is_in_use = match old_documents {
        OldDocuments::Current => true,
        OldDocuments::Restored => {
            // No process can hold a lease before the end of the quiet time. With long windows, the document would
            // otherwise be old at that end, and the quiet time would begin again.
            now.saturating_sub(document.written.max(namespace.quiet_until))
                <= longest_age_ms(&namespace.bounds)
        }
    };
    is_same_object && is_own_change && is_in_use
}

fn full(shown: &str, name: &str, size: usize, largest: usize) -> Fault {
    Fault::Rejected(format!(
        "{shown}: the document of namespace {name:?} would have {size} bytes, and at most {largest} bytes are \
         allowed; create the namespace with blocks (`--block-bits`), or use another kind of store"
    ))
}

impl<D: Documents> Ledger for Transaction<'_, D> {
    fn now(&mut self) -> Result<i64, Fault> {
        Ok(self.now)
    }

    fn continuity(&mut self, recorded: &str) -> Result<Continuity, Fault> {
        // Earlier versions of the library recorded no place.
        let (run, recorded_place) = recorded.split_once('@').unwrap_or((recorded, ""));
        if let Some(place) = self.documents.place()
            && !recorded_place.is_empty()
            && recorded_place != place
        {
            return Ok(Continuity::Foreign(format!(
                "{}: this connection uses the place {place}, but the documents were written at the place \
                 {recorded_place}",
                self.documents.shown()
            )));
        }
        // If the document is not current, the run is new, so that only this transaction can have recorded it.
        Ok(if run == self.run { Continuity::Same } else { Continuity::Restored })
    }

    fn incarnation(&mut self) -> Result<String, Fault> {
        let place = self.documents.place().map(|place| format!("@{place}"));
        Ok(self.run.clone() + &place.unwrap_or_default())
    }

    fn namespace(&mut self) -> Result<Option<Namespace>, Fault> {
        Ok(self.document.namespace.clone())
    }

    fn put_namespace(&mut self, namespace: &Namespace) -> Result<(), Fault> {
        self.changed = true;
        self.document.namespace = Some(namespace.clone());
        Ok(())
    }

    fn row(&mut self, node: u64) -> Result<Option<Row>, Fault> {
        self.document.row(self.name, node)
    }

    fn coldest(&mut self, candidates: &Candidates<'_>) -> Result<Option<Row>, Fault> {
        // A row that cannot be read is not a candidate, and is reported only to the process that requests its node.
        let rows = self.document.rows(self.name).flatten().filter(|row| candidates.include(row));
        Ok(rows.min_by_key(|row| (row.fence, row.node)))
    }

    fn unused(&mut self, from: u64, to: u64, first: u64) -> Result<Option<u64>, Fault> {
        let mut order = (first..=to).chain(from..first);
        Ok(order.find(|node| !self.document.has_row(*node)))
    }

    fn rows(&mut self) -> Result<Vec<Row>, Fault> {
        self.document.rows(self.name).collect()
    }

    fn put_row(&mut self, before: Option<&Row>, after: &Row) -> Result<(), Fault> {
        if self.document.row(self.name, after.node)?.as_ref() != before {
            return Err(Fault::Conflict);
        }
        if before.is_none() && self.size + RESERVE > D::LIMITS.largest {
            let most = D::LIMITS.largest - RESERVE;
            return Err(full(self.documents.shown(), self.name, self.size, most));
        }
        self.changed = true;
        self.document.put_row(after)
    }

    fn record(&mut self, record: &Record) -> Result<(), Fault> {
        self.changed = true;
        self.document.tail.records.insert(record_key(record), record.clone());
        Ok(())
    }

    fn records_around(&mut self, node: u64, tick: u64) -> Result<RecordsAround, Fault> {
        let records = self.entries_of_row(node)?.records;
        let after = (node, tick.saturating_add(1), 0);
        let found = records.range((node, 0, 0)..after).next_back();
        let next = records.range(after..=(node, u64::MAX, u64::MAX)).next();
        let copy = |(_, record): (&_, &Record)| record.clone();
        Ok((found.map(copy), next.map(copy)))
    }

    fn oldest_records(&mut self, node: u64, limit: usize) -> Result<Vec<Record>, Fault> {
        let records = self.entries_of_row(node)?.records;
        let of_node = records.range((node, 0, 0)..=(node, u64::MAX, u64::MAX));
        Ok(of_node.take(limit).map(|(_, record)| record.clone()).collect())
    }

    fn remove_records_through(&mut self, last: &Record) -> Result<(), Fault> {
        let key = record_key(last);
        self.remove(last.node, |entries| entries.remove_records_through(key))
    }

    fn record_sub_grants(&mut self, sub_grants: &[SubGrant]) -> Result<(), Fault> {
        self.changed |= !sub_grants.is_empty();
        for sub in sub_grants {
            let entry = self.document.tail.sub_grants.entry(sub_grant_key(sub));
            entry.or_insert_with(|| sub.clone());
        }
        Ok(())
    }

    fn sub_grants_around(&mut self, node: u64, tick: u64) -> Result<SubGrantsAround, Fault> {
        let subs = self.entries_of_row(self.row_of_node(node))?.sub_grants;
        let after = (node, tick.saturating_add(1), 0, 0);
        let found = subs.range((node, 0, 0, 0)..after).next_back();
        let next = subs.range(after..=(node, u64::MAX, u64::MAX, u64::MAX)).next();
        let copy = |(_, sub): (&_, &SubGrant)| sub.clone();
        Ok((found.map(copy), next.map(copy)))
    }

    fn oldest_sub_grants(
        &mut self,
        from: u64,
        to: u64,
        limit: usize,
    ) -> Result<Vec<SubGrant>, Fault> {
        // The nodes belong to one block, because the caller reads the sub-grants of one row.
        let subs = self.entries_of_row(self.row_of_node(from))?.sub_grants;
        let of_nodes = subs.range((from, 0, 0, 0)..=(to, u64::MAX, u64::MAX, u64::MAX));
        Ok(of_nodes.take(limit).map(|(_, sub)| sub.clone()).collect())
    }

    fn remove_sub_grants_through(&mut self, last: &SubGrant) -> Result<(), Fault> {
        let key = sub_grant_key(last);
        let row = self.row_of_node(last.node);
        self.remove(row, |entries| entries.remove_sub_grants_through(key))
    }
}

#[cfg(test)]
mod tests {
    use flakeid_core::Layout;
    use flakeid_protocol::Namespace;

    use super::*;

    #[test]
    fn document_is_not_old_until_a_full_age_after_the_quiet_time() {
        let mut document = NamespaceDocument::new("run".into());
        document.written = 1_000_000;
        let mut namespace = Namespace::new("orders", Layout::TWITTER);
        // With long windows, the quiet time is longer than the age of an old document.
        namespace.quiet_until = document.written + 200_000;
        document.namespace = Some(namespace);
        let is_current =
            |now| is_current(&document, Some(""), Change::Unknown, now, OldDocuments::Restored);
        assert!(is_current(1_200_000));
        assert!(is_current(1_260_000));
        assert!(!is_current(1_260_001));
    }
}
