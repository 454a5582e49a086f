//! Private servers for tests. Each one listens on a free loopback port, stores its data in a
//! temporary directory, and is stopped by its own process ID. They share nothing with servers that
//! already run on the machine.
//!
//! Variables such as `FLAKEID_TEST_POSTGRES_URL` make tests use a running server instead. Tests
//! that need a private server, for crashes or backups, then fail with a message that gives this
//! reason.

#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic, reason = "tests only")]

mod account;
mod daemon;
mod dynamodb;
mod etcd;
mod etcd_cluster;
mod galera_cluster;
mod home;
mod installed;
mod kubernetes;
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
mod s3;
mod shared;
mod template;

pub use dynamodb::DynamoDbServer;
pub use etcd::EtcdServer;
pub use etcd_cluster::EtcdCluster;
pub use galera_cluster::GaleraCluster;
pub use kubernetes::KubernetesServer;
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
pub use s3::S3Server;
pub use shared::Shared;

use std::path::PathBuf;

/// A private server.
pub trait Server: Send + Sync {
    /// The URL to open the store with.
    fn url(&self) -> String;

    /// Starts the server and waits until it responds.
    fn start(&self);

    /// Stops the server as its own tools do.
    fn stop(&self);

    /// Kills the server without warning.
    fn kill(&self);

    /// Stops the process with SIGSTOP, which the process cannot detect.
    fn pause(&self);

    /// Continues the process with SIGCONT after [`pause`](Self::pause).
    fn resume(&self);

    /// The log of a server that has ended although nothing stopped or killed it.
    fn ended(&self) -> Option<String>;

    /// The data directory, which can be copied while the server is stopped.
    fn data(&self) -> PathBuf;
}
