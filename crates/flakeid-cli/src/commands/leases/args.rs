//! The arguments of the `flakeid leases` subcommands.

use clap::Args;

use crate::args::Confirm;
use crate::args::layout_arg::LayoutArg;
use crate::store::StoreArgs;

/// Creates a namespace and the tables or keys that the store needs for it
///
/// A namespace that already exists is left unchanged; if it differs from the given options, the
/// command fails. An embedded store (sqlite) creates a namespace when a process first leases a node
/// in the namespace. On a server, a lease never creates a namespace, so that a mistyped name does not
/// become a separate ID space.
///
/// On a server, specify --fresh or --lost, because a server cannot distinguish a new namespace from
/// a namespace that it has lost. After a loss, processes may still be generating IDs under leases
/// that the server has lost. An embedded store detects such a loss.
#[derive(Args)]
#[command(after_long_help = INIT_EXAMPLES)]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of the command")]
pub(super) struct InitArgs {
    #[command(flatten)]
    pub(super) store: StoreArgs,

    #[command(flatten)]
    pub(super) layout: LayoutArg,

    /// Longest window: the time for which processes can generate IDs while the store is down
    /// [default: 10s, or 4 ticks if longer]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(super) max_window: Option<String>,

    /// Longest time by which a window may start ahead of the clock [default: 20s, or 4 ticks if
    /// longer]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(super) max_ahead: Option<String>,

    /// Largest allowed difference between a host's clock and the store's clock [default: 1s]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(super) max_skew: Option<String>,

    /// Time for which the store grants no nodes after a restart, a failover or a restore [default:
    /// --max-window + 4 x --max-skew + 1 tick, rounded up to whole seconds, and at least 15s]
    ///
    /// A process that holds a node can continue to generate IDs during this time if the process
    /// renews its lease before a deadline. The deadline is --quiet minus 4 x --max-skew after the
    /// last renewal that the store still contains.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(super) quiet: Option<String>,

    /// Allow windows so long that a restore of data from over 5 min ago could go unnoticed
    ///
    /// S3 and Kubernetes notice some restores only by the age of the data, and only if the age
    /// exceeds --max-window + 2 x --max-skew.
    #[arg(long, hide_short_help = true)]
    pub(super) long_windows: bool,

    /// Declare that this store has never had a namespace with this name; nodes are granted
    /// immediately
    ///
    /// If the declaration is false, IDs may be generated twice. Specify this flag only by hand,
    /// never in a script that runs repeatedly: after the store has lost its data, the declaration
    /// is false.
    #[arg(long, conflicts_with = "lost")]
    pub(super) fresh: bool,

    /// Declare that this store lost a namespace with this name and these bounds; nodes are granted
    /// after all lost leases have ended
    ///
    /// WINDOW,AHEAD,SKEW are the values of --max-window, --max-ahead and --max-skew of the lost
    /// namespace, such as 1h,20s,1s. The value `default` specifies the default bounds. If the lost
    /// namespace had a --quiet time other than the default, add this time as a fourth value. Values
    /// that are too large are safe and only cause a longer wait. Values that are too small are not
    /// safe: IDs may be generated twice. If the namespace was lost more than once, specify the
    /// largest value of each bound. The bounds of the new namespace may be smaller or larger.
    /// Repeat every quarantine and fast-forward that was applied to the lost namespace.
    #[arg(long, value_name = "WINDOW,AHEAD,SKEW", allow_hyphen_values = true)]
    pub(super) lost: Option<String>,

    /// Lease nodes to brokers (`flakeid serve`) in blocks of 2^BITS nodes [default: 0; processes
    /// lease single nodes]
    ///
    /// In a namespace with blocks, processes lease nodes from the brokers, not from the store.
    #[arg(long, value_name = "BITS", allow_hyphen_values = true)]
    pub(super) block_bits: Option<String>,

    /// Do not record which process held which node
    ///
    /// Without these records, `flakeid whois` cannot find the process that generated an ID.
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

/// Shows nodes and their holders until you interrupt the command
///
/// On a terminal, the command shows the table of `flakeid leases ls` and updates the table every
/// second. In a pipe, or with --json, the command first writes one JSON object for each node and
/// then one JSON object for each change. The value of the key `event` is `present` in the first
/// objects, and describes the change in later objects.
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
/// Use this command if you know that the holder is dead. The command is safe even if the holder is
/// alive: the holder may use its window to the end, and must then lease another node. The next
/// holder's window starts after the end of the current window. If the holder leased the node by
/// specifying the node's number, another process can lease the node immediately.
#[derive(Args)]
#[command(after_long_help = RELEASE_EXAMPLES)]
pub(super) struct ReleaseArgs {
    /// Node number, or the number of a block if the namespace leases blocks
    #[arg(value_name = "NODE", allow_negative_numbers = true)]
    pub(super) node: String,

    /// Let other processes lease the node immediately
    ///
    /// If the store is later restored to a state that predates this command, the previous holder
    /// and the next holder can generate the same IDs.
    #[arg(long)]
    pub(super) now: bool,

    #[command(flatten)]
    pub(super) store: StoreArgs,

    #[command(flatten)]
    pub(super) confirm: Confirm,
}

/// Takes a node out of use, or puts the node back into use
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

    /// Name of the database whose SQL functions generated IDs on the node
    ///
    /// Use the value of `flakeid sql --name`. The command requires the name, because functions that
    /// still exist would generate IDs twice.
    #[arg(long, value_name = "NAME", requires = "lift", allow_hyphen_values = true)]
    pub(super) name: Option<String>,

    #[command(flatten)]
    pub(super) store: StoreArgs,

    #[command(flatten)]
    pub(super) confirm: Confirm,
}

/// Prevents windows from starting before a specified instant
///
/// Use this command if IDs up to that instant may have been generated without this store: by hand,
/// by another system, or under leases that the store has lost. All current leases end. This change
/// is irreversible.
///
/// If the data of a running server was replaced with older data, the instant must be in the future
/// by at least max-window + max-ahead + 3 x max-skew. With the default bounds of `flakeid leases
/// init`, specify --by 33s.
#[derive(Args)]
#[command(after_long_help = FAST_FORWARD_EXAMPLES)]
#[group(id = "target", required = true, multiple = false, args = ["to", "by"])]
pub(super) struct FastForwardArgs {
    /// Instant before which no window starts: a date, an RFC 3339 time or Unix milliseconds
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub(super) to: Option<String>,

    /// Instant before which no window starts, as a duration from now: 500ms, 20s, 5min, 2h or 3d
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(super) by: Option<String>,

    #[command(flatten)]
    pub(super) store: StoreArgs,

    #[command(flatten)]
    pub(super) confirm: Confirm,
}

/// Removes old grants from the history
///
/// The history contains the grants of all nodes, and `flakeid whois` reads it. This command removes
/// the grants that ended before an instant. The latest grant of each node always remains. The
/// removal is irreversible. Afterwards, `flakeid whois` cannot find the processes that generated
/// IDs under the removed grants.
///
/// `flakeid serve` automatically removes old grants. Its option --keep-history specifies their age.
#[derive(Args)]
#[command(after_long_help = PRUNE_EXAMPLES)]
pub(super) struct PruneArgs {
    /// Remove the grants that ended before this instant: a date, an RFC 3339 time, Unix
    /// milliseconds, or a duration before now such as 90d
    #[arg(long, value_name = "TIME", required = true, allow_hyphen_values = true)]
    pub(super) before: String,

    #[command(flatten)]
    pub(super) store: StoreArgs,

    #[command(flatten)]
    pub(super) confirm: Confirm,
}

/// Adopts the namespace of a store that was copied from another machine or restored from a backup
///
/// All leases end, and no nodes are granted until every window that the original store may have
/// granted has ended. Use this command only if the original store is out of use: if two stores
/// grant the same nodes, IDs are generated twice.
///
/// If the data of a running server was replaced with older data, use `flakeid leases fast-forward`
/// instead. The store cannot detect this replacement, so `adopt` would not end the leases.
#[derive(Args)]
#[command(after_long_help = ADOPT_EXAMPLES)]
pub(super) struct AdoptArgs {
    #[command(flatten)]
    pub(super) store: StoreArgs,

    #[command(flatten)]
    pub(super) confirm: Confirm,
}

/// Records that the store was started, so that processes need not wait for it later
///
/// After a restart, a failover or a restore, the store grants no nodes for a while, by default for
/// 15 s. This time begins with the first request, not with the start of the server. Run this command
/// soon after each start of the server: in the health check of its container, or after its unit has
/// started. It leases no node, and changes nothing if the store was not restarted.
///
/// The command succeeds if the store responds, and prints the time until the store grants nodes.
#[derive(Args)]
#[command(after_long_help = TOUCH_EXAMPLES)]
pub(super) struct TouchArgs {
    #[command(flatten)]
    pub(super) store: StoreArgs,
}

// The tests run every example line that begins with `flakeid`, one after the other.

const TOUCH_EXAMPLES: &str = "\
Examples:
  flakeid leases touch --store sqlite://flakeid.db";

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

const PRUNE_EXAMPLES: &str = "\
Examples:
  flakeid leases prune --before 90d --store sqlite://flakeid.db --yes
  flakeid leases prune --before 2026-01-01 --store sqlite://flakeid.db --yes";

const ADOPT_EXAMPLES: &str = "\
Examples:
  flakeid leases adopt --store sqlite://flakeid.db --yes";
