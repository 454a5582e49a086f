//! The nodes of a Redis Cluster, and the search for the node that stores a namespace's keys.

use std::collections::BTreeSet;

use redis::Connection;

use super::connection::{Access, Server};
use super::fault::fault;
use super::keys::Keys;
use flakeid_protocol::store::{CONNECT_TIMEOUT, Fault};
use flakeid_protocol::url::redact;

/// The credentials, TLS settings and URL parts for connecting to any node of a cluster.
pub(super) struct Cluster {
    pub(super) access: Access,
    /// The part of a node's URL before the node's address.
    pub(super) before: String,
    /// The part of a node's URL after the node's address.
    pub(super) after: String,
}

/// A range of hash slots, and the primary that stores the range.
struct Range {
    first: u16,
    last: u16,
    /// The address of the primary, `host:port`.
    address: String,
}

impl Cluster {
    /// Asks the connected node which node stores a namespace's keys, and connects to that node.
    pub(super) fn owner(
        &self,
        shown: &str,
        connection: &mut Connection,
        namespace: &str,
    ) -> Result<Server, Fault> {
        let mut ask = redis::cmd("CLUSTER");
        ask.arg("KEYSLOT").arg(Keys::new(namespace).namespace);
        let slot: u16 = ask.query(connection).map_err(|error| fault(shown, &error))?;
        let ranges = ranges(shown, connection)?;
        let owner = ranges.iter().find(|range| (range.first..=range.last).contains(&slot));
        let owner = owner.ok_or_else(|| {
            Fault::Unavailable(format!("{shown}: no node of the cluster has hash slot {slot}"))
        })?;
        self.open(&owner.address)
    }

    /// Queries the connected node for the cluster's primaries, and connects to every primary.
    pub(super) fn primaries(
        &self,
        shown: &str,
        connection: &mut Connection,
    ) -> Result<Vec<Server>, Fault> {
        let addresses: BTreeSet<String> =
            ranges(shown, connection)?.into_iter().map(|range| range.address).collect();
        addresses.iter().map(|address| self.open(address)).collect()
    }

    fn open(&self, address: &str) -> Result<Server, Fault> {
        let url = format!("{}{address}{}", self.before, self.after);
        let client = self.access.client(self.access.info(&url)?)?;
        self.access.open(&redact(&url), &client, CONNECT_TIMEOUT)
    }
}

/// Reads the primaries and their ranges of hash slots with the command `CLUSTER SLOTS`. Each range in the response
/// consists of the first slot, the last slot, the primary (host, port, …) and the replicas.
fn ranges(shown: &str, connection: &mut Connection) -> Result<Vec<Range>, Fault> {
    let unexpected =
        || Fault::Unavailable(format!("{shown} sent an unexpected response to CLUSTER SLOTS"));
    let mut ask = redis::cmd("CLUSTER");
    let slots: Vec<Vec<redis::Value>> =
        ask.arg("SLOTS").query(connection).map_err(|error| fault(shown, &error))?;
    let number =
        |value: &redis::Value| redis::from_redis_value_ref(value).map_err(|_| unexpected());
    slots
        .iter()
        .map(|slot| {
            let [first, last, redis::Value::Array(primary), ..] = slot.as_slice() else {
                return Err(unexpected());
            };
            let [host, port, ..] = primary.as_slice() else { return Err(unexpected()) };
            let host: String = redis::from_redis_value_ref(host).map_err(|_| unexpected())?;
            let host = if host.contains(':') { format!("[{host}]") } else { host };
            let port = number(port)?;
            Ok(Range {
                first: number(first)?,
                last: number(last)?,
                address: format!("{host}:{port}"),
            })
        })
        .collect()
}
