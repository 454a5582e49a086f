use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::super::optimistic::{Draft, Head, Seen, Shelf, row_of};
use super::super::{Candidates, Fault};
use super::gateway::{Answer, Gateway};
use super::keys::{self, decoded, number};
use super::run::{Run, slack};
use crate::random;

/// How many rows come with one answer.
const PAGE: usize = 256;

/// One connection: to one member, so that its clock and its log are always the same.
pub(super) struct Member {
    gateway: Gateway,
    /// The most that the slack of the run can be.
    most_slack: i64,
    run: Option<Run>,
    /// What the transaction found the namespace to be.
    pub(super) namespace_text: Option<String>,
    /// The revisions at which the transaction began and at which all rows were read.
    pub(super) began_at: u64,
    pub(super) all_read_at: u64,
}

impl Member {
    pub(super) fn new(gateway: Gateway) -> Self {
        Self {
            gateway,
            most_slack: i64::MIN,
            run: None,
            namespace_text: None,
            began_at: 0,
            all_read_at: 0,
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

    /// The nodes of all keys with a prefix.
    fn nodes(&mut self, prefix: &str) -> Result<BTreeSet<u64>, Fault> {
        let mut request = keys::range(prefix, Some(&keys::end(prefix)));
        request["keys_only"] = json!(true);
        let answer = self.range(&request)?;
        list(&answer).iter().map(node_of).collect()
    }
}

fn list(answer: &Value) -> &[Value] {
    answer["kvs"].as_array().map(Vec::as_slice).unwrap_or_default()
}

fn node_of(entry: &Value) -> Result<u64, Fault> {
    // "", flakeid, namespace, row, node
    keys::part(&decoded(&entry["key"])?, 4)
}

fn seen(entry: &Value) -> Result<Seen<u64>, Fault> {
    let (text, version) = (decoded(&entry["value"])?, number(&entry["mod_revision"])?);
    Ok(Seen { node: node_of(entry)?, text, version })
}

impl Shelf for Member {
    type Version = u64;

    fn head(&mut self, namespace: &str) -> Result<Head<u64>, Fault> {
        let count = |prefix: String| {
            let mut range = keys::range(&prefix, Some(&keys::end(&prefix)));
            range["count_only"] = json!(true);
            json!({ "request_range": range })
        };
        let kept = keys::range(&keys::namespace(namespace), None);
        self.unpin();
        let Answer { body, .. } = self.txn(
            &[],
            &[
                json!({ "request_range": kept }),
                count(keys::row(namespace, None)),
                count(keys::used(namespace, None)),
            ],
        )?;
        // All that follows goes over the connection that this came by.
        self.gateway.pin.set();
        let answers: Vec<&Value> =
            (0..3).map(|at| &body["responses"][at]["response_range"]).collect();
        let kept = list(answers[0]).first();
        let namespace = match kept {
            Some(kept) => Some((decoded(&kept["value"])?, number(&kept["mod_revision"])?)),
            None => None,
        };
        self.namespace_text = namespace.as_ref().map(|(text, _)| text.clone());
        let (rows, used): (u64, u64) =
            (number(&answers[1]["count"])?, number(&answers[2]["count"])?);

        // The same member has applied at least what it has just told.
        // Its time counts: whoever learns here that the store was restored must not take the time
        // from before that, when others may still have been granted ticks.
        let Answer { body: status, date } =
            self.gateway.call("/v3/maintenance/status", &json!({}))?;
        let applied: u64 = number(&status["raftAppliedIndex"])?;
        if applied == 0 {
            let place = &self.gateway.base;
            return Err(Fault::Rejected(format!(
                "{place} is too old: etcd 3.4 or later is needed"
            )));
        }
        let header = &status["header"];
        // Both may have grown between the readings: one bound is with the revision of before, the
        // other with the one of after.
        self.began_at = number(&body["header"]["revision"])?;
        self.most_slack = slack(applied, self.began_at)?;
        let run = Run {
            cluster: number(&header["cluster_id"])?,
            term: number(&body["header"]["raft_term"])?,
            slack: slack(applied, number(&header["revision"])?)?,
        };
        let incarnation = run.to_text(random::token());
        self.run = Some(run);
        Ok(Head { now: date, incarnation, namespace, whole: rows == used })
    }

    fn remembers(&self, _head: &Head<u64>, noted: &str) -> bool {
        self.run.as_ref().is_some_and(|run| run.continues(noted, self.most_slack))
    }

    fn row(&mut self, namespace: &str, node: u64) -> Result<Option<(String, u64)>, Fault> {
        let answer = self.range(&keys::range(&keys::row(namespace, Some(node)), None))?;
        let found = list(&answer).first().map(seen).transpose()?;
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
        (from, to): (u64, u64),
        first: u64,
        skip: u64,
    ) -> Result<Option<u64>, Fault> {
        let mut chosen = None;
        let mut left = skip;
        let wrapped = (first > from).then(|| (from, first - 1));
        for (mut low, high) in [(first, to)].into_iter().chain(wrapped) {
            while low <= high {
                let mut request = keys::range(
                    &keys::row(namespace, Some(low)),
                    Some(&keys::row(namespace, Some(high.saturating_add(1)))),
                );
                request["limit"] = json!(PAGE);
                request["keys_only"] = json!(true);
                let answer = self.range(&request)?;
                let rows = list(&answer).iter().map(node_of).collect::<Result<Vec<_>, _>>()?;
                let full = rows.len() == PAGE;
                let end = if full { rows.last().map_or(high, |last| *last) } else { high };
                let mut at = low;
                for next in rows.into_iter().chain((!full).then_some(high + 1)) {
                    if at < next {
                        let free = next - at;
                        if left < free {
                            return Ok(Some(at + left));
                        }
                        left -= free;
                        chosen = Some(next - 1);
                    }
                    at = next + 1;
                }
                low = end + 1;
            }
        }
        Ok(chosen)
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
