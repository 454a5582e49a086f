//! `flakeid leases`: shows and repairs the leases in a store.

mod args;
mod floor;
mod init;
mod json;
mod ls;
mod repair;
mod summary;
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
        LeasesCommand::FastForward(args) => floor::fast_forward(args),
        LeasesCommand::Adopt(args) => floor::adopt(args),
    }
}
