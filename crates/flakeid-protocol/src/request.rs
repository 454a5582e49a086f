use flakeid_core::Layout;

use super::{Identity, Owner, Token};

/// A request for a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Acquire {
    /// Must be the namespace's layout; creates it where stores create namespaces themselves.
    pub layout: Layout,
    /// How many neighbouring nodes are granted together, as a power of two: 0 for one node, or the
    /// namespace's `block_bits` for a block, as brokers ask. Then `from`, `to` and the identity are
    /// numbers of blocks.
    pub block_bits: u32,
    /// Which node.
    pub identity: Identity,
    /// The lowest node to take.
    pub from: u64,
    /// The highest node to take.
    pub to: u64,
    /// Where to begin looking among nodes that are equally cold.
    pub rotation: u64,
    /// Whether a node may be taken that was granted before; Baidu's disposable nodes are not.
    pub reuse: bool,
    /// The token the grant will have.
    pub token: Token,
    /// How long a window, in milliseconds.
    pub window_ms: u64,
    /// For how long the node is kept from others without a renewal, in milliseconds.
    pub ttl_ms: u64,
    /// The client's clock, in Unix milliseconds.
    pub now: i64,
    /// How long ago that was read, in milliseconds: what this request has spent in connecting and in
    /// waiting for others. A store's clock that is ahead by no more than that is not a wrong clock.
    pub waited_ms: u64,
    /// The first tick that is of use: the one after the last that this process used.
    pub after: u64,
    /// Who asks.
    pub owner: Owner,
}

/// A request to move a fence up. May be sent again as often as needed: if it was applied before,
/// the answer is what it was then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Renew {
    /// The node.
    pub node: u64,
    /// The first tick of the grant. A request for a grant that reaches the store twice is granted
    /// twice, with one token; only the grant that the holder knows may be renewed.
    pub start: u64,
    /// The token that the row has now.
    pub token: Token,
    /// The one it will have then, of the same grant ([`Token::of_grant`]).
    pub next: Token,
    /// The fence that the holder has confirmed. A store that has a lower one for the same grant has
    /// forgotten something.
    pub confirmed: u64,
    /// The tick up to which IDs are wanted, exclusive.
    pub wanted: u64,
    /// As in [`Acquire`].
    pub ttl_ms: u64,
    /// As in [`Acquire`]; it matters only after a restoration.
    pub now: i64,
    /// As in [`Acquire`].
    pub waited_ms: u64,
}

/// A request to give a node back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Release {
    /// The node.
    pub node: u64,
    /// The token that the row has now.
    pub token: Token,
    /// The tick after the last one in which an ID was issued; the word is CLOSED already.
    pub used_until: u64,
}

/// What a successful acquire gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Grant {
    /// The node.
    pub node: u64,
    /// The first tick that may be used.
    pub start: u64,
    /// The first tick that may not.
    pub fence: u64,
    /// What to renew and release with.
    pub token: Token,
    /// How far ahead of the clock the namespace lets IDs run, in milliseconds.
    pub max_ahead_ms: u64,
    /// The longest window that is granted, in milliseconds: asking for more is in vain.
    pub max_window_ms: u64,
    /// Until when nobody else gets the node, in Unix milliseconds of the store's clock.
    pub expires: i64,
}

/// What a successful renewal gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Renewed {
    /// The first tick that may not be used.
    pub fence: u64,
    /// As in [`Grant`].
    pub expires: i64,
    /// When this was written, in Unix milliseconds of the store's clock.
    pub renewed: i64,
}
