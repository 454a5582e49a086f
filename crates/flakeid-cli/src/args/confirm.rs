//! Asking before a command changes something that others rely on.

use std::io::{self, IsTerminal};

use clap::Args;
use flakeid_core::Error;

use crate::failure::{Failure, Outcome};
use crate::terminal::output;

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
        output::note(plan);
        output::question("Continue? [y/N]");
        let mut answer = String::new();
        let read = input.read_line(&mut answer);
        let length = read.map_err(|error| Failure::io("cannot read the answer", error))?;
        if length == 0 {
            // The input ended without a line break: the cursor is still behind the question.
            output::note("");
        }
        match answer.trim().to_ascii_lowercase().as_str() {
            "y" | "yes" => Ok(()),
            _ => Err(Failure::Declined),
        }
    }
}
