//! Arguments that several commands take, and the environment variables that stand in for some.

pub(crate) mod id;
pub(crate) mod input;
pub(crate) mod layout_arg;
pub(crate) mod node;

use std::io::{self, IsTerminal};

use clap::Args;
use flakeid_core::Error;

use crate::failure::{Failure, Outcome};
use crate::terminal;

/// An environment variable. One that is set but empty counts: an empty value that stands where a
/// node was meant to be must not pass for "no node".
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
}

/// An error in the value of a variable. The hint names it, because nobody typed the value here.
pub(crate) fn variable_failure(error: Error, name: &str) -> Failure {
    Failure::hinted(error, format!("it comes from the environment variable {name}"))
}

// Asks before a command changes something that others rely on.
#[derive(Args)]
pub(crate) struct Confirm {
    /// Do not ask for confirmation; required where there is no terminal
    #[arg(short, long)]
    yes: bool,
}

impl Confirm {
    /// Shows what is going to be done, and succeeds only if `--yes` was given or the user agrees.
    pub(crate) fn ask(&self, plan: &str) -> Outcome {
        if self.yes {
            return Ok(());
        }
        let input = io::stdin();
        if !input.is_terminal() || !io::stderr().is_terminal() {
            let reason = "this command asks for confirmation, and there is no terminal to ask on; \
                          add --yes to go ahead";
            return Err(Failure::hinted(Error::invalid_option("--yes", reason), plan));
        }
        terminal::note(plan);
        terminal::question("Continue? [y/N]");
        let mut answer = String::new();
        let read = input.read_line(&mut answer);
        let length = read.map_err(|error| Failure::io("cannot read the answer", error))?;
        if length == 0 {
            // The input ended without a line break: the cursor is still behind the question.
            terminal::note("");
        }
        match answer.trim().to_ascii_lowercase().as_str() {
            "y" | "yes" => Ok(()),
            _ => Err(Failure::Declined),
        }
    }
}
