#![allow(unsafe_code)]

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;
use std::time::{Duration, Instant};

use flakeid_core::{Error, ErrorKind, Id};
use flakeid_protocol::operations;
use tempfile::TempDir;

use crate::expectation::{MAX_WAIT, check_error, connect, layout, on, refused};

/// The environment variable that specifies the store for a child process, which runs the same test.
const URL: &str = "FLAKEID_TEST_REFUSALS_URL";

/// The user ID of `nobody`. Tests that run as root switch to this user, because file modes do not restrict root.
const NOBODY: u32 = 65_534;

struct Place(TempDir);

impl Place {
    /// Creates a directory with a store that has already granted a lease.
    fn used() -> Self {
        let place = Self::empty();
        drop(on(&place.url()).open().unwrap());
        place
    }

    fn empty() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        place.set_mode("", 0o755);
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn url(&self) -> String {
        format!("sqlite://{}", self.path("flakeid.db").display())
    }

    fn set_mode(&self, name: &str, mode: u32) {
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(mode)).unwrap();
    }

    /// Makes the user `nobody` the owner of the directory and its files if this process runs as root.
    fn change_owner(&self) {
        if is_root() {
            let files = fs::read_dir(self.0.path()).unwrap().map(|entry| entry.unwrap().path());
            for path in files.chain([self.0.path().into()]) {
                chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
            }
        }
    }

    /// Returns a command that runs this test in a child process.
    fn child(&self) -> Command {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", thread::current().name().unwrap(), "--nocapture"]);
        child.env(URL, self.url());
        child
    }

    /// Runs this test in a child process, and panics if the child process fails.
    fn run_child(&self) {
        check_done(&self.child().output().unwrap());
    }

    fn rows(&self) -> Vec<flakeid_protocol::Row> {
        operations::list(&mut *connect(&self.url()), "default").unwrap().rows
    }
}

fn check_done(output: &Output) {
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("action done"),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

fn is_root() -> bool {
    // SAFETY: `geteuid` has no preconditions and changes nothing.
    unsafe { libc::geteuid() == 0 }
}

fn become_nobody() {
    if !is_root() {
        return;
    }
    // SAFETY: this child process runs only one test, and libc changes the user of all threads of the process.
    unsafe {
        assert_eq!(libc::setgroups(0, std::ptr::null()), 0);
        assert_eq!(libc::setgid(NOBODY), 0);
        assert_eq!(libc::setuid(NOBODY), 0);
    }
}

/// Limits the size of the files that this process can write, to simulate a full disk. `None` removes the limit.
fn limit_file_size(bytes: Option<u64>) {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is a local variable, so the pointers to it are valid. `SIGXFSZ` is ignored because the signal
    // would kill the process.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
        assert_eq!(libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit), 0);
        limit.rlim_cur = bytes.unwrap_or(limit.rlim_max);
        assert_eq!(libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit), 0);
    }
}

/// Runs `act` on the store if this process is a child process. Returns whether it is.
fn act_if_child(act: impl FnOnce(&str)) -> bool {
    let Ok(url) = std::env::var(URL) else { return false };
    act(&url);
    println!("action done");
    true
}

#[test]
fn read_only_store_files_are_refused() {
    if act_if_child(|url| {
        become_nobody();
        let file = url.strip_prefix("sqlite://").unwrap();
        let directory = Path::new(file).parent().unwrap().display().to_string();
        let parts =
            [directory.as_str(), "the user that this process runs as must be able to write"];
        refused(on(url), ErrorKind::StoreRejected, &parts);
    }) {
        return;
    }
    for name in ["flakeid.db", "flakeid.db-wal", "flakeid.db-serial"] {
        let place = Place::used();
        let before = place.rows();
        place.change_owner();
        place.set_mode(name, 0o400);
        place.run_child();
        place.set_mode(name, 0o600);
        assert_eq!(place.rows(), before, "{name}");
    }
    let place = Place::empty();
    place.change_owner();
    place.set_mode("", 0o500);
    place.run_child();
    assert_eq!(fs::read_dir(place.0.path()).unwrap().count(), 0);
}

/// The files of an `SQLite` store: the database, and the file that contains the lock and the serial number.
const FILES: [&str; 2] = ["flakeid.db", "flakeid.db-serial"];

#[test]
fn store_files_with_two_hard_links_are_refused() {
    for name in FILES {
        let place = Place::used();
        let before = place.rows();
        let link = place.path("link");
        fs::hard_link(place.path(name), &link).unwrap();
        let parts = [name, "has 2 names (hard links)", "remove all names except the one"];
        refused(on(&place.url()), ErrorKind::StoreRejected, &parts);
        fs::remove_file(&link).unwrap();
        assert_eq!(place.rows(), before, "{name}");
    }
}

#[cfg(all(target_os = "linux", feature = "_system-tests"))]
#[test]
fn store_files_mounted_without_their_directory_are_refused() {
    if act_if_child(|url| {
        let parts = ["flakeid.db", "is a mount point", "mount the directory instead"];
        refused(on(url), ErrorKind::StoreRejected, &parts);
    }) {
        return;
    }
    for name in FILES {
        let (host, container) = (Place::used(), Place::used());
        let before = [&host, &container].map(Place::rows);
        let mount = [(&*host.path(name), &*container.path(name))];
        check_done(&crate::mounts::run(&mount, &container.child()));
        assert_eq!([&host, &container].map(Place::rows), before, "{name}");
    }
}

#[test]
fn open_fails_on_a_full_disk_and_changes_nothing() {
    if act_if_child(|url| {
        limit_file_size(Some(1024));
        refused(on(url), ErrorKind::StoreUnavailable, &["flakeid.db", "disk"]);
    }) {
        return;
    }
    let place = Place::empty();
    place.run_child();
    // The failed attempt left nothing behind, so a lease can be opened after the disk has space again.
    drop(on(&place.url()).open().unwrap());
    assert_eq!(place.rows().len(), 1);

    let before = place.rows();
    place.run_child();
    assert_eq!(place.rows(), before);
}

#[test]
fn lease_expires_at_the_end_of_its_window_if_the_disk_is_full() {
    if !act_if_child(hold_on_a_full_disk) {
        Place::used().run_child();
    }
}

/// Checks that a generator issues IDs up to the stored fence while the disk is full, and resumes when the disk has
/// space again.
fn hold_on_a_full_disk(url: &str) {
    let generator = on(url).window(Duration::from_millis(500)).max_wait(MAX_WAIT).open().unwrap();
    let mut ids = vec![generator.next_id().unwrap()];
    limit_file_size(Some(1024));
    let error = use_up(&mut ids, || generator.next_id());
    check_error(&error, ErrorKind::LeaseExpired, &["flakeid.db", "disk"]);
    let lease = flakeid::Lease::of(&generator).unwrap().status();
    check_error(&lease.last_error.unwrap(), ErrorKind::StoreUnavailable, &["flakeid.db", "disk"]);
    limit_file_size(None);
    let last = layout().unpack(*ids.last().unwrap()).unwrap();
    let rows = operations::list(&mut *connect(url), "default").unwrap().rows;
    let row = rows.iter().find(|row| row.node == last.node).unwrap();
    assert!(last.tick < row.fence, "{last:?} {row:?}");
    let deadline = Instant::now() + Duration::from_secs(30);
    let back = loop {
        match generator.next_id() {
            Ok(id) => break id,
            Err(error) => assert!(Instant::now() < deadline, "{error}"),
        }
    };
    assert!(back > *ids.last().unwrap());
}

/// Adds new IDs to `ids` until `next_id` fails, and returns the error.
pub(crate) fn use_up(ids: &mut Vec<Id>, next_id: impl Fn() -> Result<Id, Error>) -> Error {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        match next_id() {
            Ok(id) => ids.push(id),
            Err(error) => break error,
        }
        assert!(Instant::now() < deadline, "the IDs do not end");
        thread::sleep(Duration::from_millis(1));
    }
}
