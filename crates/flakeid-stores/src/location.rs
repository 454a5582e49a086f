//! The location of a store or a broker, and functions that connect to stores and brokers.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use flakeid_core::{Clock, Error};

use crate::backend::{Backend, Connect, Kind, OldDocuments, Place, longest_age_ms};
use crate::{KINDS, foreign};
use flakeid_protocol::store::{Fault, Store};
use flakeid_protocol::url::redact;
use flakeid_protocol::{Bounds, Lessor};

/// The URL of a store, such as `sqlite:///var/lib/flakeid/flakeid.db`, `postgresql://user:password@host/database` or
/// `s3://bucket/prefix`, or of a broker, such as `http://host:7117`.
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
    url: String,
    backend: &'static Backend,
}

impl Location {
    /// Parses the scheme of a URL. The rest of the URL is parsed later, when a connection is opened.
    ///
    /// # Errors
    /// [`InvalidOption`](flakeid_core::ErrorKind::InvalidOption) for an unknown scheme, and for a scheme whose feature
    /// this build lacks.
    pub fn parse(url: &str) -> Result<Self, Error> {
        // Languages whose strings may contain a NUL pass it on, or another control character instead.
        if url.contains(char::is_control) {
            let reason =
                "the URL contains a control character, such as a NUL or a newline; remove it";
            return Err(Error::invalid_option("store", reason));
        }
        let known =
            || KINDS.iter().flat_map(|kind| kind.schemes).copied().collect::<Vec<_>>().join(", ");
        let find = |scheme: &str| KINDS.iter().find(|kind| kind.schemes.contains(&scheme));
        let is_known = |scheme: &str| find(scheme).is_some();
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
        match find(scheme) {
            Some(Kind { backend: Some(backend), .. }) => Ok(Self { url: url.into(), backend }),
            Some(Kind { feature, .. }) => Err(Error::invalid_option(
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
        self.backend.file?(&self.url)
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
        match self.backend.connect {
            Connect::Broker(connect) => connect(&self.url),
            Connect::Store(_) => Ok(Box::new(self.connect(clock)?)),
        }
    }

    /// Creates a reader of the leases that a broker has granted.
    ///
    /// # Errors
    /// [`Fault::Rejected`] for the URL of a store, and for an invalid URL.
    #[cfg(feature = "http")]
    #[doc(hidden)]
    pub fn broker_reader(&self) -> Result<super::http::BrokerReader, Fault> {
        if self.is_broker() {
            super::http::BrokerReader::new(&self.url)
        } else {
            Err(Fault::Rejected(format!("{self} is a store, not a broker")))
        }
    }

    /// Returns the age, in milliseconds, up to which older data that are restored may go unnoticed in a namespace with
    /// these bounds. Returns `None` for stores that notice older data of every age.
    #[doc(hidden)]
    #[must_use]
    pub fn unnoticed_age_ms(&self, bounds: &Bounds) -> Option<u64> {
        let limits = self.backend.documents.filter(|limits| limits.old == OldDocuments::Restored);
        limits.map(|_| longest_age_ms(bounds).cast_unsigned())
    }

    /// Whether this is the URL of a broker, which grants leases but is not a store.
    #[must_use]
    pub fn is_broker(&self) -> bool {
        matches!(self.backend.connect, Connect::Broker(_))
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
        match self.backend.connect {
            Connect::Store(connect) => connect(&Place { url: &self.url, clock, creates }),
            Connect::Broker(_) => Err(Fault::Rejected(format!(
                "{self} is a broker, which only grants leases: for this, name the store that it \
                 leases from"
            ))),
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
