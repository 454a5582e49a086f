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
mod host_clock;
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

pub use daemon::Daemon;
pub use dynamodb::DynamoDbServer;
pub use etcd::EtcdServer;
pub use etcd_cluster::EtcdCluster;
pub use galera_cluster::GaleraCluster;
pub use host_clock::HostClock;
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
use std::time::Duration;

/// A private server.
pub trait Server: Send + Sync {
    /// The program of the server.
    fn daemon(&self) -> &Daemon;

    /// The URL to open the store with.
    fn url(&self) -> String;

    /// The port of the server.
    fn port(&self) -> u16 {
        let url = self.url();
        let port = url.rsplit_once("127.0.0.1:").and_then(|(_, rest)| {
            rest.split(|c: char| !c.is_ascii_digit()).next().and_then(|digits| digits.parse().ok())
        });
        port.unwrap_or_else(|| panic!("{url} has no port on 127.0.0.1"))
    }

    /// The URL to open the store with through a proxy, which listens on the port. All such URLs lead to one store.
    fn url_at(&self, port: u16) -> String {
        self.url().replace(&format!("127.0.0.1:{}", self.port()), &format!("127.0.0.1:{port}"))
    }

    /// Holds the locks that every transaction needs for some time.
    ///
    /// # Errors
    /// If the store refuses the statement, or if it has no locks that a client could hold.
    fn lock(&self, _duration: Duration) -> Result<(), String> {
        Err("this store has no locks that a client could hold".into())
    }

    /// Starts the server and waits until it responds.
    fn start(&self);

    /// Stops the server as its own tools do.
    fn stop(&self) {
        self.daemon().stop(libc::SIGTERM);
    }

    /// Kills the server without warning.
    fn kill(&self) {
        self.daemon().kill();
    }

    /// Stops the process with SIGSTOP, which the process cannot detect.
    fn pause(&self) {
        self.daemon().signal(libc::SIGSTOP);
    }

    /// Continues the process with SIGCONT after [`pause`](Self::pause).
    fn resume(&self) {
        self.daemon().signal(libc::SIGCONT);
    }

    /// The log of a server that has ended although nothing stopped or killed it.
    fn ended(&self) -> Option<String> {
        self.daemon().ended()
    }

    /// The data directory, which can be copied while the server is stopped.
    fn data(&self) -> PathBuf {
        self.daemon().data()
    }
}

/// A kind of server.
#[derive(Debug)]
pub struct Kind {
    /// The name, which is also that of the store's folder.
    pub name: &'static str,
    /// The name in tables.
    pub title: &'static str,
    /// The way in which the store writes rows.
    pub style: Style,
    /// The address of such a store in the guide.
    pub example: &'static str,
    /// Starts an empty server.
    pub start: fn() -> Box<dyn Server>,
}

/// The way in which a store writes rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// The store has locks that a client can hold, and its clock has milliseconds.
    Locks,
    /// The store has neither locks nor milliseconds.
    Versions,
    /// The store keeps a namespace in one document, and its clock has no milliseconds. It has no runs of a server: only
    /// a restore of the document begins another run. A copy of the server's files does not restore a document as the
    /// tools of users do.
    Documents,
}

/// The kinds of servers.
pub static KINDS: [Kind; 7] = [
    kind::<PostgresServer>(
        "postgres",
        "PostgreSQL",
        Style::Locks,
        "postgresql://orders:secret@db.example/orders",
    ),
    kind::<MariadbServer>(
        "mysql",
        "MariaDB",
        Style::Locks,
        "mysql://orders:secret@db.example/orders",
    ),
    kind::<RedisServer>("redis", "Redis", Style::Locks, "redis://:secret@cache.example/0"),
    kind::<EtcdServer>("etcd", "etcd", Style::Versions, "etcd://etcd.example:2379"),
    kind::<DynamoDbServer>(
        "dynamodb",
        "DynamoDB (dynalite)",
        Style::Documents,
        "dynamodb://flakeid?region=eu-central-1",
    ),
    kind::<S3Server>(
        "s3",
        "S3 (versitygw)",
        Style::Documents,
        "s3://my-bucket/flakeid?region=eu-central-1",
    ),
    kind::<KubernetesServer>(
        "kubernetes",
        "Kubernetes",
        Style::Documents,
        "kubernetes://example/flakeid",
    ),
];

const fn kind<T: Server + Default + 'static>(
    name: &'static str,
    title: &'static str,
    style: Style,
    example: &'static str,
) -> Kind {
    Kind { name, title, style, example, start: || Box::new(T::default()) }
}

impl Kind {
    /// Whether every machine with the packages for the tests can start the server. Only `cargo xtask kubernetes` builds
    /// the API server of Kubernetes.
    #[must_use]
    pub fn is_installed(&self) -> bool {
        self.name != "kubernetes"
    }
}
