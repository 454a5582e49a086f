//! Private servers for tests: each on a free loopback port, with its data in a temporary directory,
//! stopped by its own process ID. Nothing is shared with a server that the machine may run already.
//!
//! `FLAKEID_TEST_POSTGRES_URL` and the like point tests to a running server instead; what needs a
//! private one (crashes, backups) then fails with a message that says so.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, reason = "tests only")]

mod account;
mod daemon;
mod etcd;
mod etcd_cluster;
mod galera_cluster;
mod mariadb;
mod mariadb_pair;
mod mysql_programs;
mod other_service;
mod peer_network;
mod pgbouncer;
mod port;
mod postgres;
mod postgres_pair;
mod process;
mod proxy;
mod redis;
mod redis_cluster;
mod redis_sentinels;

pub use etcd::EtcdServer;
pub use etcd_cluster::EtcdCluster;
pub use galera_cluster::GaleraCluster;
pub use mariadb::MariadbServer;
pub use mariadb_pair::MariadbPair;
pub use other_service::{ListeningService, OtherService};
pub use pgbouncer::PgBouncer;
pub use port::free_port;
pub use postgres::PostgresServer;
pub use postgres_pair::PostgresPair;
pub use process::Process;
pub use proxy::Proxy;
pub use redis::RedisServer;
pub use redis_cluster::RedisCluster;
pub use redis_sentinels::{RedisSentinel, RedisSentinels};

use std::path::PathBuf;

/// A private server.
pub trait Server: Send + Sync {
    /// What the store is opened with.
    fn url(&self) -> String;

    /// Starts it and waits until it answers.
    fn start(&self);

    /// Stops it the way its own tools do.
    fn stop(&self);

    /// Kills it without warning.
    fn kill(&self);

    /// Stops it for a while without its noticing (SIGSTOP), and lets it go on (SIGCONT).
    fn pause(&self);

    /// See [`pause`](Self::pause).
    fn resume(&self);

    /// Where its data is: to be copied while it is stopped.
    fn data(&self) -> PathBuf;
}
