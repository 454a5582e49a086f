//! The arguments of the `flakeid leases` subcommands.

use clap::Args;

use crate::args::Confirm;
use crate::args::layout_arg::LayoutArg;
use crate::store::StoreArgs;

/// Creates a namespace and the tables or keys that the store needs for it
///
/// A namespace that already exists is left unchanged. Embedded stores (sqlite) create a namespace
/// at its first lease. On a server, only this command creates a namespace, so that a mistyped name
/// does not become a separate ID space.
///
/// On a server, specify --fresh or --lost: the server cannot distinguish a namespace that never
/// existed from one that it has lost. After a loss, processes may still be generating IDs under
/// leases that the server has lost. Embedded stores detect such losses themselves.
#[derive(Args)]
#[command(after_long_help = INIT_EXAMPLES)]
pub(super) struct InitArgs {
    #[command(flatten)]
    pub(super) store: StoreArgs,

    #[command(flatten)]
    pub(super) layout: LayoutArg,

    /// Longest window that can be leased: the time for which processes can generate IDs while the
    /// store is down [default: 10s, or 4 ticks]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(super) max_window: Option<String>,

    /// Longest time that a window may start ahead of the clock [default: 20s, or 4 ticks]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(super) max_ahead: Option<String>,

    /// Largest difference between a host's clock and the store's clock [default: 1s]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(super) max_skew: Option<String>,

    /// Time after a restart, a failover or a restore during which the store grants nothing
    /// [default: 15s, or --max-window plus four times --max-skew if that is longer]
    ///
    /// A process that holds a node continues to generate IDs during this time, provided that it
    /// renews its lease soon enough: within this time minus four times --max-skew, counted from the
    /// last renewal that the store still has.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(super) quiet: Option<String>,

    /// This store has never had a namespace with this name: grant at once
    ///
    /// If this is not true, IDs may be generated twice. Specify this flag only by hand, never in a
    /// script that runs repeatedly: once the store has lost its data, the statement is no longer
    /// true.
    #[arg(long, conflicts_with = "lost")]
    pub(super) fresh: bool,

    /// This store lost a namespace with this name and these bounds: grant only when all of its
    /// leases have ended
    ///
    /// WINDOW,AHEAD,SKEW are the --max-window, --max-ahead and --max-skew of the lost namespace,
    /// such as 1h,20s,1s; `default` means the default bounds. If its --quiet was not the default,
    /// add it as a fourth value. Values that are too large are safe and only cause a longer wait;
    /// values that are too small are not safe. If the namespace was lost more than once, specify
    /// the largest value of each bound. The new bounds may be smaller or larger. Repeat every
    /// quarantine and fast-forward that was applied to the lost namespace.
    #[arg(long, value_name = "WINDOW,AHEAD,SKEW", allow_hyphen_values = true)]
    pub(super) lost: Option<String>,

    /// Lease the nodes to brokers (`flakeid serve`) in blocks of 2^BITS [default: 0, processes
    /// lease single nodes]
    ///
    /// In a namespace with blocks, processes lease nodes from the brokers, not from the store.
    #[arg(long, value_name = "BITS", allow_hyphen_values = true)]
    pub(super) block_bits: Option<String>,

    /// Do not record which process held which node
    ///
    /// `flakeid whois` then cannot find the process that generated an ID.
    #[arg(long)]
    pub(super) no_history: bool,

    /// Write a JSON object
    #[arg(long)]
    pub(super) json: bool,
}

/// Lists nodes and their holders
///
/// On a terminal, the command shows a table. In a pipe, or with --json, it writes one JSON object
/// per line.
#[derive(Args)]
#[command(after_long_help = LS_EXAMPLES)]
pub(super) struct LsArgs {
    #[command(flatten)]
    pub(super) store: StoreArgs,

    /// Also show nodes that are free
    #[arg(short, long)]
    pub(super) all: bool,

    /// Write one JSON object per node, even on a terminal
    #[arg(long)]
    pub(super) json: bool,
}

/// Shows nodes and their holders until interrupted
///
/// On a terminal, the command redraws the table of `ls` every second. In a pipe, or with --json, it
/// first writes one JSON object for each node, and then one for each change. The object for a
/// change has the key `event`.
#[derive(Args)]
#[command(after_long_help = WATCH_EXAMPLES)]
pub(super) struct WatchArgs {
    #[command(flatten)]
    pub(super) store: StoreArgs,

    /// Also show nodes that are free
    #[arg(short, long)]
    pub(super) all: bool,

    /// Write JSON, even on a terminal
    #[arg(long)]
    pub(super) json: bool,
}

/// Takes a node from its holder, so that another process can lease the node when the lease expires
///
/// Use this command for a node whose holder you know to be dead. The command is safe even if the
/// holder is alive: the holder may use its window to the end, and then leases another node. The
/// window of the next holder starts after that window. A node that was leased by its number can be
/// leased again at once.
#[derive(Args)]
#[command(after_long_help = RELEASE_EXAMPLES)]
pub(super) struct ReleaseArgs {
    /// Node number, or the number of a block if the namespace leases blocks
    #[arg(value_name = "NODE", allow_negative_numbers = true)]
    pub(super) node: String,

    /// Let other processes lease the node at once
    ///
    /// If the store is later restored to a state from before this command, the previous holder and
    /// the next holder can generate the same IDs.
    #[arg(long)]
    pub(super) now: bool,

    #[command(flatten)]
    pub(super) store: StoreArgs,

    #[command(flatten)]
    pub(super) confirm: Confirm,
}

/// Takes a node out of use, or puts it back into use
///
/// Use this command for a node whose number is also used outside the store, or whose fence is far
/// in the future because of a wrong clock.
#[derive(Args)]
#[command(after_long_help = QUARANTINE_EXAMPLES)]
pub(super) struct QuarantineArgs {
    /// Node number, or the number of a block if the namespace leases blocks
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

/// Prevents windows from starting before an instant
///
/// Use this command if IDs up to that instant may have been generated without this store: by hand,
/// by another system, or under leases that the store has lost. All leases end. This is
/// irreversible.
///
/// If older data were restored into a running server, the instant must be at least max-window +
/// max-ahead + 2 x max-skew from now: --by 32s with the default bounds of `init`.
#[derive(Args)]
#[command(after_long_help = FAST_FORWARD_EXAMPLES)]
#[group(id = "target", required = true, multiple = false, args = ["to", "by"])]
pub(super) struct FastForwardArgs {
    /// The instant: a date, RFC 3339 or Unix milliseconds
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub(super) to: Option<String>,

    /// The instant, as a duration from now: 500ms, 20s, 5min, 2h, 3d
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(super) by: Option<String>,

    #[command(flatten)]
    pub(super) store: StoreArgs,

    #[command(flatten)]
    pub(super) confirm: Confirm,
}

/// Takes over a store that was copied from another machine or restored from a backup
///
/// All leases end, and nothing is granted until every window that the original store may have
/// granted has ended. Use this command only if the original store is out of use: if two stores
/// grant the same nodes, IDs are generated twice.
///
/// If older data were restored into a server while it was running, use fast-forward instead: the
/// store is still in the same run, so `adopt` would not end its leases.
#[derive(Args)]
#[command(after_long_help = ADOPT_EXAMPLES)]
pub(super) struct AdoptArgs {
    #[command(flatten)]
    pub(super) store: StoreArgs,

    #[command(flatten)]
    pub(super) confirm: Confirm,
}

// The tests run every example line that begins with `flakeid`, one after the other.

const INIT_EXAMPLES: &str = "\
Examples:
  flakeid leases init --store sqlite://flakeid.db --namespace orders
  flakeid leases init --store sqlite://flakeid.db --namespace users --layout sonyflake
  flakeid leases init --store sqlite://flakeid.db --namespace far --max-window 2min --max-skew 10s

On a server, for a new namespace, and for a lost one that allowed windows of one hour:
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
