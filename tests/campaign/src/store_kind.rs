//! The kinds of stores that a campaign can run on.

use clap::ValueEnum;

/// What `--store` accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StoreKind {
    All,
    Sqlite,
    Postgres,
    Mysql,
    Redis,
    Etcd,
}

impl StoreKind {
    const EACH: [Self; 5] = [Self::Sqlite, Self::Postgres, Self::Mysql, Self::Redis, Self::Etcd];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
            Self::Mysql => "mysql",
            Self::Redis => "redis",
            Self::Etcd => "etcd",
        }
    }

    /// Its name for people.
    pub(crate) const fn title(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Sqlite => "SQLite",
            Self::Postgres => "PostgreSQL",
            Self::Mysql => "MariaDB",
            Self::Redis => "Redis",
            Self::Etcd => "etcd",
        }
    }

    /// Every kind for `All`, and otherwise only this one.
    pub(crate) fn each(self) -> impl Iterator<Item = Self> + Send {
        Self::EACH.into_iter().filter(move |kind| self == Self::All || self == *kind)
    }
}
