//! Tests of machines without a machine ID, such as many containers, which are identified by their boot ID.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::lessee::{self, Answer, check_apart};
use crate::mounts;
use crate::store_under_test::Sqlite;

/// One boot of a host on which containers have no `/etc/machine-id`.
struct Boot {
    files: TempDir,
}

impl Boot {
    fn new(id: &str) -> Self {
        let files = tempfile::tempdir().unwrap();
        fs::write(files.path().join("boot_id"), format!("{id}\n")).unwrap();
        fs::write(files.path().join("machine-id"), "").unwrap();
        Self { files }
    }

    /// Leases a node in a container.
    fn lease(&self, store: &Sqlite) -> Answer {
        let [boot, machine] = ["boot_id", "machine-id"].map(|name| self.files.path().join(name));
        let mut over: Vec<(&Path, &Path)> =
            vec![(&boot, Path::new("/proc/sys/kernel/random/boot_id"))];
        for path in ["/etc/machine-id", "/var/lib/dbus/machine-id"].map(Path::new) {
            if path.exists() {
                over.push((&machine, path));
            }
        }
        lessee::answer(&mounts::run(&over, &lessee::of(&store.file())))
    }
}

fn monday() -> Boot {
    Boot::new("11111111-1111-4111-8111-111111111111")
}

fn tuesday() -> Boot {
    Boot::new("22222222-2222-4222-8222-222222222222")
}

fn files(store: &Sqlite) -> Vec<(PathBuf, Vec<u8>)> {
    let paths = ["", "-wal", "-serial"].map(|suffix| store.beside(suffix));
    paths.into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

#[test]
fn containers_of_one_boot_lease_distinct_nodes() {
    let store = Sqlite::new();
    let boot = monday();
    let answers = [boot.lease(&store), boot.lease(&store), monday().lease(&store)];
    assert_eq!(answers.map(|answer| answer.node()), [0, 1, 2]);
}

/// Checks that a reboot counts as a restore. An operator need not adopt the store, because a file of another machine
/// would be in use there.
#[test]
fn reboot_of_a_host_counts_as_a_restore() {
    let store = Sqlite::new();
    monday().lease(&store).node();
    let answer = tuesday().lease(&store);
    assert!(answer.refusal().contains("Restored"), "{answer:?}");
    // The store belongs to the new boot from now on.
    let answer = tuesday().lease(&store);
    assert!(answer.refusal().contains("Restored"), "{answer:?}");
}

/// Checks two hosts that start from one disk image that contains a store.
#[test]
fn second_host_with_one_disk_image_is_refused() {
    let store = Sqlite::new();
    monday().lease(&store).node();
    let image = files(&store);
    let one = monday().lease(&store);
    // The other host has the same inodes and the same bytes.
    for (path, bytes) in &image {
        fs::write(path, bytes).unwrap();
    }
    let other = tuesday().lease(&store);
    check_apart(&[one, other.clone()]);
    assert!(other.refusal().contains("Restored"), "{other:?}");
}
