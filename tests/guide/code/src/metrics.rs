//! Checks the page of the user guide that lists all metrics.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use flakeid::LeaseBuilder;
use flakeid::broker::{Broker, BrokerOptions};
use flakeid_core::{Layout, SystemClock};
use flakeid_protocol::{MemoryStore, Namespace, operations};
use flakeid_server::{HistoryPruning, Listener, ServeOptions, Service, TlsFiles, TlsSettings};

use crate::check_generated;
use crate::client::{self, Client, TestServer};

/// The metrics page of the user guide lists exactly the metrics that a server exports, with their labels and
/// descriptions.
#[test]
fn metrics_page_lists_exactly_the_exported_metrics() {
    let mut store = MemoryStore::new();
    let namespace = Namespace { block_bits: 4, ..Namespace::new("default", Layout::TWITTER) };
    operations::init(&mut store, &namespace).unwrap();
    let options = BrokerOptions::new("default", Layout::TWITTER, "http://localhost");
    let open = move || Ok(Box::new(store.clone()) as _);
    let day = Duration::from_secs(86_400);
    let pruning = HistoryPruning::new(day, ["default".to_owned()], open.clone());
    let broker = Broker::start_on("memory", open, options, Arc::new(SystemClock)).unwrap();
    let generator = LeaseBuilder::from_broker(&broker).open().unwrap();
    let service = Service::new([("default".to_owned(), generator)].into())
        .brokers([broker])
        .prune_history(pruning);
    let folder = tempfile::tempdir().unwrap();
    let files = TlsFiles {
        certificate: folder.path().join("server.pem"),
        key: folder.path().join("server.key"),
        client_authorities: None,
    };
    let own = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    std::fs::write(&files.certificate, own.cert.pem()).unwrap();
    std::fs::write(&files.key, own.signing_key.serialize_pem()).unwrap();
    let free = || Some(Listener::Tcp("127.0.0.1:0".parse().unwrap()));
    let options = ServeOptions {
        tls: Some(TlsSettings::load(&files).unwrap()),
        admin: free(),
        ..ServeOptions::default()
    };
    let server = TestServer::new(service, options);
    let admin = TcpStream::connect(server.admin.unwrap()).unwrap();
    let metrics = Client::new(admin).ask("GET", "/metrics", "").text().to_owned();
    // The requests are sent to a server without TLS.
    let server = TestServer::new(client::service(), ServeOptions::default());
    assert_eq!(server.ask("POST", "/v1/default/ids", "").status, 200);
    let metrics = metrics + server.ask("GET", "/metrics", "").text();
    check_generated("reference/metrics", "metrics_page", &table(&metrics));
}

/// Builds the Markdown table of the metrics in a response in the `OpenMetrics` format.
fn table(text: &str) -> String {
    let mut kinds = BTreeMap::new();
    let mut helps = BTreeMap::new();
    let mut labels: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in text.lines() {
        if let Some(line) = line.strip_prefix("# TYPE ") {
            let (name, kind) = line.split_once(' ').unwrap();
            kinds.insert(name, kind);
        } else if let Some(line) = line.strip_prefix("# HELP ") {
            let (name, help) = line.split_once(' ').unwrap();
            helps.insert(name, help.trim_end_matches('.'));
        } else if let Some((sample, rest)) = line.split_once('{') {
            let Some((labels_of_sample, _)) = rest.split_once('}') else { continue };
            // The `TYPE` line of a metric family precedes the family's samples, so the longest matching name is the
            // name of the family.
            let family = kinds.keys().filter(|name| sample.starts_with(**name));
            let family = family.max_by_key(|name| name.len()).copied().unwrap();
            let found = labels.entry(family).or_default();
            for label in labels_of_sample.split("\",").filter_map(|label| label.split('=').next()) {
                if label != "le" && !found.contains(&label) {
                    found.push(label);
                }
            }
        }
    }
    let mut table = "\n| metric | type | labels | meaning |\n|---|---|---|---|\n".to_owned();
    for (name, kind) in kinds {
        let suffix = match kind {
            "counter" => "_total",
            "info" => "_info",
            _ => "",
        };
        let labels = labels.get(name).map(|labels| labels.join(", ")).unwrap_or_default();
        let help = helps.get(name).unwrap();
        writeln!(table, "| `{name}{suffix}` | {kind} | {labels} | {help} |").unwrap();
    }
    table
}
