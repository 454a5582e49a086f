//! Servers that are not Debian packages. `cargo xtask servers` installs them in `target/servers`.

use std::net::{Ipv4Addr, TcpStream};
use std::path::{Path, PathBuf};

/// The access key and the secret key of the private servers with an interface of Amazon Web
/// Services.
pub(crate) const AWS_KEY: (&str, &str) = ("flakeid", "sesame-9c1f");

/// Returns the path of an installed file in `target/servers`.
///
/// # Panics
/// If the file does not exist; the message contains the command that installs it.
pub(crate) fn installed(file: &str) -> PathBuf {
    let path = folder().join(file);
    assert!(path.exists(), "{} does not exist: run `cargo xtask servers`", path.display());
    path
}

/// Returns the path of `target/servers`.
pub(crate) fn folder() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(target).join("servers")
}

/// Whether a server accepts connections on a port of this host.
pub(crate) fn responds(port: u16) -> bool {
    TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok()
}
