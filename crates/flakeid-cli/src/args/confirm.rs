//! Asking before something is changed that others rely on.

use std::io::{self, IsTerminal};

use clap::Args;
use flakeid_core::Error;

use crate::failure::{Failure, Outcome};
use crate::terminal::output;

#[derive(Args)]
pub(crate) struct Consent {
    /// Do it without asking; needed where there is no terminal
    #[arg(short, long)]
    yes: bool,
}

impl Consent {
    /// Says what is going to be done, and goes on only if that is wanted.
    pub(crate) fn obtain(&self, plan: &str) -> Outcome {
        if self.yes {
            return Ok(());
        }
        let input = io::stdin();
        if !input.is_terminal() || !io::stderr().is_terminal() {
            let error =
                Error::invalid_option("--yes", "missing: there is no terminal to ask you on");
            return Err(Failure::hinted(error, plan));
        }
        output::note(plan);
        output::question("Do it? [y/N]");
        let mut answer = String::new();
        let read = input.read_line(&mut answer);
        let length = read.map_err(|error| Failure::io("cannot read the answer", error))?;
        if length == 0 {
            // The cursor still stands behind the question.
            output::note("");
        }
        match answer.trim().to_ascii_lowercase().as_str() {
            "y" | "yes" => Ok(()),
            _ => Err(Failure::Declined),
        }
    }
}
