//! The location of a store or a broker, and functions that connect to stores and brokers.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use flakeid_core::{Clock, Error};

use crate::foreign;
use flakeid_protocol::store::{Fault, Store};
use flakeid_protocol::url::redact;
use flakeid_protocol::{Bounds, Lessor};

/// The URL of a store, such as `sqlite:///var/lib/flakeid/flakeid.db`, `postgresql://user:password@host/database`,
/// `mysql://…`, `redis://…`, `etcd://…`, `kubernetes://…`, `s3://…` or `dynamodb://…`, or of a broker, such as `http://host:7117`.
///
/// `Display` and `Debug` omit the password.
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
    Kubernetes,
    S3,
    DynamoDb,
    Broker,
}

impl Kind {
    /// The known URL schemes. Each entry contains the scheme, the kind of store or broker, the Cargo feature, and
    /// whether this build includes the feature.
    const SCHEMES: [(&'static str, Self, &'static str, bool); 17] = [
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
        ("kubernetes", Self::Kubernetes, "kubernetes", cfg!(feature = "kubernetes")),
        ("s3", Self::S3, "s3", cfg!(feature = "s3")),
        ("dynamodb", Self::DynamoDb, "dynamodb", cfg!(feature = "dynamodb")),
        ("http", Self::Broker, "http", cfg!(feature = "http")),
        ("https", Self::Broker, "http", cfg!(feature = "http")),
        ("http+unix", Self::Broker, "http", cfg!(feature = "http")),
    ];
}

impl Location {
    /// Parses the scheme of a URL. The rest of the URL is parsed later, when a connection is opened.
    ///
    /// # Errors
    /// [`InvalidOption`](flakeid_core::ErrorKind::InvalidOption) for an unknown scheme, and for a scheme whose feature
    /// this build lacks.
    pub fn parse(url: &str) -> Result<Self, Error> {
        let known = || Kind::SCHEMES.map(|(scheme, ..)| scheme).join(", ");
        let is_known = |scheme: &str| Kind::SCHEMES.iter().any(|(known, ..)| *known == scheme);
        let scheme = url.split_once("://").map(|(scheme, _)| scheme);
        if let Some(problem) =
            foreign::problem(url, is_known).filter(|_| !scheme.is_some_and(is_known))
        {
            return Err(Error::invalid_option("store", &problem));
        }
        let Some(scheme) = scheme else {
            return Err(Error::invalid_option(
                "store",
                &format!(
                    "is not the URL of a store; the URL must begin with one of {}, followed by ://",
                    known()
                ),
            ));
        };
        let found = Kind::SCHEMES.into_iter().find(|(name, ..)| *name == scheme);
        match found {
            Some((_, kind, _, true)) => Ok(Self { kind, url: url.into() }),
            Some((_, _, feature, false)) => Err(Error::invalid_option(
                "store",
                &format!(
                    "this build of flakeid does not include {scheme}://; enable the Cargo feature `{feature}`, \
                     install the whole command with `cargo install --locked flakeid-cli`, link the full C library \
                     `flakeid` instead of `flakeid-slim` (in Go, build with `-tags flakeid_static`), or lease from a \
                     broker, which `flakeid serve` runs"
                ),
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

    /// The URL as given by the user, including the password, which database drivers need.
    #[must_use]
    pub fn as_url(&self) -> &str {
        &self.url
    }

    /// Returns the path of an `SQLite` store's file, after resolving the symbolic links in the path of its folder.
    /// Returns `None` for other stores and for brokers, and if the URL does not name a file in an existing folder.
    #[must_use]
    pub fn file(&self) -> Option<PathBuf> {
        match self.kind {
            #[cfg(feature = "sqlite")]
            Kind::Sqlite => super::sqlite::file(&self.url),
            _ => None,
        }
    }

    /// Connects to the store. `clock` is this host's clock, which a store without a server uses as its own clock.
    ///
    /// # Errors
    /// [`Fault::Unavailable`] if the store does not respond within the connection timeout of 2 s; [`Fault::Rejected`]
    /// if the store refuses the connection, for example because of a wrong password or an unusable file.
    pub fn connect(&self, clock: &Arc<dyn Clock>) -> Result<Box<dyn Store>, Fault> {
        self.open(clock, true)
    }

    /// Connects to the lessor that grants the leases: the store itself, or a broker.
    ///
    /// # Errors
    /// The same errors as [`connect`](Self::connect).
    pub fn connect_lessor(&self, clock: &Arc<dyn Clock>) -> Result<Box<dyn Lessor>, Fault> {
        match self.kind {
            #[cfg(feature = "http")]
            Kind::Broker => super::http::connect(&self.url),
            _ => Ok(Box::new(self.connect(clock)?)),
        }
    }

    /// Creates a reader of the leases that a broker has granted.
    ///
    /// # Errors
    /// [`Fault::Rejected`] for the URL of a store, and for an invalid URL.
    #[cfg(feature = "http")]
    #[doc(hidden)]
    pub fn broker_reader(&self) -> Result<super::http::BrokerReader, Fault> {
        match self.kind {
            Kind::Broker => super::http::BrokerReader::new(&self.url),
            _ => Err(Fault::Rejected(format!("{self} is a store, not a broker"))),
        }
    }

    /// Returns the age, in milliseconds, up to which older data that are restored may go unnoticed in a namespace with
    /// these bounds. Returns `None` for stores that notice older data of every age.
    #[doc(hidden)]
    #[must_use]
    #[cfg_attr(
        not(any(feature = "kubernetes", feature = "s3")),
        allow(unused_variables, reason = "only these two stores need the bounds")
    )]
    pub fn unnoticed_age_ms(&self, bounds: &Bounds) -> Option<u64> {
        match self.kind {
            #[cfg(any(feature = "kubernetes", feature = "s3"))]
            Kind::Kubernetes | Kind::S3 => {
                Some(super::document::longest_age_ms(bounds).cast_unsigned())
            }
            _ => None,
        }
    }

    /// Whether this is the URL of a broker, which grants leases but is not a store.
    #[must_use]
    pub fn is_broker(&self) -> bool {
        self.kind == Kind::Broker
    }

    /// Whether this URL may lead to several brokers. A single network address may also lead to several brokers, for
    /// example through a load balancer. A Unix socket always leads to a single broker.
    #[must_use]
    pub fn may_be_several_brokers(&self) -> bool {
        self.is_broker() && !self.url.starts_with("http+unix:")
    }

    /// Connects to an existing store. Unlike [`connect`](Self::connect), this function does not create a missing
    /// embedded store. Use this function in tools that manage existing stores.
    ///
    /// # Errors
    /// The same errors as [`connect`](Self::connect); [`Fault::Rejected`] if the store does not exist.
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
            #[cfg(feature = "kubernetes")]
            Kind::Kubernetes => super::kubernetes::connect(&self.url),
            #[cfg(feature = "s3")]
            Kind::S3 => super::s3::connect(&self.url),
            #[cfg(feature = "dynamodb")]
            Kind::DynamoDb => super::dynamodb::connect(&self.url),
            Kind::Broker => Err(Fault::Rejected(format!(
                "{self} is a broker, which only grants leases: for this, name the store that it \
                 leases from"
            ))),
            #[cfg(not(all(
                feature = "sqlite",
                feature = "postgres",
                feature = "mysql",
                feature = "redis",
                feature = "etcd",
                feature = "kubernetes",
                feature = "s3",
                feature = "dynamodb"
            )))]
            _ => {
                let _ = (clock, creates);
                Err(Fault::Rejected(format!("this build of flakeid cannot use {self}")))
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
