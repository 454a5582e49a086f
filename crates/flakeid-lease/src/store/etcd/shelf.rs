use std::collections::BTreeSet;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::super::optimistic::{Draft, Head, Seen, Shelf, row_of};
use super::super::{Candidates, Fault, gaps};
use super::gateway::{Answer, Gateway};
use super::keys::{self, decoded, number};
use super::nodes::{Nodes, list, node_of};
use super::run::{Likeness, Run, slack};
use crate::random;

/// How many rows come with one answer.
const PAGE: usize = 256;

/// How long to wait before it is asked again whether a run is behind one that was noted. An entry is
/// counted some microseconds after its revision can be seen, but a busy machine may come in between.
const LOOKS: [Duration; 3] =
    [Duration::from_millis(2), Duration::from_millis(10), Duration::from_millis(50)];

/// One connection: to one member, so that its clock and its log are always the same.
pub(super) struct Member {
    gateway: Gateway,
    /// The run, with the most that its slack can be.
    run: Option<Run>,
    /// How many entries of the log it had applied.
    applied: u64,
    /// What the transaction found the namespace to be.
    pub(super) namespace_text: Option<String>,
    /// The revisions at which the transaction began and at which all rows were read.
    pub(super) began_at: u64,
    pub(super) all_read_at: u64,
    /// Whether a row was found to be deleted: then all are compared until that is noted.
    pub(super) doubts: bool,
}

impl Member {
    pub(super) fn new(gateway: Gateway) -> Self {
        Self {
            gateway,
            run: None,
            applied: 0,
            namespace_text: None,
            began_at: 0,
            all_read_at: 0,
            doubts: false,
        }
    }

    pub(super) fn range(&mut self, request: &Value) -> Result<Value, Fault> {
        Ok(self.gateway.call("/v3/kv/range", request)?.body)
    }

    pub(super) fn txn(&mut self, compare: &[Value], success: &[Value]) -> Result<Answer, Fault> {
        let request = json!({ "compare": compare, "success": success });
        self.gateway.call("/v3/kv/txn", &request)
    }

    pub(super) fn unpin(&self) {
        self.gateway.pin.lift();
    }

    /// Learns which run this is from the header of an answer, and from the status that the same member
    /// tells after it. Returns the time of that.
    fn learn(&mut self, header: &Value) -> Result<i64, Fault> {
        let Answer { body: status, date } =
            self.gateway.call("/v3/maintenance/status", &json!({}))?;
        self.applied = number(&status["raftAppliedIndex"])?;
        if self.applied == 0 {
            let place = &self.gateway.base;
            return Err(Fault::Rejected(format!(
                "{place} is too old: etcd 3.4 or later is needed"
            )));
        }
        self.run = Some(Run {
            cluster: number(&status["header"]["cluster_id"])?,
            term: number(&header["raft_term"])?,
            slack: slack(self.applied, number(&header["revision"])?)?,
        });
        Ok(date)
    }

    fn likeness(&self, noted: &str) -> Likeness {
        self.run.as_ref().map_or(Likeness::Other, |run| run.likeness(noted))
    }

    /// Two keys as of one moment, or how many keys there are with each of two prefixes.
    fn both(&mut self, one: String, other: String) -> Result<[Value; 2], Fault> {
        let ranges = [one, other].map(|key| {
            let request = if key.ends_with('/') {
                keys::count(&key, &keys::end(&key))
            } else {
                keys::range(&key, None)
            };
            json!({ "request_range": request })
        });
        let Answer { mut body, .. } = self.txn(&[], &ranges)?;
        Ok([0, 1].map(|at| body["responses"][at]["response_range"].take()))
    }

    /// The nodes of all keys with a prefix.
    fn nodes(&mut self, prefix: &str) -> Result<BTreeSet<u64>, Fault> {
        let mut request = keys::range(prefix, Some(&keys::end(prefix)));
        request["keys_only"] = json!(true);
        let answer = self.range(&request)?;
        list(&answer).iter().map(node_of).collect()
    }
}

fn seen(entry: &Value) -> Result<Seen<u64>, Fault> {
    let (text, version) = (decoded(&entry["value"])?, number(&entry["mod_revision"])?);
    Ok(Seen { node: node_of(entry)?, text, version })
}

impl Shelf for Member {
    type Version = u64;

    fn head(&mut self, namespace: &str) -> Result<Head<u64>, Fault> {
        self.unpin();
        let body = self.range(&keys::range(&keys::namespace(namespace), None))?;
        // All that follows goes over the connection that this came by.
        self.gateway.pin.set();
        let kept = match list(&body).first() {
            Some(kept) => Some((decoded(&kept["value"])?, number(&kept["mod_revision"])?)),
            None => None,
        };
        self.namespace_text = kept.as_ref().map(|(text, _)| text.clone());

        self.began_at = number(&body["header"]["revision"])?;
        // Its time counts: whoever learns here that the store was restored must not take the time
        // from before that, when others may still have been granted ticks.
        let now = self.learn(&body["header"])?;
        let whole = if self.doubts { Some(self.is_whole(namespace)?) } else { None };
        Ok(Head { now, namespace: kept, whole })
    }

    fn incarnation(&mut self, namespace: &str) -> Result<String, Fault> {
        // The revision of now, with what was applied before, is the least that the slack can be.
        let body = self.range(&keys::range(&keys::namespace(namespace), None))?;
        let slack = slack(self.applied, number(&body["header"]["revision"])?)?;
        let Some(Run { cluster, term, .. }) = self.run else { return Err(Fault::Conflict) };
        Ok(Run { cluster, term, slack }.to_text(random::token()))
    }

    fn remembers(&mut self, namespace: &str, noted: &str) -> Result<bool, Fault> {
        for pause in LOOKS {
            if self.likeness(noted) != Likeness::Behind {
                break;
            }
            thread::sleep(pause);
            let body = self.range(&keys::range(&keys::namespace(namespace), None))?;
            self.learn(&body["header"])?;
        }
        Ok(self.likeness(noted) == Likeness::Same)
    }

    fn is_whole(&mut self, namespace: &str) -> Result<bool, Fault> {
        let whole = if self.doubts {
            // Equal numbers would not explain what was found.
            self.strays(namespace)?.is_empty()
        } else {
            let [rows, used] =
                self.both(keys::row(namespace, None), keys::used(namespace, None))?;
            let (rows, used): (u64, u64) = (number(&rows["count"])?, number(&used["count"])?);
            rows == used
        };
        self.doubts = !whole;
        Ok(whole)
    }

    fn row(&mut self, namespace: &str, node: u64) -> Result<Option<(String, u64)>, Fault> {
        let key = keys::row(namespace, Some(node));
        let [row, used] = self.both(key, keys::used(namespace, Some(node)))?;
        let found = list(&row).first().map(seen).transpose()?;
        if found.is_none() && !list(&used).is_empty() && !self.doubts {
            self.doubts = true;
            return Err(Fault::Conflict);
        }
        Ok(found.map(|found| (found.text, found.version)))
    }

    fn coldest(
        &mut self,
        namespace: &str,
        candidates: &Candidates<'_>,
        enough: usize,
    ) -> Result<Vec<Seen<u64>>, Fault> {
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
            let page = list(&answer).iter().map(seen).collect::<Result<Vec<_>, _>>()?;
            let full = page.len() == limit;
            let (first, last) =
                (page.first().map(|row| row.version), page.last().map(|row| row.version));
            for row in page {
                // What cannot be read is told by whoever wants that node.
                let read = row_of(namespace, row.node, &row.text);
                if read.is_ok_and(|read| candidates.include(&read)) && known.insert(row.node) {
                    found.push(row);
                }
            }
            let Some(last) = last.filter(|_| full && found.len() < enough) else {
                return Ok(found);
            };
            // Rows that were written together have one revision, and the page may have cut through
            // them.
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
        gaps::unused(&mut Nodes { member: self, namespace }, range, first, skip)
    }

    fn rows(&mut self, namespace: &str) -> Result<Vec<Seen<u64>>, Fault> {
        let prefix = keys::row(namespace, None);
        let answer = self.range(&keys::range(&prefix, Some(&keys::end(&prefix))))?;
        self.all_read_at = number(&answer["header"]["revision"])?;
        list(&answer).iter().map(seen).collect()
    }

    fn strays(&mut self, namespace: &str) -> Result<Vec<u64>, Fault> {
        let rows = self.nodes(&keys::row(namespace, None))?;
        let used = self.nodes(&keys::used(namespace, None))?;
        Ok(rows.symmetric_difference(&used).copied().collect())
    }

    fn record_at(
        &mut self,
        namespace: &str,
        node: u64,
        tick: u64,
    ) -> Result<Option<(String, Option<u64>)>, Fault> {
        let history = keys::history(namespace, node);
        let until = format!("{history}{:020}", tick.saturating_add(1));
        let mut last = keys::range(&history, Some(&until));
        last["sort_target"] = json!("KEY");
        last["sort_order"] = json!("DESCEND");
        last["limit"] = json!(1);
        let answer = self.range(&last)?;
        let Some(found) = list(&answer).first() else { return Ok(None) };
        let after = format!("{}0", decoded(&found["key"])?);
        let mut next = keys::range(&after, Some(&keys::end(&history)));
        next["keys_only"] = json!(true);
        next["limit"] = json!(1);
        let answer = self.range(&next)?;
        let next = list(&answer).first().map(|next| keys::part(&decoded(&next["key"])?, 5));
        Ok(Some((decoded(&found["value"])?, next.transpose()?)))
    }

    fn commit(&mut self, namespace: &str, draft: &Draft<u64>) -> Result<(), Fault> {
        self.write(namespace, draft)
    }
}
