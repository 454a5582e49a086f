//! Private stores, and the faults that can be injected into them.

mod broker;
mod cluster;
mod interface;
mod server;
mod sqlite;

use std::io;

use flakeid_test_servers::Server;
use tempfile::TempDir;

use crate::store_kind::StoreKind;
use broker::BrokerDeployment;
use cluster::{ClusterDeployment, EtcdMembers, GaleraMembers, PostgresServers, RedisServers};
use server::ServerDeployment;
use sqlite::SqliteDeployment;

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
