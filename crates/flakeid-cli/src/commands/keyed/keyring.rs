//! The key file, which contains the keys that seal and open public IDs.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use clap::Args;
use flakeid_core::{Error, Keyring};

use crate::args;
use crate::failure::Failure;

const KEY_FILE: &str = "FLAKEID_KEY_FILE";

#[derive(Args)]
pub(super) struct KeyFile {
    /// File that contains the keys for public IDs; `flakeid keygen --key-file FILE` creates the
    /// file
    #[arg(long, value_name = "FILE")]
    key_file: Option<PathBuf>,
}

impl KeyFile {
    pub(super) fn read(&self) -> Result<Keyring, Failure> {
        let named = self.key_file.clone();
        let path =
            named.or_else(|| args::variable(KEY_FILE).map(PathBuf::from)).ok_or_else(|| {
                let reason = "missing: give the file with the keys, or set FLAKEID_KEY_FILE; \
                          `flakeid keygen --key-file FILE` creates one";
                Error::invalid_option("--key-file", reason)
            })?;
        warn_if_readable(&path);
        read(&path)?.ok_or_else(|| {
            let missing = std::io::Error::from(ErrorKind::NotFound);
            Failure::io(format!("cannot read the key file {}", path.display()), missing)
        })
    }
}

/// Returns the keys in a file, or `None` if the file does not exist.
pub(super) fn read(path: &Path) -> Result<Option<Keyring>, Failure> {
    let place = format!("the key file {}", path.display());
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Failure::io(format!("cannot read {place}"), error)),
    };
    let keyring =
        text.parse().map_err(|error| Failure::hinted(error, format!("the error is in {place}")))?;
    Ok(Some(keyring))
}

#[cfg(unix)]
fn warn_if_readable(path: &Path) {
    use std::os::unix::fs::PermissionsExt;

    use crate::terminal;

    let mode = fs::metadata(path).map_or(0, |file| file.permissions().mode());
    if mode & 0o007 != 0 {
        terminal::warning(&format!(
            "all users of this host can read the keys in {0}: run `chmod o= {0}`",
            path.display()
        ));
    }
}

#[cfg(not(unix))]
fn warn_if_readable(_: &Path) {}
