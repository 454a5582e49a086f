//! `flakeid serve` in a build without the feature `http`: fails, and names the feature.

use std::ffi::OsString;

use clap::Args;
use flakeid_core::Error;

use crate::failure::Outcome;

/// Requires the Cargo feature `http`, which this build omits
#[derive(Args)]
#[command(disable_help_flag = true)]
pub(crate) struct ServeArgs {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    _arguments: Vec<OsString>,
}

pub(crate) fn run(_: &ServeArgs) -> Outcome {
    let reason = "this flakeid was built without the Cargo feature `http`; to build it with every feature, run \
                  cargo install --locked flakeid-cli";
    Err(Error::invalid_option("serve", reason).into())
}
