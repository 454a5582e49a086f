//! Metrics for Prometheus.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use flakeid::Generator;
use flakeid::broker::Broker;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric};
use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use crate::reads::{BrokerReadiness, broker_readiness, readiness};

/// Buckets from 50 µs, the time of a request over loopback, to 3 s, which exceeds the longest wait.
const BUCKETS: [f64; 9] = [0.000_05, 0.000_2, 0.001, 0.003, 0.01, 0.03, 0.1, 1.0, 3.0];

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct NamespaceLabel {
    namespace: String,
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

#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    ids: Family<NamespaceLabel, Counter>,
    waits: Family<NamespaceLabel, Counter>,
    requests: Family<RequestLabels, Counter>,
    seconds: Family<OperationLabel, Histogram, fn() -> Histogram>,
    accept_failures: Counter,
}

impl Metrics {
    pub(crate) fn new(generators: &BTreeMap<String, Generator>) -> Self {
        let mut registry = Registry::with_prefix("flakeid");
        let ids = Family::<NamespaceLabel, Counter>::default();
        let waits = Family::<NamespaceLabel, Counter>::default();
        let requests = Family::<RequestLabels, Counter>::default();
        let new: fn() -> Histogram = || Histogram::new(BUCKETS);
        let seconds = Family::<OperationLabel, Histogram, _>::new_with_constructor(new);
        registry.register("ids", "Number of IDs requested in successful requests", ids.clone());
        // The generator's own counter counts only calls that sleep, which this server never does.
        registry.register(
            "waits",
            "Number of responses that waited because the tick was full or the window used up",
            waits.clone(),
        );
        registry.register(
            "requests",
            "Number of requests, by operation and result",
            requests.clone(),
        );
        registry.register("request_seconds", "Seconds until the response started", seconds.clone());
        let accept_failures = Counter::default();
        registry.register(
            "accept_failures",
            "Number of connections that could not be accepted, for example because no file descriptor was free",
            accept_failures.clone(),
        );
        registry.register_collector(Box::new(GeneratorMetrics(generators.clone())));
        Self { registry, ids, waits, requests, seconds, accept_failures }
    }

    /// Adds metrics about brokers.
    pub(crate) fn watch_brokers(&mut self, brokers: &BTreeMap<String, Broker>) {
        self.registry.register_collector(Box::new(BrokerMetrics(brokers.clone())));
    }

    /// Returns the counter of a namespace's IDs.
    pub(crate) fn ids_of(&self, namespace: &str) -> Counter {
        self.ids.get_or_create_owned(&NamespaceLabel { namespace: namespace.to_owned() })
    }

    /// Returns the counter of a namespace's waits.
    pub(crate) fn waits_of(&self, namespace: &str) -> Counter {
        self.waits.get_or_create_owned(&NamespaceLabel { namespace: namespace.to_owned() })
    }

    pub(crate) fn count_accept_failure(&self) {
        self.accept_failures.inc();
    }

    pub(crate) fn count_request(
        &self,
        operation: &'static str,
        code: &'static str,
        took: Duration,
    ) {
        self.requests.get_or_create(&RequestLabels { operation, code }).inc();
        self.seconds.get_or_create(&OperationLabel { operation }).observe(took.as_secs_f64());
    }

    /// Encodes all metrics in the text format of `OpenMetrics`.
    pub(crate) fn to_text(&self) -> Result<String, fmt::Error> {
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }
}

/// A collector that reads the brokers at every scrape.
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
            ("broker_holders", "Number of nodes in the broker's blocks that have a holder", |of| {
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
                "Number of grants missing from the store's history, because there were too many at once or their block was lost",
                |of| of.unrecorded,
            ),
            (
                "broker_abandoned_grants",
                "Number of grants that expired unused, because the client ended early or did not wait for the response",
                |of| of.abandoned,
            ),
        ];
        let all: Vec<_> = self.0.iter().map(|(name, of)| (name, broker_readiness(of))).collect();
        for (name, help, count) in counters {
            let kind = ConstCounter::new(0_u64).metric_type();
            let mut family = encoder.encode_descriptor(name, help, None, kind)?;
            for (namespace, of) in &all {
                let labels = NamespaceLabel { namespace: (*namespace).clone() };
                ConstCounter::new(count(of)).encode(family.encode_family(&labels)?)?;
            }
        }
        for (name, help, read) in gauges {
            let kind = ConstGauge::new(0.0).metric_type();
            let mut family = encoder.encode_descriptor(name, help, None, kind)?;
            for (namespace, of) in &all {
                let labels = NamespaceLabel { namespace: (*namespace).clone() };
                ConstGauge::new(read(of)).encode(family.encode_family(&labels)?)?;
            }
        }
        Ok(())
    }
}

/// A collector that reads the generators at every scrape.
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
            let labels = NamespaceLabel { namespace: (*namespace).clone() };
            metric.encode(family.encode_family(&labels)?)?;
        }
        Ok(())
    }
}

impl Collector for GeneratorMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let encoder = &mut encoder;
        let lease = |of: &Generator| of.lease_status().unwrap_or_default();
        let of = ("rollbacks", "Number of times the clock went backwards");
        self.counter(encoder, of, |generator| generator.stats().rollbacks)?;
        let of = ("lease_grants", "Number of nodes granted to this server");
        self.counter(encoder, of, |generator| lease(generator).grants)?;
        let of = ("lease_renewals", "Number of confirmed renewals of leases");
        self.counter(encoder, of, |generator| lease(generator).renewals)?;
        let of = ("lease_failures", "Number of failed attempts to acquire or renew a lease");
        self.counter(encoder, of, |generator| lease(generator).failures)?;
        let of = ("window_seconds", "Seconds for which IDs can be issued without the store");
        self.gauge(encoder, of, |generator| {
            readiness(generator).seconds_left.unwrap_or(f64::INFINITY)
        })?;
        let of = ("ready", "1 if IDs can be issued now, otherwise 0");
        self.gauge(encoder, of, |generator| f64::from(u8::from(readiness(generator).ready)))?;
        let of = ("layout_end_timestamp_seconds", "Unix time at which the layout ends, in seconds");
        self.gauge(encoder, of, |generator| generator.layout().horizon() as f64 / 1_000.0)
    }
}
