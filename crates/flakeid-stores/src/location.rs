//! Where a store is, and the connection to it.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use flakeid_core::{Clock, Error};

use flakeid_protocol::Lessor;
use flakeid_protocol::store::{Fault, Store};
use flakeid_protocol::url::redact;

/// Where a store is: a URL such as `sqlite:///var/lib/flakeid/flakeid.db`,
/// `postgresql://user:password@host/database`, `mysql://…`, `redis://…` or `etcd://…`; or a broker's,
/// `http://host:7117`.
///
/// `Display` and `Debug` leave the password out.
///
/// ```
/// # #[cfg(feature = "redis")] {
/// use flakeid_stores::Location;
///
/// let store = Location::parse("redis://:secret@ids.example/0")?;
/// assert_eq!(store.to_string(), "redis://ids.example/0");
/// assert!(!store.is_broker());
/// # }
/// # Ok::<(), flakeid_core::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Location {
    kind: Kind,
    url: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Sqlite,
    Postgres,
    Mysql,
    Redis,
    Etcd,
    Broker,
}

impl Kind {
    /// (scheme, kind, the feature it needs, whether this build has it).
    const SCHEMES: [(&'static str, Self, &'static str, bool); 14] = [
        ("sqlite", Self::Sqlite, "sqlite", cfg!(feature = "sqlite")),
        ("postgresql", Self::Postgres, "postgres", cfg!(feature = "postgres")),
        ("postgres", Self::Postgres, "postgres", cfg!(feature = "postgres")),
        ("mysql", Self::Mysql, "mysql", cfg!(feature = "mysql")),
        ("mariadb", Self::Mysql, "mysql", cfg!(feature = "mysql")),
        ("redis", Self::Redis, "redis", cfg!(feature = "redis")),
        ("rediss", Self::Redis, "redis", cfg!(feature = "redis")),
        ("redis+sentinel", Self::Redis, "redis", cfg!(feature = "redis")),
        ("rediss+sentinel", Self::Redis, "redis", cfg!(feature = "redis")),
        ("etcd", Self::Etcd, "etcd", cfg!(feature = "etcd")),
        ("etcds", Self::Etcd, "etcd", cfg!(feature = "etcd")),
        ("http", Self::Broker, "http", cfg!(feature = "http")),
        ("https", Self::Broker, "http", cfg!(feature = "http")),
        ("http+unix", Self::Broker, "http", cfg!(feature = "http")),
    ];
}

impl Location {
    /// Reads a URL; does not connect.
    ///
    /// # Errors
    /// [`InvalidOption`](flakeid_core::ErrorKind::InvalidOption) for an unknown scheme, or one whose
    /// feature this build lacks. The rest of the URL is read when connecting.
    pub fn parse(url: &str) -> Result<Self, Error> {
        let known = || Kind::SCHEMES.map(|(scheme, ..)| scheme).join(", ");
        let Some((scheme, _)) = url.split_once("://") else {
            return Err(Error::invalid_option(
                "store",
                &format!(
                    "not the URL of a store; it must begin with one of {}, followed by ://",
                    known()
                ),
            ));
        };
        let found = Kind::SCHEMES.into_iter().find(|(name, ..)| *name == scheme);
        match found {
            Some((_, kind, _, true)) => Ok(Self { kind, url: url.into() }),
            Some((_, _, feature, false)) => Err(Error::invalid_option(
                "store",
                &format!("{scheme}:// needs a build of flakeid with the feature {feature}"),
            )),
            None => {
                let shown: String = scheme.chars().take(40).collect();
                Err(Error::invalid_option(
                    "store",
                    &format!("{shown:?} is not a kind of store: use one of {}", known()),
                ))
            }
        }
    }

    /// The URL as given, password and all: for the drivers.
    #[must_use]
    pub fn as_url(&self) -> &str {
        &self.url
    }

    /// The file of a store in a file, its folder without symbolic links. `None` for a server, and for a URL that
    /// names no file in a folder that is there, which connecting refuses.
    #[must_use]
    pub fn file(&self) -> Option<PathBuf> {
        match self.kind {
            #[cfg(feature = "sqlite")]
            Kind::Sqlite => super::sqlite::file(&self.url),
            _ => None,
        }
    }

    /// Connects. `clock` is this host's, which is also the store's where the store has none.
    ///
    /// # Errors
    /// [`Fault::Unavailable`] within the connection time-out of 2 s; [`Fault::Rejected`] for a wrong
    /// password, a file that cannot be used and the like.
    pub fn connect(&self, clock: &Arc<dyn Clock>) -> Result<Box<dyn Store>, Fault> {
        self.open(clock, true)
    }

    /// Connects to whoever grants the leases: the store itself, or a broker.
    ///
    /// # Errors
    /// As [`connect`](Self::connect).
    pub fn connect_lessor(&self, clock: &Arc<dyn Clock>) -> Result<Box<dyn Lessor>, Fault> {
        match self.kind {
            #[cfg(feature = "http")]
            Kind::Broker => super::http::connect(&self.url),
            _ => Ok(Box::new(self.connect(clock)?)),
        }
    }

    /// Connects to a broker, to read which leases it has granted.
    ///
    /// # Errors
    /// [`Fault::Rejected`] for a store, and for a URL that makes no sense.
    #[cfg(feature = "http")]
    pub fn broker_reader(&self) -> Result<super::http::BrokerReader, Fault> {
        match self.kind {
            Kind::Broker => super::http::BrokerReader::new(&self.url),
            _ => Err(Fault::Rejected(format!("{self} is a store, not a broker"))),
        }
    }

    /// Whether this is a broker, which grants leases and is no store.
    #[must_use]
    pub fn is_broker(&self) -> bool {
        self.kind == Kind::Broker
    }

    /// Whether this may be more than one broker: several addresses, or one behind which there are
    /// several. A Unix socket leads to one.
    #[must_use]
    pub fn may_be_several_brokers(&self) -> bool {
        self.is_broker() && !self.url.starts_with("http+unix:")
    }

    /// As [`connect`](Self::connect), but never creates the store: for tools that look after one. Only
    /// embedded stores are ever created by connecting.
    ///
    /// # Errors
    /// As [`connect`](Self::connect); [`Fault::Rejected`] if there is no store yet.
    pub fn connect_existing(&self, clock: &Arc<dyn Clock>) -> Result<Box<dyn Store>, Fault> {
        self.open(clock, false)
    }

    fn open(&self, clock: &Arc<dyn Clock>, creates: bool) -> Result<Box<dyn Store>, Fault> {
        match self.kind {
            #[cfg(feature = "sqlite")]
            Kind::Sqlite => super::sqlite::connect(&self.url, clock, creates),
            #[cfg(feature = "postgres")]
            Kind::Postgres => super::postgres::connect(&self.url),
            #[cfg(feature = "mysql")]
            Kind::Mysql => super::mysql::connect(&self.url),
            #[cfg(feature = "redis")]
            Kind::Redis => super::redis::connect(&self.url),
            #[cfg(feature = "etcd")]
            Kind::Etcd => super::etcd::connect(&self.url),
            Kind::Broker => Err(Fault::Rejected(format!(
                "{self} is a broker, which only grants leases: for this, name the store that it \
                 leases from"
            ))),
            #[cfg(not(all(
                feature = "sqlite",
                feature = "postgres",
                feature = "mysql",
                feature = "redis",
                feature = "etcd"
            )))]
            _ => {
                let _ = (clock, creates);
                Err(Fault::Rejected(format!("this build cannot use {self}")))
            }
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&redact(&self.url))
    }
}

impl fmt::Debug for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Location({self})")
    }
}
