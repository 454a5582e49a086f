//! The history of a namespace: the newest entries in the namespace's document, and all other entries in history
//! documents.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json};

use crate::json::{parse, record_json, record_of, sub_grant_json, sub_grant_of};
use crate::values::damage_fault;
use flakeid_protocol::store::Fault;
use flakeid_protocol::{Namespace, Record, SubGrant, Token};

/// The number of parts of a history. Each part consists of one or several documents.
pub(super) const PARTS: usize = 8;

/// The number of entries in a namespace's document above which a transaction moves entries to a history document. An
/// entry has about 130 bytes, which each renewal reads and writes.
pub(super) const TAIL: usize = 32;

/// The order of records: node, first tick, number of the grant.
type RecordKey = (u64, u64, u64);

/// The order of sub-grants: node, first tick, number of the block's grant, number of the sub-grant.
type SubGrantKey = (u64, u64, u64, u64);

pub(super) fn record_key(record: &Record) -> RecordKey {
    (record.node, record.start, record.grant)
}

pub(super) fn sub_grant_key(sub: &SubGrant) -> SubGrantKey {
    (sub.node, sub.start, sub.block_grant, sub.grant)
}

/// Entries of the history: the records of grants, and the sub-grants of brokers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Entries {
    pub(super) records: BTreeMap<RecordKey, Record>,
    pub(super) sub_grants: BTreeMap<SubGrantKey, SubGrant>,
}

/// Returns the number of the part that contains the entries of a row.
pub(super) fn part_of_row(row: u64) -> usize {
    (row % PARTS as u64) as usize
}

impl Entries {
    /// Takes the entries from the fields of a JSON object.
    pub(super) fn parse(name: &str, fields: &mut Map<String, Json>) -> Result<Self, Fault> {
        let mut entries = Self::default();
        for (node, json) in list(name, fields, "records")? {
            let record = record_of(name, node, json)?;
            entries.records.insert(record_key(&record), record);
        }
        for (node, json) in list(name, fields, "sub_grants")? {
            let sub = sub_grant_of(name, node, json)?;
            entries.sub_grants.insert(sub_grant_key(&sub), sub);
        }
        Ok(entries)
    }

    /// Adds the entries to the fields of a JSON object.
    pub(super) fn write(&self, fields: &mut Map<String, Json>) -> Result<(), Fault> {
        let with_node = |node: u64, json: Json| match json {
            Json::Object(mut entry) => {
                entry.insert("node".into(), node.into());
                Json::Object(entry)
            }
            other => other,
        };
        let records = self.records.values().map(|r| Ok(with_node(r.node, record_json(r)?)));
        fields.insert("records".into(), Json::Array(records.collect::<Result<_, Fault>>()?));
        let subs =
            self.sub_grants.values().map(|sub| Ok(with_node(sub.node, sub_grant_json(sub)?)));
        fields.insert("sub_grants".into(), Json::Array(subs.collect::<Result<_, Fault>>()?));
        Ok(())
    }

    /// Parses the text of a history document.
    pub(super) fn from_text(name: &str, text: &str) -> Result<Self, Fault> {
        match parse(name, None, text)? {
            Json::Object(mut fields) => Self::parse(name, &mut fields),
            _ => Err(damage_fault(name, None, "history", "(not a JSON object)")),
        }
    }

    /// Formats a history document with a new nonce.
    pub(super) fn to_text(&self, nonce: Token) -> Result<String, Fault> {
        let mut fields = Map::new();
        fields.insert("nonce".into(), nonce.to_text().into());
        self.write(&mut fields)?;
        Ok(Json::Object(fields).to_string())
    }

    pub(super) fn len(&self) -> usize {
        self.records.len() + self.sub_grants.len()
    }

    /// Adds the entries of `newer`. Existing entries stay unchanged.
    pub(super) fn add(&mut self, newer: &Self) {
        for (key, record) in &newer.records {
            self.records.entry(*key).or_insert_with(|| record.clone());
        }
        for (key, sub) in &newer.sub_grants {
            self.sub_grants.entry(*key).or_insert_with(|| sub.clone());
        }
    }

    /// Whether every entry of `other` is also an entry of `self`.
    pub(super) fn contains(&self, other: &Self) -> bool {
        other.records.keys().all(|key| self.records.contains_key(key))
            && other.sub_grants.keys().all(|key| self.sub_grants.contains_key(key))
    }

    /// Removes and returns the entries of a part.
    pub(super) fn split_off(&mut self, namespace: &Namespace, part: usize) -> Self {
        let of_part = |row| part_of_row(row) == part;
        let records = std::mem::take(&mut self.records);
        let subs = std::mem::take(&mut self.sub_grants);
        let (moved, kept) = records.into_iter().partition(|(key, _)| of_part(key.0));
        self.records = kept;
        let (moved_subs, kept) =
            subs.into_iter().partition(|(key, _)| of_part(namespace.row_of(key.0)));
        self.sub_grants = kept;
        Self { records: moved, sub_grants: moved_subs }
    }

    /// Returns the number of the part to which most entries belong.
    pub(super) fn largest_part(&self, namespace: &Namespace) -> usize {
        let mut counts = [0_usize; PARTS];
        let rows = self.records.keys().map(|key| key.0);
        for row in rows.chain(self.sub_grants.keys().map(|key| namespace.row_of(key.0))) {
            counts[part_of_row(row)] += 1;
        }
        (0..PARTS).max_by_key(|part| counts[*part]).unwrap_or(0)
    }

    /// Removes a record and all older records of its node. Returns whether a record was removed.
    pub(super) fn remove_records_through(&mut self, last: RecordKey) -> bool {
        let before = self.records.len();
        self.records.retain(|key, _| key.0 != last.0 || *key > last);
        self.records.len() < before
    }

    /// Removes a sub-grant and all older sub-grants of its node. Returns whether a sub-grant was removed.
    pub(super) fn remove_sub_grants_through(&mut self, last: SubGrantKey) -> bool {
        let before = self.sub_grants.len();
        self.sub_grants.retain(|key, _| key.0 != last.0 || *key > last);
        self.sub_grants.len() < before
    }
}

/// Takes a list of entries from the fields of a JSON object. Returns each entry with its node.
fn list(
    name: &str,
    fields: &mut Map<String, Json>,
    field: &str,
) -> Result<Vec<(u64, Json)>, Fault> {
    let Some(Json::Array(entries)) = fields.remove(field) else {
        return Err(damage_fault(name, None, field, "(not a list)"));
    };
    let with_node = |entry: Json| {
        let node = entry["node"].as_u64();
        node.map(|node| (node, entry)).ok_or_else(|| damage_fault(name, None, field, "(no node)"))
    };
    entries.into_iter().map(with_node).collect()
}
