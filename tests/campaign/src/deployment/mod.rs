//! Private stores, and the faults that can be injected into them.

mod broker;
mod cluster;
mod interface;
mod server;
mod sqlite;

use std::io;
use std::mem::MaybeUninit;

use flakeid_test_servers::{
    DynamoDbServer, EtcdServer, KubernetesServer, MariadbServer, PostgresServer, RedisServer,
    S3Server, Server,
};
use tempfile::TempDir;

use crate::store_kind::StoreKind;
use broker::BrokerDeployment;
use cluster::{ClusterDeployment, EtcdMembers, GaleraMembers, PostgresServers, RedisServers};
use server::{AnyServer, ServerDeployment};
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
    ServerDeployment::new(match kind {
        StoreKind::Postgres => AnyServer::Postgres(PostgresServer::new()),
        StoreKind::Mysql => AnyServer::Mysql(MariadbServer::new()),
        StoreKind::Redis => AnyServer::Redis(RedisServer::new()),
        StoreKind::Etcd => AnyServer::Etcd(EtcdServer::new()),
        StoreKind::DynamoDb => AnyServer::DynamoDb(DynamoDbServer::new()),
        StoreKind::S3 => AnyServer::S3(S3Server::new()),
        StoreKind::Kubernetes => AnyServer::Kubernetes(KubernetesServer::new()),
        other => {
            let name = other.name();
            return Err(io::Error::other(format!("{name} is not a store with a single server")));
        }
    })
}

/// An empty store without faults. Dropping it stops its server or deletes its folder.
pub(crate) struct EmptyStore {
    pub(crate) url: String,
    _server: Option<Box<dyn Server>>,
    _folder: Option<TempDir>,
}

impl EmptyStore {
    pub(crate) fn start(kind: StoreKind) -> io::Result<Self> {
        let server: Box<dyn Server> = match kind {
            StoreKind::Sqlite => {
                let folder = tempfile::Builder::new().prefix("flakeid-sqlite").tempdir()?;
                let url = format!("sqlite://{}", folder.path().join("ids.db").display());
                return Ok(Self { url, _server: None, _folder: Some(folder) });
            }
            StoreKind::Postgres => Box::new(PostgresServer::new()),
            StoreKind::Mysql => Box::new(MariadbServer::new()),
            StoreKind::Redis => Box::new(RedisServer::new()),
            StoreKind::Etcd => Box::new(EtcdServer::new()),
            StoreKind::DynamoDb => Box::new(DynamoDbServer::new()),
            StoreKind::S3 => Box::new(S3Server::new()),
            other => {
                let name = other.name();
                return Err(io::Error::other(format!(
                    "{name} is not a store with a single server"
                )));
            }
        };
        Ok(Self { url: server.url(), _server: Some(server), _folder: None })
    }
}

/// Keeps a server of every kind running until a signal ends this program.
pub(crate) fn keep_all() -> io::Result<()> {
    let signals = TerminationSignals::new()?;
    let servers: [(&str, Box<dyn Server>); 6] = [
        ("postgres", Box::new(PostgresServer::new())),
        ("mysql", Box::new(MariadbServer::new())),
        ("redis", Box::new(RedisServer::new())),
        ("etcd", Box::new(EtcdServer::new())),
        ("dynamodb", Box::new(DynamoDbServer::new())),
        ("s3", Box::new(S3Server::new())),
    ];
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
