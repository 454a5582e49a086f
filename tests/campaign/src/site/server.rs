use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use flakeid_test_servers::{EtcdServer, MariadbServer, PostgresServer, Proxy, RedisServer, Server};
use tempfile::TempDir;

use super::Site;
use crate::board::GROUPS;
use crate::fault::Trouble;

/// A store that is a server, which each group of workers reaches through a network of its own.
pub(crate) struct ServerSite {
    machine: Machine,
    proxies: Vec<Proxy>,
    backups: TempDir,
    /// How many older copies there are.
    copies: AtomicU64,
}

pub(crate) enum Machine {
    Postgres(PostgresServer),
    Mysql(MariadbServer),
    Redis(RedisServer),
    Etcd(EtcdServer),
}

impl Machine {
    fn server(&self) -> &dyn Server {
        match self {
            Self::Postgres(server) => server,
            Self::Mysql(server) => server,
            Self::Redis(server) => server,
            Self::Etcd(server) => server,
        }
    }

    /// Holds what every transaction needs.
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
            Self::Etcd(_) => Err("etcd has no locks to hold".into()),
        };
        locked.map(drop).map_err(io::Error::other)
    }
}

impl ServerSite {
    pub(crate) fn new(machine: Machine) -> io::Result<Self> {
        let url = machine.server().url();
        let port = port_of(&url)?;
        let proxies = (0..GROUPS).map(|_| Proxy::to(port)).collect();
        let backups = tempfile::Builder::new().prefix("flakeid-backups").tempdir()?;
        Ok(Self { machine, proxies, backups, copies: AtomicU64::new(0) })
    }

    fn copy(&self, number: u64) -> PathBuf {
        self.backups.path().join(number.to_string())
    }

    /// A copy of the data of a server that is down.
    fn back_up(&self) -> io::Result<()> {
        // One copy of long ago, and the latest one.
        let number = self.copies.load(Ordering::SeqCst).min(1);
        copy_folder(&self.machine.server().data(), &self.copy(number))?;
        self.copies.store(number + 1, Ordering::SeqCst);
        Ok(())
    }
}

impl Site for ServerSite {
    fn url(&self, group: usize) -> String {
        let url = self.machine.server().url();
        let ports = port_of(&url).map(|port| (port, self.proxies[group % GROUPS].port()));
        ports.map_or(url.clone(), |(real, proxy)| {
            url.replace(&format!("127.0.0.1:{real}"), &format!("127.0.0.1:{proxy}"))
        })
    }

    fn prepare(&self) -> io::Result<()> {
        self.machine.server().kill();
        self.back_up()?;
        self.machine.server().start();
        Ok(())
    }

    fn max_ahead_ms(&self) -> u64 {
        3000
    }

    fn has_one_clock(&self) -> bool {
        false
    }

    fn troubles(&self) -> &[Trouble] {
        const ALL: [Trouble; 7] = [
            Trouble::Killed,
            Trouble::Cut,
            Trouble::Restored,
            Trouble::Paused,
            Trouble::Silenced,
            Trouble::Delayed,
            Trouble::Locked,
        ];
        match self.machine {
            Machine::Etcd(_) => &ALL[..6],
            _ => &ALL,
        }
    }

    fn strike(&self, trouble: Trouble, duration: Duration, group: usize) -> io::Result<()> {
        let (server, proxy) = (self.machine.server(), &self.proxies[group % GROUPS]);
        match trouble {
            Trouble::Locked => self.machine.lock(duration)?,
            Trouble::Paused => {
                server.pause();
                thread::sleep(duration);
                server.resume();
            }
            Trouble::Killed => {
                server.kill();
                self.back_up()?;
                thread::sleep(duration / 4);
                server.start();
            }
            Trouble::Restored => {
                server.kill();
                if self.copies.load(Ordering::SeqCst) == 0 {
                    return Err(io::Error::other("there is no older copy to restore"));
                }
                let number = duration.as_millis() as u64 % self.copies.load(Ordering::SeqCst);
                std::fs::remove_dir_all(server.data())?;
                copy_folder(&self.copy(number), &server.data())?;
                server.start();
            }
            Trouble::Cut => {
                proxy.cut();
                proxy.reset();
                thread::sleep(duration);
                proxy.heal();
            }
            Trouble::Silenced => {
                proxy.cut();
                thread::sleep(duration);
                proxy.heal();
            }
            Trouble::Delayed => {
                proxy.delay(duration / 8);
                thread::sleep(duration);
                proxy.heal();
            }
            Trouble::Full => return Err(io::Error::other("only SQLite's disk is ours to fill")),
        }
        Ok(())
    }
}

fn port_of(url: &str) -> io::Result<u16> {
    let (_, rest) = url
        .rsplit_once("127.0.0.1:")
        .ok_or_else(|| io::Error::other("the server is not on loopback"))?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().map_err(io::Error::other)
}

/// With owners and modes, which servers insist on.
fn copy_folder(from: &Path, to: &Path) -> io::Result<()> {
    if to.exists() {
        std::fs::remove_dir_all(to)?;
    }
    let status = Command::new("cp").arg("-a").arg(from).arg(to).status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("cp -a: {status}"))) }
}
