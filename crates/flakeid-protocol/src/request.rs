use flakeid_core::Layout;

use super::{Identity, Owner, Token};

/// A request for a node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Acquire {
    /// The layout, which must be the namespace's; a namespace that the store creates itself gets this layout.
    pub layout: Layout,
    /// The base-2 logarithm of the number of neighbouring nodes to grant together: 0 for one node, or the namespace's
    /// `block_bits` for a block, which brokers request. `from`, `to` and the identity are then numbers of blocks.
    pub block_bits: u32,
    /// The requested node.
    pub identity: Identity,
    /// The lowest node to take.
    pub from: u64,
    /// The highest node to take.
    pub to: u64,
    /// The node at which the search among equally cold nodes begins.
    pub rotation: u64,
    /// Whether a node may be granted that was granted before; `false` gives disposable nodes like Baidu's.
    pub reuse: bool,
    /// The token of the grant.
    pub token: Token,
    /// The length of the window in milliseconds.
    pub window_ms: u64,
    /// The milliseconds without a renewal after which another holder may get the node.
    pub ttl_ms: u64,
    /// The client's clock, in Unix milliseconds.
    pub now: i64,
    /// The milliseconds since that reading, which the request spent connecting and waiting. A store's clock that is ahead by at
    /// most this time does not count as wrong.
    pub waited_ms: u64,
    /// The first usable tick: the tick after the last one that this process used.
    pub after: u64,
    /// The process that sends the request.
    pub owner: Owner,
}

/// A request to raise a fence. It may be repeated as often as needed: if it was applied before, the response is the same as
/// then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Renew {
    /// The node.
    pub node: u64,
    /// The first tick of the grant. A request for a grant that reaches the store twice is granted twice with the same token, and
    /// only the grant that the holder knows may be renewed.
    pub start: u64,
    /// The token that the row has now.
    pub token: Token,
    /// The token that the row will have, of the same grant ([`Token::of_grant`]).
    pub next: Token,
    /// The fence that the holder saw confirmed. A store with a lower fence for the same grant has lost data.
    pub confirmed: u64,
    /// The exclusive end of the requested ticks.
    pub wanted: u64,
    /// As in [`Acquire`].
    pub ttl_ms: u64,
    /// As in [`Acquire`]; used only after a restore.
    pub now: i64,
    /// As in [`Acquire`].
    pub waited_ms: u64,
}

/// A request to release a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Release {
    /// The node.
    pub node: u64,
    /// The token that the row has now.
    pub token: Token,
    /// The tick after the last one in which an ID was issued; the word is already CLOSED.
    pub used_until: u64,
}

/// The result of a successful acquire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Grant {
    /// The node.
    pub node: u64,
    /// The first tick that may be used.
    pub start: u64,
    /// The first tick that must not be used.
    pub fence: u64,
    /// The token for renewals and the release.
    pub token: Token,
    /// The largest time by which IDs of the namespace may be ahead of the clock, in milliseconds.
    pub max_ahead_ms: u64,
    /// The longest window that the lessor grants, in milliseconds; a longer one is never granted.
    pub max_window_ms: u64,
    /// The time until which no other holder gets the node, in Unix milliseconds of the store's clock.
    pub expires: i64,
}

/// The result of a successful renewal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Renewed {
    /// The first tick that must not be used.
    pub fence: u64,
    /// As in [`Grant`].
    pub expires: i64,
    /// The time of the renewal, in Unix milliseconds of the store's clock.
    pub renewed: i64,
}
