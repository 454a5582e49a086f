//! A `SQLite` store on a small disk.

#![allow(unsafe_code)]

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use tempfile::TempDir;

use super::interface::Deployment;
use crate::fault::StoreFault;
use crate::lease_options::LeaseBounds;
use crate::schedule::FURTHEST_STEP_MS;

/// The size of the disk: enough for a long campaign, and quickly filled.
const DISK_BYTES: u64 = 16 << 20;

/// A `SQLite` database on a separate small disk in memory.
pub(crate) struct SqliteDeployment {
    /// `None` unless the process runs as root, because only root may mount a disk. The field is
    /// dropped, and so the disk is unmounted, before the folder that contains it.
    disk: Option<Disk>,
    home: TempDir,
    /// The number of copies taken.
    copies: Mutex<u64>,
    /// The number of times that a copy was restored.
    restores: AtomicU64,
}

/// A mounted file system. Dropping it unmounts the file system.
struct Disk {
    at: PathBuf,
}

impl SqliteDeployment {
    pub(crate) fn new() -> io::Result<Self> {
        let home = tempfile::Builder::new().prefix("flakeid-sqlite").tempdir()?;
        let disk = Disk::mount(home.path().join("disk"))?;
        fs::set_permissions(home.path().join("disk"), Permissions::from_mode(0o700))?;
        fs::create_dir(home.path().join("copies"))?;
        Ok(Self { disk, home, copies: Mutex::new(0), restores: AtomicU64::new(0) })
    }

    fn file(&self, suffix: &str) -> PathBuf {
        self.home.path().join("disk").join(format!("ids.db{suffix}"))
    }

    fn copy(&self, number: u64, suffix: &str) -> PathBuf {
        self.home.path().join("copies").join(format!("{number}{suffix}"))
    }

    /// Runs `work` while no process is in a transaction.
    fn with_lock<T>(&self, work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        let lock = OpenOptions::new().read(true).write(true).open(self.file("-serial"))?;
        loop {
            // SAFETY: the descriptor is open. Closing it releases the lock.
            if unsafe { libc::flock(lock.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } == 0 {
                return work();
            }
            // A paused process may hold the lock for some time.
            thread::sleep(Duration::from_micros(200));
        }
    }

    fn back_up(&self, number: u64) -> io::Result<()> {
        self.with_lock(|| {
            fs::copy(self.file(""), self.copy(number, ""))?;
            copy_or_remove(&self.file("-wal"), &self.copy(number, "-wal"))
        })
    }

    /// Restores an older copy, and takes a new one for the next restore. The `-serial` file, which
    /// detects older copies, is not part of the copies. The copy is `age` old if that is given,
    /// otherwise it was taken at the previous restore.
    fn restore(&self, by_rename: bool, age: Option<Duration>) -> io::Result<()> {
        let mut copies = self.copies.lock().map_err(|_| io::Error::other("a copy failed"))?;
        if *copies == 0 {
            return Err(io::Error::other("there is no older copy to restore"));
        }
        if let Some(age) = age {
            self.back_up(*copies)?;
            *copies += 1;
            thread::sleep(age);
        }
        let number = *copies - 1;
        self.with_lock(|| {
            fs::remove_file(self.file("-shm")).or_else(gone)?;
            copy_or_remove(&self.copy(number, "-wal"), &self.file("-wal"))?;
            if by_rename {
                fs::copy(self.copy(number, ""), self.file(".restored"))?;
                return fs::rename(self.file(".restored"), self.file(""));
            }
            fs::copy(self.copy(number, ""), self.file("")).map(drop)
        })?;
        self.back_up(*copies)?;
        *copies += 1;
        Ok(())
    }

    /// Fills the disk for some time.
    fn fill(&self, duration: Duration) -> io::Result<()> {
        let path = self.home.path().join("disk/filler");
        let mut filler = File::create(&path)?;
        let full = loop {
            if let Err(error) = filler.write_all(&[0; 4096]) {
                break error;
            }
        };
        thread::sleep(duration);
        fs::remove_file(&path)?;
        match full.kind() {
            io::ErrorKind::StorageFull => Ok(()),
            _ => Err(full),
        }
    }
}

impl Deployment for SqliteDeployment {
    fn url(&self, _group: usize) -> String {
        format!("sqlite://{}", self.file("").display())
    }

    fn direct_url(&self) -> String {
        self.url(0)
    }

    fn prepare(&self) -> io::Result<()> {
        self.back_up(0)?;
        *self.copies.lock().map_err(|_| io::Error::other("a copy failed"))? = 1;
        Ok(())
    }

    fn max_ahead_ms(&self) -> u64 {
        FURTHEST_STEP_MS + 10_000
    }

    fn lease_bounds(&self) -> LeaseBounds {
        LeaseBounds::EXACT
    }

    fn has_one_clock(&self) -> bool {
        true
    }

    fn fault_interval(&self) -> Duration {
        Duration::from_millis(1500)
    }

    fn store_faults(&self) -> &[StoreFault] {
        const ALL: [StoreFault; 3] = [StoreFault::Locked, StoreFault::Restored, StoreFault::Full];
        &ALL[..if self.disk.is_some() { 3 } else { 2 }]
    }

    fn unsupported(&self) -> Option<&str> {
        self.disk.is_none().then_some("a full disk: only root can mount a small disk")
    }

    fn inject(&self, store_fault: StoreFault, duration: Duration, _group: usize) -> io::Result<()> {
        match store_fault {
            StoreFault::Locked => self.with_lock(|| {
                thread::sleep(duration);
                Ok(())
            }),
            StoreFault::Restored => {
                // Holders can continue their leases from a recent copy; every third copy is older.
                let number = self.restores.fetch_add(1, Ordering::Relaxed);
                let age = (number % 3 != 2).then_some(duration / 4);
                self.restore(duration.as_millis().is_multiple_of(2), age)
            }
            StoreFault::Full => self.fill(duration),
            _ => Err(io::Error::other("SQLite has no server and no network")),
        }
    }
}

/// Copies `from` to `to`, or removes `to` if `from` does not exist.
fn copy_or_remove(from: &Path, to: &Path) -> io::Result<()> {
    match fs::copy(from, to) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => fs::remove_file(to).or_else(gone),
        done => done.map(drop),
    }
}

fn gone(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}

impl Disk {
    /// Mounts a disk. Returns `None` if the user may not mount.
    fn mount(at: PathBuf) -> io::Result<Option<Self>> {
        fs::create_dir(&at)?;
        // SAFETY: `geteuid` always succeeds.
        if unsafe { libc::geteuid() } != 0 {
            return Ok(None);
        }
        let size = format!("size={DISK_BYTES}");
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", &size, "tmpfs"]).arg(&at).output()?;
        Ok(mounted.status.success().then_some(Self { at }))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // The disk is unmounted lazily, because a worker that was just killed may still use it. If
        // this fails, an empty disk in memory remains until the machine restarts.
        let _ = Command::new("umount").arg("--lazy").arg(&self.at).status();
    }
}
