//! The kinds of stores for a campaign.

use std::io;
use std::sync::LazyLock;

use clap::ValueEnum;
use clap::builder::PossibleValue;
use flakeid_test_servers::{KINDS, Kind};

/// The values of `--store`.
#[derive(Clone, Copy, Debug)]
pub(crate) enum StoreKind {
    /// All kinds, one after another.
    All,
    /// All kinds that are not clusters.
    Servers,
    /// All kinds with several servers.
    Clusters,
    /// One kind for each way of writing rows: SQL (`SQLite`), optimistic transactions (Redis), whole documents (S3),
    /// and the memory of brokers (on `PostgreSQL`).
    Samples,
    Sqlite,
    /// A single server. Only its name selects a kind that is not installed everywhere.
    Server(&'static Kind),
    /// Two brokers in front of one server.
    Broker,
    /// A primary and its synchronous standby.
    PostgresStandby,
    /// Three members of a Galera cluster.
    Galera,
    /// A primary and its replica, with three sentinels.
    RedisSentinel,
    /// An etcd cluster with three members.
    EtcdCluster,
}

/// The kinds of stores, and before them the values that select several.
static VALUES: LazyLock<Vec<StoreKind>> = LazyLock::new(|| {
    let several = [StoreKind::All, StoreKind::Servers, StoreKind::Clusters, StoreKind::Samples];
    let clusters = [
        StoreKind::Broker,
        StoreKind::PostgresStandby,
        StoreKind::Galera,
        StoreKind::RedisSentinel,
        StoreKind::EtcdCluster,
    ];
    let servers = KINDS.iter().map(StoreKind::Server);
    several.into_iter().chain([StoreKind::Sqlite]).chain(servers).chain(clusters).collect()
});

impl StoreKind {
    /// Returns the name, and the name in tables.
    const fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::All => ("all", "all"),
            Self::Servers => ("servers", "servers"),
            Self::Clusters => ("clusters", "clusters"),
            Self::Samples => ("samples", "samples"),
            Self::Sqlite => ("sqlite", "SQLite"),
            Self::Server(kind) => (kind.name, kind.title),
            Self::Broker => ("broker", "two brokers on PostgreSQL"),
            Self::PostgresStandby => ("postgres-standby", "PostgreSQL, synchronous standby"),
            Self::Galera => ("galera", "Galera, three members"),
            Self::RedisSentinel => ("redis-sentinel", "Redis, Sentinel, `replicas=1`"),
            Self::EtcdCluster => ("etcd-cluster", "etcd, three members"),
        }
    }

    pub(crate) const fn name(self) -> &'static str {
        self.names().0
    }

    pub(crate) const fn title(self) -> &'static str {
        self.names().1
    }

    /// Returns the kind of the single server.
    pub(crate) fn server(self) -> io::Result<&'static Kind> {
        match self {
            Self::Server(kind) => Ok(kind),
            other => {
                let name = other.name();
                Err(io::Error::other(format!("{name} is not a store with a single server")))
            }
        }
    }

    const fn is_cluster(self) -> bool {
        matches!(
            self,
            Self::PostgresStandby | Self::Galera | Self::RedisSentinel | Self::EtcdCluster
        )
    }

    /// Returns the kinds that this value selects.
    pub(crate) fn each(self) -> impl Iterator<Item = Self> + Send {
        let is_installed = |kind: &Self| kind.server().map_or(true, Kind::is_installed);
        VALUES[4..].iter().copied().filter(move |kind| match self {
            Self::All => is_installed(kind),
            Self::Servers => !kind.is_cluster() && is_installed(kind),
            Self::Clusters => kind.is_cluster(),
            Self::Samples => ["sqlite", "redis", "s3", "broker"].contains(&kind.name()),
            one => one == *kind,
        })
    }
}

impl PartialEq for StoreKind {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl ValueEnum for StoreKind {
    fn value_variants<'a>() -> &'a [Self] {
        &VALUES
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name()))
    }
}
