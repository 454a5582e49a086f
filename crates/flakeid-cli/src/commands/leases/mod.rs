//! `flakeid leases`: shows and repairs the leases in a store.

mod args;
mod floor;
mod init;
mod json;
mod ls;
mod prune;
mod repair;
mod summary;
mod watch;

use clap::{Args, Subcommand};

use args::{
    AdoptArgs, FastForwardArgs, InitArgs, LsArgs, PruneArgs, QuarantineArgs, ReleaseArgs,
    TouchArgs, WatchArgs,
};

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
/// A lease is the right to generate IDs for one node in a window of ticks. The store never grants
/// overlapping windows for one node, and no process generates IDs outside its window, so no ID is
/// generated twice. The fence of a node is the tick at which the node's latest window ends. The
/// expiry of a lease only determines when another process may lease the node.
///
/// Only four of these commands can cause an ID to be generated twice: `adopt`, if the original
/// store is still in use; `init`, if --fresh or --lost was specified wrongly; `release --now`, if
/// the store is later restored to an earlier state; and `quarantine --lift --name`, if the database
/// still generates IDs.
///
/// After a restart, a failover or a restore, the store grants no nodes until all earlier windows
/// have ended. A process that holds a node continues if that is safe. The store cannot detect two
/// primaries that grant nodes at the same time, or a virtual machine that is restored with its
/// memory. Nor can the store detect older data that are restored while the server runs (IMPORT
/// TABLESPACE, RESTORE, SWAPDB, etcdctl put). After such a restore, restart the server or run
/// `flakeid leases fast-forward` before any process leases a node.
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
    Touch(TouchArgs),
    Release(ReleaseArgs),
    Quarantine(QuarantineArgs),
    FastForward(FastForwardArgs),
    Prune(PruneArgs),
    Adopt(AdoptArgs),
}

pub(crate) fn run(args: &LeasesArgs) -> Outcome {
    match &args.command {
        LeasesCommand::Init(args) => init::run(args),
        LeasesCommand::Ls(args) => ls::run(args),
        LeasesCommand::Watch(args) => watch::run(args),
        LeasesCommand::Touch(args) => floor::touch(args),
        LeasesCommand::Release(args) => repair::release(args),
        LeasesCommand::Quarantine(args) => repair::quarantine(args),
        LeasesCommand::FastForward(args) => floor::fast_forward(args),
        LeasesCommand::Prune(args) => prune::run(args),
        LeasesCommand::Adopt(args) => floor::adopt(args),
    }
}
