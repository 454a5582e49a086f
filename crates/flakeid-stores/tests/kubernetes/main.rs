//! Tests of leases in Kubernetes: the conformance suite, and tests specific to Kubernetes.
//!
//! No package contains an API server, so the tests that need one use the server at `FLAKEID_TEST_KUBERNETES_URL`, and
//! are ignored by default. `cargo xtask kubernetes` builds the server and runs them.
#![cfg(feature = "kubernetes")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests only")]

#[allow(dead_code, reason = "the tests of other stores use the remaining functions")]
#[path = "../client/mod.rs"]
mod client;
#[path = "../document/mod.rs"]
mod document;
#[path = "../operations/mod.rs"]
mod operations;
mod store_under_test;

use flakeid_protocol::store::Fault;
use serde_json::json;

use client::{Client, connect};
use store_under_test::Kubernetes;

/// The conformance suite.
mod conformance {
    use super::Kubernetes;

    fn on_new_prefix(test: flakeid_conformance::Test) {
        test(&Kubernetes::new("conformance"));
    }

    flakeid_conformance::test_store!(
        #[ignore = "it needs a Kubernetes API server: cargo xtask kubernetes"]
        shared = on_new_prefix,
        own = on_new_prefix,
    );
}

#[test]
#[ignore = "it needs a Kubernetes API server: cargo xtask kubernetes"]
fn server_named_by_an_environment_variable_grants_leases() {
    client::leases(&Kubernetes::new("leases").url());
}

#[test]
#[ignore = "it needs a Kubernetes API server: cargo xtask kubernetes"]
fn history_is_moved_out_of_the_namespace_document() {
    document::history_is_moved_out_of_the_namespace_document(&Kubernetes::new("history"));
}

#[test]
#[ignore = "it needs a Kubernetes API server: cargo xtask kubernetes"]
fn full_document_refuses_new_rows_but_renews_existing_leases() {
    let store = Kubernetes::new("full");
    document::full_document_refuses_new_rows_but_renews_existing_leases(&store, 4_000);
}

#[test]
#[ignore = "it needs a Kubernetes API server: cargo xtask kubernetes"]
fn random_restores_repeat_no_tick() {
    let store = Kubernetes::new("random");
    flakeid_conformance::campaigns::random_restores_repeat_no_tick(&store, 300);
}

#[test]
#[ignore = "it needs a Kubernetes API server: cargo xtask kubernetes"]
fn random_pauses_repeat_no_tick() {
    let new = || Kubernetes::replaced("paused");
    flakeid_conformance::campaigns::random_pauses_repeat_no_tick(new, 300, 0..6_500);
}

/// Checks that a copy that `kubectl replace` puts back counts as restored.
#[test]
#[ignore = "it needs a Kubernetes API server: cargo xtask kubernetes"]
fn copy_that_another_program_puts_back_counts_as_restored() {
    let store = Kubernetes::new("put-back");
    let mut client = Client::new(&store.url(), "replaced");
    let grant = client.acquire().unwrap();
    let copy = store.maps().remove(0);
    client.renew(&grant).unwrap();
    let metadata =
        json!({ "name": copy["metadata"]["name"], "labels": copy["metadata"]["labels"] });
    store.replace(&json!({ "metadata": metadata, "data": copy["data"] }));
    client.assert_restored_above(&grant);
}

/// Checks that a document that is older than any lease counts as restored, as after a restored snapshot of etcd.
#[test]
#[ignore = "it needs a Kubernetes API server: cargo xtask kubernetes"]
fn document_older_than_any_lease_counts_as_restored() {
    let store = Kubernetes::new("aged");
    let mut client = Client::new(&store.url(), "aged");
    let grant = client.acquire().unwrap();
    store.edit(&client.namespace.name, |document| {
        document["written"] = (document["written"].as_i64().unwrap() - 70_000).into();
    });
    client.assert_restored_above(&grant);
}

/// Checks that a document counts as restored if its process was paused for seconds before it wrote the document, so that
/// a copy may have been put back in the meantime.
#[test]
#[ignore = "it needs a Kubernetes API server: cargo xtask kubernetes"]
fn document_that_was_written_late_counts_as_restored() {
    let store = Kubernetes::new("late");
    let mut client = Client::new(&store.url(), "late");
    let grant = client.acquire().unwrap();
    store.edit(&client.namespace.name, |document| {
        document["written"] = (document["written"].as_i64().unwrap() - 7_000).into();
    });
    client.assert_restored_above(&grant);
}

#[test]
fn invalid_urls_are_rejected_with_the_wrong_part() {
    for (url, part) in [
        ("kubernetes://default", "NAME"),
        ("kubernetes://Default/flakeid", "NAMESPACE"),
        ("kubernetes://default/flake_id", "NAME"),
        ("kubernetes://default/flakeid?kubeconfig=/nowhere", "/nowhere"),
        ("kubernetes://default/flakeid?context=x", "kubeconfig"),
    ] {
        let Err(Fault::Rejected(text)) = connect(url).map(drop) else {
            panic!("{url} was accepted")
        };
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn kubeconfigs_in_yaml_are_rejected_with_the_command_that_converts_them() {
    let files = tempfile::tempdir().unwrap();
    let file = files.path().join("config");
    std::fs::write(&file, "apiVersion: v1\nkind: Config\n").unwrap();
    let url = format!("kubernetes://default/flakeid?kubeconfig={}", file.display());
    let Err(Fault::Rejected(text)) = connect(&url).map(drop) else { panic!("accepted") };
    assert!(text.contains("kubectl config view"), "{text}");
}

#[test]
fn program_of_a_kubeconfig_that_hangs_makes_the_store_unavailable() {
    let files = tempfile::tempdir().unwrap();
    let file = files.path().join("config");
    let user = json!({ "exec": { "command": "sleep", "args": ["600"] } });
    let config = json!({
        "current-context": "c", "contexts": [{ "name": "c", "context": { "cluster": "c", "user": "u" } }],
        "clusters": [{ "name": "c", "cluster": { "server": "http://127.0.0.1:1" } }],
        "users": [{ "name": "u", "user": user }],
    });
    std::fs::write(&file, config.to_string()).unwrap();
    let url = format!("kubernetes://default/flakeid?kubeconfig={}", file.display());
    let Err(Fault::Unavailable(text)) = connect(&url).map(drop) else { panic!("connected") };
    assert!(
        text.contains(
            "the program \"sleep\" of the kubeconfig did not print credentials and end within 2 s"
        ),
        "{text}"
    );
}
