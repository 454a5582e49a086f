//! The JSON representation of a node, and the status that is displayed for a node.

use flakeid_protocol::operations::Listing;
use flakeid_protocol::{Row, State};
use serde::Serialize;

/// The displayed status of a node. `Expired` means that the lease has expired, so another process may lease the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LeaseStatus {
    Held,
    Expired,
    Free,
    Quarantined,
}

impl LeaseStatus {
    pub(super) const fn new(row: &Row, now: i64) -> Self {
        match row.state {
            State::Held if row.expires > now => Self::Held,
            State::Held => Self::Expired,
            State::Free => Self::Free,
            State::Quarantined => Self::Quarantined,
        }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Expired => "expired",
            Self::Free => "free",
            Self::Quarantined => "quarantined",
        }
    }
}

/// The JSON object that describes a node. The keys of the object are in the order of these fields. A value that has
/// never been set for the node is null.
#[derive(Serialize)]
pub(super) struct NodeJson<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<&'static str>,
    namespace: &'a str,
    node: u64,
    state: &'static str,
    owner: Option<&'a str>,
    host: Option<&'a str>,
    pid: Option<u32>,
    grant: u64,
    start: u64,
    fence: u64,
    fence_time: String,
    fence_unix_ms: i64,
    acquired_unix_ms: Option<i64>,
    renewed_unix_ms: Option<i64>,
    expires_unix_ms: Option<i64>,
    store_unix_ms: i64,
}

impl<'a> NodeJson<'a> {
    pub(super) fn new(listing: &'a Listing, row: &'a Row, event: Option<&'static str>) -> Self {
        let layout = &listing.namespace.layout;
        let fence_unix_ms = layout.unix_ms_at(row.fence);
        let owner = &row.owner;
        let granted = row.grant > 0;
        Self {
            event,
            namespace: &listing.namespace.name,
            node: row.node,
            state: LeaseStatus::new(row, listing.now).name(),
            owner: (!owner.name.is_empty()).then_some(owner.name.as_str()),
            host: (!owner.host.is_empty()).then_some(owner.host.as_str()),
            pid: granted.then_some(owner.pid),
            grant: row.grant,
            start: row.start,
            fence: row.fence,
            fence_time: layout.timestamp(fence_unix_ms).to_string(),
            fence_unix_ms,
            acquired_unix_ms: granted.then_some(row.acquired),
            renewed_unix_ms: granted.then_some(row.renewed),
            expires_unix_ms: (row.expires > 0).then_some(row.expires),
            store_unix_ms: listing.now,
        }
    }
}
