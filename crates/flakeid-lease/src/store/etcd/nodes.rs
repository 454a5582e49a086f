use serde_json::{Value, json};

use super::super::Fault;
use super::super::gaps::Taken;
use super::keys::{self, decoded, number};
use super::shelf::Member;

/// The nodes of a namespace that have rows.
pub(super) struct Nodes<'a> {
    pub(super) member: &'a mut Member,
    pub(super) namespace: &'a str,
}

impl Nodes<'_> {
    fn ends(&self, low: u64, high: u64) -> [String; 2] {
        [low, high.saturating_add(1)].map(|node| keys::row(self.namespace, Some(node)))
    }
}

/// A limit instead of the end would be no help: the server goes over the whole range all the same.
impl Taken for Nodes<'_> {
    fn count(&mut self, low: u64, high: u64) -> Result<u64, Fault> {
        let [first, end] = self.ends(low, high);
        number(&self.member.range(&keys::count(&first, &end))?["count"])
    }

    fn nodes(&mut self, low: u64, high: u64) -> Result<Vec<u64>, Fault> {
        let [first, end] = self.ends(low, high);
        let mut request = keys::range(&first, Some(&end));
        request["keys_only"] = json!(true);
        list(&self.member.range(&request)?).iter().map(node_of).collect()
    }
}

/// The keys of an answer.
pub(super) fn list(answer: &Value) -> &[Value] {
    answer["kvs"].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// The node that a key is for.
pub(super) fn node_of(entry: &Value) -> Result<u64, Fault> {
    // "", flakeid, namespace, row, node
    keys::part(&decoded(&entry["key"])?, 4)
}
