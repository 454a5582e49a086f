//! A store's files must have one name each: no hard links, no mounts of single files.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::fault::reject;
use flakeid_protocol::store::Fault;

/// Refuses a file that may have another name, as a hard link or because it was mounted by itself:
/// `SQLite`'s log and the store's lock are found by the name, so that each name would be a store of
/// its own, with the same nodes.
pub(super) fn check(path: &Path, found: &Metadata) -> Result<(), Fault> {
    let shown = path.display();
    let names = found.nlink();
    if names > 1 {
        return Err(reject(&format!(
            "{shown} has {names} names (hard links), and each would have a lock and a log of its \
             own: remove all but the one that has a -wal beside it (`find / -xdev -samefile {shown}` \
             shows them)"
        )));
    }
    if is_mount_point(path, found) {
        return Err(reject(&format!(
            "{shown} is a mount point: mounted by itself the file has a lock and a log of its own \
             in each place; mount the directory that it is in (`docker run --volume` with \
             directories, no `subPath` of a file)"
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
        // Linux before 5.8, or a sandbox without statx. (It has reported the number of the mount only
        // since the same version, so that is of no use here.)
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

    /// By what `/proc` says; `None` where it says nothing.
    pub(super) fn is_on_another_mount(file: &Path, directory: &Path) -> Option<bool> {
        Some(mount_of(file)? != mount_of(directory)?)
    }

    fn mount_of(path: &Path) -> Option<u64> {
        // Only a handle: closing it does not let go of the locks of this process on the file.
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
        fn mounts_are_told_apart_without_statx() {
            let file = tempfile::NamedTempFile::new().unwrap();
            let directory = file.path().parent().unwrap();
            assert_eq!(is_on_another_mount(file.path(), directory), Some(false));
            assert_eq!(is_on_another_mount(file.path(), Path::new("/proc")), Some(true));
            assert_eq!(is_on_another_mount(&directory.join("nothing"), directory), None);
        }

        #[test]
        fn mount_ids_are_read() {
            assert_eq!(mount_id("pos:\t0\nflags:\t012000000\nmnt_id:\t29\nino:\t7\n"), Some(29));
            // Linux before 3.15.
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
    fn files_in_their_directory_are_no_mount_points() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let found = fs::metadata(file.path()).unwrap();
        assert!(!is_mount_point(file.path(), &found));
        assert!(!is_on_another_device(file.path(), &found));
        let elsewhere = fs::metadata("/dev").unwrap();
        assert!(is_on_another_device(file.path(), &elsewhere));
    }
}
