//! The arguments of `flakeid leases`.

use clap::{Args, Subcommand};

use crate::args::confirm::Confirm;
use crate::args::layout_arg::LayoutArg;
use crate::store::StoreArgs;

/// Shows and repairs the leases of nodes in a store
///
/// A lease is a window of ticks for one node. The store never hands out a window twice, and nobody
/// makes IDs outside of a window: that is why no ID is made twice. A node's fence is where its
/// windows end so far; expiry only says when somebody else may have the node.
///
/// Nothing done here can lead to an ID that is made twice, short of adopting a store while its
/// original is still in use, and of telling `init` what is not true (--fresh, --lost).
///
/// A store that was restarted, failed over or restored notices it, and grants nothing until all
/// windows of before are over. It cannot notice two primaries that grant at once, a virtual machine
/// put back with its memory, or older data put back while the server runs on (IMPORT TABLESPACE,
/// RESTORE, SWAPDB, etcdctl put): restart the server after that, or use fast-forward, before anybody
/// leases.
#[derive(Args)]
#[command(after_long_help = LEASES_EXAMPLES)]
pub(crate) struct LeasesArgs {
    #[command(subcommand)]
    pub(super) command: LeasesCommand,
}

#[derive(Subcommand)]
pub(super) enum LeasesCommand {
    Init(InitArgs),
    Ls(LsArgs),
    Watch(WatchArgs),
    Release(ReleaseArgs),
    Quarantine(QuarantineArgs),
    FastForward(FastForwardArgs),
    Adopt(AdoptArgs),
}

/// Creates a namespace, and what the store needs for it
///
/// One that exists stays as it is. Embedded stores (sqlite) create theirs at the first lease; all
/// others want it created, so that a name mistyped somewhere does not become an ID space of its own.
///
/// To create one in those others, give --fresh or --lost: they cannot tell whether they never had it
/// or have lost it, and after a loss processes may still be making IDs under leases that the store
/// has forgotten. Embedded stores know by themselves what they have lost.
#[derive(Args)]
#[command(after_long_help = INIT_EXAMPLES)]
pub(super) struct InitArgs {
    #[command(flatten)]
    pub(super) store: StoreArgs,

    #[command(flatten)]
    pub(super) layout: LayoutArg,

    /// The longest window that may be leased, and so how long IDs may go on without the store
    /// [default: 20s, or 4 ticks]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(super) max_window: Option<String>,

    /// How far ahead of the clock a window may start [default: 20s, or 4 ticks]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(super) max_ahead: Option<String>,

    /// How far a host's clock may be from the store's [default: 5s]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(super) max_skew: Option<String>,

    /// This store never had a namespace of this name: grant at once
    ///
    /// If that is not true, IDs may be made twice. So give it by hand, not in a script that will run
    /// again: once the store has lost its data, it is not true any more.
    #[arg(long, conflicts_with = "lost")]
    pub(super) fresh: bool,

    /// This store had one with these bounds and lost it: grant when every lost lease has ended
    ///
    /// WINDOW,AHEAD,SKEW are what --max-window, --max-ahead and --max-skew were for the one that was
    /// lost, such as 1h,20s,5s; `default` stands for their defaults. Larger than they were is safe and
    /// only takes longer, smaller is not. If the namespace was lost more than once, give the largest
    /// of each. The new bounds may be smaller or larger. What was quarantined or fast-forwarded in the
    /// one that was lost has to be so again.
    #[arg(long, value_name = "WINDOW,AHEAD,SKEW", allow_hyphen_values = true)]
    pub(super) lost: Option<String>,

    /// Do not note who held which node when; `flakeid whois` then cannot tell
    #[arg(long)]
    pub(super) no_history: bool,

    /// Write a JSON object
    #[arg(long)]
    pub(super) json: bool,
}

/// Lists nodes and who holds them
///
/// On a terminal it shows a table, in a pipe or with --json one JSON object per line.
#[derive(Args)]
#[command(after_long_help = LS_EXAMPLES)]
pub(super) struct LsArgs {
    #[command(flatten)]
    pub(super) store: StoreArgs,

    /// Also nodes that are free
    #[arg(short, long)]
    pub(super) all: bool,

    /// Write one JSON object per node, also to a terminal
    #[arg(long)]
    pub(super) json: bool,
}

/// Shows nodes and who holds them until interrupted
///
/// On a terminal it draws the table of `ls` anew every second; in a pipe or with --json it writes
/// one JSON object for each node and for each change since, with the key `event`.
#[derive(Args)]
#[command(after_long_help = WATCH_EXAMPLES)]
pub(super) struct WatchArgs {
    #[command(flatten)]
    pub(super) store: StoreArgs,

    /// Also nodes that are free
    #[arg(short, long)]
    pub(super) all: bool,

    /// Write JSON, also to a terminal
    #[arg(long)]
    pub(super) json: bool,
}

/// Takes a node from its holder and lets others have it at once
///
/// Safe: the holder may use its window up and then takes another node; the next one begins behind
/// that window. For nodes whose holder is known to be dead.
#[derive(Args)]
#[command(after_long_help = RELEASE_EXAMPLES)]
pub(super) struct ReleaseArgs {
    /// The node
    #[arg(value_name = "NODE", allow_negative_numbers = true)]
    pub(super) node: String,

    #[command(flatten)]
    pub(super) store: StoreArgs,

    #[command(flatten)]
    pub(super) confirm: Confirm,
}

/// Takes a node out of use, or puts it back
///
/// For nodes that something outside of the store makes IDs for, or whose fence is far in the future
/// because of a wrong clock.
#[derive(Args)]
#[command(after_long_help = QUARANTINE_EXAMPLES)]
pub(super) struct QuarantineArgs {
    /// The node
    #[arg(value_name = "NODE", allow_negative_numbers = true)]
    pub(super) node: String,

    /// Put it back into use
    #[arg(long)]
    pub(super) lift: bool,

    #[command(flatten)]
    pub(super) store: StoreArgs,

    #[command(flatten)]
    pub(super) confirm: Confirm,
}

/// Lets no window start before an instant
///
/// For when IDs up to there may have been made without this store: by hand, by another system, or
/// under leases that the store has forgotten. All leases end. After older data were put back into a
/// running server, the instant must be at least the longest window, plus how far it may start ahead,
/// plus twice the clocks' skew from now: --by 50s with the bounds that `init` sets by default. It
/// cannot be taken back.
#[derive(Args)]
#[command(after_long_help = FAST_FORWARD_EXAMPLES)]
#[group(id = "target", required = true, multiple = false, args = ["to", "by"])]
pub(super) struct FastForwardArgs {
    /// The instant: a date, RFC 3339 or Unix milliseconds
    #[arg(long, value_name = "T", allow_hyphen_values = true)]
    pub(super) to: Option<String>,

    /// So far from now: 500ms, 20s, 5min, 2h, 3d
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    pub(super) by: Option<String>,

    #[command(flatten)]
    pub(super) store: StoreArgs,

    #[command(flatten)]
    pub(super) confirm: Confirm,
}

/// Takes over a store that was copied from another machine or restored from a backup
///
/// Nothing is granted until every window that the original may have granted is over, and all leases
/// in it end, unless it is still the run of the store that granted them: after older data were put
/// back into a running server use fast-forward. Only for a store whose original is out of use: two
/// that grant the same nodes would lead to IDs made twice.
#[derive(Args)]
#[command(after_long_help = ADOPT_EXAMPLES)]
pub(super) struct AdoptArgs {
    #[command(flatten)]
    pub(super) store: StoreArgs,

    #[command(flatten)]
    pub(super) confirm: Confirm,
}

// Every line of these that begins with `flakeid` is run by the tests, one after the other.

const LEASES_EXAMPLES: &str = "\
Examples:
  flakeid leases init --store sqlite://flakeid.db
  flakeid leases ls --store sqlite://flakeid.db --all
  FLAKEID_STORE=sqlite://flakeid.db FLAKEID_NAMESPACE=default flakeid leases ls --all

Stores:
  sqlite:///var/lib/flakeid/flakeid.db            the processes of one host
  postgresql://user:password@host/database
  mysql://user:password@host/database
  redis://user:password@host/0
  etcd://user:password@host:2379

Environment (flags win):
  FLAKEID_STORE      store, where --store is not given
  FLAKEID_NAMESPACE  namespace, where --namespace is not given";

const INIT_EXAMPLES: &str = "\
Examples:
  flakeid leases init --store sqlite://flakeid.db --namespace orders
  flakeid leases init --store sqlite://flakeid.db --namespace users --layout sonyflake
  flakeid leases init --store sqlite://flakeid.db --namespace far --max-window 2min --max-skew 10s

On a server, for the first time, and after it has lost a namespace that allowed windows of an hour:
  flakeid leases init --store postgresql://db/app --namespace invoices --fresh
  flakeid leases init --store postgresql://db/app --namespace payments --lost 1h,20s,5s";

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
  flakeid leases release 0 --store sqlite://flakeid.db --yes";

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
