//! The connection to one etcd member, and the implementation of `Store`.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::super::optimistic::transact;
use super::gateway::{Answer, Gateway};
use super::run::{Run, RunRecord, Voters, slack};
use crate::etcd::keys::{self, entries, node_of, number};
use flakeid_protocol::Namespace;
use flakeid_protocol::store::{Fault, Ledger, Store};

/// The number of log entries that a cluster must have before its run is recorded. The log of a cluster that is restored
/// from a snapshot begins with about five entries, and soon has two or three more.
const SHORTEST_RECORDED_LOG: u64 = 100;

/// The run record that a transaction writes.
#[derive(Debug)]
pub(super) enum NewRecord {
    None,
    /// A new record of the same run, written only if the transaction also writes other data. Contains the voters if
    /// they have already been queried.
    Rewritten(Option<Voters>),
    /// The record of a new incarnation.
    Of(RunRecord),
}

/// A connection to a single etcd member. All times and log data come from this member.
pub(super) struct EtcdStore {
    pub(super) gateway: Gateway,
    /// The current run of the cluster, with an upper bound on the slack.
    pub(super) run: Option<Run>,
    /// The time at the beginning of the transaction, by the store's clock.
    pub(super) now: i64,
    /// The namespace's value when the transaction read it.
    pub(super) namespace_text: Option<String>,
    /// The run record that the transaction read.
    pub(super) record: Option<RunRecord>,
    pub(super) record_read: Option<u64>,
    /// The run record that the transaction will write.
    pub(super) new_record: NewRecord,
    /// The revision at which the transaction began.
    pub(super) began_at: u64,
    /// The revision at which the transaction read all rows.
    pub(super) all_read_at: u64,
    /// Whether a deleted row was detected. From then on, all rows are compared with their marks until a transaction has
    /// replaced the deleted rows.
    pub(super) found_deletion: bool,
}

impl EtcdStore {
    pub(super) fn new(gateway: Gateway) -> Self {
        Self {
            gateway,
            run: None,
            now: 0,
            namespace_text: None,
            record: None,
            record_read: None,
            new_record: NewRecord::None,
            began_at: 0,
            all_read_at: 0,
            found_deletion: false,
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
        self.gateway.pin.release();
    }

    /// Determines the current run from the header of a response and from the member's subsequent status response.
    /// Returns the time of the status response, in Unix milliseconds by the member's clock.
    pub(super) fn learn_run(&mut self, header: &Value) -> Result<i64, Fault> {
        let Answer { body: status, date } =
            self.gateway.call("/v3/maintenance/status", &json!({}))?;
        let index = number(&status["raftAppliedIndex"])?;
        if index == 0 {
            let shown = &self.gateway.base;
            return Err(Fault::Rejected(format!(
                "{shown} is too old: etcd 3.4 or later is required"
            )));
        }
        self.run = Some(Run {
            cluster: number(&status["header"]["cluster_id"])?,
            term: number(&header["raft_term"])?,
            index,
            slack: slack(index, number(&header["revision"])?)?,
        });
        Ok(date)
    }

    /// Returns the run with a lower bound on its slack. The bound is computed from the current revision and from the
    /// number of entries that were applied before this revision was read.
    pub(super) fn with_least_slack(&mut self, namespace: &str, run: Run) -> Result<Run, Fault> {
        let body = self.range(&keys::range(&keys::namespace(namespace), None))?;
        Ok(Run { slack: slack(run.index, number(&body["header"]["revision"])?)?, ..run })
    }

    /// Adds log entries that create no revisions, until the log is longer than the log of any freshly restored
    /// snapshot. Otherwise, the log of a new cluster would be as short as the log of a restored snapshot. The restored
    /// snapshot would then be mistaken for the original cluster. The added entries grant etcd leases and revoke them
    /// immediately. If the leases expired instead, a snapshot would contain the leases, and each expiry would lengthen
    /// the log of the restored cluster.
    pub(super) fn lengthen_log(&mut self, namespace: &str) -> Result<(), Fault> {
        while let Some(Run { index: index @ ..SHORTEST_RECORDED_LOG, .. }) = self.run {
            for _ in (index..SHORTEST_RECORDED_LOG).step_by(2) {
                let lease = self.gateway.call("/v3/lease/grant", &json!({ "TTL": "60" }))?;
                self.gateway.call("/v3/lease/revoke", &json!({ "ID": lease.body["ID"] }))?;
            }
            let body = self.range(&keys::range(&keys::namespace(namespace), None))?;
            self.learn_run(&body["header"])?;
        }
        Ok(())
    }

    /// Reads two keys at the same revision. For an argument that ends in a slash, counts the keys with this prefix
    /// instead. Also returns the header of the response.
    pub(super) fn read_pair(
        &mut self,
        one: String,
        other: String,
    ) -> Result<([Value; 2], Value), Fault> {
        let ranges = [one, other].map(|key| {
            if key.ends_with('/') {
                keys::count(&key, &keys::end(&key))
            } else {
                keys::range(&key, None)
            }
        });
        let (mut read, header) = self.read_ranges(ranges.into_iter())?;
        let other = read.pop().unwrap_or_default();
        Ok(([read.pop().unwrap_or_default(), other], header))
    }

    /// Sends range requests in one transaction, so that all of them read the same revision. Returns the results in the
    /// same order, and the header of the response.
    pub(super) fn read_ranges(
        &mut self,
        ranges: impl Iterator<Item = Value>,
    ) -> Result<(Vec<Value>, Value), Fault> {
        let requests: Vec<_> = ranges.map(|range| json!({ "request_range": range })).collect();
        let Answer { mut body, .. } = self.txn(&[], &requests)?;
        let result = |at: usize| body["responses"][at]["response_range"].take();
        let read = (0..requests.len()).map(result).collect();
        Ok((read, body["header"].take()))
    }

    /// Returns the node in each key that begins with `prefix`.
    pub(super) fn list_nodes(&mut self, prefix: &str) -> Result<BTreeSet<u64>, Fault> {
        let mut request = keys::range(prefix, Some(&keys::end(prefix)));
        request["keys_only"] = json!(true);
        let answer = self.range(&request)?;
        entries(&answer).iter().map(node_of).collect()
    }
}

impl Store for EtcdStore {
    fn transact(
        &mut self,
        namespace: &str,
        work: &mut dyn FnMut(&mut dyn Ledger) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let shown = self.gateway.base.clone();
        let outcome = transact(self, &shown, namespace, work);
        self.unpin();
        outcome
    }

    fn prepare(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    fn namespaces(&mut self) -> Result<Vec<String>, Fault> {
        let mut names = Vec::new();
        let mut from = keys::ROOT.to_owned();
        let end = keys::end(keys::ROOT);
        // Each iteration finds one namespace and skips the remaining keys of that namespace, because a namespace has
        // many keys.
        loop {
            let mut first = keys::range(&from, Some(&end));
            first["limit"] = json!(1);
            first["keys_only"] = json!(true);
            let found = self.range(&first)?;
            let Some(found) = found["kvs"].get(0) else { return Ok(names) };
            let key = keys::decode(&found["key"])?;
            let name = key.split('/').nth(2).unwrap_or_default();
            let kept = self.range(&keys::range(&keys::namespace(name), None))?;
            if kept["kvs"].get(0).is_some_and(Value::is_object)
                && Namespace::check_name(name).is_ok()
            {
                names.push(name.to_owned());
            }
            from = keys::end(&format!("{}{name}/", keys::ROOT));
        }
    }
}
