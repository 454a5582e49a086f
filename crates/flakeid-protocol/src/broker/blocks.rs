//! All blocks that a broker holds: which node it grants, and in which window.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::block::Block;
use crate::{
    Acquire, Bounds, Grant, Identity, Namespace, Refusal, Release, Renew, Renewed, Row, Token,
    rules,
};

/// A fleet of a million that was cut off expires at once. To free a node takes some microseconds.
const EXPIRED_AT_A_TIME: usize = 128;

/// Why a broker does not grant or renew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Denial {
    /// The rules say no.
    Refused(Refusal),
    /// No block has a free node whose ticks are near enough: the broker needs another block.
    NoRoom,
    /// The broker's own window for the block ends too soon: the block has to be renewed first.
    BlockFence,
    /// The broker does not hold the node's block.
    NotHeld,
}

impl From<Refusal> for Denial {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// The blocks of nodes that a broker holds, and who holds their nodes: the broker's side of the
/// protocol, without input or output.
///
/// A broker decides by the same [`rules`] as a store, on rows in memory, and nothing that it
/// remembers has to survive it. Each window that it grants lies inside the window that the store
/// confirmed to it for the block (I11, I12), and windows of one block never overlap; so windows of
/// different brokers, or of one broker before and after a crash, do not overlap either.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Blocks {
    /// What the rules are asked about; its floor is set to the start of the block at hand.
    pub(super) namespace: Namespace,
    pub(super) block_bits: u32,
    ttl_ms: u64,
    pub(super) held: BTreeMap<u64, Block>,
    /// The blocks that have room, by how much: the fullest first, so that others become empty.
    roomy: BTreeSet<(u64, u64)>,
    /// When rows expire, and their nodes.
    expiries: BTreeSet<(i64, u64)>,
    /// The nodes of grants, by the half of the token that stays.
    tokens: BTreeMap<u64, u64>,
    /// The last node of each name, by the name's hash. The name itself is in the node's row, and there it
    /// is compared: a map of the names would have every name twice, and would be searched more slowly.
    names: BTreeMap<u64, u64>,
    /// Whether grants are kept for the store's history.
    pub(super) is_recorded: bool,
    /// How many grants that history will never have.
    pub(super) dropped: u64,
    /// How many grants expired without having been renewed.
    abandoned: u64,
}

impl Blocks {
    /// No blocks yet, of a namespace of blocks. Windows are as long as asked for, up to `window_ms`, and
    /// a node whose holder does not renew for `ttl_ms` is granted to others.
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
            roomy: BTreeSet::new(),
            expiries: BTreeSet::new(),
            tokens: BTreeMap::new(),
            names: BTreeMap::new(),
            is_recorded: false,
            dropped: 0,
            abandoned: 0,
        }
    }

    /// Adds a block that the store has granted; its nodes are free. Whatever is known of an earlier
    /// grant of this block is forgotten.
    pub fn add(&mut self, grant: &Grant, now: i64) {
        self.lose(grant.node);
        let block = Block::new(grant, self.block_bits, now, self.is_recorded);
        self.roomy.insert((block.room(), grant.node));
        self.held.insert(grant.node, block);
    }

    /// The store confirmed a higher fence of a block.
    pub fn raise(&mut self, block: u64, fence: u64) {
        if let Some(block) = self.held.get_mut(&block) {
            block.fence = block.fence.max(fence);
        }
    }

    /// The block is another's, or is given back: nothing more is granted or renewed in it. Returns the
    /// tick after the last one that was ever granted onward; the block's fence must not fall lower.
    pub fn lose(&mut self, block: u64) -> u64 {
        let first = block << self.block_bits;
        for node in first..first + (1 << self.block_bits) {
            self.forget(node);
        }
        let Some(lost) = self.held.remove(&block) else { return 0 };
        self.dropped = self.dropped.saturating_add(lost.unrecorded());
        self.roomy.remove(&(lost.room(), block));
        for row in lost.rows() {
            self.expiries.remove(&(row.expires, row.node));
        }
        lost.used_until
    }

    /// Grants a node, by the broker's clock `now`, in Unix milliseconds: the last one of the holder's
    /// name if it is free, else the coldest free one of the fullest block. A request that is sent again
    /// gets the same answer.
    ///
    /// # Errors
    /// The denial; nothing was granted then.
    pub fn acquire(&mut self, request: &Acquire, now: i64) -> Result<Grant, Denial> {
        self.acquire_owned(request.clone(), now)
    }

    /// As [`acquire`](Self::acquire), without a copy of the request.
    ///
    /// # Errors
    /// As [`acquire`](Self::acquire).
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

    /// Moves the fence of a node up, or confirms that this very renewal did, as far as the broker's own
    /// window for the block reaches.
    ///
    /// # Errors
    /// The denial; nothing changed then.
    pub fn renew(&mut self, request: &Renew, now: i64) -> Result<Renewed, Denial> {
        let Some(block) = self.held.get(&(request.node >> self.block_bits)) else {
            return Err(Denial::NotHeld);
        };
        // The rows of an earlier grant of the block are gone, and so are their windows.
        let row = block.row(request.node).ok_or(Refusal::FencedOff)?;
        self.namespace.floor = block.start;
        let request = &Renew { ttl_ms: request.ttl_ms.min(self.ttl_ms), ..*request };
        let renewed = match rules::renew(&self.namespace, Some(row), request, now) {
            Err(Refusal::Restored { .. }) => return Err(Refusal::FencedOff.into()),
            renewed => renewed?,
        };
        let renewed = Row { fence: renewed.fence.min(block.fence), ..renewed };
        let is_repeated = row.token == Some(request.next);
        if !is_repeated && request.wanted > row.fence && renewed.fence <= row.fence {
            return Err(Denial::BlockFence);
        }
        let answer = rules::renewed_of(&renewed);
        if *row != renewed {
            self.hold(renewed);
        }
        Ok(answer)
    }

    /// Takes a node back; does nothing if the request's holder holds nothing there any more.
    pub fn release(&mut self, request: &Release, now: i64) {
        let block = self.held.get(&(request.node >> self.block_bits));
        let row = block.and_then(|block| block.row(request.node));
        if let Some(released) = rules::release(row, request) {
            self.tokens.remove(&grant_half(request.token));
            self.free(released, now);
        }
    }

    /// Makes nodes free whose holders have not renewed them in time: so many at a time that others, who ask
    /// for something meanwhile, do not notice. Returns whether there are more.
    pub fn expire(&mut self, now: i64) -> bool {
        for _ in 0..EXPIRED_AT_A_TIME {
            match self.expiries.first() {
                Some(&(expires, node)) if expires <= now => self.expire_node(node, now),
                _ => return false,
            }
        }
        true
    }

    /// Makes a node free if its holder has not renewed it in time.
    fn expire_node(&mut self, node: u64, now: i64) {
        let block = self.held.get(&(node >> self.block_bits));
        let Some(row) = block.and_then(|block| block.row(node)) else { return };
        if row.expires <= now && self.expiries.contains(&(row.expires, node)) {
            let row = row.clone();
            self.abandoned += u64::from(row.renewed == row.acquired);
            self.free(row, now);
        }
    }

    /// The number of grants that expired without having been renewed: their clients ended early, or no
    /// longer waited for the answer and have a node of another broker.
    #[must_use]
    pub const fn abandoned(&self) -> u64 {
        self.abandoned
    }

    /// How many nodes have a holder.
    #[must_use]
    pub fn holders(&self) -> usize {
        self.expiries.len()
    }

    /// How many nodes nobody holds.
    #[must_use]
    pub fn room(&self) -> u64 {
        self.roomy.iter().map(|(room, _)| room).sum()
    }

    /// The blocks, with their fences and since when each is empty, in Unix milliseconds.
    pub fn blocks(&self) -> impl Iterator<Item = (u64, u64, Option<i64>)> {
        self.held.iter().map(|(number, block)| (*number, block.fence, block.empty_since))
    }

    /// The rows of the nodes that were granted under the present grants of the blocks, by node, from one
    /// on.
    pub fn rows(&self, from: u64) -> impl Iterator<Item = &Row> {
        let blocks = self.held.range(from >> self.block_bits..);
        blocks.flat_map(|(_, block)| block.rows()).filter(move |row| row.node >= from)
    }

    /// The request with its window and TTL cut to this broker's: every renewal can ask for more.
    fn limited(&self, request: Acquire) -> Acquire {
        Acquire {
            window_ms: request.window_ms.min(self.namespace.bounds.max_window_ms),
            ttl_ms: request.ttl_ms.min(self.ttl_ms),
            ..request
        }
    }

    /// Refuses what no node could satisfy, so that no block is leased in vain.
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

    /// The answer to a request that was granted before.
    fn repeated(&self, request: &Acquire) -> Option<Result<Grant, Denial>> {
        let node = self.tokens.get(&grant_half(request.token))?;
        let row = self.held.get(&(node >> self.block_bits))?.row(*node)?;
        if row.owner != request.owner {
            return Some(Err(Refusal::TokenOfAnother.into()));
        }
        if row.token == Some(request.token) {
            return Some(Ok(rules::grant_of(&self.namespace, row, request)));
        }
        // Its holder has renewed it since, so nobody waits for this answer.
        Some(Err(Refusal::FencedOff.into()))
    }

    /// The row of the node that is granted, as it is to be.
    fn choose(&mut self, named: Option<u64>, request: &Acquire, now: i64) -> Result<Row, Denial> {
        let Self { namespace, block_bits, held, roomy, .. } = self;
        let of_name = named.and_then(|node| {
            let block = held.get(&(node >> *block_bits))?;
            block.is_free(node).then_some((block, node))
        });
        let coldest = roomy.iter().filter_map(|(_, number)| {
            let block = held.get(number)?;
            Some((block, block.coldest()?))
        });
        let mut denial = Denial::NoRoom;
        for (block, node) in of_name.into_iter().chain(coldest) {
            namespace.floor = block.floor();
            let row = match rules::grant(namespace, block.row(node), node, request, now) {
                // Another block may have a colder node. The clock may have gone back, so that a row
                // that had expired has not.
                Err(Refusal::FenceInFuture { .. } | Refusal::NoFreeNode { .. }) => continue,
                row => row?,
            };
            let fence = row.fence.min(block.fence);
            if fence >= row.start.saturating_add(2) {
                return Ok(Row { fence, ..row });
            }
            // Another block's window may be longer.
            denial = Denial::BlockFence;
        }
        Err(denial)
    }

    /// The node that was last granted to a name. `None` also if another name with the same hash was
    /// granted one since: then the name gets whichever node is free, as one that is not known.
    fn last_node_of(&self, name: &str) -> Option<u64> {
        let node = *self.names.get(&hash_of(name))?;
        let row = self.held.get(&(node >> self.block_bits))?.row(node)?;
        (row.owner.name == name).then_some(node)
    }

    /// Forgets who held a node before.
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
        let (number, expiry) = (row.node >> self.block_bits, (row.expires, row.node));
        let Some(block) = self.held.get_mut(&number) else { return };
        self.roomy.remove(&(block.room(), number));
        if let Some(before) = block.row(row.node) {
            self.expiries.remove(&(before.expires, before.node));
        }
        self.dropped = self.dropped.saturating_add(block.hold(row));
        self.expiries.insert(expiry);
        if block.room() > 0 {
            self.roomy.insert((block.room(), number));
        }
    }

    fn free(&mut self, row: Row, now: i64) {
        let number = row.node >> self.block_bits;
        let Some(block) = self.held.get_mut(&number) else { return };
        self.roomy.remove(&(block.room(), number));
        if let Some(before) = block.row(row.node) {
            self.expiries.remove(&(before.expires, before.node));
        }
        block.free(row, now);
        self.roomy.insert((block.room(), number));
    }
}

/// The half of a token that stays for the whole grant.
fn grant_half(token: Token) -> u64 {
    (token.to_bits() >> 64) as u64
}

/// The same in every run of this build, so that two brokers in the same state are equal.
fn hash_of(name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    hasher.finish()
}
