//! The names of keys, and the numbers in keys.

use flakeid_protocol::store::Fault;

/// The keys of a namespace. Because of the part in braces, all of them are in one hash slot of a cluster.
pub(super) struct Keys {
    /// A hash with the fields `text`, `rows` (the number of rows ever written) and `changes` (the number of changes).
    pub namespace: String,
    /// A hash that maps nodes to rows.
    pub rows: String,
    /// A sorted set of the nodes that have rows, ordered by node.
    pub used: String,
    /// A sorted set of the nodes that have rows, ordered by fence.
    pub fences: String,
    /// A sorted set of records, `node:start:grant:record`.
    pub history: String,
    /// A sorted set of sub-grants, `node:start:block_grant:grant:sub-grant`.
    pub sub_grants: String,
}

impl Keys {
    /// The beginning of every namespace's first key, before the namespace's name and a closing brace.
    pub(super) const PREFIX: &str = "flakeid:{";

    pub(super) fn new(namespace: &str) -> Self {
        let key = |part: &str| format!("{}{namespace}}}{part}", Self::PREFIX);
        Self {
            namespace: key(""),
            rows: key(":rows"),
            used: key(":used"),
            fences: key(":fences"),
            history: key(":history"),
            sub_grants: key(":sub-grants"),
        }
    }
}

/// Formats a number with leading zeros, so that a sorted set orders such strings by their numerical values.
pub(super) fn pad(number: u64) -> String {
    format!("{number:020}")
}

/// Parses the output of [`pad`].
pub(super) fn number(text: &str) -> Result<u64, Fault> {
    text.parse().map_err(|_| {
        let shown: String = text.chars().take(40).collect();
        Fault::Rejected(format!(
            "Redis contains {shown:?} where a node or a tick was expected: the data was edited or damaged"
        ))
    })
}
