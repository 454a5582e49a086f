use serde_json::{Value, json};

use super::super::Fault;
use super::super::optimistic::{Draft, Written};
use super::keys::{self, encoded};
use super::shelf::Member;

/// etcd allows so many operations in a transaction, and in a nested one as many fewer as the outer
/// one has comparisons or operations, whichever are more.
const MOST: usize = 128;

/// So many rows are compared one by one, and so many operations are nested, at most.
const PART: usize = 50;

impl Member {
    /// One transaction: compares everything that was read, and puts everything.
    pub(super) fn write(&mut self, namespace: &str, draft: &Draft<u64>) -> Result<(), Fault> {
        let key = keys::namespace(namespace);
        let mut compare = vec![unchanged(&key, draft.namespace_seen)];
        // In two histories of which one was put back the same revision may mean two things.
        compare.extend(self.namespace_text.iter().map(|text| {
            json!({ "key": encoded(&key), "target": "VALUE", "result": "EQUAL", "value": encoded(text) })
        }));
        let since = match draft.rows_seen.len() {
            _ if draft.all_seen => Some(self.all_read_at),
            // Too many for one by one: then none at all may have changed.
            PART.. => Some(self.began_at),
            _ => None,
        };
        if let Some(since) = since {
            compare.push(older(&keys::row(namespace, None), since));
        } else {
            let seen = draft.rows_seen.iter();
            let row = |node: &u64| keys::row(namespace, Some(*node));
            compare.extend(seen.map(|(node, seen)| unchanged(&row(node), *seen)));
        }
        // A mark without a row tells of one that was deleted, perhaps a moment ago.
        let is_new = |row: &&Written| row.is_new && !draft.mends && !self.doubts;
        let marks: Vec<_> = draft.rows.iter().filter(is_new).collect();
        if marks.len() < PART {
            let mark = |row: &Written| keys::used(namespace, Some(row.node));
            compare.extend(marks.iter().map(|row| unchanged(&mark(row), None)));
        } else {
            compare.push(older(&keys::used(namespace, None), self.began_at));
        }
        let mut writes: Vec<Value> = draft.namespace.iter().map(|text| put(&key, text)).collect();
        for row in &draft.rows {
            writes.push(put(&keys::row(namespace, Some(row.node)), &row.text));
            if row.is_new || draft.mends {
                writes.push(put(&keys::used(namespace, Some(row.node)), ""));
            }
        }
        for (node, start, grant, text) in &draft.records {
            let place = format!("{}{start:020}/{grant:020}", keys::history(namespace, *node));
            writes.push(put(&place, text));
        }
        let success = match writes.len() {
            // Comparisons alone would be answered from what one member knows.
            0 => vec![json!({ "request_range": keys::range(&key, None) })],
            1..=PART => writes,
            // What is nested does not count for the cluster's quota, so only what must be is.
            _ => {
                let parts = writes.chunks(PART.min(MOST - compare.len()));
                parts.map(|part| json!({ "request_txn": { "success": part } })).collect()
            }
        };
        let answer = self.txn(&compare, &success)?;
        if answer.body["succeeded"] == json!(true) { Ok(()) } else { Err(Fault::Conflict) }
    }
}

fn put(key: &str, text: &str) -> Value {
    json!({ "request_put": { "key": encoded(key), "value": encoded(text) } })
}

/// That no key with a prefix has changed since a revision.
fn older(prefix: &str, since: u64) -> Value {
    json!({
        "key": encoded(prefix), "range_end": encoded(&keys::end(prefix)),
        "target": "MOD", "result": "LESS", "mod_revision": (since + 1).to_string(),
    })
}

/// That a key is what it was; 0 is the revision of one that does not exist.
fn unchanged(key: &str, revision: Option<u64>) -> Value {
    let revision = revision.unwrap_or(0).to_string();
    json!({
        "key": encoded(key), "target": "MOD", "result": "EQUAL", "mod_revision": revision,
    })
}
