//! The kinds of stores for a campaign.

use clap::ValueEnum;

/// The values of `--store`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
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
    Postgres,
    Mysql,
    Redis,
    Etcd,
    #[value(name = "dynamodb")]
    DynamoDb,
    S3,
    /// An API server whose program `FLAKEID_TEST_KUBE_APISERVER` names. No other value selects it.
    Kubernetes,
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

impl StoreKind {
    const EACH: [Self; 13] = [
        Self::Sqlite,
        Self::Postgres,
        Self::Mysql,
        Self::Redis,
        Self::Etcd,
        Self::DynamoDb,
        Self::S3,
        Self::Kubernetes,
        Self::Broker,
        Self::PostgresStandby,
        Self::Galera,
        Self::RedisSentinel,
        Self::EtcdCluster,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Servers => "servers",
            Self::Clusters => "clusters",
            Self::Samples => "samples",
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
            Self::Mysql => "mysql",
            Self::Redis => "redis",
            Self::Etcd => "etcd",
            Self::DynamoDb => "dynamodb",
            Self::S3 => "s3",
            Self::Kubernetes => "kubernetes",
            Self::Broker => "broker",
            Self::PostgresStandby => "postgres-standby",
            Self::Galera => "galera",
            Self::RedisSentinel => "redis-sentinel",
            Self::EtcdCluster => "etcd-cluster",
        }
    }

    /// Returns the name of the kind in tables.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::All | Self::Servers | Self::Clusters | Self::Samples => self.name(),
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
            Self::Mysql => "MariaDB",
            Self::Redis => "Redis",
            Self::Etcd => "etcd",
            Self::DynamoDb => "DynamoDB (dynalite)",
            Self::S3 => "S3 (versitygw)",
            Self::Kubernetes => "Kubernetes",
            Self::Broker => "two brokers on PostgreSQL",
            Self::PostgresStandby => "PostgreSQL, synchronous standby",
            Self::Galera => "Galera, three members",
            Self::RedisSentinel => "Redis, Sentinel, `replicas=1`",
            Self::EtcdCluster => "etcd, three members",
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
        Self::EACH.into_iter().filter(move |kind| match self {
            Self::All => *kind != Self::Kubernetes,
            Self::Servers => !kind.is_cluster() && *kind != Self::Kubernetes,
            Self::Clusters => kind.is_cluster(),
            Self::Samples => matches!(kind, Self::Sqlite | Self::Redis | Self::S3 | Self::Broker),
            one => one == *kind,
        })
    }
}
