//! A store that is a private server.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use flakeid_test_servers::{Kind, Proxy, Server, Style};
use tempfile::TempDir;

use super::interface::Deployment;
use crate::fault::StoreFault;
use crate::lease_options::LeaseBounds;
use crate::shared_memory::GROUPS;

/// A private server, which each group of workers reaches through its own proxy.
pub(crate) struct ServerDeployment {
    kind: &'static Kind,
    server: Box<dyn Server>,
    proxies: Vec<Proxy>,
    /// The URLs of the store through the proxies.
    urls: Vec<String>,
    backups: TempDir,
    /// The number of older copies.
    copies: AtomicU64,
}

impl ServerDeployment {
    pub(crate) fn new(kind: &'static Kind) -> io::Result<Self> {
        let server = (kind.start)();
        let proxies: Vec<Proxy> = (0..GROUPS).map(|_| Proxy::to(server.port())).collect();
        let urls = proxies.iter().map(|proxy| server.url_at(proxy.port())).collect();
        let backups = tempfile::Builder::new().prefix("flakeid-backups").tempdir()?;
        Ok(Self { kind, server, proxies, urls, backups, copies: AtomicU64::new(0) })
    }

    /// Returns the number of requests that a group of workers has sent to the server.
    pub(crate) fn requests(&self, group: usize) -> u64 {
        self.proxies[group % GROUPS].requests()
    }

    fn copy(&self, number: u64) -> PathBuf {
        self.backups.path().join(number.to_string())
    }

    /// Kills the server, copies its data, and starts it again after `down`.
    fn restart(&self, down: Duration) -> io::Result<()> {
        self.server.kill();
        self.back_up()?;
        thread::sleep(down);
        self.server.start();
        Ok(())
    }

    /// Copies the data of a stopped server.
    fn back_up(&self) -> io::Result<()> {
        // Only the first copy and the latest one are kept.
        let number = self.copies.load(Ordering::SeqCst).min(1);
        copy_folder(&self.server.data(), &self.copy(number))?;
        self.copies.store(number + 1, Ordering::SeqCst);
        Ok(())
    }
}

impl Deployment for ServerDeployment {
    fn url(&self, group: usize) -> String {
        self.urls[group % GROUPS].clone()
    }

    fn direct_url(&self) -> String {
        self.server.url_at(self.server.port())
    }

    fn prepare(&self) -> io::Result<()> {
        self.server.kill();
        self.back_up()?;
        self.server.start();
        Ok(())
    }

    fn max_ahead_ms(&self) -> u64 {
        3000
    }

    fn lease_bounds(&self) -> LeaseBounds {
        match self.kind.style {
            Style::Locks => LeaseBounds::EXACT,
            Style::Versions | Style::Documents => LeaseBounds::SECONDS,
        }
    }

    fn has_one_clock(&self) -> bool {
        false
    }

    fn store_faults(&self) -> &[StoreFault] {
        const ALL: [StoreFault; 7] = [
            StoreFault::Killed,
            StoreFault::Cut,
            StoreFault::Paused,
            StoreFault::Silenced,
            StoreFault::Delayed,
            StoreFault::Restored,
            StoreFault::Locked,
        ];
        match self.kind.style {
            Style::Locks => &ALL,
            Style::Versions => &ALL[..6],
            // Copied files restore neither a table with another ID, as backups of a service do, nor an object with
            // another modification time, as tools that put a copy back do. The conformance suite restores both. An etcd
            // that is restored to a copy of the last minute is not detected under Kubernetes.
            Style::Documents => &ALL[..5],
        }
    }

    fn begins_run(&self, store_fault: StoreFault) -> bool {
        self.kind.style != Style::Documents
            && (store_fault.is_restart() || store_fault.is_failover())
    }

    fn crashed(&self) -> Vec<String> {
        self.server.ended().into_iter().collect()
    }

    fn inject(&self, store_fault: StoreFault, duration: Duration, group: usize) -> io::Result<()> {
        let (server, proxy) = (&self.server, &self.proxies[group % GROUPS]);
        match store_fault {
            StoreFault::Locked => server.lock(duration).map_err(io::Error::other)?,
            StoreFault::Paused => {
                server.pause();
                thread::sleep(duration);
                server.resume();
            }
            StoreFault::Killed => self.restart(duration / 4)?,
            StoreFault::Restored => {
                let ms = duration.as_millis() as u64;
                let is_recent = ms.is_multiple_of(2);
                if is_recent {
                    // A recent copy lets a holder continue its lease twice from the same row.
                    self.restart(Duration::ZERO)?;
                    thread::sleep(duration / 8);
                }
                server.kill();
                let copies = self.copies.load(Ordering::SeqCst);
                if copies == 0 {
                    return Err(io::Error::other("there is no older copy to restore"));
                }
                let number = if is_recent { copies - 1 } else { ms / 2 % copies };
                std::fs::remove_dir_all(server.data())?;
                copy_folder(&self.copy(number), &server.data())?;
                server.start();
            }
            StoreFault::Cut => {
                proxy.cut();
                proxy.reset();
                thread::sleep(duration);
                proxy.heal();
            }
            StoreFault::Silenced => {
                proxy.cut();
                thread::sleep(duration);
                proxy.heal();
            }
            StoreFault::Delayed => {
                proxy.delay(duration / 8);
                thread::sleep(duration);
                proxy.heal();
            }
            StoreFault::Full => {
                return Err(io::Error::other("only the disk of SQLite can be filled"));
            }
            StoreFault::FailedOver
            | StoreFault::StoppedAndReplaced
            | StoreFault::CutOffAndReplaced
            | StoreFault::FailedOverBehind
            | StoreFault::FailedBack => {
                return Err(io::Error::other("there is no other server to replace it"));
            }
            StoreFault::KilledWithBroker => {
                return Err(io::Error::other("there is no broker"));
            }
        }
        Ok(())
    }
}

/// Copies a folder with owners and modes, because servers check them.
fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    if to.exists() {
        std::fs::remove_dir_all(to)?;
    }
    let status = Command::new("cp").arg("-a").arg(from).arg(to).status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("cp -a: {status}"))) }
}
