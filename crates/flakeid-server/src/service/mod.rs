//! The state that all connections share: generators, brokers, tokens, limits and metrics.

mod requests;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use bytes::Bytes;
use flakeid::broker::Broker;
use flakeid::{Generator, Lease};
use flakeid_core::Error;
use flakeid_json::layout_name;
use flakeid_protocol::Namespace;
use flakeid_protocol::operations::Pruned;
use hyper::HeaderMap;
use tracing::info;

use crate::admission::{Admission, Caller, Rejected};
use crate::connections::Connections;
use crate::cors::Origins;
use crate::history::HistoryPruning;
use crate::holders::HistoryReaders;
use crate::id_pieces::IdPieces;
use crate::metrics::Metrics;
use crate::namespace::{Limits, NoIds, ServedNamespace};
use crate::pacing::Pacing;
use crate::proxies::TrustedProxies;
use crate::quota::Quotas;
use crate::rate::{Peer, RateLimiter};
use crate::reads;
use crate::tls::TlsSettings;
use crate::tokens::{Client, Denied, Need, Scope, Tokens};

/// The default limit on the number of IDs of a request.
pub(crate) const DEFAULT_MAX_COUNT: u64 = 100_000;

/// The default limit on the time for which each piece of a response waits for IDs.
pub(crate) const DEFAULT_MAX_WAIT: Duration = Duration::from_secs(1);

/// The default limit on the number of leases that one client can acquire per second. A client that acquires leases
/// continuously at this rate adds about 0.5 GB per day to the history of the store.
pub(crate) const DEFAULT_LEASE_RATE: u64 = 10;

/// The period whose allowance of leases a client may use in a single burst. By default, a burst contains up to 2,000
/// leases, so that all processes behind one address can restart at the same time.
pub(crate) const LEASE_BURST: Duration = Duration::from_secs(200);

/// A service with a generator for each namespace, and with limits for each request. Any server
/// based on hyper can mount the service, as [`Server`](crate::Server) does.
///
/// ```
/// use std::collections::BTreeMap;
///
/// use flakeid_core::{Generator, Layout};
/// use flakeid_server::{Service, Tokens};
///
/// let orders = Generator::new(Layout::TWITTER, 7)?;
/// let service = Service::new(BTreeMap::from([("orders".into(), orders)]));
/// let service = service.max_count(1_000).tokens(Tokens::parse("0123456789abcdef")?);
/// assert!(service.requires_tokens());
/// # Ok::<(), flakeid_core::Error>(())
/// ```
#[derive(Debug)]
pub struct Service {
    namespaces: BTreeMap<String, ServedNamespace>,
    brokers: BTreeMap<String, Broker>,
    tokens: RwLock<Tokens>,
    origins: Origins,
    page: Option<Bytes>,
    limits: Limits,
    metrics: Metrics,
    pacing: Arc<Pacing>,
    reads: HistoryReaders,
    pruning: Option<HistoryPruning>,
    is_draining: AtomicBool,
    loopback_names_only: bool,
    logs_access: bool,
    /// The limits on what each client can send per second.
    admission: Admission,
    pub(crate) proxies: TrustedProxies,
    /// The limit on the number of leases that each client holds at the same time.
    quotas: Quotas,
}

impl Service {
    /// Creates a service with one generator per namespace. By default, a request can get at most
    /// 100,000 IDs, and waits for at most 1 s per 4,096 requested IDs.
    #[must_use]
    pub fn new(generators: BTreeMap<String, Generator>) -> Self {
        let (metrics, pacing) = (Metrics::new(&generators), Arc::new(Pacing::new()));
        let serve = |(name, generator): (String, Generator)| {
            let layout_name = layout_name(generator.layout());
            let (ids, waits) = (metrics.ids_of(&name), metrics.waits_of(&name));
            let pacing = Arc::clone(&pacing);
            (name, ServedNamespace { generator, layout_name, ids, waits, pacing, rates: None })
        };
        let namespaces = generators.into_iter().map(serve).collect();
        let limits = Limits { max_count: DEFAULT_MAX_COUNT, max_wait: DEFAULT_MAX_WAIT };
        let (brokers, tokens) = (BTreeMap::new(), RwLock::default());
        let (reads, origins) = (HistoryReaders::default(), Origins::default());
        let (page, is_draining) = (None, AtomicBool::new(false));
        Self {
            namespaces,
            brokers,
            tokens,
            origins,
            page,
            limits,
            metrics,
            pacing,
            reads,
            pruning: None,
            is_draining,
            loopback_names_only: false,
            logs_access: false,
            admission: Admission::new(RateLimiter::with_burst(
                DEFAULT_LEASE_RATE,
                LEASE_BURST,
                Instant::now(),
            )),
            proxies: TrustedProxies::default(),
            quotas: Quotas::default(),
        }
    }

    /// Sets the brokers. The service then also grants leases in the brokers' namespaces.
    #[must_use]
    pub fn brokers(mut self, brokers: impl IntoIterator<Item = Broker>) -> Self {
        let named = brokers.into_iter().map(|broker| (broker.namespace().name.clone(), broker));
        self.brokers = named.collect();
        self.metrics.watch_brokers(&self.brokers);
        self
    }

    /// Requires each client to authenticate with a token or a client certificate that is listed in `tokens`. Health
    /// checks and the web page remain public.
    #[must_use]
    pub fn tokens(mut self, tokens: Tokens) -> Self {
        self.tokens = RwLock::new(tokens);
        self
    }

    /// Removes old grants from the history of the store at regular intervals, while a [`Server`](crate::Server) runs the
    /// service.
    #[must_use]
    pub fn prune_history(mut self, pruning: HistoryPruning) -> Self {
        self.metrics.watch_history(pruning.namespaces());
        self.pruning = Some(pruning);
        self
    }

    /// Allows web pages from the given origins to send requests and read the responses.
    #[must_use]
    pub fn origins(mut self, origins: Origins) -> Self {
        self.origins = origins;
        self
    }

    /// Refuses requests whose `Host` header does not contain `localhost` or a loopback address, unless the service
    /// requires tokens. Use this setting if the server can be reached only from its own host. The setting prevents web
    /// pages from accessing the server by DNS rebinding.
    #[must_use]
    pub const fn loopback_names_only(mut self) -> Self {
        self.loopback_names_only = true;
        self
    }

    /// Logs each HTTP request with its method, path, status, duration and client address.
    #[must_use]
    pub const fn access_log(mut self) -> Self {
        self.logs_access = true;
        self
    }

    /// Serves the given HTML document at `/ui`. The document must not contain secrets, because the
    /// path does not require a token. `cargo xtask page` builds a document that explains IDs.
    #[must_use]
    pub fn page(mut self, html: impl Into<Bytes>) -> Self {
        self.page = Some(html.into());
        self
    }

    /// Sets the largest number of IDs per request. A request for more IDs fails with an error.
    #[must_use]
    pub const fn max_count(mut self, max_count: u64) -> Self {
        self.limits.max_count = max_count;
        self
    }

    /// Limits the number of IDs per second that one client can get from all namespaces together. A client is one
    /// address or, for IPv6, one /64 network, or one user of a Unix socket. A client may use its limit for a whole second in a single burst. A single
    /// request that exceeds the limit is also served, but the client must then wait correspondingly longer. By default,
    /// the rate is not limited.
    #[must_use]
    pub fn rate_limit(mut self, ids_per_second: u64) -> Self {
        let rates = Arc::new(RateLimiter::new(ids_per_second, Instant::now()));
        for served in self.namespaces.values_mut() {
            served.rates = Some(Arc::clone(&rates));
        }
        self
    }

    /// Limits the number of requests that one client can send per second. A client is defined as in
    /// [`rate_limit`](Self::rate_limit). Health checks and requests for the web page do not count. By default, the rate
    /// is not limited.
    #[must_use]
    pub fn request_rate_limit(mut self, requests_per_second: u64) -> Self {
        self.admission.requests = Some(RateLimiter::new(requests_per_second, Instant::now()));
        self
    }

    /// Limits the number of leases that one client can acquire per second. A client is defined as in
    /// [`rate_limit`](Self::rate_limit), but may use its limit for 200 seconds in a single burst. Renewals do not count.
    /// The default is 10, with bursts of up to 2,000 leases. A default limit is necessary, because the store keeps a
    /// record of each lease.
    #[must_use]
    pub fn lease_rate_limit(mut self, leases_per_second: u64) -> Self {
        self.admission.acquires =
            RateLimiter::with_burst(leases_per_second, LEASE_BURST, Instant::now());
        self
    }

    /// Sets the proxies that name the addresses of their clients. By default, no proxy is trusted.
    #[must_use]
    pub fn trusted_proxies(mut self, proxies: TrustedProxies) -> Self {
        self.proxies = proxies;
        self
    }

    /// Limits the number of leases that one client holds at the same time. A client is defined as in
    /// [`rate_limit`](Self::rate_limit). The default is seven eighths of the nodes of each namespace, so that one client
    /// cannot take them all.
    #[must_use]
    pub const fn max_leases_per_client(mut self, leases: u64) -> Self {
        self.quotas.most = Some(leases);
        self
    }

    /// Sets the maximum time to wait for each piece of a response. A piece contains up to 4,096 IDs.
    #[must_use]
    pub const fn max_wait(mut self, max_wait: Duration) -> Self {
        self.limits.max_wait = max_wait;
        self
    }

    /// Whether clients must authenticate with a token or a client certificate.
    #[must_use]
    pub fn requires_tokens(&self) -> bool {
        self.tokens.read().unwrap_or_else(PoisonError::into_inner).are_required()
    }

    /// Adds metrics for a server's connections and for the expiry of the server's certificate.
    pub(crate) fn watch_connections(
        &mut self,
        connections: &Arc<Connections>,
        tls: Option<TlsSettings>,
    ) {
        self.metrics.watch_connections(connections);
        if let Some(tls) = tls {
            self.metrics.watch_certificate(tls);
        }
    }

    /// Starts reporting that the server is not ready. The server still serves all requests.
    pub(crate) fn begin_drain(&self, drain: Duration) {
        info!(?drain, "draining");
        self.brokers.values().for_each(|broker| broker.drain(drain));
        self.is_draining.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.is_draining.load(Ordering::Relaxed)
    }

    /// Closes all generators and brokers, and releases leased nodes and blocks. Returns the numbers of nodes and of blocks
    /// that were not released. They stay reserved until their leases expire.
    pub fn close(&self) -> (usize, usize) {
        let nodes = self.namespaces.values().map(|served| {
            served.generator.close();
            Lease::of(&served.generator).map_or(0, |lease| lease.unreleased_nodes())
        });
        let nodes = nodes.sum();
        let blocks = self.brokers.values().map(|broker| broker.close(Duration::from_secs(2)));
        (nodes, blocks.sum())
    }

    /// The largest number of IDs per request.
    pub(crate) const fn largest_count(&self) -> u64 {
        self.limits.max_count
    }

    /// Admits a request; see [`Admission::admit`].
    pub(crate) fn admit(
        &self,
        peer: Option<Peer>,
        client: Result<Option<Arc<Client>>, Denied>,
        need: Option<Need<'_>>,
        acquires: bool,
    ) -> Result<Caller, Rejected> {
        self.admission.admit(&self.metrics, peer, client, need, acquires)
    }

    /// Returns the generator of IDs for a client that uses a protocol other than HTTP. The limits are the same as for
    /// HTTP clients.
    pub(crate) fn pieces(
        &self,
        namespace: &str,
        count: u64,
        caller: &Caller,
    ) -> Result<IdPieces, NoIds> {
        if let Some(client) = &caller.client {
            let permitted = client.permit(Need::Scope(Scope::Ids, Some(namespace)));
            if let Err(denied) = permitted {
                self.metrics.count_denied(&denied, "");
                return Err(NoIds::Denied(denied));
            }
        }
        let max_count = self.limits.max_count;
        if !(1..=max_count).contains(&count) {
            return Err(NoIds::Refused(Error::field_out_of_range("count", &count, 1, max_count)));
        }
        let Some(served) = self.namespaces.get(namespace) else {
            return Err(match self.unknown_namespace_message(namespace) {
                Ok(message) => NoIds::Unknown(message),
                Err(error) => NoIds::Refused(error),
            });
        };
        served.take_from_rate_limit(count, caller).map_err(NoIds::TooMany)?;
        Ok(served.pieces(count, self.limits))
    }

    /// Counts the IDs of a response that the server has begun to send.
    pub(crate) fn count_ids(&self, namespace: &str, count: u64) {
        if let Some(served) = self.namespaces.get(namespace) {
            served.ids.inc_by(count);
        }
    }

    /// Counts a request that uses a protocol other than HTTP.
    pub(crate) fn count_request(
        &self,
        operation: &'static str,
        code: &'static str,
        began: Instant,
    ) {
        let ended = Instant::now();
        self.metrics.count_request(operation, code, ended - began);
    }

    pub(crate) fn pacing(&self) -> &Pacing {
        &self.pacing
    }

    pub(crate) fn current_tokens(&self) -> Tokens {
        self.tokens.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Loads the token file again. Returns whether the file had changed.
    pub(crate) fn reload_tokens(&self) -> Result<bool, Error> {
        let current = self.current_tokens();
        let Some(file) = current.file() else { return Ok(false) };
        let loaded = Tokens::load(file)?;
        if loaded == current {
            return Ok(false);
        }
        *self.tokens.write().unwrap_or_else(PoisonError::into_inner) = loaded;
        Ok(true)
    }

    pub(crate) const fn pruning(&self) -> Option<&HistoryPruning> {
        self.pruning.as_ref()
    }

    /// Counts the grants that were removed from the history of a namespace.
    pub(crate) fn count_pruned(&self, namespace: &str, pruned: Pruned) {
        self.metrics.count_pruned(namespace, pruned);
    }

    /// Counts the result of reloading changed files.
    pub(crate) fn count_reload(&self, files: &'static str, code: &'static str) {
        self.metrics.count_reload(files, code);
    }

    /// Returns and resets the numbers of refused requests and connections, by reason and client.
    pub(crate) fn take_refusals(&self) -> BTreeMap<(&'static str, String), u64> {
        self.metrics.take_unreported()
    }

    /// Returns the name, the readiness and the last error of each namespace and broker.
    pub(crate) fn states(&self) -> Vec<(String, bool, Option<String>)> {
        let namespaces = self.namespaces.iter().map(|(name, of)| {
            let readiness = reads::readiness(&of.generator);
            (format!("namespace {name}"), readiness.ready, readiness.last_error)
        });
        let brokers = self.brokers.iter().map(|(name, of)| {
            let readiness = reads::broker_readiness(of);
            (format!("broker of {name}"), readiness.ready, readiness.last_error)
        });
        namespaces.chain(brokers).collect()
    }

    /// Counts a connection that could not be accepted.
    pub(crate) fn count_accept_failure(&self) {
        self.metrics.count_accept_failure();
    }

    /// Counts a connection that was closed immediately.
    pub(crate) fn count_refused_connection(&self, reason: &'static str) {
        self.metrics.count_refused_connection(reason);
    }

    /// Identifies the client that sent a request. Returns `None` if the service does not require tokens.
    pub(crate) fn client_of(
        &self,
        headers: &HeaderMap,
        names: &[String],
    ) -> Result<Option<Arc<Client>>, Denied> {
        let tokens = self.tokens.read().unwrap_or_else(PoisonError::into_inner);
        if !tokens.are_required() {
            return Ok(None);
        }
        tokens.by_request(headers, names).map(Some)
    }

    /// Whether the server is ready: it is not draining, every namespace can issue IDs, and every broker can grant
    /// leases.
    #[cfg(feature = "grpc")]
    pub(crate) fn is_ready(&self) -> bool {
        !self.is_draining()
            && self.namespaces.values().all(|of| reads::readiness(&of.generator).ready)
            && self.brokers.values().all(|of| reads::broker_readiness(of).ready)
    }

    fn unknown_namespace_message(&self, namespace: &str) -> Result<String, Error> {
        Namespace::check_name(namespace)?;
        let mut known: Vec<_> = self.namespaces.keys().map(String::as_str).collect();
        known.extend(
            self.brokers
                .keys()
                .filter(|name| !self.namespaces.contains_key(*name))
                .map(String::as_str),
        );
        let known = known.join(", ");
        Ok(format!("this server has no namespace {namespace:?}; it serves: {known}"))
    }
}
