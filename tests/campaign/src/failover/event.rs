//! What happens to a store.

use std::thread::sleep;
use std::time::Duration;

use flakeid_test_servers::{
    EtcdCluster, EtcdServer, MariadbPair, MariadbServer, PostgresPair, PostgresServer,
    RedisSentinels, RedisServer, Server,
};

/// A restart or a failover.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    PostgresRestarted,
    PostgresKilled,
    PostgresSynchronous,
    PostgresAsynchronous,
    MariadbRestarted,
    MariadbPromoted,
    RedisKilled,
    RedisSentinel,
    EtcdRestarted,
    EtcdLeaderKilled,
    EtcdLeaderPaused,
    PostgresDownLong,
}

/// How long a server is down when it is started again by hand.
const DOWN: Duration = Duration::from_millis(500);
/// Longer than a window.
const DOWN_LONG: Duration = Duration::from_secs(12);

impl Event {
    pub(super) const ALL: [Self; 12] = [
        Self::PostgresRestarted,
        Self::PostgresKilled,
        Self::PostgresSynchronous,
        Self::PostgresAsynchronous,
        Self::PostgresDownLong,
        Self::MariadbRestarted,
        Self::MariadbPromoted,
        Self::RedisKilled,
        Self::RedisSentinel,
        Self::EtcdRestarted,
        Self::EtcdLeaderKilled,
        Self::EtcdLeaderPaused,
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
            Self::RedisKilled => "Redis: killed and started",
            Self::RedisSentinel => "Redis: failover by Sentinel",
            Self::EtcdRestarted => "etcd, one member: restarted",
            Self::EtcdLeaderKilled => "etcd, three members: leader killed",
            Self::EtcdLeaderPaused => "etcd, three members: leader stopped",
        }
    }

    /// Starts the store that it happens to.
    pub(super) fn deploy(self) -> Deployed {
        let store = match self {
            Self::PostgresRestarted | Self::PostgresKilled | Self::PostgresDownLong => {
                Store::One(Box::new(PostgresServer::new()))
            }
            Self::PostgresSynchronous => Store::Postgres(PostgresPair::new(true)),
            Self::PostgresAsynchronous => Store::Postgres(PostgresPair::new(false)),
            Self::MariadbRestarted => Store::One(Box::new(MariadbServer::new())),
            Self::MariadbPromoted => Store::Mariadb(MariadbPair::new()),
            Self::RedisKilled => Store::One(Box::new(RedisServer::new())),
            Self::RedisSentinel => Store::Redis(Box::new(RedisSentinels::new())),
            Self::EtcdRestarted => Store::One(Box::new(EtcdServer::new())),
            Self::EtcdLeaderKilled | Self::EtcdLeaderPaused => Store::Etcd(EtcdCluster::new()),
        };
        Deployed { event: self, store }
    }
}

enum Store {
    One(Box<dyn Server>),
    Postgres(PostgresPair),
    Mariadb(MariadbPair),
    Redis(Box<RedisSentinels>),
    Etcd(EtcdCluster),
}

/// A store that something is going to happen to.
pub(super) struct Deployed {
    event: Event,
    store: Store,
}

impl Deployed {
    pub(super) fn url(&self) -> String {
        match &self.store {
            Store::One(server) => server.url(),
            Store::Postgres(pair) => pair.url(""),
            Store::Mariadb(pair) => pair.url(""),
            Store::Redis(sentinels) => sentinels.url(""),
            Store::Etcd(cluster) => cluster.url(),
        }
    }

    /// Lets it happen, and returns once the store answers again.
    pub(super) fn strike(&self) {
        match &self.store {
            Store::One(server) => {
                match self.event {
                    Event::PostgresKilled | Event::RedisKilled => server.kill(),
                    _ => server.stop(),
                }
                let long = matches!(self.event, Event::PostgresDownLong);
                sleep(if long { DOWN_LONG } else { DOWN });
                server.start();
            }
            Store::Postgres(pair) => pair.fail_over(),
            Store::Mariadb(pair) => {
                pair.source.kill();
                pair.promote();
            }
            Store::Redis(sentinels) => {
                sentinels.servers[0].kill();
                sentinels.wait_for_primary(1);
            }
            Store::Etcd(cluster) => {
                let leader = cluster.leader();
                match self.event {
                    Event::EtcdLeaderPaused => cluster.member(leader).pause(),
                    _ => cluster.member(leader).kill(),
                }
                cluster.wait_for_leader_other_than(leader);
            }
        }
    }
}

impl Drop for Deployed {
    fn drop(&mut self) {
        // A process that is stopped could not be ended.
        if let (Store::Etcd(cluster), Event::EtcdLeaderPaused) = (&self.store, self.event) {
            (0..3).for_each(|member| cluster.member(member).resume());
        }
    }
}
