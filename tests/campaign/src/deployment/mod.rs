//! Private stores, and the faults that can be injected into them.

mod broker;
mod cluster;
mod interface;
mod server;
mod sqlite;

use std::io;
use std::mem::MaybeUninit;

use flakeid_test_servers::{KINDS, Server};
use tempfile::TempDir;

use crate::store_kind::StoreKind;
use broker::BrokerDeployment;
use cluster::{ClusterDeployment, EtcdMembers, GaleraMembers, PostgresServers, RedisServers};
use server::ServerDeployment;
use sqlite::SqliteDeployment;

pub(crate) use broker::BrokerClock;
pub(crate) use interface::Deployment;

/// Starts a new, empty store.
pub(crate) fn deploy(kind: StoreKind) -> io::Result<Box<dyn Deployment>> {
    let cluster = |cluster| Ok(Box::new(ClusterDeployment::new(cluster)) as Box<dyn Deployment>);
    match kind {
        StoreKind::Sqlite => Ok(Box::new(SqliteDeployment::new()?)),
        StoreKind::Broker => Ok(Box::new(BrokerDeployment::new()?)),
        StoreKind::PostgresStandby => cluster(Box::new(PostgresServers::start())),
        StoreKind::Galera => cluster(Box::new(GaleraMembers::start())),
        StoreKind::RedisSentinel => cluster(Box::new(RedisServers::start())),
        StoreKind::EtcdCluster => cluster(Box::new(EtcdMembers::start()?)),
        _ => Ok(Box::new(deploy_server(kind)?)),
    }
}

/// Starts a new, empty store that is a single server.
pub(crate) fn deploy_server(kind: StoreKind) -> io::Result<ServerDeployment> {
    ServerDeployment::new(kind.server()?)
}

/// An empty store without faults. Dropping it stops its server or deletes its folder.
pub(crate) struct EmptyStore {
    pub(crate) url: String,
    _server: Option<Box<dyn Server>>,
    _folder: Option<TempDir>,
}

impl EmptyStore {
    pub(crate) fn start(kind: StoreKind) -> io::Result<Self> {
        if kind == StoreKind::Sqlite {
            let folder = tempfile::Builder::new().prefix("flakeid-sqlite").tempdir()?;
            let url = format!("sqlite://{}", folder.path().join("ids.db").display());
            return Ok(Self { url, _server: None, _folder: Some(folder) });
        }
        let server = (kind.server()?.start)();
        Ok(Self { url: server.url(), _server: Some(server), _folder: None })
    }
}

/// Keeps a server of every kind running until a signal ends this program.
pub(crate) fn keep_all() -> io::Result<()> {
    let signals = TerminationSignals::new()?;
    let installed = KINDS.iter().filter(|kind| kind.is_installed());
    let servers: Vec<_> = installed.map(|kind| (kind.name, (kind.start)())).collect();
    for (kind, server) in &servers {
        println!("{kind:<10} {}", server.url());
    }
    println!("Ctrl-C stops them and deletes their data.");
    signals.wait()
}

/// The signals that end a program, blocked so that it can clean up first.
struct TerminationSignals(libc::sigset_t);

#[allow(unsafe_code, reason = "the standard library cannot block signals")]
impl TerminationSignals {
    /// Blocks the signals in this thread and in the threads that it starts later.
    fn new() -> io::Result<Self> {
        let mut set = MaybeUninit::uninit();
        // SAFETY: the first call initialises the set, and the others read it.
        let (set, done) = unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            libc::sigaddset(set.as_mut_ptr(), libc::SIGINT);
            libc::sigaddset(set.as_mut_ptr(), libc::SIGTERM);
            let set = set.assume_init();
            let done = libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut());
            (set, done)
        };
        if done == 0 { Ok(Self(set)) } else { Err(io::Error::from_raw_os_error(done)) }
    }

    /// Waits for one of the signals.
    fn wait(&self) -> io::Result<()> {
        let mut signal = 0;
        // SAFETY: both pointers are valid.
        match unsafe { libc::sigwait(&raw const self.0, &raw mut signal) } {
            0 => Ok(()),
            error => Err(io::Error::from_raw_os_error(error)),
        }
    }
}
