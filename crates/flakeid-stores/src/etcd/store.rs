//! The connection to one member, and what concerns all namespaces.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::super::optimistic::transact;
use super::gateway::{Answer, Gateway};
use super::run::{Run, RunRecord, Voters, slack};
use crate::etcd::keys::{self, entries, node_of, number};
use flakeid_protocol::Namespace;
use flakeid_protocol::store::{Fault, Ledger, Store};

/// How many entries the log has at least when a run is recorded. A restored snapshot begins with about
/// five and adds two or three by itself.
const SHORTEST_RECORDED_LOG: u64 = 100;

/// What a transaction records about the run.
#[derive(Debug)]
pub(super) enum NewRecord {
    None,
    /// The same again, as it is now, if the transaction writes anything. The voters are those that were
    /// asked already.
    Rewritten(Option<Voters>),
    /// That of a new incarnation.
    Of(RunRecord),
}

/// A connection to one member, so that its clock and its log are always the same.
pub(super) struct EtcdStore {
    pub(super) gateway: Gateway,
    /// The run, with the most that its slack can be.
    pub(super) run: Option<Run>,
    /// The store's clock when the transaction began.
    pub(super) now: i64,
    /// The namespace's text as the transaction read it.
    pub(super) namespace_text: Option<String>,
    /// What was recorded about the run, and its revision, as the transaction read them.
    pub(super) record: Option<RunRecord>,
    pub(super) record_read: Option<u64>,
    /// What the transaction is to record about the run.
    pub(super) new_record: NewRecord,
    /// The revisions at which the transaction began and at which all rows were read.
    pub(super) began_at: u64,
    pub(super) all_read_at: u64,
    /// Whether a row was found to be deleted. Then all rows are compared until the namespace says so.
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

    /// Learns which run this is from the header of an answer, and from the status that the same member
    /// reports after it. Returns the time of the status.
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

    /// A run with the least that its slack can be: by the present revision, and the entries that were
    /// applied before.
    pub(super) fn with_least_slack(&mut self, namespace: &str, run: Run) -> Result<Run, Fault> {
        let body = self.range(&keys::range(&keys::namespace(namespace), None))?;
        Ok(Run { slack: slack(run.index, number(&body["header"]["revision"])?)?, ..run })
    }

    /// Adds entries that make no revision until the log is longer than that of a snapshot just restored
    /// can be. The log of an empty cluster is no longer than that, and so its snapshot would pass for
    /// it. The entries are leases, each revoked at once: if they were left to expire, a snapshot would
    /// hold them too, and every expiry would lengthen the log of the restored cluster.
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

    /// Two keys as of one moment, or how many keys there are with each of two prefixes; and the header
    /// of the answer.
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

    /// The nodes of all keys with a prefix.
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
        // From each name to the next, because there are many keys under each.
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
