//! Tests of a database file that is mounted without its directory, so that the file has two paths. These tests run only
//! on Linux.

use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

use crate::lessee::{self, check_apart, names};
use crate::mounts;

/// A directory on the host, and a directory in each of two containers. The host's files are mounted into the
/// directories of the containers.
struct Containers {
    host: TempDir,
    guests: [TempDir; 2],
}

impl Containers {
    fn new() -> Self {
        let new = || tempfile::tempdir().unwrap();
        Self { host: new(), guests: [new(), new()] }
    }

    fn file(&self) -> PathBuf {
        self.host.path().join("ids.db")
    }

    /// Creates an empty file as the mount point for the host's file, as `docker run --volume` does.
    fn target(&self, guest: usize, name: &str) -> PathBuf {
        let target = self.guests[guest].path().join(name);
        fs::write(&target, "").unwrap();
        target
    }
}

/// Checks that the store refuses a database file that is mounted without its directory. Examples are `docker run
/// --volume /host/ids.db:/data/ids.db` and a Kubernetes `subPath`.
#[test]
fn database_file_mounted_without_its_directory_is_refused() {
    for used_before in [false, true] {
        let containers = Containers::new();
        fs::write(containers.file(), "").unwrap();
        if used_before {
            lessee::run(lessee::of(&containers.file())).node();
        }
        let answers = [0, 1].map(|guest| {
            let file = containers.target(guest, "ids.db");
            lessee::answer(&mounts::run(&[(&containers.file(), &file)], &lessee::of(&file)))
        });
        check_apart(&answers);
        for (guest, answer) in answers.iter().enumerate() {
            let text = answer.refusal();
            assert!(text.contains("ids.db is a mount point"), "{text}");
            assert!(text.contains("mount the directory"), "{text}");
            assert_eq!(
                names(containers.guests[guest].path()),
                ["ids.db"],
                "the store must create no file"
            );
        }
    }
}

#[test]
fn separately_mounted_serial_file_is_refused() {
    let containers = Containers::new();
    let file = containers.host.path().join("ids.db");
    lessee::run(lessee::of(&file)).node();
    let (serial, other) =
        (containers.host.path().join("ids.db-serial"), containers.target(0, "other"));
    let answer = lessee::answer(&mounts::run(&[(&other, &serial)], &lessee::of(&file)));
    assert!(answer.refusal().contains("ids.db-serial is a mount point"), "{answer:?}");
}

/// Checks that two containers can share a mounted directory, because both containers then use the same log and the same
/// lock.
#[test]
fn containers_sharing_a_mounted_directory_lease_distinct_nodes() {
    let containers = Containers::new();
    let answers = [0, 1].map(|guest| {
        let directory = containers.guests[guest].path();
        let lessee = lessee::of(&directory.join("ids.db"));
        lessee::answer(&mounts::run(&[(containers.host.path(), directory)], &lessee))
    });
    assert_eq!(answers.map(|answer| answer.node()), [0, 1]);
}
