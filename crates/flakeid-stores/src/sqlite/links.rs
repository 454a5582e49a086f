//! The check that each file of a store has only one name. A file that has several hard links, or that is itself a mount
//! point, is refused.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::fault::reject;
use flakeid_protocol::store::Fault;

/// Refuses a file that has several hard links or is itself a mount point, because the file may then have a second name.
/// `SQLite`'s log and the store's lock are found by the file's name, so each name would act as a separate store with
/// the same nodes.
pub(super) fn check(path: &Path, found: &Metadata) -> Result<(), Fault> {
    let shown = path.display();
    let names = found.nlink();
    if names > 1 {
        return Err(reject(&format!(
            "{shown} has {names} names (hard links), and each name would have a separate lock and log: \
             remove all names except the one with a -wal file next to it (`find / -xdev -samefile \
             {shown}` lists them)"
        )));
    }
    if is_mount_point(path, found) {
        return Err(reject(&format!(
            "{shown} is a mount point, and a file that is mounted alone has a separate lock and log in \
             each place: mount the directory instead (`docker run --volume` with directories, no \
             `subPath` of a file)"
        )));
    }
    Ok(())
}

#[cfg(target_os = "linux")]
fn is_mount_point(path: &Path, found: &Metadata) -> bool {
    use rustix::fs::{AtFlags, CWD, StatxAttributes, StatxFlags, statx};

    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
    match statx(CWD, path, flags, StatxFlags::empty()) {
        Ok(found) if found.stx_attributes_mask.contains(StatxAttributes::MOUNT_ROOT) => {
            found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT)
        }
        // Linux before 5.8, and sandboxes without statx, do not report whether a file is a mount point. On these
        // systems, statx does not report the mount ID either, so the ID is read from /proc.
        _ => linux::is_on_another_mount(path, directory_of(path))
            .unwrap_or_else(|| is_on_another_device(path, found)),
    }
}

#[cfg(not(target_os = "linux"))]
fn is_mount_point(path: &Path, found: &Metadata) -> bool {
    is_on_another_device(path, found)
}

fn directory_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new("/"))
}

fn is_on_another_device(path: &Path, found: &Metadata) -> bool {
    fs::metadata(directory_of(path)).is_ok_and(|directory| directory.dev() != found.dev())
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs::OpenOptions;
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::OpenOptionsExt;
    use std::path::Path;

    /// Whether a file and a directory are on different mounts, according to the mount IDs in `/proc`; `None` if an ID
    /// cannot be read.
    pub(super) fn is_on_another_mount(file: &Path, directory: &Path) -> Option<bool> {
        Some(mount_of(file)? != mount_of(directory)?)
    }

    fn mount_of(path: &Path) -> Option<u64> {
        // An O_PATH handle does not open the file itself, so closing the handle does not release this process's locks
        // on the file.
        let flags = libc::O_PATH | libc::O_NOFOLLOW;
        let handle = OpenOptions::new().read(true).custom_flags(flags).open(path).ok()?;
        let fdinfo = format!("/proc/self/fdinfo/{}", handle.as_raw_fd());
        mount_id(&std::fs::read_to_string(fdinfo).ok()?)
    }

    fn mount_id(fdinfo: &str) -> Option<u64> {
        fdinfo.lines().find_map(|line| line.strip_prefix("mnt_id:"))?.trim().parse().ok()
    }

    #[cfg(test)]
    mod tests {
        #![allow(clippy::unwrap_used, reason = "tests only")]

        use std::path::Path;

        use super::{is_on_another_mount, mount_id};

        #[test]
        fn different_mounts_are_detected_without_statx() {
            let file = tempfile::NamedTempFile::new().unwrap();
            let directory = file.path().parent().unwrap();
            assert_eq!(is_on_another_mount(file.path(), directory), Some(false));
            assert_eq!(is_on_another_mount(file.path(), Path::new("/proc")), Some(true));
            assert_eq!(is_on_another_mount(&directory.join("nothing"), directory), None);
        }

        #[test]
        fn mount_id_is_parsed_from_fdinfo() {
            assert_eq!(mount_id("pos:\t0\nflags:\t012000000\nmnt_id:\t29\nino:\t7\n"), Some(29));
            // Linux before 3.15 does not report the mount ID in fdinfo.
            assert_eq!(mount_id("pos:\t0\nflags:\t012000000\n"), None);
            assert_eq!(mount_id("mnt_id:\tnone\n"), None);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests only")]

    use super::{fs, is_mount_point, is_on_another_device};

    #[test]
    fn ordinary_files_are_not_reported_as_mount_points() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let found = fs::metadata(file.path()).unwrap();
        assert!(!is_mount_point(file.path(), &found));
        assert!(!is_on_another_device(file.path(), &found));
        let elsewhere = fs::metadata("/dev").unwrap();
        assert!(is_on_another_device(file.path(), &elsewhere));
    }
}
