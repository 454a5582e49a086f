use std::fs::DirBuilder;
use std::path::{Path, PathBuf};

use flakeid_core::{Error, ErrorKind};

/// The directory of the store of root, or of the user to whom root gave it.
const HOST: &str = "/var/lib/flakeid";

/// Returns the URL of the embedded store: `/var/lib/flakeid/flakeid.db` if this user can write there, otherwise
/// `flakeid/flakeid.db` in the user's state directory (`$XDG_STATE_HOME` or `~/.local/state`; `~/Library/Application
/// Support` on macOS). Creates the directory with access for this user only. Either store serves this user alone: the
/// programs of another user have a store of their own, and may generate the same IDs. Programs of several users need
/// one broker (`flakeid serve`) or one server.
///
/// # Errors
/// [`InvalidOption`](ErrorKind::InvalidOption) inside a container (because a container's directories are neither
/// permanent nor shared), if there is no home directory, and on Windows; [`StoreRejected`](ErrorKind::StoreRejected)
/// if the directory cannot be created.
///
/// ```no_run
/// use flakeid::{Generator, Layout};
///
/// let generator = Generator::lease(&flakeid::embedded_url()?, Layout::TWITTER)?.open()?;
/// # Ok::<(), flakeid::Error>(())
/// ```
pub fn embedded_url() -> Result<String, Error> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    if cfg!(not(unix)) {
        return Err(Error::invalid_option(
            "store",
            "a store in a file requires a Unix system. Give the URL of a server (postgresql://, \
             mysql://, redis://, etcd://, http://), or a fixed node",
        ));
    }
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
    let state = state(variable("XDG_STATE_HOME"), variable("HOME"));
    let directory = directory(Path::new(HOST), state)?;
    Ok(url(&directory.join("flakeid.db")))
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
    let told = environment.split(|byte| *byte == 0).any(|pair| pair.starts_with(b"container="));
    told.then_some("the environment of process 1 contains the variable `container`")
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

fn directory(host: &Path, state: Option<PathBuf>) -> Result<PathBuf, Error> {
    if make(host).is_ok() && is_writable(host) {
        return Ok(host.into());
    }
    let Some(state) = state else {
        return Err(Error::invalid_option(
            "store",
            &format!(
                "{} cannot be written and neither XDG_STATE_HOME nor HOME contains a usable \
                 directory: give a path (sqlite:///path/flakeid.db)",
                host.display()
            ),
        ));
    };
    match make(&state) {
        Ok(()) => Ok(state),
        Err(error) => Err(Error::new(
            ErrorKind::StoreRejected,
            &format!("{} cannot be created: {error}", state.display()),
            None,
        )),
    }
}

fn make(directory: &Path) -> std::io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}

#[cfg(all(unix, feature = "sqlite"))]
fn is_writable(directory: &Path) -> bool {
    use rustix::fs::{Access, AtFlags, CWD, accessat};
    let access = Access::WRITE_OK | Access::EXEC_OK;
    accessat(CWD, directory, access, AtFlags::EACCESS).is_ok()
}

#[cfg(not(all(unix, feature = "sqlite")))]
fn is_writable(directory: &Path) -> bool {
    std::fs::metadata(directory).is_ok_and(|found| !found.permissions().readonly())
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
    use super::{container, directory, url};

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

    #[test]
    fn store_directory_falls_back_to_the_users_private_directory() {
        let root = tempfile::tempdir().unwrap();
        let host = root.path().join("host");
        assert_eq!(directory(&host, None).unwrap(), host);
        let file = root.path().join("file");
        std::fs::write(&file, "").unwrap();
        let own = root.path().join("a/b/flakeid");
        assert_eq!(directory(&file.join("below"), Some(own.clone())).unwrap(), own);
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            assert_eq!(own.metadata().unwrap().mode() & 0o777, 0o700);
        }
        let nowhere = directory(&file, None).unwrap_err().to_string();
        assert!(nowhere.contains("XDG_STATE_HOME"), "{nowhere}");
        let failed = directory(&file, Some(file.join("x"))).unwrap_err().to_string();
        assert!(failed.contains("cannot be created"), "{failed}");
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
