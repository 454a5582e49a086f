//! The blocks that a broker holds, and the broker's decisions about their nodes and windows.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::block::Block;
use super::expiries::Expiries;
use crate::{
    Acquire, Bounds, Grant, Identity, Namespace, Refusal, Release, Renew, Renewed, Row, Token,
    rules,
};

/// The maximum number of rows that expire in one call. If a million clients lost their connections, a call without this
/// limit could delay other requests for seconds.
const EXPIRED_AT_A_TIME: usize = 128;

/// The reason why a broker denies a request for a node or a renewal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Denial {
    /// The protocol's rules forbid the request.
    Refused(Refusal),
    /// No block has a free node with a sufficiently low fence, so the broker needs another block.
    NoRoom,
    /// The window that the store granted for a block ends too soon for the request, so the broker must renew the block
    /// first.
    BlockFence,
    /// The broker does not hold the node's block.
    NotHeld,
}

impl From<Refusal> for Denial {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// The blocks of nodes that a broker holds, and the holders of the nodes. This type implements the broker's side of the
/// protocol without input or output.
///
/// A broker applies the same [`rules`] as a store, but to rows in memory, which may be lost in a crash. Each window
/// that a broker grants lies inside the window that the store confirmed for the block (I11, I12), and the windows of
/// one node never overlap. Therefore, windows granted by different brokers, or by one broker before and after a crash,
/// do not overlap either.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Blocks {
    /// The namespace that is passed to the rules. Before each call to a rule, the broker sets the namespace's floor for
    /// the affected block.
    pub(super) namespace: Namespace,
    pub(super) block_bits: u32,
    ttl_ms: u64,
    pub(super) held: BTreeMap<u64, Block>,
    /// The blocks with free nodes, as pairs of free-node count and block number. Nodes are granted from the fullest
    /// block first, so that other blocks can become empty.
    with_room: BTreeSet<(u64, u64)>,
    /// The held nodes, in the order in which their leases may expire.
    expiries: Expiries,
    /// The node of each grant, keyed by the constant half of the grant's token.
    tokens: BTreeMap<u64, u64>,
    /// The node that was last granted to each name, keyed by the name's hash. Keying by the name itself would store
    /// each name twice and make searches slower.
    names: BTreeMap<u64, u64>,
    /// Whether the broker keeps its grants until they are handed over to the store's history.
    pub(super) is_recorded: bool,
    /// The number of grants that were dropped before the store's history contained them.
    pub(super) dropped: u64,
    /// The number of grants that expired without a renewal.
    abandoned: u64,
}

impl Blocks {
    /// Creates an empty set of blocks for a namespace. A window lasts at most `window_ms`. A node that is not renewed
    /// stays reserved for at most `ttl_ms`.
    #[must_use]
    pub fn new(namespace: &Namespace, window_ms: u64, ttl_ms: u64) -> Self {
        let bounds = Bounds { max_window_ms: window_ms, quiet_ms: 0, ..namespace.bounds };
        Self {
            namespace: Namespace {
                name: namespace.name.clone(),
                bounds,
                keeps_history: false,
                ..Namespace::new("", namespace.layout)
            },
            block_bits: namespace.block_bits,
            ttl_ms,
            held: BTreeMap::new(),
            with_room: BTreeSet::new(),
            expiries: Expiries::default(),
            tokens: BTreeMap::new(),
            names: BTreeMap::new(),
            is_recorded: false,
            dropped: 0,
            abandoned: 0,
        }
    }

    /// Adds a block that the store has granted. All nodes of the block are free, and rows from an earlier grant of the
    /// block are discarded.
    pub fn add(&mut self, grant: &Grant, now: i64) {
        self.lose(grant.node);
        let block = Block::new(grant, self.block_bits, now, self.is_recorded);
        self.with_room.insert((block.room(), grant.node));
        self.held.insert(grant.node, block);
    }

    /// Raises the fence of a block to the fence that the store confirmed.
    pub fn raise(&mut self, block: u64, fence: u64) {
        if let Some(block) = self.held.get_mut(&block) {
            block.fence = block.fence.max(fence);
        }
    }

    /// Removes a block that another broker has taken or that is being released. The nodes of the block are no longer
    /// granted or renewed. Returns the tick after the last granted tick of the block. The block's fence must not fall
    /// below this tick.
    pub fn lose(&mut self, block: u64) -> u64 {
        let first = block << self.block_bits;
        for node in first..first + (1 << self.block_bits) {
            self.forget(node);
        }
        let Some(lost) = self.held.remove(&block) else { return 0 };
        self.dropped = self.dropped.saturating_add(lost.unrecorded());
        self.with_room.remove(&(lost.room(), block));
        for row in lost.rows() {
            self.expiries.remove(row.node);
        }
        lost.used_until
    }

    /// Grants a node at the time `now` on the broker's clock, in Unix milliseconds. The holder gets the node that was
    /// last granted to its name, if that node is free. Otherwise, the holder gets the free node with the lowest fence
    /// in the fullest block. A repeated request gets the same response.
    ///
    /// # Errors
    /// A [`Denial`] if no node was granted.
    pub fn acquire(&mut self, request: &Acquire, now: i64) -> Result<Grant, Denial> {
        self.acquire_owned(request.clone(), now)
    }

    /// Grants a node, as [`acquire`](Self::acquire) does, but without copying the request.
    ///
    /// # Errors
    /// The same errors as [`acquire`](Self::acquire).
    pub fn acquire_owned(&mut self, request: Acquire, now: i64) -> Result<Grant, Denial> {
        let request = &self.limited(request);
        self.check(request, now)?;
        self.expire(now);
        if let Some(answer) = self.repeated(request) {
            return answer;
        }
        let named = match &request.identity {
            Identity::Name(name) => self.last_node_of(name),
            Identity::Any | Identity::Node(_) => None,
        };
        if let Some(node) = named {
            self.expire_node(node, now);
        }
        let row = self.choose(named, request, now)?;
        let grant = rules::grant_of(&self.namespace, &row, request);
        self.forget(row.node);
        self.tokens.insert(grant_half(request.token), row.node);
        if !row.owner.name.is_empty() {
            self.names.insert(hash_of(&row.owner.name), row.node);
        }
        self.hold(row);
        Ok(grant)
    }

    /// Raises the fence of a node, but never above the fence of its block. A renewal that was already applied is
    /// confirmed again.
    ///
    /// # Errors
    /// A [`Denial`]; the node's row is then unchanged.
    pub fn renew(&mut self, request: &Renew, now: i64) -> Result<Renewed, Denial> {
        let number = request.node >> self.block_bits;
        let block = self.held.get_mut(&number).ok_or(Denial::NotHeld)?;
        // The rows of an earlier grant of the block were dropped, so windows under that grant cannot be renewed.
        let row = block.row(request.node).ok_or(Refusal::FencedOff)?;
        self.namespace.floor = block.start;
        let request = &Renew { ttl_ms: request.ttl_ms.min(self.ttl_ms), ..*request };
        let mut renewal = match rules::renewal(&self.namespace, row, request, now) {
            Err(Refusal::Restored { .. }) => return Err(Refusal::FencedOff.into()),
            renewal => renewal?,
        };
        renewal.fence = renewal.fence.min(block.fence);
        if row.token != Some(request.next) {
            if request.wanted > row.fence && renewal.fence <= row.fence {
                return Err(Denial::BlockFence);
            }
            let room = block.room();
            block.renew(request.node, &renewal);
            // The holder of an expired node, which is free, may still renew it.
            if block.room() != room {
                self.expiries.set(request.node, renewal.expires);
                self.with_room.remove(&(room, number));
                self.with_room.extend((block.room() > 0).then(|| (block.room(), number)));
            }
        }
        Ok(renewal.response())
    }

    /// Releases a node. Has no effect if another holder has the node or if the node is free.
    pub fn release(&mut self, request: &Release, now: i64) {
        let block = self.held.get(&(request.node >> self.block_bits));
        let row = block.and_then(|block| block.row(request.node));
        if let Some(released) = rules::release(row, request) {
            self.tokens.remove(&grant_half(request.token));
            self.free(released, now);
        }
    }

    /// Frees nodes whose holders have not renewed them in time. The number of nodes per call is limited, so that other
    /// requests are not delayed. Returns `true` if the limit was reached.
    pub fn expire(&mut self, now: i64) -> bool {
        for _ in 0..EXPIRED_AT_A_TIME {
            match self.expiries.due(now) {
                Some(node) => self.expire_node(node, now),
                None => return false,
            }
        }
        true
    }

    /// Frees a node if its holder has not renewed it in time.
    fn expire_node(&mut self, node: u64, now: i64) {
        let block = self.held.get(&(node >> self.block_bits));
        let Some(row) = block.and_then(|block| block.row(node)) else { return };
        if !self.expiries.contains(node) {
            return;
        }
        if row.expires > now {
            self.expiries.set(node, row.expires);
        } else {
            let row = row.clone();
            self.abandoned += u64::from(row.renewed == row.acquired);
            self.free(row, now);
        }
    }

    /// The number of grants that expired without ever being renewed. A client abandons its grant if the client exits
    /// early, or stops waiting for the response and gets a node from another broker.
    #[must_use]
    pub const fn abandoned(&self) -> u64 {
        self.abandoned
    }

    /// The number of nodes with a holder.
    #[must_use]
    pub fn holders(&self) -> usize {
        self.expiries.len()
    }

    /// The number of nodes without a holder.
    #[must_use]
    pub fn room(&self) -> u64 {
        self.with_room.iter().map(|(room, _)| room).sum()
    }

    /// Returns each block's number and fence. For an empty block, also returns the time at which the block became
    /// empty, in Unix milliseconds.
    pub fn blocks(&self) -> impl Iterator<Item = (u64, u64, Option<i64>)> {
        self.held.iter().map(|(number, block)| (*number, block.fence, block.empty_since))
    }

    /// Returns the rows of the node `from` and of all higher nodes, in ascending order. A node has a row if it was
    /// granted under the current grant of its block.
    pub fn rows(&self, from: u64) -> impl Iterator<Item = &Row> {
        let blocks = self.held.range(from >> self.block_bits..);
        blocks.flat_map(|(_, block)| block.rows()).filter(move |row| row.node >= from)
    }

    /// Limits a request's window and TTL to this broker's maximum values. The holder can request more ticks with each
    /// renewal.
    fn limited(&self, request: Acquire) -> Acquire {
        Acquire {
            window_ms: request.window_ms.min(self.namespace.bounds.max_window_ms),
            ttl_ms: request.ttl_ms.min(self.ttl_ms),
            ..request
        }
    }

    /// Checks that a node could satisfy the request, so that the broker does not lease a block for an impossible
    /// request.
    fn check(&mut self, request: &Acquire, now: i64) -> Result<(), Refusal> {
        let option = match request {
            Acquire { identity: Identity::Node(_), .. } => "node",
            Acquire { reuse: false, .. } => "reuse",
            Acquire { from: 1.., .. } => "nodes_from",
            Acquire { to, layout, .. } if *to != layout.max_node() => "nodes_to",
            _ => {
                self.namespace.floor = 0;
                return rules::grant(&self.namespace, None, 0, request, now).map(drop);
            }
        };
        Err(Refusal::BrokerChooses { option })
    }

    /// Returns the response to a repeated request, or `None` for a new request.
    fn repeated(&self, request: &Acquire) -> Option<Result<Grant, Denial>> {
        let node = self.tokens.get(&grant_half(request.token))?;
        let row = self.held.get(&(node >> self.block_bits))?.row(*node)?;
        if row.owner != request.owner {
            return Some(Err(Refusal::TokenOfAnother.into()));
        }
        if row.token == Some(request.token) {
            return Some(Ok(rules::grant_of(&self.namespace, row, request)));
        }
        // The node has been renewed since the grant, so no client is waiting for the response to this request.
        Some(Err(Refusal::FencedOff.into()))
    }

    /// Chooses the node to grant, and returns its new row.
    fn choose(&mut self, named: Option<u64>, request: &Acquire, now: i64) -> Result<Row, Denial> {
        let Self { namespace, block_bits, held, with_room, .. } = self;
        let of_name = named.and_then(|node| {
            let block = held.get(&(node >> *block_bits))?;
            block.is_grantable(node).then_some((block, node))
        });
        let coldest = with_room.iter().filter_map(|(_, number)| {
            let block = held.get(number)?;
            Some((block, block.coldest()?))
        });
        let mut denial = Denial::NoRoom;
        for (block, node) in of_name.into_iter().chain(coldest) {
            namespace.floor = block.floor();
            let row = match rules::grant(namespace, block.row(node), node, request, now) {
                // The search continues, because another block may have a free node with a lower fence. The rules return
                // `NoFreeNode` for a free node if the clock went backwards, because the node's row then no longer
                // counts as expired.
                Err(Refusal::NoFreeNode { .. }) => continue,
                Err(refusal @ Refusal::FenceInFuture { .. }) => {
                    // If even a node that was never granted starts too late for the client, another block would not
                    // help. Otherwise, a request with an old clock reading would lease every block of the store.
                    if block.row(node).is_none() {
                        denial = refusal.into();
                    }
                    continue;
                }
                row => row?,
            };
            let fence = row.fence.min(block.fence);
            if fence >= row.start.saturating_add(2) {
                return Ok(Row { fence, ..row });
            }
            // The search continues, because another block's window may end later.
            denial = Denial::BlockFence;
        }
        Err(denial)
    }

    /// Returns the node that was last granted to a name. Returns `None` for an unknown name, or if a node was granted
    /// later to a name with the same hash.
    fn last_node_of(&self, name: &str) -> Option<u64> {
        let node = *self.names.get(&hash_of(name))?;
        let row = self.held.get(&(node >> self.block_bits))?.row(node)?;
        (row.owner.name == name).then_some(node)
    }

    /// Removes a node's previous holder from the maps of tokens and names.
    fn forget(&mut self, node: u64) {
        let block = self.held.get(&(node >> self.block_bits));
        let Some(row) = block.and_then(|block| block.row(node)) else { return };
        if let Some(token) = row.token {
            self.tokens.remove(&grant_half(token));
        }
        let name = hash_of(&row.owner.name);
        if self.names.get(&name) == Some(&node) {
            self.names.remove(&name);
        }
    }

    fn hold(&mut self, row: Row) {
        let number = row.node >> self.block_bits;
        let Some(block) = self.held.get_mut(&number) else { return };
        self.with_room.remove(&(block.room(), number));
        self.expiries.set(row.node, row.expires);
        block.hold(row);
        if block.room() > 0 {
            self.with_room.insert((block.room(), number));
        }
    }

    fn free(&mut self, row: Row, now: i64) {
        let number = row.node >> self.block_bits;
        let Some(block) = self.held.get_mut(&number) else { return };
        self.with_room.remove(&(block.room(), number));
        self.expiries.remove(row.node);
        block.free(row, now);
        self.with_room.insert((block.room(), number));
    }
}

/// Returns the half of a token that stays constant for the whole grant.
fn grant_half(token: Token) -> u64 {
    (token.to_bits() >> 64) as u64
}

/// Hashes a name. The hash is the same in every process of this build, so that two brokers in the same state compare
/// equal.
fn hash_of(name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}
