//! `flakeid completions` and `flakeid man`: generate completion scripts and manual pages from the
//! definition of the command line.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, Command, ValueHint};
use clap_complete::Shell;

use crate::failure::{Failure, Outcome};
use crate::terminal;

/// Writes a completion script for a shell
#[derive(Args)]
#[command(after_long_help = COMPLETIONS_EXAMPLES)]
pub(crate) struct CompletionsArgs {
    /// The shell for which the script is written
    shell: Shell,
}

/// Writes the manual pages
#[derive(Args)]
pub(crate) struct ManArgs {
    /// Directory for the manual pages of all commands; without a directory, the main page is
    /// written to standard output
    #[arg(value_hint = ValueHint::DirPath)]
    dir: Option<PathBuf>,
}

// The tests run every example line that begins with `flakeid`.
const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  flakeid completions bash > ~/.local/share/bash-completion/completions/flakeid
  flakeid completions zsh > ~/.zfunc/_flakeid
  flakeid completions fish > ~/.config/fish/completions/flakeid.fish
  flakeid completions powershell >> $PROFILE";

pub(crate) fn completions(args: &CompletionsArgs, mut command: Command) -> Outcome {
    // The script is generated in memory, because clap's generator would panic on a closed pipe.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "flakeid", &mut script);
    write(&script)
}

pub(crate) fn man(args: &ManArgs, command: Command) -> Outcome {
    if let Some(dir) = &args.dir {
        return write_pages(dir, command);
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    write(&page)
}

fn write(text: &[u8]) -> Outcome {
    let mut out = terminal::stream();
    out.write_all(text)?;
    out.flush()?;
    Ok(())
}

fn write_pages(dir: &Path, command: Command) -> Outcome {
    let doing = || format!("cannot write the manual to {}", dir.display());
    std::fs::create_dir_all(dir).map_err(|error| Failure::io(doing(), error))?;
    clap_mangen::generate_to(command, dir).map_err(|error| Failure::io(doing(), error))
}
