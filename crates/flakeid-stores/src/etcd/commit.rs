//! The commit of a transaction: a single request compares all data that the transaction has read, and writes the
//! transaction's changes.

use std::mem;

use serde_json::{Value, json};

use super::super::optimistic::{NewRow, WriteSet};
use super::run::RunRecord;
use super::store::{EtcdStore, NewRecord};
use crate::etcd::keys::{self, encode};
use flakeid_protocol::store::Fault;

/// The maximum number of operations in an etcd transaction. For a nested transaction, etcd lowers this maximum by the
/// number of comparisons or the number of operations in the outer transaction, whichever is larger.
const MAX_OPERATIONS: usize = 128;

/// The smallest number of rows for which the commit uses one comparison of all rows instead of one comparison per row.
/// Also the maximum number of operations in a nested transaction.
const MAX_PART: usize = 50;

impl EtcdStore {
    /// Commits the transaction: applies all of its writes if all data that the transaction read is still unchanged.
    /// Otherwise writes nothing and fails with [`Fault::Conflict`].
    pub(super) fn commit_writes(
        &mut self,
        namespace: &str,
        write_set: &WriteSet<u64>,
    ) -> Result<(), Fault> {
        let key = keys::namespace(namespace);
        let mut compare = vec![compare_revision(&key, write_set.namespace_read)];
        // The namespace's value is compared as well as its revision, because after a restore, two different values may
        // have the same revision.
        compare.extend(self.namespace_text.iter().map(|text| {
            json!({ "key": encode(&key), "target": "VALUE", "result": "EQUAL", "value": encode(text) })
        }));
        let since = match write_set.rows_read.len() {
            _ if write_set.read_all => Some(self.all_read_at),
            // If there are too many rows to compare one by one, the commit requires that no row of the namespace has
            // changed.
            MAX_PART.. => Some(self.began_at),
            _ => None,
        };
        if let Some(since) = since {
            compare.push(compare_unchanged_since(&keys::row(namespace, None), since));
        } else {
            let seen = write_set.rows_read.iter();
            let row = |node: &u64| keys::row(namespace, Some(*node));
            compare.extend(seen.map(|(node, seen)| compare_revision(&row(node), *seen)));
        }
        // The commit fails if the node of a new row already has a mark. A mark without a row proves that an earlier row
        // was deleted, possibly during this transaction.
        let is_new =
            |row: &&NewRow| row.is_new && !write_set.resets_row_marks && !self.found_deletion;
        let marks: Vec<_> = write_set.rows.iter().filter(is_new).collect();
        if marks.len() < MAX_PART {
            let mark = |row: &NewRow| keys::used(namespace, Some(row.node));
            compare.extend(marks.iter().map(|row| compare_revision(&mark(row), None)));
        } else {
            compare.push(compare_unchanged_since(&keys::used(namespace, None), self.began_at));
        }
        let mut writes: Vec<Value> =
            write_set.namespace.iter().map(|text| put(&key, text)).collect();
        for row in &write_set.rows {
            writes.push(put(&keys::row(namespace, Some(row.node)), &row.text));
            if row.is_new || write_set.resets_row_marks {
                writes.push(put(&keys::used(namespace, Some(row.node)), ""));
            }
        }
        for (node, start, grant, text) in &write_set.records {
            writes.push(put(&keys::record(namespace, *node, *start, *grant), text));
        }
        for sub in &write_set.sub_grants {
            let numbers = [sub.block_grant, sub.grant];
            let key = keys::sub_grant(namespace, sub.node, sub.start, numbers);
            writes.push(put(&key, &sub.text));
        }
        for record in &write_set.removed_records {
            let last = keys::record(namespace, record.node, record.start, record.grant);
            writes.push(delete_through(&keys::history(namespace, record.node), &last));
        }
        for sub in &write_set.removed_sub_grants {
            let numbers = [sub.block_grant, sub.grant];
            let last = keys::sub_grant(namespace, sub.node, sub.start, numbers);
            writes.push(delete_through(&keys::sub_grants(namespace, sub.node), &last));
        }
        // The run record is written only if the transaction also writes other data.
        if !writes.is_empty()
            && let Some(record) = self.record_to_write(namespace, write_set.namespace.is_some())?
        {
            let key = keys::run(namespace);
            compare.push(compare_revision(&key, self.record_read));
            writes.push(put(&key, &record.to_text()));
        }
        let success = match writes.len() {
            // If a transaction contained only comparisons, the member would evaluate them against its local data, which
            // may be outdated. Adding a range request prevents this local evaluation.
            0 => vec![json!({ "request_range": keys::range(&key, None) })],
            1..=MAX_PART => writes,
            // etcd does not check nested operations against the storage quota. Operations are therefore nested only if
            // there are too many for one transaction.
            _ => {
                let parts = writes.chunks(MAX_PART.min(MAX_OPERATIONS - compare.len()));
                parts.map(|part| json!({ "request_txn": { "success": part } })).collect()
            }
        };
        let answer = self.txn(&compare, &success)?;
        if answer.body["succeeded"] == json!(true) { Ok(()) } else { Err(Fault::Conflict) }
    }
}

impl EtcdStore {
    /// Returns the run record that the transaction must write, if any. The record of a new incarnation is written only
    /// if the transaction also writes the namespace, which contains the incarnation.
    fn record_to_write(
        &mut self,
        namespace: &str,
        writes_namespace: bool,
    ) -> Result<Option<RunRecord>, Fault> {
        let voters = match mem::replace(&mut self.new_record, NewRecord::None) {
            NewRecord::Of(record) => return Ok(writes_namespace.then_some(record)),
            NewRecord::None => return Ok(None),
            NewRecord::Rewritten(voters) => voters,
        };
        let (Some(old), Some(run)) = (self.record.take(), self.run) else { return Ok(None) };
        let voters = match voters {
            Some(voters) => voters,
            None => self.voters()?,
        };
        let run = self.with_least_slack(namespace, run)?;
        Ok(Some(old.rewritten(run, self.now, voters)))
    }
}

fn put(key: &str, text: &str) -> Value {
    json!({ "request_put": { "key": encode(key), "value": encode(text) } })
}

/// Builds a request that deletes the keys from `first` up to and including `last`.
fn delete_through(first: &str, last: &str) -> Value {
    let end = format!("{last}\0");
    json!({ "request_delete_range": { "key": encode(first), "range_end": encode(&end) } })
}

/// Builds a comparison that succeeds if no key with the prefix has changed since the given revision.
fn compare_unchanged_since(prefix: &str, since: u64) -> Value {
    json!({
        "key": encode(prefix), "range_end": encode(&keys::end(prefix)),
        "target": "MOD", "result": "LESS", "mod_revision": (since + 1).to_string(),
    })
}

/// Builds a comparison that succeeds if a key has the given revision. For `None`, the key must not exist, which etcd
/// represents by revision 0.
fn compare_revision(key: &str, revision: Option<u64>) -> Value {
    let revision = revision.unwrap_or(0).to_string();
    json!({
        "key": encode(key), "target": "MOD", "result": "EQUAL", "mod_revision": revision,
    })
}
