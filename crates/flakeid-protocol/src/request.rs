use flakeid_core::Layout;

use super::{Identity, Owner, Token};

/// A request for a node.
///
/// ```
/// use flakeid_core::{Clock, Layout, SystemClock};
/// use flakeid_protocol::{Acquire, Identity, MemoryStore, Token, operations};
///
/// let mut store = MemoryStore::new();
/// let request = Acquire::any_node(Layout::TWITTER, Token::from_bits(1), SystemClock.unix_ms());
/// let grant = operations::acquire(&mut store, "orders", &request)?;
/// assert_eq!((grant.node, grant.token), (0, request.token));
///
/// let node_7 = Acquire { identity: Identity::Node(7), token: Token::from_bits(2), ..request };
/// assert_eq!(operations::acquire(&mut store, "orders", &node_7)?.node, 7);
/// # Ok::<(), flakeid_protocol::store::Fault>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Acquire {
    /// The layout of the IDs, which must be the namespace's layout. If the store creates the namespace automatically,
    /// the namespace gets this layout.
    pub layout: Layout,
    /// The base-2 logarithm of the number of consecutive nodes to grant: 0 for a single node, or the namespace's
    /// `block_bits` for a block. Only brokers request blocks. In a request for a block, `from`, `to` and the identity
    /// contain block numbers.
    pub block_bits: u32,
    /// The requested node: any node, the last node of a named process, or a specific node.
    pub identity: Identity,
    /// The lowest acceptable node.
    pub from: u64,
    /// The highest acceptable node.
    pub to: u64,
    /// The offset from `from` at which the search for an unused node begins, modulo the number of acceptable nodes.
    pub rotation: u64,
    /// Whether the store may grant a node that was granted before. If `false`, the store grants only a node that was
    /// never granted before. Baidu's `UidGenerator` calls such a node disposable.
    pub reuse: bool,
    /// The token of the grant.
    pub token: Token,
    /// The length of the window in milliseconds.
    pub window_ms: u64,
    /// The time without a renewal after which another holder may get the node, in milliseconds.
    pub ttl_ms: u64,
    /// The client's clock, in Unix milliseconds.
    pub now: i64,
    /// The time that the request has spent connecting and waiting since the client's clock was read, in milliseconds.
    /// If the client's clock appears to be behind the store's clock, the store subtracts this time from the difference
    /// between the clocks.
    pub waited_ms: u64,
    /// The lowest tick at which the grant may start: the tick after the last tick that this process used.
    pub after: u64,
    /// The process that sends the request.
    pub owner: Owner,
}

impl Acquire {
    /// Returns a request for any node of a layout, with a window of 10 s and without a process name. The grant expires
    /// 60 s after its last renewal.
    #[must_use]
    pub fn any_node(layout: Layout, token: Token, now: i64) -> Self {
        Self {
            layout,
            block_bits: 0,
            identity: Identity::Any,
            from: 0,
            to: layout.max_node(),
            rotation: 0,
            reuse: true,
            token,
            window_ms: 10_000,
            ttl_ms: 60_000,
            now,
            waited_ms: 0,
            after: 0,
            owner: Owner::default(),
        }
    }
}

/// A request to raise a fence. The request may be repeated any number of times: if the renewal was already applied,
/// the response is the same as before.
///
/// ```
/// use flakeid_protocol::{Grant, Renew, Token};
///
/// # let grant = Grant {
/// #     node: 7,
/// #     start: 1_000,
/// #     fence: 11_000,
/// #     token: Token::from_bits(1),
/// #     max_ahead_ms: 20_000,
/// #     max_window_ms: 10_000,
/// #     expires: 1_800_000_060_000,
/// # };
/// let renew = Renew {
///     node: grant.node,
///     start: grant.start,
///     token: grant.token,
///     next: Token::from_bits(2).of_grant(grant.token),
///     confirmed: grant.fence,
///     wanted: grant.fence + 5_000,
///     ttl_ms: 60_000,
///     now: 1_800_000_005_000,
///     waited_ms: 0,
/// };
/// assert!(renew.next.is_same_grant(renew.token));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Renew {
    /// The node to renew.
    pub node: u64,
    /// The first tick of the grant to renew. If the store receives the same acquire request twice, both grants have the
    /// same token, and only the first tick distinguishes the two grants. The holder may renew only the grant that the
    /// store returned.
    pub start: u64,
    /// The current token in the node's row.
    pub token: Token,
    /// The token that replaces the current token in the node's row. Both tokens belong to the same grant
    /// ([`Token::of_grant`]).
    pub next: Token,
    /// The highest fence that the store has confirmed to the holder. If the node's row contains a lower fence for the
    /// same grant, the store has lost data.
    pub confirmed: u64,
    /// The requested fence: the first tick after the requested ticks.
    pub wanted: u64,
    /// The time without a renewal after which another holder may get the node, in milliseconds.
    pub ttl_ms: u64,
    /// The client's clock, in Unix milliseconds. The store uses this time only after a restore.
    pub now: i64,
    /// The time since the client's clock was read, in milliseconds.
    pub waited_ms: u64,
}

/// A request to release a node.
///
/// ```
/// use flakeid_protocol::{Grant, Release, Token};
///
/// # let grant = Grant {
/// #     node: 7,
/// #     start: 1_000,
/// #     fence: 11_000,
/// #     token: Token::from_bits(1),
/// #     max_ahead_ms: 20_000,
/// #     max_window_ms: 10_000,
/// #     expires: 1_800_000_060_000,
/// # };
/// // The last ID was issued in tick 4,321.
/// let release = Release { node: grant.node, token: grant.token, used_until: 4_322 };
/// assert!((grant.start..=grant.fence).contains(&release.used_until));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Release {
    /// The node to release.
    pub node: u64,
    /// The current token in the node's row.
    pub token: Token,
    /// The tick after the last tick in which the holder's generator issued an ID. The generator must not issue any more
    /// IDs.
    pub used_until: u64,
}

/// The result of a successful acquire.
///
/// ```
/// use flakeid_core::{Generator, Layout, Window};
/// use flakeid_protocol::{Grant, Token};
///
/// let grant = Grant {
///     node: 7,
///     start: 1_000,
///     fence: 11_000,
///     token: Token::from_bits(1),
///     max_ahead_ms: 20_000,
///     max_window_ms: 10_000,
///     expires: 1_800_000_060_000,
/// };
/// let window = Window::new(grant.start, grant.fence)?;
/// let generator = Generator::builder(Layout::TWITTER).node(grant.node).window(window).build()?;
/// assert_eq!(generator.node(), Some(7));
/// # Ok::<(), flakeid_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Grant {
    /// The granted node.
    pub node: u64,
    /// The first tick in which the holder may issue IDs.
    pub start: u64,
    /// The first tick in which the holder must not issue IDs.
    pub fence: u64,
    /// The token with which the holder renews or releases the grant.
    pub token: Token,
    /// The maximum time by which an ID of the namespace may be ahead of the clock, in milliseconds.
    pub max_ahead_ms: u64,
    /// The longest window that the lessor grants, in milliseconds.
    pub max_window_ms: u64,
    /// The time until which the node is reserved for its holder, in Unix milliseconds according to the store's clock.
    pub expires: i64,
}

/// The result of a successful renewal.
///
/// ```
/// use flakeid_core::{Generator, Layout, Window};
/// use flakeid_protocol::Renewed;
///
/// let window = Window::new(1_000, 11_000)?;
/// let generator = Generator::builder(Layout::TWITTER).node(7).window(window).build()?;
/// let (expires, renewed) = (1_800_000_065_000, 1_800_000_005_000);
/// let response = Renewed { fence: 16_000, expires, renewed, leaving: false };
/// generator.extend(response.fence)?;
/// # Ok::<(), flakeid_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Renewed {
    /// The first tick in which the holder must not issue IDs.
    pub fence: u64,
    /// The time until which the node is reserved for its holder, in Unix milliseconds according to the store's clock.
    pub expires: i64,
    /// The time of the renewal, in Unix milliseconds according to the store's clock.
    pub renewed: i64,
    /// Whether the lessor that granted the node will soon shut down. If so, the holder should request a node from
    /// another lessor.
    pub leaving: bool,
}
