//! The connection to one member, with the operations on all namespaces.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::super::optimistic::transact;
use super::gateway::{Answer, Gateway};
use super::run::{Run, RunRecord, Voters, slack};
use crate::etcd::keys::{self, entries, node_of, number};
use flakeid_protocol::Namespace;
use flakeid_protocol::store::{Fault, Ledger, Store};

/// The smallest number of log entries for which a run is recorded. A restored snapshot begins with about five entries and
/// adds two or three by itself.
const SHORTEST_RECORDED_LOG: u64 = 100;

/// The record that a transaction writes about the run.
#[derive(Debug)]
pub(super) enum NewRecord {
    None,
    /// The current data of the same run, if the transaction writes anything. The voters are set if they were queried already.
    Rewritten(Option<Voters>),
    /// The record of a new incarnation.
    Of(RunRecord),
}

/// A connection to one member, so that its clock and its log do not change.
pub(super) struct EtcdStore {
    pub(super) gateway: Gateway,
    /// The run, with the upper bound of its slack.
    pub(super) run: Option<Run>,
    /// The time of the store's clock at the beginning of the transaction.
    pub(super) now: i64,
    /// The namespace's value that the transaction read.
    pub(super) namespace_text: Option<String>,
    /// The record of the run that the transaction read.
    pub(super) record: Option<RunRecord>,
    pub(super) record_read: Option<u64>,
    /// The record that the transaction will write.
    pub(super) new_record: NewRecord,
    /// The revisions at which the transaction began and at which all rows were read.
    pub(super) began_at: u64,
    pub(super) all_read_at: u64,
    /// Whether a deleted row was detected. All rows are then compared until the namespace records the loss.
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

    /// Determines the run from the header of a response, and from the status that the same member reports after it. Returns
    /// the time of the status.
    pub(super) fn learn_run(&mut self, header: &Value) -> Result<i64, Fault> {
        let Answer { body: status, date } =
            self.gateway.call("/v3/maintenance/status", &json!({}))?;
        let index = number(&status["raftAppliedIndex"])?;
        if index == 0 {
            let shown = &self.gateway.base;
            return Err(Fault::Rejected(format!(
                "{shown} is too old: etcd 3.4 or later is needed"
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

    /// Returns the run with the lower bound of its slack: from the present revision, and the entries applied before it.
    pub(super) fn with_least_slack(&mut self, namespace: &str, run: Run) -> Result<Run, Fault> {
        let body = self.range(&keys::range(&keys::namespace(namespace), None))?;
        Ok(Run { slack: slack(run.index, number(&body["header"]["revision"])?)?, ..run })
    }

    /// Adds entries without revisions until the log is longer than the log of a just restored snapshot can be. The log of an
    /// empty cluster is as short, so its snapshot would pass for the original. The entries are leases that are revoked at
    /// once: if they expired instead, a snapshot would contain them, and every expiry would lengthen the log of the restored
    /// cluster.
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

    /// Reads two keys at one moment, or the numbers of keys with each of two prefixes. Also returns the header of the
    /// response.
    pub(super) fn read_pair(
        &mut self,
        one: String,
        other: String,
    ) -> Result<([Value; 2], Value), Fault> {
        let ranges = [one, other].map(|key| {
            let request = if key.ends_with('/') {
                keys::count(&key, &keys::end(&key))
            } else {
                keys::range(&key, None)
            };
            json!({ "request_range": request })
        });
        let Answer { mut body, .. } = self.txn(&[], &ranges)?;
        let pair = [0, 1].map(|at| body["responses"][at]["response_range"].take());
        Ok((pair, body["header"].take()))
    }

    /// Returns the nodes of all keys with a prefix.
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
        // Continues after the keys of each namespace, because there are many keys in each.
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
