//! The JSON representation of the process that generated an ID.

use flakeid_core::{Error, Id, Layout, Rfc3339};
use flakeid_protocol::operations::PastHolder;
use flakeid_protocol::{Client, Namespace, Owner};
use serde::{Deserialize, Serialize};

/// The process that generated an ID, according to the namespace's history. The JSON keys have the same order as the
/// fields.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HolderJson {
    /// The ID.
    pub id: String,
    /// The namespace.
    pub namespace: String,
    /// The ID's node.
    pub node: u64,
    /// The ID's tick.
    pub tick: u64,
    /// The ID's time.
    pub timestamp: String,
    /// The ID's time in Unix milliseconds.
    pub unix_ms: i64,
    /// The holder of the node at the ID's tick. If the holder is unknown, this field is null, and `reason` is set.
    pub holder: Option<HeldJson>,
    /// The broker that held the node's block and granted the node, if the namespace has blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broker: Option<HeldJson>,
    /// The reason why the holder is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A past grant of a node.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HeldJson {
    /// The holder's name. The name of a broker is its address.
    pub owner: Option<String>,
    /// The host on which the holder ran.
    pub host: Option<String>,
    /// The holder's process ID on its host.
    pub pid: u32,
    /// The sequence number of this grant among the node's grants. For a client of a broker, the numbering restarts
    /// whenever a broker leases the block that contains the node.
    pub grant: u64,
    /// The time of the grant.
    pub acquired: String,
    /// The time at which the grant's first tick begins.
    pub from: String,
    /// The time at which the grant's first tick begins, in Unix milliseconds.
    pub from_unix_ms: i64,
    /// The time at which the first tick after the grant begins. No other holder had the node between the start of the
    /// grant and this time.
    pub to: String,
    /// The time at which the first tick after the grant begins, in Unix milliseconds.
    pub to_unix_ms: i64,
    /// Whether the holder still holds the node. This field is null if the current state is unknown.
    pub current: Option<bool>,
}

impl HolderJson {
    /// Builds the JSON object for an ID's holder. The caller must set `current`, because the history does not show
    /// whether the holder still holds the node.
    ///
    /// # Errors
    /// [`InvalidId`](flakeid_core::ErrorKind::InvalidId) if the ID does not belong to the layout.
    pub fn new(id: Id, namespace: &Namespace, found: Option<&PastHolder>) -> Result<Self, Error> {
        let layout = &namespace.layout;
        let parts = layout.unpack(id)?;
        let mut answer = Self {
            id: id.to_string(),
            namespace: namespace.name.clone(),
            node: parts.node,
            tick: parts.tick,
            timestamp: layout.timestamp(parts.unix_ms).to_string(),
            unix_ms: parts.unix_ms,
            holder: None,
            broker: None,
            reason: None,
        };
        let node = parts.node;
        let Some(PastHolder { record, fence, client }) = found else {
            answer.reason = Some(if namespace.keeps_history {
                format!("the history of node {node} has no window that covers the ID's tick")
            } else {
                format!(
                    "namespace {} was created without a history, which cannot be added",
                    namespace.name
                )
            });
            return Ok(answer);
        };
        let granted = HeldJson::new(
            layout,
            &record.owner,
            (record.grant, record.acquired),
            (record.start, *fence),
        );
        let Some(client) = client else {
            answer.holder = Some(granted);
            return Ok(answer);
        };
        answer.broker = Some(granted);
        match client {
            Client::Known { sub_grant, fence } => {
                answer.holder = Some(HeldJson::new(
                    layout,
                    &sub_grant.owner,
                    (sub_grant.grant, sub_grant.acquired),
                    (sub_grant.start, *fence),
                ));
            }
            Client::Nobody => {
                answer.reason =
                    Some(format!("at the ID's tick, no client of the broker held node {node}"));
            }
            Client::Unrecorded => {
                answer.reason = Some(
                    "the history contains the broker, but not the client to which it granted the node; a \
                     broker records its grants every few seconds, when it renews its block, unless it is killed first"
                        .into(),
                );
            }
        }
        Ok(answer)
    }
}

impl HeldJson {
    fn new(
        layout: &Layout,
        owner: &Owner,
        (grant, acquired): (u64, i64),
        (start, fence): (u64, u64),
    ) -> Self {
        let named = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let (from, to) = (layout.unix_ms_at(start), layout.unix_ms_at(fence));
        Self {
            owner: named(&owner.name),
            host: named(&owner.host),
            pid: owner.pid,
            grant,
            acquired: Rfc3339::new(acquired, 3).to_string(),
            from: layout.timestamp(from).to_string(),
            from_unix_ms: from,
            to: layout.timestamp(to).to_string(),
            to_unix_ms: to,
            current: None,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use flakeid_protocol::{Record, SubGrant};

    use super::*;

    fn found(client: Option<Client>) -> PastHolder {
        let owner = Owner { name: "http://one".into(), host: "h".into(), pid: 7 };
        let record =
            Record { node: 0, grant: 3, start: 100, owner, acquired: 5, previous_until: 0 };
        PastHolder { record, fence: 900, client }
    }

    #[test]
    fn holder_json_distinguishes_the_holder_from_its_broker() {
        let namespace = Namespace { block_bits: 4, ..Namespace::new("n", Layout::TWITTER) };
        let id = Id::from_u64(200 << 22);
        let read = |client| HolderJson::new(id, &namespace, Some(&found(client))).unwrap();
        let owner = Owner { pid: 9, ..Owner::default() };
        let sub_grant =
            SubGrant { node: 0, start: 150, block_grant: 3, grant: 1, owner, acquired: 6 };
        let known = read(Some(Client::Known { sub_grant, fence: 250 }));
        let (holder, broker) = (known.holder.unwrap(), known.broker.unwrap());
        assert_eq!((holder.pid, holder.owner, holder.grant), (9, None, 1));
        assert_eq!((broker.pid, broker.owner.as_deref()), (7, Some("http://one")));
        assert_eq!((holder.to_unix_ms - holder.from_unix_ms, known.reason), (100, None));

        for (client, reason) in [(Client::Nobody, "no client"), (Client::Unrecorded, "killed")] {
            let unknown = read(Some(client));
            assert!(unknown.holder.is_none() && unknown.broker.is_some());
            assert!(unknown.reason.unwrap().contains(reason), "{reason}");
        }
        let direct = read(None);
        assert!(direct.broker.is_none() && direct.holder.unwrap().pid == 7);
        let none = HolderJson::new(id, &namespace, None).unwrap();
        assert!(none.reason.unwrap().contains("the history of node 0 has no window"));
    }
}
