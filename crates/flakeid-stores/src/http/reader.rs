//! What a broker tells about its leases and about the holders of the past, to tools that look after them.

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

/// How long an answer may take: the broker may have to connect to its store first.
const TIMEOUT: Duration = Duration::from_secs(10);
/// No page of leases is longer.
const LONGEST_ANSWER: u64 = 16 << 20;
/// How many leases are asked for at once.
const PAGE: usize = 5_000;

/// The leases of a broker, or a page of them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LeasesJson<'a> {
    /// By node.
    pub leases: Vec<LeaseJson<'a>>,
    /// The namespace's layout, as a descriptor.
    pub layout: String,
    /// A block has 2 to the power of this many nodes.
    pub block_bits: u32,
    /// How many blocks the broker holds.
    pub blocks: u64,
    /// How the broker calls itself.
    pub broker: Cow<'a, str>,
    /// Its clock, in Unix milliseconds.
    pub now: i64,
}

/// A node that somebody has, or had. Tokens are never shown.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LeaseJson<'a> {
    /// The node.
    pub node: u64,
    /// `held` or `free`.
    pub state: Cow<'a, str>,
    /// Which of the node's grants, since the broker has leased the block.
    pub grant: u64,
    /// Its first tick.
    pub start: u64,
    /// The tick at which its window ends.
    pub fence: u64,
    /// The holder's name, or nothing.
    pub name: Cow<'a, str>,
    /// The host it runs on.
    pub host: Cow<'a, str>,
    /// Its process ID there.
    pub pid: u32,
    /// When it was granted, in Unix milliseconds of the broker's clock.
    pub acquired: i64,
    /// When it was granted or renewed last.
    pub renewed: i64,
    /// From when on it may be granted to another.
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
    /// Returns the row after checking its numbers; fields that a broker does not show are empty.
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

/// The leases of a broker as it told them.
#[derive(Clone, Debug)]
pub struct BrokerListing {
    /// Its nodes as rows, by its clock. The namespace has a layout and `block_bits`; else it is as a new
    /// one.
    pub listing: Listing,
    /// How many nodes the blocks have that it holds.
    pub nodes: u64,
}

/// Reads what brokers tell. The first of them that answers is asked.
pub struct BrokerReader(HttpLessor);

impl std::fmt::Debug for BrokerReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BrokerReader").finish_non_exhaustive()
    }
}

impl BrokerReader {
    /// Reads the URL; does not connect.
    pub(crate) fn new(url: &str) -> Result<Self, Fault> {
        parse(url).map(Self)
    }

    /// The layout of a namespace.
    ///
    /// # Errors
    /// [`Fault::Unavailable`] if no broker answers; [`Fault::Rejected`] if it does not serve leases of the
    /// namespace, or knows no such token.
    pub fn layout(&self, namespace: &str) -> Result<Layout, Fault> {
        let page: LeasesJson<'static> = self.get(&format!("/v1/{namespace}/leases?limit=1"))?;
        let layout = page.layout.parse();
        layout.map_err(|error| Fault::Rejected(format!("the broker's answer: {error}")))
    }

    /// The leases of a namespace, as far as one broker has granted them.
    ///
    /// # Errors
    /// As [`layout`](Self::layout).
    pub fn leases(&self, namespace: &str) -> Result<BrokerListing, Fault> {
        let mut rows: Vec<Row> = Vec::new();
        loop {
            let from = rows.last().map_or(0, |row| row.node + 1);
            let path = format!("/v1/{namespace}/leases?from={from}&limit={PAGE}");
            let page: LeasesJson<'static> = self.get(&path)?;
            let wrong = |error: Error| Fault::Rejected(format!("the broker's answer: {error}"));
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

    /// Who generated an ID, as the server tells it.
    ///
    /// # Errors
    /// As [`layout`](Self::layout).
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

/// The namespace of a page, as far as a broker shows it.
fn namespace_of(name: &str, page: &LeasesJson<'_>) -> Result<Namespace, Error> {
    let layout: Layout = page.layout.parse()?;
    let namespace = Namespace { block_bits: page.block_bits, ..Namespace::new(name, layout) };
    namespace.check_block_bits()?;
    in_range("blocks", page.blocks, 0, namespace.max_row() + 1)?;
    checked_instant("now", Some(page.now))?;
    Ok(namespace)
}
