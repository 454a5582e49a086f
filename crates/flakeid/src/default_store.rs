use std::fs::DirBuilder;
use std::path::{Path, PathBuf};

use flakeid_core::{Error, ErrorKind};

/// The file in which root names the store of all programs of this host that name none.
#[doc(hidden)]
pub const HOST_FILE: &str = "/etc/flakeid/store";
/// The directory of root's embedded store.
const OF_ROOT: &str = "/var/lib/flakeid";
/// The largest size of the host file, in bytes. It contains one URL, and comments.
const LONGEST: u64 = 64 << 10;

/// Returns the URL of the store that programs use if they name none: the store that root has named for this host in
/// `/etc/flakeid/store`, or otherwise this user's embedded store.
///
/// Lines of `/etc/flakeid/store` that begin with `#` are comments. Only root may be able to write the file. If the file
/// exists but cannot be used, this function fails, because a program with another store could generate the same IDs.
///
/// The embedded store is a file: `/var/lib/flakeid/flakeid.db` for root, and for other users `flakeid/flakeid.db` in the
/// state directory (`$XDG_STATE_HOME` or `~/.local/state`; `~/Library/Application Support` on macOS). This function
/// creates the directory with access for this user only. The store serves this user alone: the programs of another user,
/// even root's, have a store of their own, and may generate the same IDs.
///
/// # Errors
/// [`InvalidOption`](ErrorKind::InvalidOption) if `/etc/flakeid/store` cannot be read, can be written by other users than
/// root, or does not contain one URL; without this file, inside a container (because a container's directories are
/// neither permanent nor shared), if there is no home directory, and on Windows. [`StoreRejected`](ErrorKind::StoreRejected) if the
/// directory of the embedded store cannot be created, or belongs to another user.
///
/// ```no_run
/// use flakeid::Layout;
///
/// let generator = flakeid::lease(&flakeid::default_store_url()?, Layout::TWITTER)?.open()?;
/// # Ok::<(), flakeid::Error>(())
/// ```
pub fn default_store_url() -> Result<String, Error> {
    if cfg!(not(unix)) {
        return Err(Error::invalid_option(
            "store",
            "a store in a file requires a Unix system. Give the URL of a server (postgresql://, \
             mysql://, redis://, etcd://, http://), or a fixed node",
        ));
    }
    #[cfg(unix)]
    if let Some(url) = host::url(Path::new(HOST_FILE), 0)? {
        return Ok(url);
    }
    embedded_url()
}

fn embedded_url() -> Result<String, Error> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if let Some(sign) = container(Path::new("/"), variable("KUBERNETES_SERVICE_HOST").is_some()) {
        return Err(Error::invalid_option(
            "store",
            &format!(
                "this process runs in a container ({sign}), whose files are neither permanent nor \
                 shared. Give a file on a volume (sqlite:///volume/flakeid.db), the URL of a server \
                 (postgresql://, mysql://, redis://, etcd://), or a fixed node"
            ),
        ));
    }
    let directory = if user() == 0 {
        OF_ROOT.into()
    } else {
        state(variable("XDG_STATE_HOME"), variable("HOME")).ok_or_else(|| {
            Error::invalid_option(
                "store",
                "neither XDG_STATE_HOME nor HOME contains a usable directory: give a path \
                 (sqlite:///path/flakeid.db)",
            )
        })?
    };
    make(&directory)?;
    Ok(url(&directory.join("flakeid.db")))
}

/// Returns the effective user of this process, or 0 in a build that cannot open files.
fn user() -> u32 {
    #[cfg(all(unix, feature = "sqlite"))]
    return rustix::process::geteuid().as_raw();
    #[cfg(not(all(unix, feature = "sqlite")))]
    0
}

#[cfg(unix)]
mod host {
    use std::fs::{File, Metadata};
    use std::io::{ErrorKind, Read};
    use std::os::unix::fs::MetadataExt;
    use std::path::Path;

    use flakeid_core::Error;

    use super::LONGEST;

    /// Returns the URL in the host file, or `None` if there is no such file. Only the owner may be able to write the file
    /// and its directory.
    pub(super) fn url(path: &Path, owner: u32) -> Result<Option<String>, Error> {
        let refuse = |reason: &str| {
            Error::invalid_option(
                "store",
                &format!(
                    "{} names the store of this host, but {reason}. Mend the file, or give this \
                     program a store of its own",
                    path.display()
                ),
            )
        };
        let unreadable = |error: std::io::Error| refuse(&format!("cannot be read: {error}"));
        let check = |found: &Metadata| {
            if found.uid() != owner {
                return Err(refuse(&format!(
                    "it or its directory belongs to user {}, not to root (chown root), or this \
                     process cannot see root's files, as in a container that maps users",
                    found.uid()
                )));
            }
            if found.mode() & 0o022 != 0 {
                return Err(refuse("other users than root can write it (chmod go-w)"));
            }
            Ok(())
        };
        let file = match File::open(path) {
            // A symbolic link to a missing file is not a missing file.
            Err(error)
                if error.kind() == ErrorKind::NotFound && path.symlink_metadata().is_err() =>
            {
                return Ok(None);
            }
            file => file.map_err(unreadable)?,
        };
        check(&file.metadata().map_err(unreadable)?)?;
        if let Some(directory) = path.parent() {
            check(&directory.metadata().map_err(unreadable)?)?;
        }
        let mut text = String::new();
        file.take(LONGEST).read_to_string(&mut text).map_err(unreadable)?;
        let mut lines =
            text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        match (lines.next(), lines.next()) {
            // In each working directory, a relative path leads to another store.
            (Some(url), None) if url.starts_with("sqlite://") && !url.starts_with("sqlite:///") => {
                Err(refuse("the path of its SQLite file is not absolute (sqlite:///path)"))
            }
            (Some(url), None) if (text.len() as u64) < LONGEST => Ok(Some(url.to_owned())),
            _ => Err(refuse("it does not contain exactly one line with a URL")),
        }
    }
}

/// Returns the evidence, if any, that this process is running inside a container.
fn container(root: &Path, kubernetes: bool) -> Option<&'static str> {
    if kubernetes {
        return Some("KUBERNETES_SERVICE_HOST is set");
    }
    let files =
        [(".dockerenv", "/.dockerenv exists"), ("run/.containerenv", "/run/.containerenv exists")];
    if let Some((_, sign)) = files.into_iter().find(|(file, _)| root.join(file).exists()) {
        return Some(sign);
    }
    // Only root can read the environment of process 1, but most containers run as root.
    let environment = std::fs::read(root.join("proc/1/environ")).unwrap_or_default();
    let is_container =
        environment.split(|byte| *byte == 0).any(|pair| pair.starts_with(b"container="));
    is_container.then_some("the environment of process 1 contains the variable `container`")
}

type Variable = Option<std::ffi::OsString>;

/// Returns the path of the directory `flakeid` in the user's state directory.
fn state(xdg: Variable, home: Variable) -> Option<PathBuf> {
    let xdg = xdg.map(PathBuf::from).filter(|path| path.is_absolute());
    let inside =
        if cfg!(target_os = "macos") { "Library/Application Support" } else { ".local/state" };
    let home = home.map(PathBuf::from).filter(|path| path.is_absolute());
    xdg.or_else(|| home.map(|home| home.join(inside))).map(|state| state.join("flakeid"))
}

/// Creates a directory with access for this user only. An existing directory must belong to this user, because others
/// could replace the store in theirs.
fn make(directory: &Path) -> Result<(), Error> {
    let reject = |reason: &str| {
        let text = format!("{} {reason}", directory.display());
        Error::new(ErrorKind::StoreRejected, &text, None)
    };
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory).map_err(|error| reject(&format!("cannot be created: {error}")))?;
    #[cfg(all(unix, feature = "sqlite"))]
    {
        use std::os::unix::fs::MetadataExt;
        let found = std::fs::metadata(directory)
            .map_err(|error| reject(&format!("cannot be read: {error}")))?;
        if found.uid() != user() {
            return Err(reject(&format!(
                "belongs to user {}, but this process runs as user {}: name a store, or let root name \
                 one for all users in {HOST_FILE}",
                found.uid(),
                user()
            )));
        }
    }
    Ok(())
}

/// Converts a path to a URL that `connect` can parse.
fn url(path: &Path) -> String {
    let mut url = String::from("sqlite://");
    for byte in path.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-~".contains(byte) {
            url.push(char::from(*byte));
        } else {
            url.push('%');
            url.extend([byte >> 4, byte & 15].map(hex));
        }
    }
    url
}

fn hex(digit: u8) -> char {
    char::from_digit(u32::from(digit), 16).unwrap_or('0').to_ascii_uppercase()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests only")]

    use std::path::Path;

    #[cfg(unix)]
    use super::state;
    use super::{container, url};
    #[cfg(all(unix, feature = "sqlite"))]
    use super::{host, make, user};

    #[test]
    fn each_indicator_of_a_container_is_detected() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(container(root.path(), false), None);
        assert!(container(root.path(), true).unwrap().contains("KUBERNETES"));
        std::fs::create_dir_all(root.path().join("proc/1")).unwrap();
        std::fs::write(root.path().join("proc/1/environ"), b"A=1\0container=lxc\0").unwrap();
        assert!(container(root.path(), false).unwrap().contains("process 1"));
        std::fs::create_dir(root.path().join("run")).unwrap();
        std::fs::write(root.path().join("run/.containerenv"), "").unwrap();
        assert!(container(root.path(), false).unwrap().contains("/run/.containerenv"));
        std::fs::write(root.path().join(".dockerenv"), "").unwrap();
        assert!(container(root.path(), false).unwrap().contains("/.dockerenv"));
    }

    #[cfg(all(unix, feature = "sqlite"))]
    #[test]
    fn embedded_store_is_in_a_directory_of_this_user_alone() {
        use std::os::unix::fs::MetadataExt;
        let root = tempfile::tempdir().unwrap();
        let own = root.path().join("a/b/flakeid");
        make(&own).unwrap();
        assert_eq!(own.metadata().unwrap().mode() & 0o777, 0o700);
        make(&own).unwrap();
        let file = root.path().join("file");
        std::fs::write(&file, "").unwrap();
        let failed = make(&file.join("x")).unwrap_err().to_string();
        assert!(failed.contains("cannot be created"), "{failed}");
        if user() != 0 {
            let failed = make(Path::new("/etc")).unwrap_err().to_string();
            assert!(failed.contains("belongs to user 0"), "{failed}");
        }
    }

    #[cfg(all(unix, feature = "sqlite"))]
    #[test]
    fn host_file_is_refused_unless_its_owner_alone_can_write_it() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("store");
        assert_eq!(host::url(&file, user()).unwrap(), None);
        let refused = |text: &str, mode, owner| {
            std::fs::write(&file, text).unwrap();
            std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
            host::url(&file, owner).map_err(|error| error.to_string())
        };
        let text = "# All programs of this host.\n\n  http+unix:///run/x \n";
        assert_eq!(refused(text, 0o644, user()), Ok(Some("http+unix:///run/x".into())));
        for (text, mode, owner, reason) in [
            (text, 0o664, user(), "can write it"),
            (text, 0o646, user(), "can write it"),
            (text, 0o644, user() + 1, "belongs to user"),
            ("sqlite://ids.db", 0o644, user(), "not absolute"),
            ("", 0o644, user(), "exactly one line"),
            ("http://a\nhttp://b\n", 0o644, user(), "exactly one line"),
        ] {
            let error = refused(text, mode, owner).unwrap_err();
            assert!(error.contains(reason) && error.contains("names the store"), "{error}");
        }
        std::fs::remove_file(&file).unwrap();
        std::os::unix::fs::symlink("missing", &file).unwrap();
        let error = host::url(&file, user()).unwrap_err().to_string();
        assert!(error.contains("cannot be read"), "{error}");
        std::fs::remove_file(&file).unwrap();
        std::fs::write(&file, "").unwrap();
        // A file that exists but cannot be read is never taken for a missing one.
        let error = host::url(&file.join("below"), user()).unwrap_err().to_string();
        assert!(error.contains("cannot be read"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn state_directory_prefers_the_xdg_variable_over_home() {
        let own = state(Some("/xdg".into()), Some("/home/u".into())).unwrap();
        assert_eq!(own, Path::new("/xdg/flakeid"));
        let own = state(Some("relative".into()), Some("/home/u".into())).unwrap();
        assert!(own.starts_with("/home/u") && own.ends_with("flakeid"), "{own:?}");
        assert_eq!(state(None, None), None);
    }

    #[test]
    fn path_is_percent_encoded_in_the_url() {
        assert_eq!(url(Path::new("/a b/ü%/x.db")), "sqlite:///a%20b/%C3%BC%25/x.db");
    }
}
