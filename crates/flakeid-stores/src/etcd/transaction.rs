//! The implementation of `VersionedStore` for etcd, except for commits.

use std::collections::BTreeSet;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::super::optimistic::{Head, ReadRow, VersionedStore, WriteSet, row_of};
use super::run::{RunComparison, RunRecord};
use super::store::{EtcdStore, NewRecord};
use crate::etcd::keys::{self, decode, entries, node_of, number};
use crate::gaps::{self, UsedNodes};
use crate::random;
use flakeid_protocol::store::{Candidates, Fault};

/// The maximum number of rows in one response.
const PAGE: usize = 256;

/// The pauses before repeated checks of a run that appears to be behind the recorded run. A single check may be wrong,
/// because etcd counts a log entry slightly after the entry's revision becomes visible. This delay is a few
/// microseconds, or longer on a busy machine.
const REREADS: [Duration; 3] =
    [Duration::from_millis(2), Duration::from_millis(10), Duration::from_millis(50)];

fn read_row(entry: &Value) -> Result<ReadRow<u64>, Fault> {
    let (text, version) = (decode(&entry["value"])?, number(&entry["mod_revision"])?);
    Ok(ReadRow { node: node_of(entry)?, text, version })
}

/// Returns the value and the revision of the only key in a response, or `None` if the key does not exist.
fn read_text(range: &Value) -> Result<Option<(String, u64)>, Fault> {
    let read = |kept: &Value| Ok((decode(&kept["value"])?, number(&kept["mod_revision"])?));
    entries(range).first().map(read).transpose()
}

impl EtcdStore {
    fn compare_run(&self, record: &RunRecord) -> RunComparison {
        self.run.map_or(RunComparison::Other, |run| run.compare(&record.run))
    }

    /// Checks whether a term that is later than the recorded term began with an election. Queries the members up to
    /// twice, because they may respond too late on a busy machine.
    fn has_elected(&mut self, record: &RunRecord) -> Result<bool, Fault> {
        for _ in 0..2 {
            let voters = self.voters()?;
            if record.is_continued_by(&voters) {
                self.new_record = NewRecord::Rewritten(Some(voters));
                return Ok(true);
            }
            if !record.may_be_continued_by(&voters) {
                break;
            }
        }
        Ok(false)
    }
}

impl EtcdStore {
    /// Searches the keys in which the prefix is followed by a tick. Returns the value of the last key with a tick at or
    /// before the given tick, and the value of the first key with a later tick. Reads both at the same revision.
    fn values_around(
        &mut self,
        prefix: &str,
        tick: u64,
    ) -> Result<(Option<String>, Option<String>), Fault> {
        let after = format!("{prefix}{:020}", tick.saturating_add(1));
        let mut last = keys::range(prefix, Some(&after));
        last["sort_target"] = json!("KEY");
        last["sort_order"] = json!("DESCEND");
        let mut next = keys::range(&after, Some(&keys::end(prefix)));
        for request in [&mut last, &mut next] {
            request["limit"] = json!(1);
        }
        let (read, _) = self.read_ranges([last, next].into_iter())?;
        let value = |index: usize| {
            let first = read.get(index).and_then(|range| entries(range).first());
            first.map(value_of).transpose()
        };
        Ok((value(0)?, value(1)?))
    }

    /// Returns the first keys in a range and their values, up to `limit` keys.
    fn first_entries(&mut self, first: &str, end: &str, limit: usize) -> Result<Value, Fault> {
        let mut request = keys::range(first, Some(end));
        request["limit"] = json!(limit);
        self.range(&request)
    }
}

fn value_of(entry: &Value) -> Result<String, Fault> {
    decode(&entry["value"])
}

impl VersionedStore for EtcdStore {
    type Version = u64;

    fn head(&mut self, namespace: &str) -> Result<Head<u64>, Fault> {
        self.unpin();
        let ([kept, record], header) =
            self.read_pair(keys::namespace(namespace), keys::run(namespace))?;
        // All subsequent requests of the transaction must use the connection on which this response arrived.
        self.gateway.pin.set();
        let [kept, record] = [kept, record].map(|range| read_text(&range));
        let (kept, record) = (kept?, record?);
        self.namespace_text = kept.as_ref().map(|(text, _)| text.clone());
        self.record_read = record.as_ref().map(|(_, revision)| *revision);
        self.record = record.and_then(|(text, _)| RunRecord::from_text(&text));
        self.new_record = NewRecord::None;

        self.began_at = number(&header["revision"])?;
        // The time is taken from the status response, because the earlier response may have been sent before a restore.
        // Between the earlier response and the restore, other holders may have been granted ticks.
        let now = self.learn_run(&header)?;
        self.now = now;
        let is_complete =
            if self.found_deletion { Some(self.is_complete(namespace)?) } else { None };
        Ok(Head { now, namespace: kept, is_complete })
    }

    fn incarnation(&mut self, namespace: &str) -> Result<String, Fault> {
        self.lengthen_log(namespace)?;
        let Some(run) = self.run else { return Err(Fault::Conflict) };
        let run = self.with_least_slack(namespace, run)?;
        let incarnation = RunRecord::incarnation(run.cluster, random::token());
        let (written, voters) = (self.now, self.voters()?);
        let record = RunRecord { incarnation: incarnation.clone(), run, written, voters };
        self.new_record = NewRecord::Of(record);
        Ok(incarnation)
    }

    fn is_same_run(&mut self, namespace: &str, recorded: &str) -> Result<bool, Fault> {
        let Some(record) = self.record.clone().filter(|record| record.incarnation == recorded)
        else {
            return Ok(false);
        };
        for pause in REREADS {
            if self.compare_run(&record) != RunComparison::Behind {
                break;
            }
            thread::sleep(pause);
            let body = self.range(&keys::range(&keys::namespace(namespace), None))?;
            self.learn_run(&body["header"])?;
        }
        match self.compare_run(&record) {
            RunComparison::Same => {
                if self.run.is_some_and(|run| record.is_due(&run, self.now)) {
                    self.new_record = NewRecord::Rewritten(None);
                }
                Ok(true)
            }
            RunComparison::LaterTerm => self.has_elected(&record),
            RunComparison::Behind | RunComparison::Other => Ok(false),
        }
    }

    fn is_complete(&mut self, namespace: &str) -> Result<bool, Fault> {
        let is_complete = if self.found_deletion {
            // After a deletion has been detected, the data is complete only if every mark has a row and every row has a
            // mark.
            self.mismatched_nodes(namespace)?.is_empty()
        } else {
            let ([rows, used], _) =
                self.read_pair(keys::row(namespace, None), keys::used(namespace, None))?;
            let (rows, used): (u64, u64) = (number(&rows["count"])?, number(&used["count"])?);
            rows == used
        };
        self.found_deletion = !is_complete;
        Ok(is_complete)
    }

    fn rows_of(
        &mut self,
        namespace: &str,
        nodes: &[u64],
    ) -> Result<Vec<Option<(String, u64)>>, Fault> {
        let keys =
            |node: &u64| [keys::row(namespace, Some(*node)), keys::used(namespace, Some(*node))];
        let ranges = nodes.iter().flat_map(keys).map(|key| keys::range(&key, None));
        let (read, _) = self.read_ranges(ranges)?;
        let mut rows = Vec::with_capacity(nodes.len());
        for pair in read.chunks(2) {
            let [row, used] = pair else { continue };
            let row = entries(row).first().map(read_row).transpose()?;
            if row.is_none() && !entries(used).is_empty() && !self.found_deletion {
                self.found_deletion = true;
                return Err(Fault::Conflict);
            }
            rows.push(row.map(|found| (found.text, found.version)));
        }
        Ok(rows)
    }

    fn coldest(
        &mut self,
        namespace: &str,
        candidates: &Candidates<'_>,
        enough: usize,
    ) -> Result<Vec<ReadRow<u64>>, Fault> {
        let mut request = keys::range(
            &keys::row(namespace, Some(candidates.from)),
            Some(&keys::row(namespace, Some(candidates.to.saturating_add(1)))),
        );
        request["sort_target"] = json!("MOD");
        request["sort_order"] = json!("ASCEND");
        let mut limit = PAGE;
        let mut found = Vec::new();
        let mut known = BTreeSet::new();
        loop {
            request["limit"] = json!(limit);
            let answer = self.range(&request)?;
            let page = entries(&answer).iter().map(read_row).collect::<Result<Vec<_>, _>>()?;
            let full = page.len() == limit;
            let (first, last) =
                (page.first().map(|row| row.version), page.last().map(|row| row.version));
            for row in page {
                // An unreadable row is skipped, because it is reported only to a process that requests the row's node.
                let read = row_of(namespace, row.node, &row.text);
                if read.is_ok_and(|read| candidates.include(&read)) && known.insert(row.node) {
                    found.push(row);
                }
            }
            let Some(last) = last.filter(|_| full && found.len() < enough) else {
                return Ok(found);
            };
            // The next page begins with the last revision of this page. Rows that were written together share a
            // revision, and the page may end between them.
            request["min_mod_revision"] = json!(last.to_string());
            if first == Some(last) {
                limit *= 2;
            }
        }
    }

    fn unused(
        &mut self,
        namespace: &str,
        range: (u64, u64),
        first: u64,
        skip: u64,
    ) -> Result<Option<u64>, Fault> {
        gaps::unused(&mut Nodes { store: self, namespace }, range, first, skip)
    }

    fn rows(&mut self, namespace: &str) -> Result<Vec<ReadRow<u64>>, Fault> {
        let prefix = keys::row(namespace, None);
        let answer = self.range(&keys::range(&prefix, Some(&keys::end(&prefix))))?;
        self.all_read_at = number(&answer["header"]["revision"])?;
        entries(&answer).iter().map(read_row).collect()
    }

    fn mismatched_nodes(&mut self, namespace: &str) -> Result<Vec<u64>, Fault> {
        let rows = self.list_nodes(&keys::row(namespace, None))?;
        let used = self.list_nodes(&keys::used(namespace, None))?;
        Ok(rows.symmetric_difference(&used).copied().collect())
    }

    fn records_around(
        &mut self,
        namespace: &str,
        node: u64,
        tick: u64,
    ) -> Result<(Option<String>, Option<String>), Fault> {
        self.values_around(&keys::history(namespace, node), tick)
    }

    fn oldest_records(
        &mut self,
        namespace: &str,
        node: u64,
        limit: usize,
    ) -> Result<Vec<String>, Fault> {
        let prefix = keys::history(namespace, node);
        let answer = self.first_entries(&prefix, &keys::end(&prefix), limit)?;
        entries(&answer).iter().map(value_of).collect()
    }

    fn sub_grants_around(
        &mut self,
        namespace: &str,
        node: u64,
        tick: u64,
    ) -> Result<(Option<String>, Option<String>), Fault> {
        self.values_around(&keys::sub_grants(namespace, node), tick)
    }

    fn oldest_sub_grants(
        &mut self,
        namespace: &str,
        (from, to): (u64, u64),
        limit: usize,
    ) -> Result<Vec<(u64, String)>, Fault> {
        let first = keys::sub_grants(namespace, from);
        let end = keys::end(&keys::sub_grants(namespace, to));
        let answer = self.first_entries(&first, &end, limit)?;
        entries(&answer).iter().map(|entry| Ok((node_of(entry)?, value_of(entry)?))).collect()
    }

    fn commit(&mut self, namespace: &str, write_set: &WriteSet<u64>) -> Result<(), Fault> {
        self.commit_writes(namespace, write_set)
    }
}

/// The nodes of a namespace that have rows.
struct Nodes<'a> {
    store: &'a mut EtcdStore,
    namespace: &'a str,
}

impl Nodes<'_> {
    fn ends(&self, low: u64, high: u64) -> [String; 2] {
        [low, high.saturating_add(1)].map(|node| keys::row(self.namespace, Some(node)))
    }
}

/// Each request specifies the end of its range instead of a limit. A limit would not make the request faster, because
/// etcd scans the whole range.
impl UsedNodes for Nodes<'_> {
    fn count(&mut self, low: u64, high: u64) -> Result<u64, Fault> {
        let [first, end] = self.ends(low, high);
        number(&self.store.range(&keys::count(&first, &end))?["count"])
    }

    fn nodes(&mut self, low: u64, high: u64) -> Result<Vec<u64>, Fault> {
        let [first, end] = self.ends(low, high);
        let mut request = keys::range(&first, Some(&end));
        request["keys_only"] = json!(true);
        entries(&self.store.range(&request)?).iter().map(node_of).collect()
    }
}
