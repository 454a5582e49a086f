//! `flakeid leases`: what operators see of a store and do to it.

mod adopt;
mod args;
mod fast_forward;
mod init;
mod json;
mod ls;
mod repair;
mod summary;
mod view;
mod watch;

pub(crate) use args::LeasesArgs;
use args::LeasesCommand;

use crate::failure::Outcome;

pub(crate) fn run(args: &LeasesArgs) -> Outcome {
    match &args.command {
        LeasesCommand::Init(args) => init::run(args),
        LeasesCommand::Ls(args) => ls::run(args),
        LeasesCommand::Watch(args) => watch::run(args),
        LeasesCommand::Release(args) => repair::release(args),
        LeasesCommand::Quarantine(args) => repair::quarantine(args),
        LeasesCommand::FastForward(args) => fast_forward::run(args),
        LeasesCommand::Adopt(args) => adopt::run(args),
    }
}
