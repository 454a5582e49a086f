//! Reads files that contain secrets.

use std::fmt;
use std::path::Path;

use flakeid_core::Error;

/// Reads a file that contains secrets. Refuses a file that every user of the host can change, because any of these
/// users could then gain access to the server.
pub(crate) fn read_secret(option: &'static str, path: &Path) -> Result<Vec<u8>, Error> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let metadata = std::fs::metadata(path).map_err(|error| unusable(option, path, &error))?;
        let mode = metadata.permissions().mode();
        if mode & 0o002 != 0 {
            let reason = format!(
                "every user of this host can change the file (mode {:03o}); run `chmod o-w` on it",
                mode & 0o777
            );
            return Err(unusable(option, path, &reason));
        }
    }
    std::fs::read(path).map_err(|error| unusable(option, path, &error))
}

pub(crate) fn unusable(option: &'static str, path: &Path, error: &dyn fmt::Display) -> Error {
    Error::invalid_option(option, &format!("{} cannot be used: {error}", path.display()))
}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::read_secret;

    #[test]
    fn world_writable_secret_files_are_refused() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "secret").unwrap();
        let read = |mode| {
            std::fs::set_permissions(file.path(), PermissionsExt::from_mode(mode)).unwrap();
            read_secret("token-file", file.path())
        };
        assert_eq!(read(0o640).unwrap(), b"secret");
        let error = read(0o646).unwrap_err().to_string();
        assert!(error.contains("token-file") && error.contains("chmod"), "{error}");
    }
}
