//! The files of a store: their paths, and checks of their permissions.

use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::fault::{io_fault, not_regular, reject, symbolic_link};
use super::{filesystem, links};
use flakeid_protocol::store::Fault;
use flakeid_protocol::url::percent_decode;

/// The files of a store.
#[derive(Clone, Debug)]
pub(super) struct StoreFiles {
    /// The path of the database file. Symbolic links in the path of the directory are resolved.
    pub(super) file: PathBuf,
    /// The path of the file that holds the lock and the serial number.
    pub(super) serial: PathBuf,
    /// Whether the store is created if it does not exist.
    pub(super) creates: bool,
}

impl StoreFiles {
    /// Parses a URL and returns the paths of the store's files.
    pub(super) fn parse(url: &str, creates: bool) -> Result<Self, Fault> {
        let path = url.split_once("://").map_or("", |(_, path)| path);
        if path.is_empty() || path.ends_with('/') {
            return Err(reject("sqlite:// needs a file: sqlite:///var/lib/flakeid/flakeid.db"));
        }
        if path.contains(['?', '#']) {
            return Err(reject(
                "a sqlite:// URL cannot contain options: write ? as %3F and # as %23 in the path",
            ));
        }
        let decoded = percent_decode(path).filter(|bytes| !bytes.contains(&0)).ok_or_else(|| {
            reject(
                "sqlite:// has a % that is not followed by two hexadecimal digits (other than 00): \
                 write % as %25",
            )
        })?;
        let path = PathBuf::from(OsString::from_vec(decoded));
        let (Some(name), Some(parent)) = (path.file_name(), path.parent()) else {
            return Err(reject(&format!("{} does not name a file", path.display())));
        };
        let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        let directory = parent.canonicalize().map_err(|error| {
            reject(&format!("the directory {} cannot be used: {error}", parent.display()))
        })?;
        let file = directory.join(name);
        let mut serial = name.to_os_string();
        serial.push("-serial");
        Ok(Self { serial: directory.join(serial), file, creates })
    }

    /// Checks the directory and the store's existing files.
    pub(super) fn check(&self) -> Result<(), Fault> {
        let directory = self.file.parent().unwrap_or(Path::new("/"));
        filesystem::check(directory)?;
        let found = fs::metadata(directory).map_err(|error| io_fault(directory, &error))?;
        if !found.is_dir() {
            return Err(reject(&format!("{} is not a directory", directory.display())));
        }
        // A user who can rename files in the directory could replace the store with another store.
        if found.mode() & 0o1002 == 0o002 {
            return Err(reject(&format!(
                "all users can write to the directory {0}: use a private directory, or run `chmod o-w {0}`",
                directory.display()
            )));
        }
        self.check_file(&self.file)?;
        self.check_file(&self.serial)?;
        self.check_presence()
    }

    /// Checks that the store exists, unless the store may be created. An empty file does not count as a store, although
    /// `SQLite` would create a database in it.
    pub(super) fn check_presence(&self) -> Result<(), Fault> {
        let is_there = || fs::metadata(&self.file).is_ok_and(|file| file.len() > 0);
        if self.creates || is_there() { Ok(()) } else { Err(self.missing_store()) }
    }

    pub(super) fn missing_store(&self) -> Fault {
        reject(&format!(
            "{} is not a store of leases yet: check the path, or create the store with `flakeid \
             leases init`",
            self.file.display()
        ))
    }

    fn check_file(&self, path: &Path) -> Result<(), Fault> {
        match fs::symlink_metadata(path) {
            Ok(found) => check_metadata(path, &found),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(io_fault(&self.file, &error)),
        }
    }

    /// Opens a file of the store. If the file does not exist and `creates` is set, creates the file with permissions
    /// for its owner only.
    pub(super) fn open(path: &Path, creates: bool) -> Result<(File, Metadata), Fault> {
        let opened = OpenOptions::new()
            .read(true)
            .write(true)
            .create(creates)
            .truncate(false)
            .mode(0o600)
            // `open` must not follow a symbolic link, and must not wait until the other end of a named pipe is opened.
            .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
            .open(path);
        let file = opened.map_err(|error| io_fault(path, &error))?;
        let found = file.metadata().map_err(|error| io_fault(path, &error))?;
        check_metadata(path, &found)?;
        Ok((file, found))
    }
}

fn check_metadata(path: &Path, found: &Metadata) -> Result<(), Fault> {
    let shown = path.display();
    if found.is_symlink() {
        return Err(symbolic_link(path));
    }
    if !found.is_file() {
        return Err(not_regular(path));
    }
    let user = rustix::process::geteuid();
    if !user.is_root() && found.uid() != user.as_raw() && found.uid() != 0 {
        return Err(reject(&format!(
            "{shown} belongs to user {}, but this process runs as user {}: use a file that you own",
            found.uid(),
            user.as_raw()
        )));
    }
    if found.mode() & 0o002 != 0 {
        return Err(reject(&format!("all users can write to {shown}: run `chmod o-w` on it")));
    }
    links::check(path, found)
}
