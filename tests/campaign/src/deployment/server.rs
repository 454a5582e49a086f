//! A store that is a private server.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use flakeid_test_servers::{
    DynamoDbServer, EtcdServer, KubernetesServer, MariadbServer, PostgresServer, Proxy,
    RedisServer, S3Server, Server,
};
use tempfile::TempDir;

use super::interface::Deployment;
use crate::fault::StoreFault;
use crate::lease_options::LeaseBounds;
use crate::shared_memory::GROUPS;
use crate::stores::port_of;

/// A private server, which each group of workers reaches through its own proxy.
pub(crate) struct ServerDeployment {
    server: AnyServer,
    proxies: Vec<Proxy>,
    /// The URLs of the store through the proxies.
    urls: Vec<String>,
    backups: TempDir,
    /// The number of older copies.
    copies: AtomicU64,
}

pub(crate) enum AnyServer {
    Postgres(PostgresServer),
    Mysql(MariadbServer),
    Redis(RedisServer),
    Etcd(EtcdServer),
    DynamoDb(DynamoDbServer),
    S3(S3Server),
    Kubernetes(KubernetesServer),
}

impl AnyServer {
    fn server(&self) -> &dyn Server {
        match self {
            Self::Postgres(server) => server,
            Self::Mysql(server) => server,
            Self::Redis(server) => server,
            Self::Etcd(server) => server,
            Self::DynamoDb(server) => server,
            Self::S3(server) => server,
            Self::Kubernetes(server) => server,
        }
    }

    fn port(&self) -> io::Result<u16> {
        match self {
            Self::Kubernetes(server) => Ok(server.port()),
            _ => port_of(&self.server().url()),
        }
    }

    fn url(&self) -> String {
        match self {
            // The proxies are several hosts of one server.
            Self::S3(server) => format!("{}&place=campaign", server.url()),
            _ => self.server().url(),
        }
    }

    /// Returns the URL of the store through a proxy for `port`.
    fn url_at(&self, port: u16, proxy: u16) -> String {
        if let Self::Kubernetes(server) = self {
            return server.url_at(proxy);
        }
        let url = self.url();
        url.replace(&format!("127.0.0.1:{port}"), &format!("127.0.0.1:{proxy}"))
    }

    /// Holds the locks that every transaction needs for some time.
    fn lock(&self, duration: Duration) -> io::Result<()> {
        let seconds = duration.as_secs_f32();
        let locked = match self {
            Self::Postgres(server) => server.sql(&format!(
                "BEGIN; LOCK TABLE flakeid_namespace, flakeid_node IN ACCESS EXCLUSIVE MODE; \
                 SELECT pg_sleep({seconds}); COMMIT"
            )),
            Self::Mysql(server) => server.sql(&format!(
                "USE ids; LOCK TABLES flakeid_namespace WRITE, flakeid_node WRITE; \
                 SELECT SLEEP({seconds}); UNLOCK TABLES"
            )),
            Self::Redis(server) => {
                let paused =
                    server.command(&["CLIENT", "PAUSE", &duration.as_millis().to_string(), "ALL"]);
                thread::sleep(duration);
                paused
            }
            Self::Etcd(_) | Self::DynamoDb(_) | Self::S3(_) | Self::Kubernetes(_) => {
                Err("this store has no locks that a client could hold".into())
            }
        };
        locked.map(drop).map_err(io::Error::other)
    }
}

impl ServerDeployment {
    pub(crate) fn new(server: AnyServer) -> io::Result<Self> {
        let port = server.port()?;
        let proxies: Vec<Proxy> = (0..GROUPS).map(|_| Proxy::to(port)).collect();
        let urls = proxies.iter().map(|proxy| server.url_at(port, proxy.port())).collect();
        let backups = tempfile::Builder::new().prefix("flakeid-backups").tempdir()?;
        Ok(Self { server, proxies, urls, backups, copies: AtomicU64::new(0) })
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
        let server = self.server.server();
        server.kill();
        self.back_up()?;
        thread::sleep(down);
        server.start();
        Ok(())
    }

    /// Copies the data of a stopped server.
    fn back_up(&self) -> io::Result<()> {
        // Only the first copy and the latest one are kept.
        let number = self.copies.load(Ordering::SeqCst).min(1);
        copy_folder(&self.server.server().data(), &self.copy(number))?;
        self.copies.store(number + 1, Ordering::SeqCst);
        Ok(())
    }
}

impl Deployment for ServerDeployment {
    fn url(&self, group: usize) -> String {
        self.urls[group % GROUPS].clone()
    }

    fn direct_url(&self) -> String {
        self.server.url()
    }

    fn prepare(&self) -> io::Result<()> {
        self.server.server().kill();
        self.back_up()?;
        self.server.server().start();
        Ok(())
    }

    fn max_ahead_ms(&self) -> u64 {
        3000
    }

    fn lease_bounds(&self) -> LeaseBounds {
        match self.server {
            AnyServer::Etcd(_)
            | AnyServer::DynamoDb(_)
            | AnyServer::S3(_)
            | AnyServer::Kubernetes(_) => LeaseBounds::SECONDS,
            _ => LeaseBounds::EXACT,
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
        match self.server {
            AnyServer::Etcd(_) => &ALL[..6],
            // Copied files restore neither a table with another ID, as the backups of DynamoDB do, nor an object with
            // another modification time, as tools that put a copy back do. The conformance suite restores both. An etcd
            // that is restored to a copy of the last minute is not detected under Kubernetes.
            AnyServer::DynamoDb(_) | AnyServer::S3(_) | AnyServer::Kubernetes(_) => &ALL[..5],
            _ => &ALL,
        }
    }

    fn begins_run(&self, store_fault: StoreFault) -> bool {
        match self.server {
            // A document store has no runs of a server: only a restore of the document begins another run.
            AnyServer::DynamoDb(_) | AnyServer::S3(_) | AnyServer::Kubernetes(_) => false,
            _ => store_fault.is_restart() || store_fault.is_failover(),
        }
    }

    fn crashed(&self) -> Vec<String> {
        self.server.server().ended().into_iter().collect()
    }

    fn inject(&self, store_fault: StoreFault, duration: Duration, group: usize) -> io::Result<()> {
        let (server, proxy) = (self.server.server(), &self.proxies[group % GROUPS]);
        match store_fault {
            StoreFault::Locked => self.server.lock(duration)?,
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
