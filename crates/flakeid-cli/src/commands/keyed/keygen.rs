//! `flakeid keygen`: a new key for public IDs.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use flakeid_core::Error;

use super::keyring;
use crate::failure::{Failure, Outcome};
use crate::terminal;

/// Makes a key for public IDs: a letter and 128 random bits
///
/// `seal` encrypts IDs with the last key of a file and writes its letter in front; `open` finds the key
/// by that letter. With --key-file the new key is added to the file, with the next letter, and is
/// current from then on. Public IDs that were made with an older key still open as long as it is there.
///
/// With several servers, add a key in two steps: put its line first until all of them have the file,
/// so that they can open, and then last, so that they seal with it.
///
/// In a pipe the output is the key or, with --key-file, its letter.
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct KeygenArgs {
    /// Add the key to this file, which is created for its owner alone if there is none
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
}

// Every line of this that begins with `flakeid` is run by the tests.
const EXAMPLES: &str = "\
Examples:
  flakeid keygen
  flakeid keygen --key-file public.keys";

pub(crate) fn run(args: &KeygenArgs) -> Outcome {
    let mut bits = [0; 16];
    getrandom::fill(&mut bits)
        .map_err(|error| Failure::io("the system gives no random bits", error.into()))?;
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
        return Ok(terminal::show(&format!("{path} has a new key, {letter}, which is current\n"))?);
    }
    let mut out = terminal::stream();
    writeln!(out, "{letter}")?;
    Ok(out.flush()?)
}

fn next_letter(path: &Path) -> Result<char, Failure> {
    // Somebody has made the file, but nothing is in it yet.
    if std::fs::metadata(path).is_ok_and(|file| file.len() == 0) {
        return Ok('a');
    }
    let Some(keyring) = keyring::read(path)? else { return Ok('a') };
    let free = ('a'..='z').find(|letter| keyring.letters().all(|taken| taken < *letter));
    free.ok_or_else(|| {
        let reason = "all letters up to z are taken: remove keys whose public IDs nobody uses any more, \
                      and give the others the first letters only if no public ID has those";
        Error::invalid_option("--key-file", reason).into()
    })
}

/// The file ends with a line break before and after.
fn append(path: &Path, line: &str) -> std::io::Result<()> {
    let ends = std::fs::read(path).map_or(true, |text| text.is_empty() || text.ends_with(b"\n"));
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    let gap = if ends { "" } else { "\n" };
    file.write_all(format!("{gap}{line}").as_bytes())?;
    file.sync_all()
}
