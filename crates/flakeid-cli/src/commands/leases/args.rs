//! The arguments of the commands of `flakeid leases`.

use clap::Args;

use crate::args::Confirm;
use crate::args::layout_arg::LayoutArg;
use crate::store::StoreArgs;

/// Creates a namespace, and what the store needs for it
///
/// A namespace that exists stays as it is. Embedded stores (sqlite) create a namespace at its first
/// lease. On a server you create it with this command, so that a mistyped name does not become an
/// ID space of its own.
///
/// On a server, give --fresh or --lost: the server cannot tell whether it never had the namespace
/// or has lost it, and after a loss processes may still be generating IDs under leases that the
/// server has forgotten. Embedded stores notice by themselves what they have lost.
#[derive(Args)]
#[command(after_long_help = INIT_EXAMPLES)]
pub(super) struct InitArgs {
    #[command(flatten)]
    pub(super) store: StoreArgs,

    #[command(flatten)]
    pub(super) layout: LayoutArg,

    /// The longest window that may be leased: how long IDs can go on while the store is down
    /// [default: 10s, or 4 ticks]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(super) max_window: Option<String>,

    /// How far ahead of the clock a window may start [default: 20s, or 4 ticks]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(super) max_ahead: Option<String>,

    /// How far a host's clock may be from the store's [default: 1s]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(super) max_skew: Option<String>,

    /// For how long nothing is granted after a restart, a failover or a restoration of the store
    /// [default: 15s, or --max-window and four times --max-skew if that is longer]
    ///
    /// A process that holds a node goes on meanwhile if its next renewal comes soon enough after the
    /// last one that the store still has: within this time less four times --max-skew.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(super) quiet: Option<String>,

    /// This store never had a namespace of this name: grant at once
    ///
    /// If that is not true, IDs may be generated twice. So give this flag by hand, not in a script
    /// that runs again: once the store has lost its data, it is no longer true.
    #[arg(long, conflicts_with = "lost")]
    pub(super) fresh: bool,

    /// This store lost a namespace of this name, which had these bounds: grant when all its leases
    /// have ended
    ///
    /// WINDOW,AHEAD,SKEW are the --max-window, --max-ahead and --max-skew of the lost namespace,
    /// such as 1h,20s,1s; `default` stands for their defaults. If its --quiet was not the default, add it
    /// as a fourth value. Values that are too large are safe
    /// and only take longer; values that are too small are not safe. If the namespace was lost more
    /// than once, give the largest value of each. The new bounds may be smaller or larger.
    /// Quarantine and fast-forward again what was quarantined or fast-forwarded in the lost
    /// namespace.
    #[arg(long, value_name = "WINDOW,AHEAD,SKEW", allow_hyphen_values = true)]
    pub(super) lost: Option<String>,

    /// Lease the nodes to brokers (`flakeid serve`) in blocks of 2^BITS, which processes then lease
    /// from the brokers, not from the store [default: 0, processes lease from the store]
    #[arg(long, value_name = "BITS", allow_hyphen_values = true)]
    pub(super) block_bits: Option<String>,

    /// Keep no history of who held which node; `flakeid whois` then finds nothing
    #[arg(long)]
    pub(super) no_history: bool,

    /// Write a JSON object
    #[arg(long)]
    pub(super) json: bool,
}

/// Lists nodes and who holds them
///
/// On a terminal it shows a table. In a pipe, or with --json, it writes one JSON object per line.
#[derive(Args)]
#[command(after_long_help = LS_EXAMPLES)]
pub(super) struct LsArgs {
    #[command(flatten)]
    pub(super) store: StoreArgs,

    /// Also show nodes that are free
    #[arg(short, long)]
    pub(super) all: bool,

    /// Write one JSON object per node, also on a terminal
    #[arg(long)]
    pub(super) json: bool,
}

/// Shows nodes and who holds them, until it is interrupted
///
/// On a terminal it draws the table of `ls` again every second. In a pipe, or with --json, it
/// writes one JSON object for each node, and then one for each change, with the key `event`.
#[derive(Args)]
#[command(after_long_help = WATCH_EXAMPLES)]
pub(super) struct WatchArgs {
    #[command(flatten)]
    pub(super) store: StoreArgs,

    /// Also show nodes that are free
    #[arg(short, long)]
    pub(super) all: bool,

    /// Write JSON, also on a terminal
    #[arg(long)]
    pub(super) json: bool,
}

/// Takes a node from its holder and lets others have it when its lease expires
///
/// Use it for a node whose holder you know to be dead. It is safe even if the holder is alive: the
/// holder may use up its window and then leases another node, and the window of the next holder
/// starts after it. A node that was leased by its number is free at once.
#[derive(Args)]
#[command(after_long_help = RELEASE_EXAMPLES)]
pub(super) struct ReleaseArgs {
    /// The node
    #[arg(value_name = "NODE", allow_negative_numbers = true)]
    pub(super) node: String,

    /// Let others have it at once
    ///
    /// If the store is then put back to a state from before this command, both its former and its
    /// next holder can generate the same IDs.
    #[arg(long)]
    pub(super) now: bool,

    #[command(flatten)]
    pub(super) store: StoreArgs,

    #[command(flatten)]
    pub(super) confirm: Confirm,
}

/// Takes a node out of use, or puts it back
///
/// Use it for a node for which something outside the store generates IDs, or whose fence is far in
/// the future because of a wrong clock.
#[derive(Args)]
#[command(after_long_help = QUARANTINE_EXAMPLES)]
pub(super) struct QuarantineArgs {
    /// The node
    #[arg(value_name = "NODE", allow_negative_numbers = true)]
    pub(super) node: String,

    /// Put the node back into use
    #[arg(long)]
    pub(super) lift: bool,

    #[command(flatten)]
    pub(super) store: StoreArgs,

    #[command(flatten)]
    pub(super) confirm: Confirm,
}

/// Lets no window start before an instant
///
/// Use it if IDs up to that instant may have been generated without this store: by hand, by another
/// system, or under leases that the store has forgotten. All leases end. This cannot be undone.
///
/// After older data were put back into a running server, the instant must be at least max-window +
/// max-ahead + 2 x max-skew from now: --by 32s with the bounds that `init` sets by default.
#[derive(Args)]
#[command(after_long_help = FAST_FORWARD_EXAMPLES)]
#[group(id = "target", required = true, multiple = false, args = ["to", "by"])]
pub(super) struct FastForwardArgs {
    /// The instant: a date, RFC 3339 or Unix milliseconds
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub(super) to: Option<String>,

    /// The instant this far from now: 500ms, 20s, 5min, 2h, 3d
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(super) by: Option<String>,

    #[command(flatten)]
    pub(super) store: StoreArgs,

    #[command(flatten)]
    pub(super) confirm: Confirm,
}

/// Takes over a store that was copied from another machine or restored from a backup
///
/// All leases end, and nothing is granted until every window that the original may have granted is
/// over. Use it only if the original is out of use: two stores that grant the same nodes lead to
/// IDs that are generated twice.
///
/// If older data were put back into a server while it was running, use fast-forward instead: that
/// is still the same run of the store, so `adopt` would not end its leases.
#[derive(Args)]
#[command(after_long_help = ADOPT_EXAMPLES)]
pub(super) struct AdoptArgs {
    #[command(flatten)]
    pub(super) store: StoreArgs,

    #[command(flatten)]
    pub(super) confirm: Confirm,
}

// Every line of these that begins with `flakeid` is run by the tests, one after the other.

const INIT_EXAMPLES: &str = "\
Examples:
  flakeid leases init --store sqlite://flakeid.db --namespace orders
  flakeid leases init --store sqlite://flakeid.db --namespace users --layout sonyflake
  flakeid leases init --store sqlite://flakeid.db --namespace far --max-window 2min --max-skew 10s

On a server, for the first time, and after it has lost a namespace that allowed windows of an hour:
  flakeid leases init --store postgresql://db/app --namespace invoices --fresh
  flakeid leases init --store postgresql://db/app --namespace payments --lost 1h,20s,1s";

const LS_EXAMPLES: &str = "\
Examples:
  flakeid leases ls --store sqlite://flakeid.db --all
  flakeid leases ls --store sqlite://flakeid.db --all --json | head -n 3";

const WATCH_EXAMPLES: &str = "\
Examples:
  flakeid leases watch --store sqlite://flakeid.db --all | head -n 1
  timeout 1h flakeid leases watch --store sqlite://flakeid.db | grep expired";

const RELEASE_EXAMPLES: &str = "\
Examples:
  flakeid leases release 0 --store sqlite://flakeid.db --yes
  flakeid leases release 0 --now --store sqlite://flakeid.db --yes";

const QUARANTINE_EXAMPLES: &str = "\
Examples:
  flakeid leases quarantine 7 --store sqlite://flakeid.db --yes
  flakeid leases quarantine 7 --lift --store sqlite://flakeid.db --yes";

const FAST_FORWARD_EXAMPLES: &str = "\
Examples:
  flakeid leases fast-forward --by 5s --store sqlite://flakeid.db --yes
  flakeid leases fast-forward --to 2026-01-01T12:00:00Z --store sqlite://flakeid.db --yes";

const ADOPT_EXAMPLES: &str = "\
Examples:
  flakeid leases adopt --store sqlite://flakeid.db --yes";
