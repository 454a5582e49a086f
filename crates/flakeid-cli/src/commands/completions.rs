//! `flakeid completions`

use std::io::Write;

use clap::CommandFactory;

use crate::cli::{Cli, CompletionsArgs};
use crate::failure::Outcome;
use crate::terminal::output;

pub(crate) fn run(args: &CompletionsArgs) -> Outcome {
    // Generated in memory: on a closed pipe the generator itself would panic.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "flakeid", &mut script);
    let mut out = output::stream();
    out.write_all(&script)?;
    out.flush()?;
    Ok(())
}
