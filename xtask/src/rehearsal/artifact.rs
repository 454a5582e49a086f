//! The files of a release, and the folders and servers of their rehearsal.

use std::path::{Path, PathBuf};
use std::process::Child;

use flakeid_steps::{Failed, Outcome, Step, files, root};

/// The folder of the local registries and of the empty folders.
pub(super) const WORK: &str = "target/rehearsal";
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The platform of this machine's packages: the system on which releases for Linux are built.
pub(super) const PLATFORM: &str = "x86_64-unknown-linux-gnu";

/// A file of a release.
pub(super) struct Artifact {
    pub(super) path: PathBuf,
    /// Whether another build of the same commit must have the same bytes.
    pub(super) is_reproducible: bool,
}

impl Artifact {
    pub(super) fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), is_reproducible: false }
    }

    pub(super) fn reproducible(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), is_reproducible: true }
    }

    pub(super) fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

/// Empties a folder below [`WORK`], and returns it.
pub(super) fn empty_folder(name: &str) -> Result<String, Failed> {
    let folder = format!("{WORK}/{name}");
    files::empty(&folder)?;
    Ok(folder)
}

/// Returns the absolute path of a file below the root.
pub(super) fn absolute(path: impl AsRef<Path>) -> Result<String, Failed> {
    files::shown(&root().join(path))
}

/// Returns a file's SHA-256 in hexadecimal digits.
pub(super) fn sum(path: &Path) -> Result<String, Failed> {
    let printed = Step::new("sha256sum", &[&absolute(path)?]).output()?;
    Ok(printed.split_whitespace().next().unwrap_or_default().to_owned())
}

/// Ends a server that the rehearsal has started.
pub(super) fn stop(mut server: Child) -> Outcome {
    let ended = server.kill().and_then(|()| server.wait());
    ended.map(drop).map_err(|error| Failed(format!("stopping a server: {error}")))
}
