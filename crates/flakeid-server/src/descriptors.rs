//! The limit on open files, which bounds the number of connections.

use std::io;

/// The number of file descriptors reserved for the store, for the process's own files and for reloads.
#[cfg(unix)]
const RESERVED: u64 = 128;

/// Raises the process's soft limit on open files as far as necessary for `wanted` connections. Returns the number of
/// connections that the limit permits. Some descriptors are reserved, because a server whose connections use all
/// descriptors could not reconnect to its store.
///
/// # Errors
/// An I/O error if the limit leaves no file descriptor for a connection.
#[cfg(unix)]
pub(crate) fn most_connections(wanted: usize) -> io::Result<usize> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let needed = wanted as u64 + RESERVED;
    let limits = getrlimit(Resource::Nofile);
    let Some(current) = limits.current else { return Ok(wanted) };
    if current >= needed {
        return Ok(wanted);
    }
    let raised = limits.maximum.map_or(needed, |maximum| needed.min(maximum));
    let limits = Rlimit { current: Some(raised), ..limits };
    let current = setrlimit(Resource::Nofile, limits).map_or(current, |()| raised);
    let left = current.saturating_sub(RESERVED);
    if left == 0 {
        return Err(io::Error::other(format!(
            "the process may open only {current} files, but the server needs more than {RESERVED}: raise the limit \
             with `ulimit -n`, or with LimitNOFILE in systemd"
        )));
    }
    Ok(wanted.min(left as usize))
}

#[cfg(not(unix))]
pub(crate) const fn most_connections(wanted: usize) -> io::Result<usize> {
    Ok(wanted)
}
