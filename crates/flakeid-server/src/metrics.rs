//! Metrics for Prometheus.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use flakeid::broker::Broker;
use flakeid::{Generator, Lease};
use flakeid_protocol::operations::Pruned;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric};
use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;

use crate::connections::Connections;
use crate::reads::{BrokerReadiness, broker_readiness, readiness};
use crate::tls::TlsSettings;
use crate::tokens::Denied;

/// The upper bounds of the histogram buckets for response times, in seconds. A request over loopback takes about 50 µs.
/// The highest bound, 3 s, exceeds the longest wait under the default options.
const BUCKETS: [f64; 9] = [0.000_05, 0.000_2, 0.001, 0.003, 0.01, 0.03, 0.1, 1.0, 3.0];

/// The upper bounds of the histogram buckets for requests to the store, in seconds. The highest bound, 10 s, exceeds
/// the transaction timeout of stores that use a database server.
const STORE_BUCKETS: [f64; 9] = [0.000_5, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 10.0];

/// The largest number of clients that one summary of refused requests names. Further ones are counted together.
const MOST_REPORTED: usize = 100;

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct NamespaceLabel {
    // The label is not named `namespace`, because the Prometheus Operator adds a label with that name to every metric.
    id_namespace: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    operation: &'static str,
    code: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OperationLabel {
    operation: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StoreRequestLabels {
    id_namespace: String,
    result: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ConnectionLabels {
    listener: &'static str,
    state: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct DeniedLabels {
    reason: &'static str,
    client: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReasonLabel {
    reason: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReloadLabels {
    files: &'static str,
    code: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct PrunedLabels {
    id_namespace: String,
    kind: &'static str,
}

#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    ids: Family<NamespaceLabel, Counter>,
    waits: Family<NamespaceLabel, Counter>,
    requests: Family<RequestLabels, Counter>,
    seconds: Family<OperationLabel, Histogram, fn() -> Histogram>,
    /// The metrics of the most frequent result. A family would lock and hash for each request.
    issued: OnceLock<(Counter, Histogram)>,
    accept_failures: Counter,
    refused_connections: Family<ReasonLabel, Counter>,
    denied: Family<DeniedLabels, Counter>,
    reloads: Family<ReloadLabels, Counter>,
    pruned: Family<PrunedLabels, Counter>,
    /// The numbers of refused requests and connections that have not been logged yet, by reason and client.
    unreported: Mutex<BTreeMap<(&'static str, String), u64>>,
}

impl Metrics {
    pub(crate) fn new(generators: &BTreeMap<String, Generator>) -> Self {
        let mut registry = Registry::with_prefix("flakeid");
        let ids = Family::<NamespaceLabel, Counter>::default();
        let waits = Family::<NamespaceLabel, Counter>::default();
        let requests = Family::<RequestLabels, Counter>::default();
        let new: fn() -> Histogram = || Histogram::new(BUCKETS);
        let seconds = Family::<OperationLabel, Histogram, _>::new_with_constructor(new);
        let version = Info::new(vec![("version", env!("CARGO_PKG_VERSION"))]);
        registry.register("build", "Version of the server", version);
        registry.register("ids", "Number of IDs requested in successful requests", ids.clone());
        // The server counts waits itself, because the generator counts waits only in blocking calls, which this server
        // never makes.
        registry.register(
            "waits",
            "Number of times that a response was delayed because the IDs of the current tick or of the window were used up",
            waits.clone(),
        );
        registry.register(
            "requests",
            "Number of requests, by operation and result",
            requests.clone(),
        );
        registry.register(
            "request_seconds",
            "Seconds from the arrival of the request to the start of the response",
            seconds.clone(),
        );
        let accept_failures = Counter::default();
        registry.register(
            "accept_failures",
            "Number of connections that could not be accepted, for example because no file descriptor was free",
            accept_failures.clone(),
        );
        let refused_connections = Family::<ReasonLabel, Counter>::default();
        for reason in ["too_many_connections", "proxy_header"] {
            drop(refused_connections.get_or_create(&ReasonLabel { reason }));
        }
        registry.register(
            "refused_connections",
            "Number of connections that were closed immediately, by reason (too_many_connections: their client had too many; proxy_header: their proxy did not send the PROXY header)",
            refused_connections.clone(),
        );
        let denied = Family::<DeniedLabels, Counter>::default();
        for reason in ["no_token", "wrong_token"] {
            drop(denied.get_or_create(&DeniedLabels { reason, client: String::new() }));
        }
        registry.register(
            "denied_requests",
            "Number of requests denied for lack of permission, by reason and, if known, by the name of the client",
            denied.clone(),
        );
        let reloads = Family::<ReloadLabels, Counter>::default();
        // Each counter is exported with the value 0 from the start, so that an alert detects the first failure as an
        // increase.
        for files in ["tokens", "certificates"] {
            for code in ["OK", "FLAKEID_INVALID_OPTION"] {
                drop(reloads.get_or_create(&ReloadLabels { files, code }));
            }
        }
        registry.register(
            "reloads",
            "Number of reloads of changed tokens or certificates, by result",
            reloads.clone(),
        );
        registry.register_collector(Box::new(GeneratorMetrics(generators.clone())));
        Self {
            registry,
            ids,
            waits,
            requests,
            seconds,
            issued: OnceLock::new(),
            accept_failures,
            refused_connections,
            denied,
            reloads,
            pruned: Family::default(),
            unreported: Mutex::default(),
        }
    }

    /// Adds metrics for brokers.
    pub(crate) fn watch_brokers(&mut self, brokers: &BTreeMap<String, Broker>) {
        self.registry.register_collector(Box::new(BrokerMetrics(brokers.clone())));
        let new: fn() -> Histogram = || Histogram::new(STORE_BUCKETS);
        let seconds = Family::<StoreRequestLabels, Histogram, _>::new_with_constructor(new);
        self.registry.register(
            "broker_store_seconds",
            "Duration in seconds of the broker's requests to the store, by outcome (response or no response)",
            seconds.clone(),
        );
        for (name, broker) in brokers {
            let of = |result| {
                let id_namespace = name.clone();
                seconds.get_or_create_owned(&StoreRequestLabels { id_namespace, result })
            };
            let (response, failure) = (of("response"), of("failure"));
            broker.observe_store(move |took, has_responded| {
                let histogram = if has_responded { &response } else { &failure };
                histogram.observe(took.as_secs_f64());
            });
        }
    }

    /// Adds the metric for the grants that are removed from the history of the given namespaces.
    pub(crate) fn watch_history(&mut self, namespaces: &[String]) {
        self.registry.register(
            "history_pruned",
            "Number of grants that this server removed from the history, by kind (record: granted by the store; sub_grant: granted by a broker)",
            self.pruned.clone(),
        );
        for namespace in namespaces {
            self.count_pruned(namespace, Pruned::default());
        }
    }

    /// Counts the grants that were removed from the history of a namespace.
    pub(crate) fn count_pruned(&self, namespace: &str, pruned: Pruned) {
        for (kind, count) in [("record", pruned.records), ("sub_grant", pruned.sub_grants)] {
            let labels = PrunedLabels { id_namespace: namespace.to_owned(), kind };
            self.pruned.get_or_create(&labels).inc_by(count);
        }
    }

    /// Returns the counter of IDs for a namespace.
    pub(crate) fn ids_of(&self, namespace: &str) -> Counter {
        self.ids.get_or_create_owned(&NamespaceLabel { id_namespace: namespace.to_owned() })
    }

    /// Returns the counter of waits for a namespace.
    pub(crate) fn waits_of(&self, namespace: &str) -> Counter {
        self.waits.get_or_create_owned(&NamespaceLabel { id_namespace: namespace.to_owned() })
    }

    pub(crate) fn count_accept_failure(&self) {
        self.accept_failures.inc();
        self.report_later("no_descriptor", "");
    }

    pub(crate) fn count_refused_connection(&self, reason: &'static str) {
        self.refused_connections.get_or_create(&ReasonLabel { reason }).inc();
        self.report_later(reason, "");
    }

    /// Counts a denied request both in the metrics and for the next summary in the log.
    /// The log contains the address of a client without a valid token. The metrics do not, because every address would be
    /// a series of its own.
    pub(crate) fn count_denied(&self, denied: &Denied, address: &str) {
        let (reason, client, logged) = match denied {
            Denied::Missing => ("no_token", "", address),
            Denied::Wrong => ("wrong_token", "", address),
            Denied::Forbidden { client, .. } => ("scope", &**client, &**client),
        };
        self.denied.get_or_create(&DeniedLabels { reason, client: client.to_owned() }).inc();
        self.report_later(reason, logged);
    }

    /// Counts a refused request or connection for the next summary in the log.
    pub(crate) fn report_later(&self, reason: &'static str, client: &str) {
        let mut unreported = self.unreported.lock().unwrap_or_else(PoisonError::into_inner);
        let mut key = (reason, client.to_owned());
        if unreported.len() >= MOST_REPORTED && !unreported.contains_key(&key) {
            key.1.clear();
        }
        *unreported.entry(key).or_default() += 1;
    }

    /// Returns and resets the numbers of refused requests and connections, by reason and client.
    pub(crate) fn take_unreported(&self) -> BTreeMap<(&'static str, String), u64> {
        std::mem::take(&mut self.unreported.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn count_reload(&self, files: &'static str, code: &'static str) {
        self.reloads.get_or_create(&ReloadLabels { files, code }).inc();
    }

    /// Adds the metric for the time at which the server's certificate expires.
    pub(crate) fn watch_certificate(&mut self, tls: TlsSettings) {
        self.registry.register_collector(Box::new(CertificateMetrics(tls)));
    }

    /// Adds metrics for connections.
    pub(crate) fn watch_connections(&mut self, connections: &Arc<Connections>) {
        let collector = ConnectionMetrics(Arc::clone(connections));
        self.registry.register_collector(Box::new(collector));
    }

    pub(crate) fn count_request(
        &self,
        operation: &'static str,
        code: &'static str,
        took: Duration,
    ) {
        let labels = RequestLabels { operation, code };
        let seconds = OperationLabel { operation };
        if (operation, code) == ("ids", "OK") {
            let (requests, seconds) = self.issued.get_or_init(|| {
                let requests = self.requests.get_or_create_owned(&labels);
                (requests, self.seconds.get_or_create_owned(&seconds))
            });
            requests.inc();
            seconds.observe(took.as_secs_f64());
            return;
        }
        self.requests.get_or_create(&labels).inc();
        self.seconds.get_or_create(&seconds).observe(took.as_secs_f64());
    }

    /// Encodes all metrics in the `OpenMetrics` text format.
    pub(crate) fn to_text(&self) -> Result<String, fmt::Error> {
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }
}

/// A collector that reads the certificate's expiry time at every scrape, because the certificate can be replaced while
/// the server runs.
#[derive(Debug)]
struct CertificateMetrics(TlsSettings);

impl Collector for CertificateMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let name = "certificate_not_after_timestamp_seconds";
        let help = "Unix time at which the server's certificate expires, in seconds";
        let metric = ConstGauge::new(self.0.not_after() as f64);
        metric.encode(encoder.encode_descriptor(name, help, None, metric.metric_type())?)
    }
}

/// A collector that counts the connections at every scrape.
#[derive(Debug)]
struct ConnectionMetrics(Arc<Connections>);

impl Collector for ConnectionMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let help = "Number of open connections, by listener and state (new: no accepted request yet; accepted: at least one accepted request)";
        let kind = ConstGauge::new(0.0).metric_type();
        let mut family = encoder.encode_descriptor("connections", help, None, kind)?;
        for listener in ["http", "resp", "grpc"] {
            let count = self.0.count(listener);
            for (state, number) in [("accepted", count.accepted), ("new", count.unaccepted)] {
                let labels = ConnectionLabels { listener, state };
                ConstGauge::new(number as f64).encode(family.encode_family(&labels)?)?;
            }
        }
        let help = "Largest allowed number of simultaneous connections";
        let metric = ConstGauge::new(self.0.most() as f64);
        let encoder =
            encoder.encode_descriptor("max_connections", help, None, metric.metric_type())?;
        metric.encode(encoder)
    }
}

/// A collector that reads the state of the brokers at every scrape.
#[derive(Debug)]
struct BrokerMetrics(BTreeMap<String, Broker>);

impl Collector for BrokerMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        type Read = fn(&BrokerReadiness) -> f64;
        type Count = fn(&BrokerReadiness) -> u64;
        let gauges: [(&str, &str, Read); 5] = [
            ("broker_blocks", "Number of blocks of nodes that the broker holds", |of| {
                of.blocks as f64
            }),
            ("broker_holders", "Number of nodes currently granted by the broker", |of| {
                of.holders as f64
            }),
            (
                "broker_block_seconds",
                "Seconds for which the broker can serve holders without the store",
                |of| of.seconds_left.unwrap_or(f64::INFINITY),
            ),
            (
                "broker_skew_seconds",
                "Seconds by which this host's clock is ahead of the store's",
                |of| of.skew_ms as f64 / 1_000.0,
            ),
            ("broker_ready", "1 if the broker can grant and renew leases now, otherwise 0", |of| {
                f64::from(u8::from(of.ready))
            }),
        ];
        let counters: [(&str, &str, Count); 2] = [
            (
                "broker_unrecorded_grants",
                "Number of grants permanently missing from the store's history, because the broker lost their block of nodes before it could write them",
                |of| of.unrecorded,
            ),
            (
                "broker_abandoned_grants",
                "Number of grants that expired unused, because the client exited early or did not wait for the response",
                |of| of.abandoned,
            ),
        ];
        let all: Vec<_> = self.0.iter().map(|(name, of)| (name, broker_readiness(of))).collect();
        for (name, help, count) in counters {
            let kind = ConstCounter::new(0_u64).metric_type();
            let mut family = encoder.encode_descriptor(name, help, None, kind)?;
            for (namespace, of) in &all {
                let labels = NamespaceLabel { id_namespace: (*namespace).clone() };
                ConstCounter::new(count(of)).encode(family.encode_family(&labels)?)?;
            }
        }
        for (name, help, read) in gauges {
            let kind = ConstGauge::new(0.0).metric_type();
            let mut family = encoder.encode_descriptor(name, help, None, kind)?;
            for (namespace, of) in &all {
                let labels = NamespaceLabel { id_namespace: (*namespace).clone() };
                ConstGauge::new(read(of)).encode(family.encode_family(&labels)?)?;
            }
        }
        Ok(())
    }
}

/// A collector that reads the state of the generators at every scrape.
#[derive(Debug)]
struct GeneratorMetrics(BTreeMap<String, Generator>);

impl GeneratorMetrics {
    fn counter(
        &self,
        encoder: &mut DescriptorEncoder<'_>,
        (name, help): (&str, &str),
        count: impl Fn(&Generator) -> u64,
    ) -> fmt::Result {
        self.each(encoder, (name, help), |generator| ConstCounter::new(count(generator)))
    }

    fn gauge(
        &self,
        encoder: &mut DescriptorEncoder<'_>,
        (name, help): (&str, &str),
        value: impl Fn(&Generator) -> f64,
    ) -> fmt::Result {
        self.each(encoder, (name, help), |generator| ConstGauge::new(value(generator)))
    }

    fn each<M: EncodeMetric>(
        &self,
        encoder: &mut DescriptorEncoder<'_>,
        (name, help): (&str, &str),
        metric: impl Fn(&Generator) -> M,
    ) -> fmt::Result {
        let metrics: Vec<_> = self.0.iter().map(|(name, of)| (name, metric(of))).collect();
        let Some((_, first)) = metrics.first() else { return Ok(()) };
        let mut family = encoder.encode_descriptor(name, help, None, first.metric_type())?;
        for (namespace, metric) in &metrics {
            let labels = NamespaceLabel { id_namespace: (*namespace).clone() };
            metric.encode(family.encode_family(&labels)?)?;
        }
        Ok(())
    }
}

impl Collector for GeneratorMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let encoder = &mut encoder;
        let lease = |of: &Generator| Lease::of(of).map(|lease| lease.status()).unwrap_or_default();
        let of = ("rollbacks", "Number of times the clock went backwards");
        self.counter(encoder, of, |generator| generator.stats().rollbacks)?;
        let of = ("lease_grants", "Number of nodes granted to this server");
        self.counter(encoder, of, |generator| lease(generator).grants)?;
        let of = ("lease_renewals", "Number of confirmed lease renewals");
        self.counter(encoder, of, |generator| lease(generator).renewals)?;
        let of = ("lease_failures", "Number of failed attempts to acquire or renew a lease");
        self.counter(encoder, of, |generator| lease(generator).failures)?;
        let of = ("window_seconds", "Seconds for which IDs can be issued without the store");
        self.gauge(encoder, of, |generator| {
            readiness(generator).seconds_left.unwrap_or(f64::INFINITY)
        })?;
        let of = ("ready", "1 if IDs can be issued now, otherwise 0");
        self.gauge(encoder, of, |generator| f64::from(u8::from(readiness(generator).ready)))?;
        let of = (
            "layout_end_timestamp_seconds",
            "Unix time at which the layout runs out of ticks, in seconds",
        );
        self.gauge(encoder, of, |generator| generator.layout().horizon() as f64 / 1_000.0)
    }
}
