//! The names of keys, and numbers in them.

use flakeid_protocol::store::Fault;

/// The keys of a namespace, all in one hash slot by the part in braces.
pub(super) struct Keys {
    /// Hash: `text`, `rows` (how many were ever written), `changes` (how often anything was).
    pub namespace: String,
    /// Hash: node to row.
    pub rows: String,
    /// Sorted set of nodes that have rows, by node.
    pub used: String,
    /// Sorted set of nodes by fence.
    pub fences: String,
    /// Sorted set of `node:start:grant:record`.
    pub history: String,
    /// Sorted set of `node:start:block_grant:grant:sub-grant`.
    pub sub_grants: String,
}

impl Keys {
    /// What every namespace's first key begins with; its name and a brace follow.
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

/// A number as a sorted set orders it by its characters.
pub(super) fn pad(number: u64) -> String {
    format!("{number:020}")
}

/// The reverse of [`pad`].
pub(super) fn number(text: &str) -> Result<u64, Fault> {
    text.parse().map_err(|_| {
        let shown: String = text.chars().take(40).collect();
        Fault::Rejected(format!(
            "Redis holds {shown:?} where a node or tick belongs: it was edited or damaged"
        ))
    })
}
