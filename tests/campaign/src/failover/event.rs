//! The events of a measurement: restarts and failovers of a store.

use std::thread::sleep;
use std::time::Duration;

use flakeid_test_servers::{
    EtcdCluster, GaleraCluster, KINDS, Kind, MariadbPair, PostgresPair, RedisSentinels, Server,
};

/// A restart or a failover.
#[derive(Clone, Copy, Debug)]
pub(super) enum StoreEvent {
    /// A single server is killed and started.
    Killed(&'static Kind),
    /// A single server is stopped and started.
    Restarted(&'static Kind),
    /// A single server is down for longer than a window.
    DownLong(&'static Kind),
    PostgresSynchronous,
    PostgresAsynchronous,
    MariadbPromoted,
    GaleraKilled,
    RedisSentinel,
    EtcdLeaderKilled,
    EtcdLeaderPaused,
}

/// The time for which a server is down before the measurement starts it again.
const DOWN: Duration = Duration::from_millis(500);
/// A downtime that exceeds a window.
const DOWN_LONG: Duration = Duration::from_secs(12);

impl StoreEvent {
    pub(super) fn all() -> Vec<Self> {
        let mut all: Vec<_> = KINDS.iter().map(Self::Killed).collect();
        let restarted = |kind: &&Kind| ["postgres", "mysql", "etcd"].contains(&kind.name);
        all.extend(KINDS.iter().filter(restarted).map(Self::Restarted));
        all.extend([
            Self::DownLong(&KINDS[0]),
            Self::PostgresSynchronous,
            Self::PostgresAsynchronous,
            Self::MariadbPromoted,
            Self::GaleraKilled,
            Self::RedisSentinel,
            Self::EtcdLeaderKilled,
            Self::EtcdLeaderPaused,
        ]);
        all
    }

    pub(super) fn name(self) -> String {
        match self {
            Self::Killed(kind) => format!("{}: killed and started", kind.title),
            Self::Restarted(kind) => format!("{}: restarted", kind.title),
            Self::DownLong(kind) => format!("{}: down for longer than a window", kind.title),
            Self::PostgresSynchronous => "PostgreSQL: synchronous standby promoted".into(),
            Self::PostgresAsynchronous => "PostgreSQL: asynchronous standby promoted".into(),
            Self::MariadbPromoted => "MariaDB: replica promoted".into(),
            Self::GaleraKilled => "Galera, three members: first one killed".into(),
            Self::RedisSentinel => "Redis: failover by Sentinel".into(),
            Self::EtcdLeaderKilled => "etcd, three members: leader killed".into(),
            Self::EtcdLeaderPaused => "etcd, three members: leader stopped".into(),
        }
    }

    /// Whether every machine with the packages for the tests can start the store.
    pub(super) fn is_installed(self) -> bool {
        !matches!(self, Self::Killed(kind) if !kind.is_installed())
    }

    /// Starts the store for this event.
    pub(super) fn deploy(self) -> DeployedStore {
        let servers = match self {
            Self::Killed(kind) | Self::Restarted(kind) | Self::DownLong(kind) => {
                Servers::One((kind.start)())
            }
            Self::PostgresSynchronous => Servers::Postgres(PostgresPair::new(true)),
            Self::PostgresAsynchronous => Servers::Postgres(PostgresPair::new(false)),
            Self::MariadbPromoted => Servers::Mariadb(MariadbPair::new()),
            Self::GaleraKilled => Servers::Galera(GaleraCluster::with_default_options()),
            Self::RedisSentinel => Servers::Redis(Box::new(RedisSentinels::new())),
            Self::EtcdLeaderKilled | Self::EtcdLeaderPaused => Servers::Etcd(EtcdCluster::new()),
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
                    StoreEvent::Killed(_) => server.kill(),
                    _ => server.stop(),
                }
                let long = matches!(self.event, StoreEvent::DownLong(_));
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
