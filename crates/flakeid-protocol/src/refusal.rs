use std::time::Duration;

use flakeid_core::{Error, ErrorKind, Layout};

use crate::missing::missing_namespace;

/// A refusal by a store or a broker. Nothing was granted, and the holder's rights are unchanged. After
/// [`FencedOff`](Self::FencedOff) and [`Restored`](Self::Restored), however, the holder's rights end at its fence.
///
/// ```
/// use std::time::Duration;
///
/// use flakeid_core::Layout;
/// use flakeid_protocol::Refusal;
///
/// let refusal = Refusal::FenceInFuture { retry_after_ms: 250 };
/// let error = refusal.to_error("orders", &Layout::TWITTER);
/// assert_eq!(error.retry_after(), Some(Duration::from_millis(250)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Refusal {
    /// The namespace does not exist, and this store does not create namespaces automatically.
    MissingNamespace,
    /// The layouts of the namespace and the client differ.
    OtherLayout {
        /// The layout of the namespace.
        namespace: Layout,
        /// The layout of the client.
        client: Layout,
    },
    /// The request does not match the block size of the namespace. The client requested a node instead of a block, a
    /// block instead of a node, or a block of another size.
    BlockBits {
        /// The `block_bits` of the namespace.
        namespace: u32,
        /// The `block_bits` of the client.
        client: u32,
    },
    /// The lease request contains an option that brokers do not support, because a broker chooses nodes itself.
    BrokerChooses {
        /// The name of the unsupported option.
        option: &'static str,
    },
    /// Another process was already granted a node with this token. Granting that node again would give both processes
    /// the same window.
    TokenOfAnother,
    /// The window is longer than the namespace allows, or shorter than two ticks.
    Window {
        /// The requested length of the window, in milliseconds.
        asked_ms: u64,
        /// The length of two ticks, in milliseconds.
        min_ms: u64,
        /// The longest window that the namespace allows, in milliseconds.
        max_ms: u64,
    },
    /// A node is outside the layout, or the range of nodes is empty.
    Nodes {
        /// The lowest requested node.
        from: u64,
        /// The highest requested node.
        to: u64,
        /// The highest node of the layout.
        max_node: u64,
    },
    /// The client's clock and the store's clock are too far apart.
    Skew {
        /// The client's clock minus the store's clock, in milliseconds.
        by_ms: i64,
        /// The largest difference that the namespace allows, in milliseconds.
        max_ms: u64,
    },
    /// The store uses this host's clock, which shows an impossible time.
    ImpossibleClock {
        /// The number of milliseconds by which the clock is ahead of the range of possible times; negative if the clock
        /// is behind that range.
        by_ms: i64,
    },
    /// The store uses this host's clock, which was set forward only recently. The store follows the clock if the step
    /// lasts.
    ClockStep {
        /// The number of milliseconds by which the clock was set forward.
        by_ms: i64,
        /// The number of milliseconds until the store follows the clock.
        retry_after_ms: u64,
    },
    /// A renewal requests ticks further ahead than the namespace's bounds allow, even for a client whose clock is ahead
    /// by `max_skew_ms`.
    TooFarAhead {
        /// The number of milliseconds by which the requested ticks exceed the bound.
        by_ms: u64,
    },
    /// The only node that the request accepts is quarantined.
    Quarantined {
        /// The quarantined node.
        node: u64,
    },
    /// The only node that the request accepts is held by another process. That process did not request this specific
    /// node, so the node is not taken over.
    Held {
        /// The held node.
        node: u64,
        /// The number of milliseconds until the node is free, unless its holder renews the grant.
        retry_after_ms: u64,
    },
    /// The node cannot be granted yet, because the earliest possible start of the grant is too far ahead of the clock.
    /// The start depends on the node's fence, the namespace's floor and the last tick that the process used.
    FenceInFuture {
        /// The number of milliseconds until the clock is close enough to the earliest possible start of the grant.
        retry_after_ms: u64,
    },
    /// Every node in the range is held, hot or quarantined. A hot node is free, but its fence is too far ahead of the
    /// clock. If the client requests a disposable node, a node that was used before does not count as free.
    NoFreeNode {
        /// The number of held nodes.
        held: u64,
        /// The number of free nodes whose fence is too far ahead of the clock.
        hot: u64,
        /// The number of quarantined nodes.
        quarantined: u64,
        /// The number of nodes that were used before; counted only for requests for disposable nodes.
        used: u64,
        /// The time until the first node becomes free, in milliseconds, unless its holder renews the grant; `None` if
        /// no node becomes free automatically.
        next_free_in_ms: Option<u64>,
    },
    /// Another process took the node. The previous holder may use up its window, but must then acquire another node.
    FencedOff,
    /// The store was restored from a backup, failed over or restarted, so its data may be outdated. The store grants
    /// nothing for a while. A holder that receives this refusal cannot continue its lease.
    Restored {
        /// The number of milliseconds for which the store grants nothing.
        retry_after_ms: u64,
    },
    /// The store may be a copy of one that is still in use. The text contains the reason.
    Foreign(String),
    /// The layout's ticks have run out.
    Horizon,
    /// A refusal by a broker, with the broker's own message.
    Relayed {
        /// The kind of the error.
        kind: ErrorKind,
        /// The broker's message.
        text: String,
        /// The number of milliseconds to wait before trying again.
        retry_after_ms: Option<u64>,
    },
}

/// The longest time that a request can spend in transit or in a queue, because no client waits longer for a response.
/// If a client's clock appears to be behind by at most this time, the clock may be right and the request slow.
const SLOWEST_REQUEST_MS: i64 = 60_000;

/// The remedy for a window that is too long.
const LONGEST_WINDOW: &str =
    "the maximum is set when the namespace is created (`max_window_ms`) or the broker is started";

impl Refusal {
    /// Converts the refusal to the error that users see.
    #[must_use]
    #[allow(clippy::too_many_lines, reason = "a list")]
    pub fn to_error(&self, namespace: &str, layout: &Layout) -> Error {
        let rejected = |text: &str| Error::new(ErrorKind::StoreRejected, text, None);
        let skewed = |text: &str| Error::new(ErrorKind::ClockSkew, text, None);
        let after = |ms: u64| Some(Duration::from_millis(ms));
        match self {
            Self::MissingNamespace => {
                let problem = format!("the store has no namespace {namespace:?}");
                missing_namespace(&problem, "the store", namespace, layout, 0)
            }
            Self::OtherLayout { namespace: theirs, client } => rejected(&format!(
                "namespace {namespace:?} is for the layout {theirs}, not {client}: use that layout \
                 or another namespace"
            )),
            Self::BlockBits { namespace: theirs, client } => {
                rejected(&other_blocks(namespace, *theirs, *client))
            }
            Self::BrokerChooses { option } => Error::invalid_option(
                option,
                "a broker chooses the node itself: omit this option, or lease from the store that \
                 the broker uses",
            ),
            Self::TokenOfAnother => Error::invalid_option(
                "token",
                "a node was granted with this token to another process (host, PID or name differ): \
                 use 128 new random bits for each node that you request",
            ),
            Self::Window { asked_ms, min_ms, max_ms } => {
                let error = Error::option_out_of_range("window_ms", asked_ms, *min_ms, *max_ms);
                if asked_ms > max_ms { error.with_remedy(LONGEST_WINDOW) } else { error }
            }
            Self::Nodes { from, to, max_node } => {
                let wrong = if to > max_node { to } else { from };
                Error::option_out_of_range("node", wrong, 0, *max_node.min(to))
            }
            Self::Skew { by_ms, max_ms } => skewed(&too_far_apart(namespace, *by_ms, *max_ms)),
            Self::ImpossibleClock { by_ms } => {
                let (error, behind_or_ahead) =
                    (seconds(by_ms.unsigned_abs()), behind_or_ahead(*by_ms));
                skewed(&format!(
                    "this host's clock is at least {error} {behind_or_ahead} the correct time: correct the clock (NTP)"
                ))
            }
            Self::ClockStep { by_ms, retry_after_ms } => Error::new(
                ErrorKind::ClockSkew,
                &format!(
                    "this host's clock was set forward by {}: the store follows it in {}, unless it is set back before \
                     then",
                    seconds(by_ms.unsigned_abs()),
                    seconds(*retry_after_ms)
                ),
                after(*retry_after_ms),
            ),
            Self::TooFarAhead { by_ms } => skewed(&format!(
                "the renewal requests ticks {} further ahead than namespace {namespace:?} \
                     allows, because this host's clock is ahead of the store's; correct the \
                     clocks (NTP)",
                seconds(*by_ms)
            )),
            Self::Quarantined { node } => rejected(&format!(
                "node {node} of namespace {namespace:?} is quarantined: put it back into use with \
                 `flakeid leases quarantine --lift {node}`"
            )),
            Self::Held { node, retry_after_ms } => held(namespace, *node, *retry_after_ms),
            Self::FenceInFuture { retry_after_ms } => Error::new(
                ErrorKind::FenceInFuture,
                &format!(
                    "the node's ticks are granted up to {} further ahead of the clock than \
                     namespace {namespace:?} allows a new holder to start",
                    seconds(*retry_after_ms)
                ),
                after(*retry_after_ms),
            ),
            Self::NoFreeNode { held, hot, quarantined, used, next_free_in_ms } => Error::new(
                ErrorKind::NoFreeNode,
                &format!(
                    "namespace {namespace:?} has no free node: {held} held, {hot} with a fence too \
                     far ahead, {quarantined} quarantined, {used} used up{}; see `flakeid leases ls`",
                    next_free_in_ms
                        .map(|ms| format!(", the next one free in {}", seconds(ms)))
                        .unwrap_or_default(),
                ),
                next_free_in_ms.and_then(after),
            ),
            Self::FencedOff => Error::new(
                ErrorKind::LeaseExpired,
                &format!(
                    "another process has leased the node that this process held in \
                     namespace {namespace:?}"
                ),
                None,
            ),
            Self::Restored { retry_after_ms } => Error::new(
                ErrorKind::FenceInFuture,
                &format!(
                    "the store of namespace {namespace:?} was restored, failed over or restarted, \
                     so it may have forgotten grants: it grants again in {}, once all of them have ended",
                    seconds(*retry_after_ms)
                ),
                after(*retry_after_ms),
            ),
            Self::Foreign(why) => rejected(&format!(
                "{why}, where namespace {namespace:?} may still be in use: if it is not, run \
                 `flakeid leases adopt`"
            )),
            Self::Relayed { kind, text, retry_after_ms } => {
                Error::new(*kind, text, retry_after_ms.and_then(after))
            }
            Self::Horizon => match layout.tick_at(layout.horizon()) {
                Err(horizon) => horizon,
                Ok(_) => rejected("the layout's ticks have run out"),
            },
        }
    }
}

fn too_far_apart(namespace: &str, by_ms: i64, max_ms: u64) -> String {
    let or_else = if (-SLOWEST_REQUEST_MS..0).contains(&by_ms) {
        ". If the clocks are right, the request took that long to arrive, because the server or the network is \
         overloaded"
    } else {
        ""
    };
    format!(
        "this host's clock is {} {} the store's, more than the {} that namespace {namespace:?} allows: \
         correct the clocks (NTP){or_else}",
        seconds(by_ms.unsigned_abs()),
        behind_or_ahead(by_ms),
        seconds(max_ms),
    )
}

/// Returns the error for a node that another process holds.
fn held(namespace: &str, node: u64, retry_after_ms: u64) -> Error {
    let text = format!(
        "node {node} of namespace {namespace:?} is held by a process that leased any free node, for \
         up to {} more: keep fixed nodes outside the range of the other processes",
        seconds(retry_after_ms)
    );
    Error::new(ErrorKind::NoFreeNode, &text, Some(Duration::from_millis(retry_after_ms)))
}

/// Returns the message for a client that requested nodes instead of blocks, or blocks instead of nodes.
fn other_blocks(namespace: &str, theirs: u32, client: u32) -> String {
    match (theirs, client) {
        (0, _) => format!(
            "namespace {namespace:?} is leased node by node, from the store itself; a broker needs \
             a namespace of blocks: create one with `flakeid leases init --block-bits`"
        ),
        (_, 0) => format!(
            "namespace {namespace:?} is leased in blocks, by brokers: run `flakeid serve` on this \
             store and lease from its URL (http://…), or use another namespace"
        ),
        _ => format!(
            "namespace {namespace:?} has blocks of 2^{theirs} nodes, not of 2^{client}: omit \
             --block-bits, or use another namespace"
        ),
    }
}

const fn behind_or_ahead(by_ms: i64) -> &'static str {
    if by_ms < 0 { "behind" } else { "ahead of" }
}

fn seconds(ms: u64) -> String {
    format!("{}.{:03} s", ms / 1000, ms % 1000)
}
