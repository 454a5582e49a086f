//! `flakeid leases`: shows and repairs the leases in a store.

mod args;
mod floor;
mod init;
mod json;
mod ls;
mod repair;
mod summary;
mod watch;

use clap::{Args, Subcommand};

use args::{AdoptArgs, FastForwardArgs, InitArgs, LsArgs, QuarantineArgs, ReleaseArgs, WatchArgs};

use crate::failure::Outcome;

const LEASES_EXAMPLES: &str = "\
Examples:
  flakeid leases init --store sqlite://flakeid.db
  flakeid leases ls --store sqlite://flakeid.db --all
  FLAKEID_STORE=sqlite://flakeid.db FLAKEID_NAMESPACE=default flakeid leases ls --all

Stores:
  sqlite:///var/lib/flakeid/flakeid.db            the processes of one host
  postgresql://user:password@host,host/database   the first host that may be written to
  mysql://user:password@host,host/database
  redis://user:password@host,host/0
  redis+sentinel://user:password@sentinel,sentinel/service/0
  etcd://user:password@host:2379,host:2379

ls and watch also accept the URL of a broker, http://host:7117, and show the nodes that it granted.

Environment (flags win):
  FLAKEID_STORE      URL of the store, if --store is not given
  FLAKEID_NAMESPACE  namespace in the store, if --namespace is not given";

/// Shows and repairs the leases of nodes in a store
///
/// A lease is a window of ticks for one node. The store never grants overlapping windows for one
/// node, and no process generates IDs outside its window, so no ID is generated twice. The fence of
/// a node is the tick at which its latest window ends. The expiry only determines when another
/// process may lease the node.
///
/// These commands cannot cause an ID to be generated twice, with three exceptions: `adopt`, if the
/// original of the store is still in use; `init`, if --fresh or --lost is not true; and `release
/// --now`, if the store is then restored to an earlier state.
///
/// After a restart, a failover or a restore, the store grants no nodes until all earlier windows
/// are over; a process that holds a node continues where that is safe. The store cannot detect two
/// primaries that grant nodes at the same time, a virtual machine that is restored with its memory,
/// or older data that are restored while the server runs (IMPORT TABLESPACE, RESTORE, SWAPDB,
/// etcdctl put). In the last case, restart the server, or run fast-forward, before any process
/// leases a node.
#[derive(Args)]
#[command(after_long_help = LEASES_EXAMPLES)]
pub(crate) struct LeasesArgs {
    #[command(subcommand)]
    command: LeasesCommand,
}

#[derive(Subcommand)]
enum LeasesCommand {
    Init(InitArgs),
    Ls(LsArgs),
    Watch(WatchArgs),
    Release(ReleaseArgs),
    Quarantine(QuarantineArgs),
    FastForward(FastForwardArgs),
    Adopt(AdoptArgs),
}

pub(crate) fn run(args: &LeasesArgs) -> Outcome {
    match &args.command {
        LeasesCommand::Init(args) => init::run(args),
        LeasesCommand::Ls(args) => ls::run(args),
        LeasesCommand::Watch(args) => watch::run(args),
        LeasesCommand::Release(args) => repair::release(args),
        LeasesCommand::Quarantine(args) => repair::quarantine(args),
        LeasesCommand::FastForward(args) => floor::fast_forward(args),
        LeasesCommand::Adopt(args) => floor::adopt(args),
    }
}
