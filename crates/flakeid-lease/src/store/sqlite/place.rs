use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::names;
use crate::store::Fault;

/// The files of a store.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// In a directory without symbolic links.
    pub(super) file: PathBuf,
    /// Holds the lock and the serial number.
    pub(super) serial: PathBuf,
    /// Whether the store is made if it is not there.
    pub(super) creates: bool,
}

impl Place {
    /// The place that a URL names.
    pub(super) fn parse(url: &str, creates: bool) -> Result<Self, Fault> {
        let path = url.split_once("://").map_or("", |(_, path)| path);
        if path.is_empty() || path.ends_with('/') {
            return Err(rejected("sqlite:// needs a file: sqlite:///var/lib/flakeid/flakeid.db"));
        }
        if path.contains(['?', '#']) {
            return Err(rejected(
                "sqlite:// has no options: write ? as %3F and # as %23 if they are in the path",
            ));
        }
        let path = PathBuf::from(decoded(path)?);
        let (Some(name), Some(parent)) = (path.file_name(), path.parent()) else {
            return Err(rejected(&format!("{} names no file", path.display())));
        };
        let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        let directory = parent.canonicalize().map_err(|error| {
            rejected(&format!("the directory {} cannot be used: {error}", parent.display()))
        })?;
        let file = directory.join(name);
        let mut serial = name.to_os_string();
        serial.push("-serial");
        Ok(Self { serial: directory.join(serial), file, creates })
    }

    /// Checks the directory and the file, as far as they are there.
    pub(super) fn check(&self) -> Result<(), Fault> {
        let directory = self.file.parent().unwrap_or(Path::new("/"));
        super::volume::check(directory)?;
        let found = fs::metadata(directory).map_err(|error| failed(directory, &error))?;
        if !found.is_dir() {
            return Err(rejected(&format!("{} is no directory", directory.display())));
        }
        // Who can rename files there can put another store in its place.
        if found.mode() & 0o1002 == 0o002 {
            return Err(rejected(&format!(
                "everybody can write in {}: use a directory of your own, or `chmod o-w` it",
                directory.display()
            )));
        }
        self.check_file(&self.file)?;
        self.check_file(&self.serial)?;
        self.check_presence()
    }

    /// That the store is there, unless it may be made. An empty file is none: `SQLite` would begin
    /// one in it.
    pub(super) fn check_presence(&self) -> Result<(), Fault> {
        let is_there = || fs::metadata(&self.file).is_ok_and(|file| file.len() > 0);
        if self.creates || is_there() { Ok(()) } else { Err(self.missing()) }
    }

    pub(super) fn missing(&self) -> Fault {
        rejected(&format!(
            "{} is no store of leases yet: check the path, or make it one with `flakeid leases \
             init`",
            self.file.display()
        ))
    }

    fn check_file(&self, path: &Path) -> Result<(), Fault> {
        match fs::symlink_metadata(path) {
            Ok(found) => check_found(path, &found),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            Err(error) => Err(failed(&self.file, &error)),
        }
    }

    /// Opens one of the files. If it is not there and may be made, it is: for its user only.
    pub(super) fn open(path: &Path, creates: bool) -> Result<(File, Metadata), Fault> {
        let opened = OpenOptions::new()
            .read(true)
            .write(true)
            .create(creates)
            .truncate(false)
            .mode(0o600)
            // Not a link, and a pipe is not waited for.
            .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
            .open(path);
        let file = opened.map_err(|error| failed(path, &error))?;
        let found = file.metadata().map_err(|error| failed(path, &error))?;
        check_found(path, &found)?;
        Ok((file, found))
    }
}

fn check_found(path: &Path, found: &Metadata) -> Result<(), Fault> {
    let shown = path.display();
    if found.is_symlink() {
        return Err(rejected(&format!("{shown} is a symbolic link: give the file itself")));
    }
    if !found.is_file() {
        return Err(rejected(&format!("{shown} is no regular file")));
    }
    let user = rustix::process::geteuid();
    if !user.is_root() && found.uid() != user.as_raw() && found.uid() != 0 {
        return Err(rejected(&format!(
            "{shown} belongs to user {}, this is user {}: use a file of your own",
            found.uid(),
            user.as_raw()
        )));
    }
    if found.mode() & 0o002 != 0 {
        return Err(rejected(&format!("everybody can write {shown}: `chmod o-w` it")));
    }
    names::check(path, found)
}

/// An error of the system about a file. A full disk or a failing one may work later; a missing
/// permission will not.
pub(super) fn failed(path: &Path, error: &std::io::Error) -> Fault {
    use std::io::ErrorKind as Kind;
    let text = format!("{}: {error}", path.display());
    match error.kind() {
        Kind::PermissionDenied | Kind::ReadOnlyFilesystem => unwritable(&text),
        Kind::NotFound
        | Kind::NotADirectory
        | Kind::IsADirectory
        | Kind::InvalidInput
        | Kind::InvalidFilename => Fault::Rejected(text),
        _ => match error.raw_os_error() {
            Some(libc::ELOOP) => {
                rejected(&format!("{} is a symbolic link: give the file itself", path.display()))
            }
            Some(libc::ENXIO) => rejected(&format!("{} is no regular file", path.display())),
            _ => Fault::Unavailable(text),
        },
    }
}

/// What is to be done where a permission is missing.
pub(super) fn unwritable(text: &str) -> Fault {
    Fault::Rejected(format!(
        "{text}: this user must be able to write the store's files and in their directory"
    ))
}

pub(super) fn rejected(text: &str) -> Fault {
    Fault::Rejected(text.into())
}

/// The path behind `%20` and the like.
fn decoded(path: &str) -> Result<OsString, Fault> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        rest = after;
        if first != b'%' {
            bytes.push(first);
            continue;
        }
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let digits = digits.filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
        match digits.map(|digits| u8::from_str_radix(digits, 16)) {
            Some(Ok(byte)) if byte != 0 => bytes.push(byte),
            _ => {
                return Err(rejected(
                    "sqlite:// has a % that two hexadecimal digits (not 00) do not follow: write \
                     % as %25",
                ));
            }
        }
        rest = &after[2..];
    }
    Ok(OsString::from_vec(bytes))
}
