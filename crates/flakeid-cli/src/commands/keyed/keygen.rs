//! `flakeid keygen`: generates a new key for public IDs.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use flakeid_core::Error;

use super::keyring;
use crate::failure::{Failure, Outcome};
use crate::terminal;

/// Generates a key for public IDs: a letter and 128 random bits
///
/// `flakeid seal` encrypts IDs with the last key in the key file. Each public ID contains the
/// letter of its key, by which `flakeid open` finds the key. With --key-file, the command appends
/// the new key to the file with the next letter, and `flakeid seal` uses the new key from then on.
/// Public IDs that were sealed with an older key can be opened as long as the file contains that
/// key.
///
/// If several servers seal IDs, add a key in two steps. First, insert the new key's line before the
/// other keys, and wait until all servers use the new file. All servers can then open public IDs
/// that are sealed with the new key. Next, move the line to the end of the file, so that the
/// servers seal with the new key.
///
/// In a pipe, the output is the new key or, with --key-file, the letter of the new key.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct KeygenArgs {
    /// Append the key to this file; a missing file is created, readable only by its owner
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
}

// The tests run every example line that begins with `flakeid`.
const EXAMPLES: &str = "\
Examples:
  flakeid keygen
  flakeid keygen --key-file public.keys";

pub(crate) fn run(args: &KeygenArgs) -> Outcome {
    let mut bits = [0; 16];
    getrandom::fill(&mut bits).map_err(|error| {
        Failure::io("the operating system returned no random bits", error.into())
    })?;
    let digits = format!("{:032x}", u128::from_be_bytes(bits));
    let Some(path) = &args.key_file else {
        let mut out = terminal::stream();
        writeln!(out, "a {digits}")?;
        return Ok(out.flush()?);
    };
    let letter = next_letter(path)?;
    append(path, &format!("{letter} {digits}\n"))
        .map_err(|error| Failure::io(format!("cannot write {}", path.display()), error))?;
    if terminal::is_terminal() {
        let path = path.display();
        return Ok(terminal::show(&format!(
            "{path} has a new key, {letter}, which `flakeid seal` uses from now on\n"
        ))?);
    }
    let mut out = terminal::stream();
    writeln!(out, "{letter}")?;
    Ok(out.flush()?)
}

fn next_letter(path: &Path) -> Result<char, Failure> {
    // An empty file is not a valid keyring, but a first key can be appended to the file.
    if std::fs::metadata(path).is_ok_and(|file| file.len() == 0) {
        return Ok('a');
    }
    let Some(keyring) = keyring::read(path)? else { return Ok('a') };
    let free = ('a'..='z').find(|letter| keyring.letters().all(|taken| taken < *letter));
    free.ok_or_else(|| {
        let reason = "all letters up to z are in use: remove keys whose public IDs are no longer used, \
                      and reuse the first letters only if no public ID begins with them";
        Error::invalid_option("--key-file", reason).into()
    })
}

/// Appends a line to the file. If the file does not end with a line break, adds a line break first.
fn append(path: &Path, line: &str) -> std::io::Result<()> {
    let ends = std::fs::read(path).map_or(true, |text| text.is_empty() || text.ends_with(b"\n"));
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    let separator = if ends { "" } else { "\n" };
    file.write_all(format!("{separator}{line}").as_bytes())?;
    file.sync_all()
}
