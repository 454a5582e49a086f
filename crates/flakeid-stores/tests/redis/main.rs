//! Tests of leases in Redis: the conformance suite, and tests specific to Redis.
#![cfg(feature = "redis")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests only")]

#[path = "../client/mod.rs"]
mod client;
mod cluster;
mod failback;
mod faults;
mod hosts;
#[path = "../client/issuing.rs"]
mod issuing;
#[path = "../operations/mod.rs"]
mod operations;
#[path = "../optimistic/mod.rs"]
mod optimistic;
mod replicas;
#[path = "../client/restored.rs"]
mod restored;
mod store_under_test;
mod tls;

use flakeid_test_servers::{RedisServer, Server};
use store_under_test::Redis;

/// The conformance suite.
mod conformance {
    use flakeid_conformance::Test;
    use flakeid_test_servers::Shared;

    use super::*;

    fn on_shared_server(test: Test) {
        static SERVER: Shared<Redis> = Shared::new();
        test(&*SERVER.get(|| Redis(RedisServer::new())));
    }

    fn on_new_server(test: Test) {
        test(&Redis(RedisServer::new()));
    }

    flakeid_conformance::test_store!(shared = on_shared_server, own = on_new_server);
}

/// Checks leases on the running server whose URL is in an environment variable, so that other server versions can be
/// tested. If the variable is not set, the test starts a private server.
#[test]
fn server_named_by_an_environment_variable_grants_leases() {
    match std::env::var("FLAKEID_TEST_REDIS_URL") {
        Ok(url) => client::leases(&url),
        Err(_) => client::leases(&RedisServer::new().url()),
    }
}

#[test]
fn random_restores_repeat_no_tick() {
    let store = Redis(RedisServer::new());
    flakeid_conformance::campaigns::random_restores_repeat_no_tick(&store, 6);
}

#[test]
fn deleted_row_is_detected_as_a_restore() {
    optimistic::deleted_row_is_detected_as_a_restore(&Redis(RedisServer::new()));
}

#[test]
fn deleted_row_cannot_be_quarantined() {
    optimistic::deleted_row_cannot_be_quarantined(&Redis(RedisServer::new()));
}

#[test]
fn operations_handle_more_rows_than_fit_in_one_response() {
    optimistic::operations_handle_more_rows_than_fit_in_one_response(&Redis(RedisServer::new()));
}
