//! The events of a measurement: restarts and failovers of a store.

use std::thread::sleep;
use std::time::Duration;

use flakeid_test_servers::{
    DynamoDbServer, EtcdCluster, EtcdServer, GaleraCluster, KubernetesServer, MariadbPair,
    MariadbServer, PostgresPair, PostgresServer, RedisSentinels, RedisServer, S3Server, Server,
};

/// A restart or a failover.
#[derive(Clone, Copy, Debug)]
pub(super) enum StoreEvent {
    PostgresRestarted,
    PostgresKilled,
    PostgresSynchronous,
    PostgresAsynchronous,
    MariadbRestarted,
    MariadbPromoted,
    GaleraKilled,
    RedisKilled,
    RedisSentinel,
    EtcdRestarted,
    EtcdLeaderKilled,
    EtcdLeaderPaused,
    DynamoDbKilled,
    S3Killed,
    KubernetesKilled,
    PostgresDownLong,
}

/// The time for which a server is down before the measurement starts it again.
const DOWN: Duration = Duration::from_millis(500);
/// A downtime that exceeds a window.
const DOWN_LONG: Duration = Duration::from_secs(12);

impl StoreEvent {
    pub(super) const ALL: [Self; 16] = [
        Self::PostgresRestarted,
        Self::PostgresKilled,
        Self::PostgresSynchronous,
        Self::PostgresAsynchronous,
        Self::PostgresDownLong,
        Self::MariadbRestarted,
        Self::MariadbPromoted,
        Self::GaleraKilled,
        Self::RedisKilled,
        Self::RedisSentinel,
        Self::EtcdRestarted,
        Self::EtcdLeaderKilled,
        Self::EtcdLeaderPaused,
        Self::DynamoDbKilled,
        Self::S3Killed,
        Self::KubernetesKilled,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::PostgresRestarted => "PostgreSQL: restarted",
            Self::PostgresKilled => "PostgreSQL: killed and started",
            Self::PostgresSynchronous => "PostgreSQL: synchronous standby promoted",
            Self::PostgresAsynchronous => "PostgreSQL: asynchronous standby promoted",
            Self::PostgresDownLong => "PostgreSQL: down for longer than a window",
            Self::MariadbRestarted => "MariaDB: restarted",
            Self::MariadbPromoted => "MariaDB: replica promoted",
            Self::GaleraKilled => "Galera, three members: first one killed",
            Self::RedisKilled => "Redis: killed and started",
            Self::RedisSentinel => "Redis: failover by Sentinel",
            Self::EtcdRestarted => "etcd, one member: restarted",
            Self::EtcdLeaderKilled => "etcd, three members: leader killed",
            Self::EtcdLeaderPaused => "etcd, three members: leader stopped",
            Self::DynamoDbKilled => "DynamoDB (dynalite): killed and started",
            Self::S3Killed => "S3 (versitygw): killed and started",
            Self::KubernetesKilled => "Kubernetes: API server killed and started",
        }
    }

    /// Whether the event needs a program that only `cargo xtask kubernetes` builds.
    pub(super) const fn needs_kubernetes(self) -> bool {
        matches!(self, Self::KubernetesKilled)
    }

    /// Starts the store for this event.
    pub(super) fn deploy(self) -> DeployedStore {
        let servers = match self {
            Self::PostgresRestarted | Self::PostgresKilled | Self::PostgresDownLong => {
                Servers::One(Box::new(PostgresServer::new()))
            }
            Self::PostgresSynchronous => Servers::Postgres(PostgresPair::new(true)),
            Self::PostgresAsynchronous => Servers::Postgres(PostgresPair::new(false)),
            Self::MariadbRestarted => Servers::One(Box::new(MariadbServer::new())),
            Self::MariadbPromoted => Servers::Mariadb(MariadbPair::new()),
            Self::GaleraKilled => Servers::Galera(GaleraCluster::with_default_options()),
            Self::RedisKilled => Servers::One(Box::new(RedisServer::new())),
            Self::RedisSentinel => Servers::Redis(Box::new(RedisSentinels::new())),
            Self::EtcdRestarted => Servers::One(Box::new(EtcdServer::new())),
            Self::EtcdLeaderKilled | Self::EtcdLeaderPaused => Servers::Etcd(EtcdCluster::new()),
            Self::DynamoDbKilled => Servers::One(Box::new(DynamoDbServer::new())),
            Self::S3Killed => Servers::One(Box::new(S3Server::new())),
            Self::KubernetesKilled => Servers::One(Box::new(KubernetesServer::new())),
        };
        DeployedStore { event: self, servers }
    }
}

enum Servers {
    One(Box<dyn Server>),
    Postgres(PostgresPair),
    Mariadb(MariadbPair),
    Galera(GaleraCluster),
    Redis(Box<RedisSentinels>),
    Etcd(EtcdCluster),
}

/// A store that an event is about to affect.
pub(super) struct DeployedStore {
    event: StoreEvent,
    servers: Servers,
}

impl DeployedStore {
    pub(super) fn url(&self) -> String {
        match &self.servers {
            Servers::One(server) => server.url(),
            Servers::Postgres(pair) => pair.url(""),
            Servers::Mariadb(pair) => pair.url(""),
            Servers::Galera(cluster) => cluster.url(&[0, 1, 2]),
            Servers::Redis(sentinels) => sentinels.url(""),
            Servers::Etcd(cluster) => cluster.url(),
        }
    }

    /// Triggers the event, and returns after the store responds again.
    pub(super) fn trigger(&self) {
        match &self.servers {
            Servers::One(server) => {
                match self.event {
                    StoreEvent::PostgresKilled
                    | StoreEvent::RedisKilled
                    | StoreEvent::DynamoDbKilled
                    | StoreEvent::S3Killed
                    | StoreEvent::KubernetesKilled => server.kill(),
                    _ => server.stop(),
                }
                let long = matches!(self.event, StoreEvent::PostgresDownLong);
                sleep(if long { DOWN_LONG } else { DOWN });
                server.start();
            }
            Servers::Postgres(pair) => pair.fail_over(),
            Servers::Mariadb(pair) => {
                pair.source.kill();
                pair.promote();
            }
            Servers::Galera(cluster) => {
                cluster.member(cluster.first()).kill();
                cluster.wait_for_size(2);
            }
            Servers::Redis(sentinels) => {
                sentinels.servers[0].kill();
                sentinels.wait_for_primary(1);
            }
            Servers::Etcd(cluster) => {
                let leader = cluster.leader();
                match self.event {
                    StoreEvent::EtcdLeaderPaused => cluster.member(leader).pause(),
                    _ => cluster.member(leader).kill(),
                }
                cluster.wait_for_leader_other_than(leader);
            }
        }
    }
}

impl Drop for DeployedStore {
    fn drop(&mut self) {
        // A stopped process could not be ended.
        if let (Servers::Etcd(cluster), StoreEvent::EtcdLeaderPaused) = (&self.servers, self.event)
        {
            (0..3).for_each(|member| cluster.member(member).resume());
        }
    }
}
