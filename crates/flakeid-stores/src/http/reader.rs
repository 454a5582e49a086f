//! A client that reads a broker's leases and their past holders, for tools that manage leases.

use std::borrow::Cow;
use std::time::Duration;

use flakeid_core::{Error, Id, Layout};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::lessor::{HttpLessor, parse};
use flakeid_protocol::http::{
    AnswerJson, Failure, HttpRequest, checked_instant, in_range, no_broker,
};
use flakeid_protocol::operations::Listing;
use flakeid_protocol::store::{Continuity, Fault};
use flakeid_protocol::{Namespace, Owner, Row, State};

/// The timeout for a response, long enough for the broker to connect to its store first.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The size limit for a response, in bytes. Every page of leases is smaller.
const LONGEST_ANSWER: u64 = 16 << 20;
/// The maximum number of leases in one response.
const PAGE: usize = 5_000;

/// A response that contains the leases that a broker granted in a namespace, or one page of these leases.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LeasesJson<'a> {
    /// The leases, in order of node number.
    pub leases: Vec<LeaseJson<'a>>,
    /// The namespace's layout, as a descriptor.
    pub layout: String,
    /// The binary logarithm of the number of nodes in a block.
    pub block_bits: u32,
    /// The number of blocks that the broker holds.
    pub blocks: u64,
    /// The name of the broker.
    pub broker: Cow<'a, str>,
    /// The current time by the broker's clock, in Unix milliseconds.
    pub now: i64,
}

/// The lease of a node that has or had a holder. The lease's token is not included.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LeaseJson<'a> {
    /// The node.
    pub node: u64,
    /// The state of the node: `held` or `free`.
    pub state: Cow<'a, str>,
    /// The sequence number of this grant among all grants of the node since the broker leased the node's block.
    pub grant: u64,
    /// The first tick of the grant.
    pub start: u64,
    /// The tick at which the grant's window ends.
    pub fence: u64,
    /// The name of the holder, or an empty string if the holder has no name.
    pub name: Cow<'a, str>,
    /// The host on which the holder runs.
    pub host: Cow<'a, str>,
    /// The process ID of the holder on its host.
    pub pid: u32,
    /// The time at which the node was granted, by the broker's clock, in Unix milliseconds.
    pub acquired: i64,
    /// The time of the last renewal, or of the grant if the node has not been renewed, in Unix milliseconds by the
    /// broker's clock.
    pub renewed: i64,
    /// The time from which the node may be granted to another holder, by the broker's clock, in Unix milliseconds.
    pub expires: i64,
}

impl<'a> From<&'a Row> for LeaseJson<'a> {
    fn from(row: &'a Row) -> Self {
        Self {
            node: row.node,
            state: row.state.name().into(),
            grant: row.grant,
            start: row.start,
            fence: row.fence,
            name: row.owner.name.as_str().into(),
            host: row.owner.host.as_str().into(),
            pid: row.owner.pid,
            acquired: row.acquired,
            renewed: row.renewed,
            expires: row.expires,
        }
    }
}

impl LeaseJson<'_> {
    /// Checks that the lease's numbers are in range, and converts the lease to a row. Fields that a broker does not
    /// report get empty values.
    fn to_row(&self, layout: &Layout, from: u64) -> Result<Row, Error> {
        let state = State::from_name(&self.state)
            .ok_or_else(|| Error::invalid_option("state", "is neither held nor free"))?;
        in_range("node", self.node, from, layout.max_node())?;
        in_range("fence", self.fence, 0, layout.max_tick() + 1)?;
        in_range("start", self.start, 0, self.fence)?;
        checked_instant("acquired", Some(self.acquired))?;
        checked_instant("renewed", Some(self.renewed))?;
        checked_instant("expires", Some(self.expires))?;
        let (name, host) = (self.name.to_string(), self.host.to_string());
        Ok(Row {
            node: self.node,
            fence: self.fence,
            start: self.start,
            token: None,
            grant: self.grant,
            state,
            owner: Owner { name, host, pid: self.pid },
            acquired: self.acquired,
            renewed: self.renewed,
            expires: self.expires,
            incarnation: String::new(),
            fixed: false,
            history_until: 0,
        })
    }
}

/// The leases that a broker reported.
#[derive(Clone, Debug)]
pub struct BrokerListing {
    /// The reported leases as rows, with times by the broker's clock. The namespace has the layout and `block_bits`
    /// that the broker reported, and default values for all other settings.
    pub listing: Listing,
    /// The number of nodes in the blocks that the broker holds.
    pub nodes: u64,
}

/// A reader of existing leases, which queries the first broker that responds.
pub struct BrokerReader(HttpLessor);

impl std::fmt::Debug for BrokerReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BrokerReader").finish_non_exhaustive()
    }
}

impl BrokerReader {
    /// Creates a reader from the URL of a broker, without connecting to the broker.
    pub(crate) fn new(url: &str) -> Result<Self, Fault> {
        parse(url).map(Self)
    }

    /// Returns the layout of a namespace.
    ///
    /// # Errors
    /// [`Fault::Unavailable`] if no broker responds; [`Fault::Rejected`] if the broker does not serve leases of the
    /// namespace, or does not accept the token.
    pub fn layout(&self, namespace: &str) -> Result<Layout, Fault> {
        let page: LeasesJson<'static> = self.get(&format!("/v1/{namespace}/leases?limit=1"))?;
        let layout = page.layout.parse();
        layout
            .map_err(|error| Fault::Rejected(format!("invalid response from the broker: {error}")))
    }

    /// Returns the leases that one broker has granted in a namespace.
    ///
    /// # Errors
    /// The same errors as [`layout`](Self::layout).
    pub fn leases(&self, namespace: &str) -> Result<BrokerListing, Fault> {
        let mut rows: Vec<Row> = Vec::new();
        loop {
            let from = rows.last().map_or(0, |row| row.node + 1);
            let path = format!("/v1/{namespace}/leases?from={from}&limit={PAGE}");
            let page: LeasesJson<'static> = self.get(&path)?;
            let wrong = |error: Error| {
                Fault::Rejected(format!("invalid response from the broker: {error}"))
            };
            let namespace = namespace_of(namespace, &page).map_err(wrong)?;
            for lease in &page.leases {
                let from = rows.last().map_or(0, |row| row.node + 1);
                rows.push(lease.to_row(&namespace.layout, from).map_err(wrong)?);
            }
            if page.leases.len() < PAGE {
                let (now, continuity) = (page.now, Continuity::Same);
                let nodes = page.blocks << page.block_bits;
                return Ok(BrokerListing {
                    listing: Listing { namespace, rows, now, continuity },
                    nodes,
                });
            }
        }
    }

    /// Returns the holder of the lease under which an ID was generated, according to the broker.
    ///
    /// # Errors
    /// The same errors as [`layout`](Self::layout).
    pub fn holder<T: DeserializeOwned>(&self, namespace: &str, id: Id) -> Result<T, Fault> {
        self.get(&format!("/v1/{namespace}/ids/{id}/holder"))
    }

    fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Fault> {
        let mut texts = Vec::new();
        for address in &self.0.brokers.order() {
            match self.get_from(address, path) {
                Ok(answer) => return Ok(answer),
                Err(failure) if failure.is_answer() => return Err(failure.into_fault()),
                Err(failure) => texts.push(failure.into_fault().to_string()),
            }
        }
        Err(Fault::Unavailable(texts.join("; ")))
    }

    fn get_from<T: DeserializeOwned>(&self, address: &str, path: &str) -> Result<T, Failure> {
        let authorization = self.0.brokers.authorization().map(str::to_owned);
        let request = HttpRequest::get(format!("{address}{path}"), authorization, TIMEOUT);
        let answer = self.0.send(request, LONGEST_ANSWER);
        let answer = answer.map_err(|error| Failure::no_broker(format!("{address}: {error}")))?;
        if !(200..300).contains(&answer.status) {
            AnswerJson::read(address, &answer)?;
        }
        serde_json::from_slice(&answer.body).map_err(|error| no_broker(address, &error))
    }
}

/// Builds a namespace from the fields in a broker's page of leases.
fn namespace_of(name: &str, page: &LeasesJson<'_>) -> Result<Namespace, Error> {
    let layout: Layout = page.layout.parse()?;
    let namespace = Namespace { block_bits: page.block_bits, ..Namespace::new(name, layout) };
    namespace.check_block_bits()?;
    in_range("blocks", page.blocks, 0, namespace.max_row() + 1)?;
    checked_instant("now", Some(page.now))?;
    Ok(namespace)
}
