//! The commit of a transaction: one request that compares everything that was read, and writes.

use std::mem;

use serde_json::{Value, json};

use super::super::optimistic::{NewRow, WriteSet};
use super::run::RunRecord;
use super::store::{EtcdStore, NewRecord};
use crate::etcd::keys::{self, encode};
use flakeid_protocol::store::Fault;

/// The number of operations that etcd allows in a transaction. A nested transaction may have fewer: the limit minus the
/// comparisons or the operations of the outer one, whichever are more.
const MAX_OPERATIONS: usize = 128;

/// The largest number of rows that are compared one by one, and of operations in one nested transaction.
const MAX_PART: usize = 50;

impl EtcdStore {
    /// Commits the transaction: compares everything that was read, and puts all writes.
    pub(super) fn commit_writes(
        &mut self,
        namespace: &str,
        write_set: &WriteSet<u64>,
    ) -> Result<(), Fault> {
        let key = keys::namespace(namespace);
        let mut compare = vec![compare_revision(&key, write_set.namespace_read)];
        // The value is compared, too, because after a restore one revision may belong to two different values.
        compare.extend(self.namespace_text.iter().map(|text| {
            json!({ "key": encode(&key), "target": "VALUE", "result": "EQUAL", "value": encode(text) })
        }));
        let since = match write_set.rows_read.len() {
            _ if write_set.read_all => Some(self.all_read_at),
            // With too many rows to compare one by one, no row of the namespace may have changed.
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
        // A mark without a row proves that the row was deleted, possibly just now.
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
            let record = format!("{}{start:020}/{grant:020}", keys::history(namespace, *node));
            writes.push(put(&record, text));
        }
        for sub in &write_set.sub_grants {
            let (prefix, start) = (keys::sub_grants(namespace, sub.node), sub.start);
            let key = format!("{prefix}{start:020}/{:020}/{:020}", sub.block_grant, sub.grant);
            writes.push(put(&key, &sub.text));
        }
        // The record is written only together with other writes of the transaction.
        if !writes.is_empty()
            && let Some(record) = self.record_to_write(namespace, write_set.namespace.is_some())?
        {
            let key = keys::run(namespace);
            compare.push(compare_revision(&key, self.record_read));
            writes.push(put(&key, &record.to_text()));
        }
        let success = match writes.len() {
            // A transaction of comparisons alone would be answered by one member from its local data.
            0 => vec![json!({ "request_range": keys::range(&key, None) })],
            1..=MAX_PART => writes,
            // Nested operations do not count for the cluster's quota, so only the operations beyond the limit are nested.
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
    /// Returns the record of the run to write. The record of a new incarnation is written only together with the namespace
    /// that has the incarnation.
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

/// Builds the comparison that no key with a prefix has changed since a revision.
fn compare_unchanged_since(prefix: &str, since: u64) -> Value {
    json!({
        "key": encode(prefix), "range_end": encode(&keys::end(prefix)),
        "target": "MOD", "result": "LESS", "mod_revision": (since + 1).to_string(),
    })
}

/// Builds the comparison of a key's revision; 0 is the revision of a key that does not exist.
fn compare_revision(key: &str, revision: Option<u64>) -> Value {
    let revision = revision.unwrap_or(0).to_string();
    json!({
        "key": encode(key), "target": "MOD", "result": "EQUAL", "mod_revision": revision,
    })
}
