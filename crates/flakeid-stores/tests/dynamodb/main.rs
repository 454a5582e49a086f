//! Tests of leases in `DynamoDB`: the conformance suite, and tests specific to `DynamoDB`.
#![cfg(feature = "dynamodb")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests only")]

#[allow(dead_code, reason = "the tests of other stores use the remaining functions")]
#[path = "../client/mod.rs"]
mod client;
#[path = "../document/mod.rs"]
mod document;
#[path = "../operations/mod.rs"]
mod operations;
mod store_under_test;

use std::thread;

use flakeid_protocol::store::Fault;
use flakeid_test_servers::{DynamoDbServer, Server};
use serde_json::json;

use client::{Client, connect, fresh_namespace};
use store_under_test::DynamoDb;

/// The conformance suite.
mod conformance {
    use flakeid_conformance::Test;
    use flakeid_test_servers::Shared;

    use super::*;

    fn on_shared_server(test: Test) {
        static SERVER: Shared<DynamoDb> = Shared::new();
        test(&*SERVER.get(DynamoDb::new));
    }

    fn on_new_server(test: Test) {
        test(&DynamoDb(DynamoDbServer::new()));
    }

    flakeid_conformance::test_store!(shared = on_shared_server, own = on_new_server);
}

/// Checks leases on the table whose URL is in an environment variable, so that the service itself can be tested. If the
/// variable is not set, the test starts a private server.
#[test]
fn server_named_by_an_environment_variable_grants_leases() {
    match std::env::var("FLAKEID_TEST_DYNAMODB_URL") {
        Ok(url) => client::leases(&url),
        Err(_) => client::leases(&DynamoDb::new().0.url()),
    }
}

#[test]
fn history_is_moved_out_of_the_namespace_document() {
    document::history_is_moved_out_of_the_namespace_document(&DynamoDb::new());
}

#[test]
fn full_document_refuses_new_rows_but_renews_existing_leases() {
    document::full_document_refuses_new_rows_but_renews_existing_leases(&DynamoDb::new(), 2_000);
}

#[test]
fn random_restores_repeat_no_tick() {
    flakeid_conformance::campaigns::random_restores_repeat_no_tick(&DynamoDb::new(), 20);
}

/// Checks that a process whose table was replaced during a pause does not use its late write. A replacement takes longer
/// than the pauses that are not noticed.
#[test]
fn random_pauses_repeat_no_tick() {
    flakeid_conformance::campaigns::random_pauses_repeat_no_tick(DynamoDb::new, 8, 5_200..6_500);
}

/// Checks that a table that was restored under the same name counts as restored even if its items are the latest ones.
#[test]
fn replaced_table_is_detected_by_its_id() {
    let store = DynamoDb::new();
    let mut client = Client::new(&store.0.url(), "replaced");
    let grant = client.acquire().unwrap();
    let items = store.items();
    store.replace_table(&items);
    // The private server replaces a table faster than DynamoDB can.
    client.reconnect(&store.0.url());
    client.assert_restored_above(&grant);
}

/// Checks the limits that the documentation states: an item that another program writes back is not detected by the
/// store, but by a holder whose renewal contains a higher fence.
#[test]
fn item_that_was_written_back_is_detected_only_by_a_holder() {
    let store = DynamoDb::new();
    let mut client = Client::new(&store.0.url(), "written-back");
    let grant = client.acquire().unwrap();
    let old = store.items();
    let renewed = client.renew(&grant).unwrap();
    for item in old {
        store.put(&item);
    }
    assert_eq!(client.list().unwrap().continuity, flakeid_protocol::store::Continuity::Same);
    let lost = flakeid_protocol::Grant { fence: renewed.fence, ..grant };
    let refused = client.renew(&lost);
    println!("{refused:?}");
    assert!(client.list().unwrap().namespace.floor >= renewed.fence, "the holder proved the loss");
}

#[test]
fn missing_table_is_reported_and_created_by_prepare() {
    let server = DynamoDbServer::new();
    let mut store = connect(&server.url()).unwrap();
    assert_eq!(store.is_prepared(), Ok(false));
    assert_eq!(store.namespaces(), Err(Fault::MissingTables));
    store.prepare().unwrap();
    store.prepare().unwrap();
    assert_eq!(store.is_prepared(), Ok(true));
    assert_eq!(store.namespaces(), Ok(Vec::new()));
    Client::on(store, fresh_namespace("created")).acquire().unwrap();
}

/// Checks that a table that another client is creating does not count as prepared, because it cannot be read yet.
#[test]
fn table_is_prepared_only_when_it_can_be_read() {
    let store = DynamoDb(DynamoDbServer::new());
    let mut client = connect(&store.0.url()).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| store.create_table("id"));
        while !client.is_prepared().unwrap() {
            thread::yield_now();
        }
        assert_eq!(client.namespaces(), Ok(Vec::new()));
    });
}

#[test]
fn table_with_another_key_is_rejected() {
    let server = DynamoDbServer::new();
    let store = DynamoDb(server);
    store.create_table("pk");
    let Err(Fault::Rejected(text)) = connect(&store.0.url()).map(drop) else {
        panic!("the table was accepted");
    };
    assert!(text.contains("the key of the table"), "{text}");
}

#[test]
fn invalid_urls_are_rejected_with_the_wrong_part() {
    for (url, part) in [
        ("dynamodb://?region=us-east-1", "TABLE"),
        ("dynamodb://a/b?region=us-east-1", "TABLE"),
        ("dynamodb://flakeid?region=US%20East", "region"),
        ("dynamodb://flakeid?region=us-east-1&endpoint=127.0.0.1:1", "endpoint"),
        ("dynamodb://key@flakeid?region=us-east-1", "secret key"),
        ("dynamodb://flakeid?regions=us-east-1", "region, endpoint"),
    ] {
        let Err(Fault::Rejected(text)) = connect(url).map(drop) else {
            panic!("{url} was accepted")
        };
        assert!(text.contains(part), "{text}");
    }
}

/// Checks that the request that the private server receives is the documented one.
#[test]
fn requests_name_the_operation_and_are_signed() {
    let store = DynamoDb::new();
    let tables = store.call("ListTables", &json!({}));
    assert_eq!(tables["TableNames"], json!([DynamoDbServer::TABLE]));
}
