//! Arguments that several commands accept, and the environment variables that can replace some of
//! these arguments.

pub(crate) mod id;
pub(crate) mod input;
pub(crate) mod layout_arg;
pub(crate) mod node;

use std::io::{self, IsTerminal};

use clap::Args;
use flakeid_core::Error;

use crate::failure::{Failure, Outcome};
use crate::terminal;

/// Returns the value of an environment variable, even if the value is empty, so that an empty value
/// is not mistaken for a missing node.
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
}

/// Adds a hint to an error. The hint names the environment variable, because the user did not type
/// the value on the command line.
pub(crate) fn variable_failure(error: Error, name: &str) -> Failure {
    Failure::hinted(error, format!("it comes from the environment variable {name}"))
}

// The confirmation that a command requires before it changes shared state.
#[derive(Args)]
pub(crate) struct Confirm {
    /// Skip the confirmation; required without a terminal
    #[arg(short, long)]
    yes: bool,
}

impl Confirm {
    /// Shows the planned change, and returns an error unless `--yes` was given or the user agrees.
    pub(crate) fn ask(&self, plan: &str) -> Outcome {
        if self.yes {
            return Ok(());
        }
        let input = io::stdin();
        if !input.is_terminal() || !io::stderr().is_terminal() {
            let reason = "this command needs confirmation, but standard input or standard error is not a terminal; \
                          add --yes to continue";
            return Err(Failure::hinted(Error::invalid_option("--yes", reason), plan));
        }
        terminal::note(plan);
        terminal::question("Continue? [y/N]");
        let mut answer = String::new();
        let read = input.read_line(&mut answer);
        let length = read.map_err(|error| Failure::io("cannot read the answer", error))?;
        if length == 0 {
            // The input ended without a line break, so the cursor is still after the question.
            terminal::note("");
        }
        match answer.trim().to_ascii_lowercase().as_str() {
            "y" | "yes" => Ok(()),
            _ => Err(Failure::Declined),
        }
    }
}
