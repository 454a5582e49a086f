//! The folders with the files of servers.

use tempfile::TempDir;

/// The folder of a file system in memory.
const MEMORY: &str = "/dev/shm";

/// The number of free bytes in memory from which servers use it. A server of each kind needs less
/// than 0.2 GB.
const ENOUGH: u64 = 4 << 30;

/// Creates a folder for the files of a server. The folder is in memory unless `TMPDIR` is set or
/// memory is scarce, because copying a data folder and syncing its files take most of the time on a
/// disk. The tests kill servers, but cannot end the power supply, so the difference has no effect.
pub(crate) fn home() -> TempDir {
    let free = || rustix::fs::statvfs(MEMORY).map_or(0, |found| found.f_bavail * found.f_frsize);
    let is_in_memory = std::env::var_os("TMPDIR").is_none() && free() >= ENOUGH;
    let home = if is_in_memory { tempfile::tempdir_in(MEMORY) } else { tempfile::tempdir() };
    home.expect("a temporary directory")
}
