//! The names of a namespace's keys, and the format of the numbers in hashes and sorted sets.

use flakeid_protocol::store::Fault;

/// The keys of a namespace. Each key contains the namespace's name in braces, so a cluster stores all keys of a
/// namespace in one hash slot.
pub(super) struct Keys {
    /// A hash with the fields `text` (the serialized namespace), `rows` (the number of rows ever written) and `changes`
    /// (the number of changes to the namespace).
    pub namespace: String,
    /// A hash that maps nodes to rows.
    pub rows: String,
    /// A sorted set of the nodes that have rows, ordered by node.
    pub used: String,
    /// A sorted set of the nodes that have rows, ordered by fence.
    pub fences: String,
    /// A sorted set of records, whose members have the form `node:start:grant:record`.
    pub history: String,
    /// A sorted set of sub-grants, whose members have the form `node:start:block_grant:grant:sub-grant`.
    pub sub_grants: String,
}

impl Keys {
    /// The beginning of every key, before the namespace's name and a closing brace.
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

/// Formats a number with leading zeros, so that a sorted set orders the formatted numbers by value.
pub(super) fn pad(number: u64) -> String {
    format!("{number:020}")
}

/// Parses a number in the format of [`pad`].
pub(super) fn number(text: &str) -> Result<u64, Fault> {
    text.parse().map_err(|_| {
        let shown: String = text.chars().take(40).collect();
        Fault::Rejected(format!(
            "Redis contains {shown:?} where a node or a tick was expected: the data was edited or damaged"
        ))
    })
}
