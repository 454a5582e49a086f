//! Options that select a lease store and a namespace, and connections to stores and brokers.

use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use flakeid::{CreatedNamespace, NamespaceBuilder};
use flakeid_core::{Clock, Error, Layout, SystemClock};
use flakeid_protocol::operations::{self, Listing, PastHolder, Pruned, Repair};
use flakeid_protocol::store::{Fault, Store};
use flakeid_protocol::{Acquire, Grant, Namespace, Refusal, Release, Row};
use flakeid_stores::Location;
#[cfg(feature = "http")]
use {flakeid_core::Id, flakeid_json::HolderJson, flakeid_stores::http::BrokerReader};

use crate::args;
use crate::failure::Failure;
use crate::format::sanitize;

pub(crate) const STORE: &str = "FLAKEID_STORE";
pub(crate) const NAMESPACE: &str = "FLAKEID_NAMESPACE";

const DEFAULT_NAMESPACE: &str = "default";

fn store_help() -> String {
    let forms: Vec<&str> =
        flakeid_stores::backends().flat_map(|(_, backend)| backend.forms).copied().collect();
    let (last, others) = forms.split_last().unwrap_or((&"", &[]));
    format!(
        "Store of the leases, by URL [default: see below]\n\n\
         {} or {last}. The default is the store that root has named in /etc/flakeid/store, or else the embedded store of \
         this user, which other users do not share. The URL of a server may name several hosts: host:port,host:port. \
         Every user of this host who lists processes can see this argument: give a password in FLAKEID_STORE instead.",
        others.join(", ")
    )
}

#[derive(Args)]
pub(crate) struct StoreUrl {
    /// URL of the lease store [default: of this host, or of this user]
    #[arg(long, value_name = "URL", long_help = store_help())]
    store: Option<String>,
}

#[derive(Args)]
pub(crate) struct StoreArgs {
    #[command(flatten)]
    url: StoreUrl,

    /// Namespace (an ID space with one layout) in the store [default: default]
    #[arg(long, value_name = "NS")]
    namespace: Option<String>,
}

impl StoreUrl {
    /// Returns the store from `--store`, otherwise from the environment variable `FLAKEID_STORE`,
    /// or `None` if neither is set.
    pub(crate) fn named(&self) -> Result<Option<Location>, Failure> {
        if let Some(url) = &self.store {
            return Ok(Some(Location::parse(url)?));
        }
        let Some(url) = args::variable(STORE) else { return Ok(None) };
        Location::parse(&url).map(Some).map_err(|error| args::variable_failure(error, STORE))
    }

    /// Returns the store from `--store` or the environment, or the store of this host or of
    /// this user if neither specifies a store.
    pub(crate) fn location(&self) -> Result<Location, Failure> {
        if let Some(location) = self.named()? {
            return Ok(location);
        }
        let url = flakeid::default_store_url().map_err(|error| {
            Failure::hinted(error, format!("give --store URL, or set {STORE}=URL"))
        })?;
        Ok(Location::parse(&url)?)
    }
}

impl StoreArgs {
    /// Returns the store from `--store` or the environment. See [`StoreUrl::named`].
    pub(crate) fn named(&self) -> Result<Option<Location>, Failure> {
        self.url.named()
    }

    /// Returns the store from `--store`, the environment or this host. See [`StoreUrl::location`].
    pub(crate) fn location(&self) -> Result<Location, Failure> {
        self.url.location()
    }

    /// Whether the user specified `--store` or `--namespace`. Environment variables do not count.
    pub(crate) fn is_given(&self) -> bool {
        self.url.store.is_some() || self.has_namespace()
    }

    pub(crate) fn has_namespace(&self) -> bool {
        self.namespace.is_some()
    }

    /// Returns the namespace from `--namespace`, otherwise from the environment variable
    /// `FLAKEID_NAMESPACE`, otherwise the default namespace.
    pub(crate) fn namespace(&self) -> Result<String, Failure> {
        match &self.namespace {
            Some(name) => Ok(checked(name)?),
            None => default_namespace(),
        }
    }

    /// Connects to a store that must already exist, so that a mistyped path does not create a new
    /// store.
    pub(crate) fn connect(&self) -> Result<Connection, Failure> {
        self.open(Location::connect_existing)
    }

    /// Connects to a source of lease data: an existing store or a broker.
    pub(crate) fn connect_to_read(&self) -> Result<Source, Failure> {
        #[cfg(feature = "http")]
        if let Some(broker) = self.connect_to_broker()? {
            return Ok(Source::Broker(broker));
        }
        self.connect().map(Source::Store)
    }

    /// Connects to a broker, or returns `None` if the location is a store.
    #[cfg(feature = "http")]
    fn connect_to_broker(&self) -> Result<Option<BrokerConnection>, Failure> {
        let location = self.url.location()?;
        if !location.is_broker() {
            return Ok(None);
        }
        let namespace = self.namespace()?;
        match location.broker_reader() {
            Ok(reader) => Ok(Some(BrokerConnection { location, namespace, reader })),
            Err(fault) => Err(refused(&fault, &location, &namespace).into()),
        }
    }

    /// Connects to a store, and creates the store if it does not exist.
    pub(crate) fn connect_or_create(&self) -> Result<Connection, Failure> {
        self.open(Location::connect)
    }

    fn open(&self, connect: Connect) -> Result<Connection, Failure> {
        let namespace = self.namespace()?;
        let location = self.url.location()?;
        match connect(&location, &(Arc::new(SystemClock) as _)) {
            Ok(store) => Ok(Connection { location, namespace, store }),
            Err(fault) => Err(refused(&fault, &location, &namespace).into()),
        }
    }
}

/// Returns the namespace to use if `--namespace` is not specified: the namespace from the environment, or otherwise the
/// default namespace.
pub(crate) fn default_namespace() -> Result<String, Failure> {
    let Some(name) = args::variable(NAMESPACE) else { return Ok(DEFAULT_NAMESPACE.to_owned()) };
    checked(&name).map_err(|error| args::variable_failure(error, NAMESPACE))
}

/// Checks that a string is a valid namespace name, and returns the name.
pub(crate) fn checked(name: &str) -> Result<String, Error> {
    Namespace::check_name(name)?;
    Ok(name.to_owned())
}

type Connect = fn(&Location, &Arc<dyn Clock>) -> Result<Box<dyn Store>, Fault>;

/// A connection to one namespace of a store. The methods convert each fault to an error with a
/// code.
pub(crate) struct Connection {
    pub(crate) location: Location,
    pub(crate) namespace: String,
    store: Box<dyn Store>,
}

impl Connection {
    /// Returns the name to use in messages: `namespace orders of postgresql://db/app`.
    pub(crate) fn name(&self) -> String {
        format!("namespace {} of {}", self.namespace, self.location)
    }

    /// Whether the store can detect by itself that one of its namespaces was lost.
    pub(crate) fn detects_its_losses(&self) -> bool {
        self.store.creates_namespaces()
    }

    /// Returns the namespace and its rows, or `None` if the namespace does not exist.
    pub(crate) fn find(&mut self) -> Result<Option<Listing>, Failure> {
        match self.store.is_prepared() {
            Ok(true) => {}
            Ok(false) => return Ok(None),
            Err(fault) => return Err(self.failure(&fault)),
        }
        match operations::list(self.store.as_mut(), &self.namespace) {
            Ok(listing) => Ok(Some(listing)),
            Err(Fault::Refused(Refusal::MissingNamespace)) => Ok(None),
            Err(fault) => Err(self.failure(&fault)),
        }
    }

    pub(crate) fn list(&mut self) -> Result<Listing, Failure> {
        self.run(operations::list)
    }

    /// Creates the namespace, which the store has never had before.
    pub(crate) fn init(&mut self, wanted: &Namespace) -> Result<Namespace, Failure> {
        self.run(|store, _| operations::init(store, wanted))
    }

    /// Creates the namespace that the builder describes, unless it exists.
    pub(crate) fn create(
        &mut self,
        builder: &NamespaceBuilder,
    ) -> Result<CreatedNamespace, Failure> {
        Ok(builder.create_on(self.store.as_mut())?)
    }

    pub(crate) fn repair(&mut self, node: u64, repair: Repair) -> Result<Option<Row>, Failure> {
        self.run(|store, namespace| operations::repair(store, namespace, node, repair))
    }

    pub(crate) fn acquire(&mut self, request: &Acquire) -> Result<Grant, Failure> {
        let read = Instant::now();
        self.run(|store, namespace| operations::acquire_read_at(store, namespace, request, read))
    }

    pub(crate) fn release(&mut self, request: &Release) -> Result<(), Failure> {
        self.run(|store, namespace| operations::release(store, namespace, request))
    }

    pub(crate) fn fast_forward(&mut self, tick: u64) -> Result<Namespace, Failure> {
        self.run(|store, namespace| operations::fast_forward(store, namespace, tick))
    }

    /// Records the store's run, and returns the milliseconds until the store grants nodes.
    pub(crate) fn touch(&mut self) -> Result<u64, Failure> {
        self.run(operations::touch)
    }

    pub(crate) fn adopt(&mut self) -> Result<Namespace, Failure> {
        self.run(operations::adopt)
    }

    pub(crate) fn prune(&mut self, before: i64) -> Result<Pruned, Failure> {
        self.run(|store, namespace| operations::prune(store, namespace, before))
    }

    pub(crate) fn whois(&mut self, node: u64, tick: u64) -> Result<Option<PastHolder>, Failure> {
        self.run(|store, namespace| operations::whois(store, namespace, node, tick))
    }

    fn run<T>(
        &mut self,
        operation: impl FnOnce(&mut dyn Store, &str) -> Result<T, Fault>,
    ) -> Result<T, Failure> {
        let done = operation(self.store.as_mut(), &self.namespace);
        done.map_err(|fault| self.failure(&fault))
    }

    /// Returns the layout of the namespace, or the default layout if the store cannot be read.
    fn layout(&mut self) -> Layout {
        let listing = operations::list(self.store.as_mut(), &self.namespace);
        listing.map(|listing| listing.namespace.layout).unwrap_or_default()
    }

    fn failure(&mut self, fault: &Fault) -> Failure {
        let error = match fault {
            Fault::Refused(refusal @ Refusal::Horizon) => {
                let layout = self.layout();
                refusal.to_error(&self.namespace, &layout)
            }
            _ => refused(fault, &self.location, &self.namespace),
        };
        if !matches!(fault, Fault::Refused(Refusal::MissingNamespace)) {
            return error.into();
        }
        // If the store cannot list its namespaces, the error for the missing namespace has no hint.
        let names = self.store.namespaces().unwrap_or_default();
        match names.len() {
            0 => error.into(),
            _ => Failure::hinted(error, format!("{} has {}", self.location, first_names(&names))),
        }
    }
}

/// The source of lease data: a store or a broker.
pub(crate) enum Source {
    Store(Connection),
    #[cfg(feature = "http")]
    Broker(BrokerConnection),
}

/// The data that a store or a broker returns about a namespace.
pub(crate) struct Leases {
    pub(crate) listing: Listing,
    /// The total number of nodes in all the broker's blocks, or `None` if the source is a store.
    pub(crate) of_broker: Option<u64>,
}

impl Source {
    /// Returns the name to use in messages: `namespace orders of postgresql://db/app`.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Store(connection) => connection.name(),
            #[cfg(feature = "http")]
            Self::Broker(broker) => {
                format!("namespace {} of {}", broker.namespace, broker.location)
            }
        }
    }

    pub(crate) fn leases(&mut self) -> Result<Leases, Failure> {
        match self {
            Self::Store(connection) => Ok(Leases { listing: connection.list()?, of_broker: None }),
            #[cfg(feature = "http")]
            Self::Broker(broker) => {
                let response = broker.query(BrokerReader::leases)?;
                Ok(Leases { listing: response.listing, of_broker: Some(response.nodes) })
            }
        }
    }
}

/// A connection to brokers for queries about one namespace.
#[cfg(feature = "http")]
pub(crate) struct BrokerConnection {
    location: Location,
    namespace: String,
    reader: BrokerReader,
}

#[cfg(feature = "http")]
impl BrokerConnection {
    pub(crate) fn layout(&self) -> Result<Layout, Failure> {
        self.query(BrokerReader::layout)
    }

    pub(crate) fn holder(&self, id: Id) -> Result<HolderJson, Failure> {
        self.query(|reader, namespace| reader.holder(namespace, id))
    }

    fn query<T>(
        &self,
        request: impl FnOnce(&BrokerReader, &str) -> Result<T, Fault>,
    ) -> Result<T, Failure> {
        let response = request(&self.reader, &self.namespace);
        response.map_err(|fault| refused(&fault, &self.location, &self.namespace).into())
    }
}

fn refused(fault: &Fault, location: &Location, namespace: &str) -> Error {
    // The default layout is sufficient, because only the message for `Refusal::Horizon` depends on the
    // layout, and `Connection::failure` creates that message.
    fault.to_error(&location.to_string(), namespace, &Layout::default())
}

/// Formats the first few names of a list.
fn first_names(names: &[String]) -> String {
    const MOST: usize = 8;
    let shown: Vec<String> = names.iter().take(MOST).map(|name| sanitize(name)).collect();
    let more = if names.len() > MOST { " …" } else { "" };
    format!("{}{more}", shown.join(", "))
}
