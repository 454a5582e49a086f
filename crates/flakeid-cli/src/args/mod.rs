//! Arguments that several commands accept, and the environment variables that can replace some of
//! these arguments.

pub(crate) mod id;
pub(crate) mod input;
pub(crate) mod layout_arg;
pub(crate) mod node;

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::process;

use clap::Args;
use flakeid_core::{Error, without_url};

use crate::failure::{Failure, Outcome};
use crate::terminal;

/// Reports invalid arguments in the same way as clap, and ends the process. If an argument is a URL, only its scheme is
/// shown, because a URL may contain a password.
pub(crate) fn reject(error: &clap::Error, arguments: &[OsString]) -> ! {
    let mut text = error.to_string();
    let given = arguments.iter().map(|argument| argument.to_string_lossy());
    for argument in given.filter(|argument| error.use_stderr() && argument.contains("://")) {
        let value = argument.split_once('=').map_or("", |(_, value)| value);
        for url in [&*argument, value].into_iter().filter(|url| url.contains("://")) {
            text = text.replace(url, &without_url(url));
        }
    }
    if text == error.to_string() {
        error.exit();
    }
    eprint!("{text}");
    process::exit(error.exit_code())
}

/// Returns the value of an environment variable, or `None` if the variable is not set. An empty
/// value is returned as well, so that it causes an error instead of being ignored.
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
}

/// Adds a hint to an error about an invalid value. The hint names the environment variable that
/// contained the value.
pub(crate) fn variable_failure(error: Error, name: &str) -> Failure {
    Failure::hinted(error, format!("the value comes from the environment variable {name}"))
}

// The confirmation that a command requires before it changes shared state.
#[derive(Args)]
pub(crate) struct Confirm {
    /// Skip the confirmation prompt; required without a terminal
    #[arg(short, long)]
    yes: bool,
}

impl Confirm {
    /// Shows the planned change and asks the user to confirm it, unless `--yes` was given. Returns
    /// an error if the user declines, or if no terminal is available.
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
            // The input ended without a line break, so the cursor is still on the line of the
            // question.
            terminal::note("");
        }
        match answer.trim().to_ascii_lowercase().as_str() {
            "y" | "yes" => Ok(()),
            _ => Err(Failure::Declined),
        }
    }
}
