//! The check that a store is on a supported file system.

use std::path::Path;

use super::fault::{io_fault, reject};
use flakeid_protocol::store::Fault;

/// Refuses directories that other hosts may share. File locks in shared directories are unreliable, and the hosts'
/// clocks differ. FUSE is always refused, because a FUSE file system may be a network file system, such as sshfs.
pub(super) fn check(directory: &Path) -> Result<(), Fault> {
    let found = rustix::fs::statfs(directory)
        .map_err(|error| io_fault(directory, &std::io::Error::from(error)))?;
    match name(&found) {
        None => Ok(()),
        Some(kind) => Err(reject(&format!(
            "{} is on {kind}, which other hosts may share: put the file on a local disk, or use a \
             server (postgresql://, mysql://, redis://, etcd://)",
            directory.display()
        ))),
    }
}

#[cfg(target_os = "linux")]
fn name(found: &rustix::fs::StatFs) -> Option<&'static str> {
    shared(found.f_type as u32)
}

/// Returns the name of the file system with the given magic number if several machines can share that file system;
/// otherwise returns `None`.
#[cfg(target_os = "linux")]
fn shared(kind: u32) -> Option<&'static str> {
    // The magic numbers are from linux/magic.h and from the source code of the file systems.
    const SHARED: [(u32, &str); 23] = [
        (0x6969, "NFS"),
        (0x517b, "SMB"),
        (0xff53_4d42, "CIFS"),
        (0xfe53_4d42, "SMB"),
        (0x5346_414f, "AFS"),
        (0x6b41_4653, "AFS"),
        (0x7375_7245, "Coda"),
        (0x564c, "NCP"),
        (0x0102_1997, "9p"),
        (0x00c3_6400, "Ceph"),
        (0x0116_1970, "GFS2"),
        (0x7461_636f, "OCFS2"),
        (0x0bd0_0bd0, "Lustre"),
        (0x4750_4653, "GPFS"),
        (0x1983_0326, "BeeGFS"),
        (0xaad7_aaea, "PanFS"),
        (0x2003_0528, "OrangeFS"),
        (0x1803_1977, "WekaFS"),
        (0xbeef_dead, "StorNext"),
        (0xbacb_acbc, "a VMware share"),
        (0x7c7c_6673, "a Parallels share"),
        (0x786f_4256, "a VirtualBox share"),
        (0x6573_5546, "FUSE or virtiofs"),
    ];
    SHARED.into_iter().find(|(magic, _)| *magic == kind).map(|(_, name)| name)
}

#[cfg(not(target_os = "linux"))]
fn name(found: &rustix::fs::StatFs) -> Option<&'static str> {
    let local = found.f_flags as u32 & libc::MNT_LOCAL as u32 != 0;
    (!local).then_some("a network file system")
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #[test]
    fn only_network_file_systems_count_as_shared() {
        for (magic, expected) in [
            (0x6969, Some("NFS")),
            (0xff53_4d42, Some("CIFS")),
            (0x6573_5546, Some("FUSE or virtiofs")),
            (0x4750_4653, Some("GPFS")),
            (0x1983_0326, Some("BeeGFS")),
            (0xaad7_aaea, Some("PanFS")),
            (0x2003_0528, Some("OrangeFS")),
            (0xbacb_acbc, Some("a VMware share")),
            // These magic numbers belong to ext4, btrfs, tmpfs and overlayfs, which are local file systems.
            (0xef53, None),
            (0x9123_683e, None),
            (0x0102_1994, None),
            (0x794c_7630, None),
        ] {
            assert_eq!(super::shared(magic), expected, "{magic:x}");
        }
    }
}
