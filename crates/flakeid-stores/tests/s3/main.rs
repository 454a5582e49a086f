//! Tests of leases in S3: the conformance suite, and tests specific to S3.
#![cfg(feature = "s3")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests only")]

#[allow(dead_code, reason = "the tests of other stores use the remaining functions")]
#[path = "../client/mod.rs"]
mod client;
// A full document has 4 MiB here, for which a debug build takes seconds. The other stores of documents test it.
#[allow(dead_code, reason = "the tests of other stores use the remaining functions")]
#[path = "../document/mod.rs"]
mod document;
#[path = "../operations/mod.rs"]
mod operations;
mod store_under_test;

use flakeid_protocol::Refusal;
use flakeid_protocol::store::{Continuity, Fault};
use flakeid_test_servers::{OtherService, S3Server, Server};

use client::{Client, connect, fresh_namespace};
use store_under_test::S3;

/// The conformance suite.
mod conformance {
    use flakeid_conformance::Test;
    use flakeid_test_servers::Shared;

    use super::*;

    fn on_shared_server(test: Test) {
        static SERVER: Shared<S3> = Shared::new();
        test(&*SERVER.get(|| S3(S3Server::new())));
    }

    fn on_new_server(test: Test) {
        test(&S3(S3Server::new()));
    }

    flakeid_conformance::test_store!(shared = on_shared_server, own = on_new_server);
}

/// Checks leases in the bucket whose URL is in an environment variable, so that other servers can be tested. If the
/// variable is not set, the test starts a private server.
#[test]
fn server_named_by_an_environment_variable_grants_leases() {
    match std::env::var("FLAKEID_TEST_S3_URL") {
        Ok(url) => client::leases(&url),
        Err(_) => client::leases(&S3Server::new().url()),
    }
}

#[test]
fn history_is_moved_out_of_the_namespace_document() {
    document::history_is_moved_out_of_the_namespace_document(&S3(S3Server::new()));
}

/// Checks that an object that is older than any lease counts as restored, as after newer versions were deleted.
#[test]
fn object_older_than_any_lease_counts_as_restored() {
    let store = S3(S3Server::new());
    let mut client = Client::new(&store.0.url(), "rolled-back");
    let grant = client.acquire().unwrap();
    store.age(&client.namespace.name, 70);
    client.assert_restored_above(&grant);
}

/// Checks that the store is refused as a copy, and that the message contains `part`.
#[track_caller]
fn assert_foreign(client: &mut Client, part: &str) {
    match client.acquire() {
        Err(Fault::Refused(Refusal::Foreign(why))) if why.contains(part) => {}
        other => panic!("{other:?}"),
    }
}

/// Checks that a copy of all objects in another bucket is refused until it is adopted, even if it was made before the
/// first grant and keeps the times of the objects.
#[test]
fn replica_in_another_bucket_is_refused_until_it_is_adopted() {
    let store = S3(S3Server::new());
    let mut client = Client::new(&store.0.url(), "replica");
    let (from, to) = (store.0.data().join(S3Server::BUCKET), store.0.data().join("replica"));
    let copied = std::process::Command::new("cp").arg("-a").args([&from, &to]).status().unwrap();
    assert!(copied.success());
    let grant = client.acquire().unwrap();
    let url = store.0.url().replace(S3Server::BUCKET, "replica");
    let mut replica = Client { store: connect(&url).unwrap(), namespace: client.namespace.clone() };
    assert_foreign(&mut replica, "/replica/leases");
    let floor = replica.adopt().floor;
    assert!(floor >= grant.fence, "{floor} {grant:?}");
    assert_eq!(replica.list().unwrap().continuity, Continuity::Same);
    assert_eq!(client.list().unwrap().continuity, Continuity::Same);
    client.renew(&grant).unwrap();
}

#[test]
fn random_restores_into_other_buckets_repeat_no_tick() {
    let store = store_under_test::OtherBuckets::new();
    flakeid_conformance::campaigns::random_restores_repeat_no_tick(&store, 20);
}

#[test]
fn random_pauses_repeat_no_tick() {
    let new = || S3(S3Server::new());
    flakeid_conformance::campaigns::random_pauses_repeat_no_tick(new, 8, 0..6_500);
}

/// Checks that another host of the same server is accepted only if the URL gives the server its recorded name.
#[test]
fn two_hosts_of_one_server_need_one_name() {
    let store = S3(S3Server::new());
    let mut client = Client::new(&store.0.url(), "hosts");
    let grant = client.acquire().unwrap();
    let url = store.0.url().replace("//127.0.0.1", "//localhost");
    let namespace = client.namespace.clone();
    let mut unnamed = Client { store: connect(&url).unwrap(), namespace: namespace.clone() };
    assert_foreign(&mut unnamed, "localhost");
    let name = store.0.url().split("endpoint=http://").nth(1).unwrap().to_owned();
    let mut named = Client { store: connect(&format!("{url}&place={name}")).unwrap(), namespace };
    named.renew(&grant).unwrap();
    assert_eq!(client.list().unwrap().continuity, Continuity::Same);
}

/// Checks that another server with the same bucket, such as an asynchronous replica, is refused until it is adopted.
#[test]
fn replica_on_another_server_is_refused_until_it_is_adopted() {
    let (original, other) = (S3(S3Server::new()), S3(S3Server::new()));
    let mut client = Client::new(&original.0.url(), "failover");
    let grant = client.acquire().unwrap();
    let from = original.0.data().join(S3Server::BUCKET).join("leases");
    let to = other.0.data().join(S3Server::BUCKET);
    let copied = std::process::Command::new("cp").arg("-a").args([&from, &to]).status().unwrap();
    assert!(copied.success());
    let renewed = client.renew(&grant).unwrap();
    let store = connect(&other.0.url()).unwrap();
    let mut replica = Client { store, namespace: client.namespace.clone() };
    assert_foreign(&mut replica, S3Server::BUCKET);
    assert!(replica.adopt().floor >= renewed.fence);
}

/// Checks the limit that the documentation states: hosts get no leases from a server whose clock lags.
#[test]
fn lagging_date_of_versitygw_never_grants_out_of_bounds() {
    let server = S3Server::new();
    let mut client = Client::with(&server.lagging_url(), fresh_namespace("lag"));
    for _ in 0..20 {
        match client.acquire() {
            Ok(_) | Err(Fault::Refused(Refusal::Skew { .. } | Refusal::TooFarAhead { .. })) => {}
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn missing_bucket_is_rejected() {
    let server = S3Server::new();
    let url = server.url().replace(S3Server::BUCKET, "missing");
    let Err(Fault::Rejected(text)) = connect(&url).map(drop) else { panic!("accepted") };
    assert!(text.contains("NoSuchBucket"), "{text}");
}

#[test]
fn wrong_secret_key_is_rejected_without_showing_it() {
    let server = S3Server::new();
    let url = server.url().replace("sesame-9c1f", "wr0ng");
    let Err(Fault::Rejected(text)) = connect(&url).map(drop) else { panic!("accepted") };
    assert!(text.contains("SignatureDoesNotMatch") && !text.contains("wr0ng"), "{text}");
}

/// Checks that a server that ignores the conditions of writes is refused before it can lose a lease.
#[test]
fn server_without_conditional_writes_is_rejected() {
    let service = OtherService::Empty.listen();
    let url = format!(
        "s3://id:secret@bucket/x?region=us-east-1&endpoint=http://127.0.0.1:{}",
        service.port()
    );
    let Err(Fault::Rejected(text)) = connect(&url).map(drop) else { panic!("accepted") };
    assert!(text.contains("ignores the condition `if-none-match`"), "{text}");
}

#[test]
fn invalid_urls_are_rejected_with_the_wrong_part() {
    for (url, part) in [
        ("s3://?region=us-east-1", "BUCKET"),
        ("s3://Bucket/x?region=us-east-1", "BUCKET"),
        ("s3://bucket/a%20b?region=us-east-1", "prefix"),
        ("s3://bucket/../x?region=us-east-1", "prefix"),
        ("s3://bucket//x?region=us-east-1", "empty part"),
        ("s3://a1b2.mrap/x?region=us-east-1", "multi-region"),
        ("s3://bucket/x?region=us-east-1&place=a@b", "place"),
        ("s3://bucket/x?region=US", "region"),
        ("s3://bucket/x?region=us-east-1&endpoint=ftp://h", "endpoint"),
        ("s3://key@bucket/x?region=us-east-1", "secret key"),
    ] {
        let Err(Fault::Rejected(text)) = connect(url).map(drop) else {
            panic!("{url} was accepted")
        };
        assert!(text.contains(part), "{text}");
    }
}
