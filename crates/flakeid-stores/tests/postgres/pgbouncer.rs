//! Tests with a connection pooler in transaction mode between the clients and the server.

use std::any::Any;
use std::time::Duration;

use flakeid::Generator;
use flakeid_conformance::StoreUnderTest;
use flakeid_protocol::store::{Fault, Ledger, Store};
use flakeid_protocol::{Namespace, Row};
use flakeid_test_servers::{PgBouncer, PostgresServer, Server};

use crate::client::{Client, connect, eventually_connect, fresh_namespace, leases, request};
use crate::operations;
use crate::sql::check_lease_continues;
use crate::sql::{UnderTest, acquire_at_once};

/// The pooler setting that the guide recommends. By default, the pooler waits for 15 s before it reconnects to a server
/// that failed.
const RETRY: &str = "server_login_retry = 1";

/// A server to which all clients connect through a pooler.
struct Pooled {
    server: UnderTest<PostgresServer>,
    pooler: PgBouncer,
}

impl Pooled {
    fn new() -> Self {
        let server = PostgresServer::new();
        let pooler = PgBouncer::to(&server, &[RETRY]);
        Self { server: UnderTest(server), pooler }
    }
}

impl StoreUnderTest for Pooled {
    fn connect(&self) -> Box<dyn Store> {
        eventually_connect(&self.pooler.url())
    }

    fn crash(&self) {
        self.server.crash();
    }

    fn backup(&self) -> Box<dyn Any> {
        self.server.backup()
    }

    fn restore(&self, copy: Box<dyn Any>) {
        self.server.restore(copy);
    }

    fn delete_row(&self, namespace: &str, node: u64) -> Result<(), String> {
        self.server.delete_row(namespace, node)
    }

    fn lower_fence(&self, namespace: &str, node: u64) -> Result<(), String> {
        self.server.lower_fence(namespace, node)
    }

    fn guards_rows(&self) -> bool {
        self.server.guards_rows()
    }

    fn damage(&self, namespace: &str, node: u64, field: &str, text: &str) {
        self.server.damage(namespace, node, field, text);
    }

    fn crash_voids_tokens(&self) -> bool {
        self.server.crash_voids_tokens()
    }

    fn can_hold(&self, field: &str, text: &str) -> bool {
        self.server.can_hold(field, text)
    }
}

/// The conformance suite through a connection pooler.
mod conformance {
    use flakeid_conformance::Test;
    use flakeid_test_servers::Shared;

    use super::Pooled;

    fn on_shared_server(test: Test) {
        static SERVER: Shared<Pooled> = Shared::new();
        test(&*SERVER.get(Pooled::new));
    }

    fn on_new_server(test: Test) {
        test(&Pooled::new());
    }

    flakeid_conformance::test_store!(shared = on_shared_server, own = on_new_server);
}

/// Checks that thirty clients together use at most three connections to the server.
#[test]
fn thirty_clients_share_three_server_connections() {
    let server = PostgresServer::new();
    let pooler = PgBouncer::to(&server, &["default_pool_size = 3"]);
    acquire_at_once(&pooler.url(), 30);
    let connections = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'flakeid'";
    let connections: u64 = server.sql(connections).unwrap().parse().unwrap();
    assert!((1..=3).contains(&connections), "{connections}");
}

/// Opens a leased generator in a namespace with the default bounds. The lease is renewed several times a second.
fn holder(url: &str, namespace: &Namespace) -> Generator {
    operations::init(&mut *connect(url).unwrap(), namespace).unwrap();
    let lease = flakeid::lease(url, namespace.layout).unwrap();
    let lease = lease.namespace(&namespace.name).window(Duration::from_secs(1));
    let generator = lease.max_wait(Duration::from_secs(20)).open().unwrap();
    generator.next_id().unwrap();
    generator
}

#[test]
fn holders_continue_their_leases_after_the_server_behind_the_pooler_restarts() {
    let server = PostgresServer::new();
    let pooler = PgBouncer::to(&server, &[RETRY]);
    let generator = holder(&pooler.url(), &fresh_namespace("behind"));
    for restart in [PostgresServer::stop as fn(&PostgresServer), PostgresServer::kill] {
        let before = flakeid::Lease::of(&generator).unwrap().status();
        restart(&server);
        server.start();
        check_lease_continues(&generator, &before);
    }
}

#[test]
fn holders_continue_their_leases_after_the_pooler_restarts() {
    let server = PostgresServer::new();
    let pooler = PgBouncer::to(&server, &[RETRY]);
    let namespace = fresh_namespace("pooler");
    let generator = holder(&pooler.url(), &namespace);
    pooler.kill();
    assert!(matches!(connect(&pooler.url()), Err(Fault::Unavailable(_))));
    let before = flakeid::Lease::of(&generator).unwrap().status();
    pooler.start();
    check_lease_continues(&generator, &before);
    // Only the pooler was restarted, not the server, so new clients do not have to wait.
    let mut store = connect(&pooler.url()).unwrap();
    operations::acquire(&mut *store, &namespace.name, &request(&namespace)).unwrap();
}

/// Checks that the remaining statements of a transaction are not sent through another connection after the server is
/// killed. On another connection, each remaining statement would be committed separately.
#[test]
fn transaction_does_not_continue_on_another_connection() {
    let server = PostgresServer::new();
    let pooler = PgBouncer::to(&server, &[RETRY]);
    let mut client = Client::new(&pooler.url(), "between");
    let grant = client.acquire().unwrap();
    let outcome = client.store.transact(&client.namespace.name, &mut |ledger: &mut dyn Ledger| {
        let row = ledger.row(grant.node)?.expect("the granted node has a row");
        server.kill();
        server.start();
        // A request by another client makes the pooler reconnect.
        drop(operations::list(&mut *eventually_connect(&pooler.url()), &client.namespace.name));
        ledger.put_row(Some(&row), &Row { fence: row.fence + 9, ..row.clone() })
    });
    assert!(matches!(outcome, Err(Fault::Unavailable(_))), "{outcome:?}");
    client.store = eventually_connect(&pooler.url());
    let listed = client.list().unwrap();
    assert_eq!(listed.rows[0].fence, grant.fence, "the row must be unchanged");
}

/// Checks that statement pooling is refused, because each statement of a transaction could use a different
/// connection.
#[test]
fn statement_pooling_is_refused_and_session_pooling_accepted() {
    let server = PostgresServer::new();
    leases(&PgBouncer::to(&server, &["pool_mode = session"]).url());
    let pooler = PgBouncer::to(&server, &["pool_mode = statement"]);
    let namespace = fresh_namespace("statements");
    let mut store = connect(&pooler.url()).unwrap();
    let fault = operations::init(&mut *store, &namespace).unwrap_err();
    assert!(fault.to_string().contains("statement pooling mode"), "{fault:?}");
}
