//! Private stores, and the faults that can be injected into them.

mod broker;
mod cluster;
mod interface;
mod server;
mod signal;
mod sqlite;

use std::io;

use flakeid_test_servers::{EtcdServer, MariadbServer, PostgresServer, RedisServer, Server};
use tempfile::TempDir;

use crate::store_kind::StoreKind;
use broker::BrokerDeployment;
use cluster::{ClusterDeployment, EtcdMembers, GaleraMembers, PostgresServers, RedisServers};
use server::{AnyServer, ServerDeployment};
use sqlite::SqliteDeployment;

pub(crate) use interface::Deployment;

/// Starts a new, empty store.
pub(crate) fn deploy(kind: StoreKind) -> io::Result<Box<dyn Deployment>> {
    let cluster = |cluster| Ok(Box::new(ClusterDeployment::new(cluster)) as Box<dyn Deployment>);
    let server = match kind {
        StoreKind::Sqlite => return Ok(Box::new(SqliteDeployment::new()?)),
        StoreKind::Postgres => AnyServer::Postgres(PostgresServer::new()),
        StoreKind::Mysql => AnyServer::Mysql(MariadbServer::new()),
        StoreKind::Redis => AnyServer::Redis(RedisServer::new()),
        StoreKind::Etcd => AnyServer::Etcd(EtcdServer::new()),
        StoreKind::Broker => return Ok(Box::new(BrokerDeployment::new()?)),
        StoreKind::PostgresStandby => return cluster(Box::new(PostgresServers::start())),
        StoreKind::Galera => return cluster(Box::new(GaleraMembers::start())),
        StoreKind::RedisSentinel => return cluster(Box::new(RedisServers::start())),
        StoreKind::EtcdCluster => return cluster(Box::new(EtcdMembers::start()?)),
        StoreKind::All | StoreKind::Servers | StoreKind::Clusters => {
            return Err(io::Error::other("one store at a time"));
        }
    };
    Ok(Box::new(ServerDeployment::new(server)?))
}

/// An empty store without faults. Its server or folder goes when it is dropped.
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
            other => {
                let name = other.name();
                return Err(io::Error::other(format!("{name} is not one store of one server")));
            }
        };
        Ok(Self { url: server.url(), _server: Some(server), _folder: None })
    }
}

/// Keeps a server of every kind running until a signal ends this program.
pub(crate) fn keep_all() -> io::Result<()> {
    let signals = signal::TerminationSignals::new()?;
    let servers: [(&str, Box<dyn Server>); 4] = [
        ("postgres", Box::new(PostgresServer::new())),
        ("mysql", Box::new(MariadbServer::new())),
        ("redis", Box::new(RedisServer::new())),
        ("etcd", Box::new(EtcdServer::new())),
    ];
    for (kind, server) in &servers {
        println!("{kind:<10} {}", server.url());
    }
    println!("Ctrl-C stops them and deletes their data.");
    signals.wait()
}
