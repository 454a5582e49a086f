//! Tests of machines without a machine ID, such as many containers. The store identifies these machines by their boot
//! ID.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::lessee::{self, Answer, check_apart};
use crate::mounts;
use crate::store_under_test::Sqlite;

/// The files that identify one boot of a host whose containers have no machine ID.
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

    /// Leases a node from a process in a container of this host.
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
fn containers_on_the_same_host_lease_distinct_nodes() {
    let store = Sqlite::new();
    let boot = monday();
    let answers = [boot.lease(&store), boot.lease(&store), monday().lease(&store)];
    assert_eq!(answers.map(|answer| answer.node()), [0, 1, 2]);
}

/// Checks that a reboot counts as a restore, but that the operator does not have to adopt the store. Adoption is
/// required only for files from another machine, because that machine may still use the original files.
#[test]
fn host_reboot_counts_as_a_restore_of_the_store() {
    let store = Sqlite::new();
    monday().lease(&store).node();
    let answer = tuesday().lease(&store);
    assert!(answer.refusal().contains("Restored"), "{answer:?}");
    // The store has now recorded the new boot. A second request is also refused, because earlier windows may still be
    // in use.
    let answer = tuesday().lease(&store);
    assert!(answer.refusal().contains("Restored"), "{answer:?}");
}

/// Checks that the store refuses a second host that starts from the same disk image as a host that already uses the
/// store.
#[test]
fn second_host_with_the_same_disk_image_is_refused() {
    let store = Sqlite::new();
    monday().lease(&store).node();
    let image = files(&store);
    let one = monday().lease(&store);
    // The files of the second host have the same inodes and contents as the files in the disk image.
    for (path, bytes) in &image {
        fs::write(path, bytes).unwrap();
    }
    let other = tuesday().lease(&store);
    check_apart(&[one, other.clone()]);
    assert!(other.refusal().contains("Restored"), "{other:?}");
}
