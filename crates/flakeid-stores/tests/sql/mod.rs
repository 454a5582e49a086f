//! Tests that all SQL servers share. Each test runs on `PostgreSQL` and `MariaDB`, and `cargo xtask mysql` also runs
//! the tests on `MySQL`.

mod faults;
mod roles;
mod tls;

pub(crate) use faults::*;
pub(crate) use roles::*;
pub(crate) use tls::*;

use std::any::Any;
use std::sync::{Barrier, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use flakeid::{Generator, LeaseStatus};
use flakeid_conformance::StoreUnderTest;
use flakeid_protocol::store::{Fault, Store};
use flakeid_test_servers::Server;

use crate::client::{self, connect, eventually_connect, fresh_namespace, request};
use crate::operations;

/// A private SQL server, and the names, options and statements that are specific to its kind of server.
pub(crate) trait SqlServer: Server + Sized {
    /// The URL scheme for this kind of server.
    const SCHEME: &'static str;
    /// The password of the user `flakeid`.
    const PASSWORD: &'static str;
    /// The environment variable that contains the URL of a running server to test.
    const GIVEN: &'static str;

    /// Statements that create a user named `service` with the password [`PASSWORD`](Self::PASSWORD). The user has the
    /// rights that the documentation recommends for a service.
    const CREATE_SERVICE: &'static str;
    /// The statements from the documentation that permit the user `service` to prune the history.
    const PERMIT_PRUNING: &'static str;
    /// Statements that replace the triggers of the history with those of an earlier build.
    const OLD_TRIGGERS: &'static str;
    /// Text that the server's error message contains if the user lacks a right.
    const DENIED: &'static str;
    /// Text, in uppercase, that the server's error message contains if a constraint is violated.
    const CONSTRAINT: &'static str;
    /// Additional statements, specific to this kind of server, that delete rows unless a trigger rejects the deletion.
    const LOSING: &'static [&'static str];

    /// Returns a statement that sleeps for the given number of seconds.
    fn sleep(seconds: u32) -> String;
    /// A query that returns the number of sleeping connections.
    const SLEEPING: &'static str;

    /// Sets of URL options with which the client does not verify certificates.
    const UNVERIFIED: &'static [&'static str];
    /// Sets of URL options that require TLS.
    const REQUIRED: &'static [&'static str];
    /// The URL options that disable TLS.
    const NO_TLS: &'static str;
    /// The URL option that names a file with the certificates of trusted authorities.
    const AUTHORITIES: &'static str;
    /// The URL options that enable verification of the authority and the host name.
    const VERIFY_HOST: &'static str;
    /// Text that the error message contains if the URL requires TLS but the server does not support it.
    const TLS_MISSING: &'static str;
    /// URL options that the store refuses, each with text that the error message contains. The placeholder `{right}` is
    /// replaced with the path to the certificate of the authority that signed the server's certificate. `{wrong}` is
    /// replaced with the path to another authority's certificate.
    const BAD_TLS: &'static [(&'static str, &'static str)];

    fn new() -> Self;

    /// Starts a server without TLS.
    fn without_tls() -> Self {
        Self::new()
    }

    fn with_certificate(certificate: &str, key: &str) -> Self;
    fn url_of(&self, user: &str, password: &str, database: &str, options: &str) -> String;

    /// Executes statements in the database `ids` as the administrator.
    fn sql(&self, sql: &str) -> Result<String, String>;

    /// Checks that connections to the URL `encrypted` use TLS, and that connections to the URL `plain` do not. The
    /// caller must keep a connection to `encrypted` open during the check.
    fn check_encryption(&self, encrypted: &str, plain: &str);

    /// Returns URLs to which connections fail. Each URL comes with a flag that is true if the error is retryable, and
    /// with text that the error message contains. Every wrong password contains `wr0ng` or `secret`, so that a test can
    /// check that no error message reveals a password.
    fn unreachable(&self) -> Vec<(String, bool, &'static str)>;

    fn back_up(&self) -> Box<dyn Any>;
    fn put_back(&self, copy: Box<dyn Any>);

    /// Prepares the server for [`damage`](Self::damage). This function must be called before clients connect, because
    /// connected clients would detect the change.
    fn allow_damage(&self) {}

    /// Changes a field of a row while all triggers and constraints are disabled.
    fn damage(&self, field: &str, text: &str, condition: &str);

    /// Whether the column `field` can hold the string `text` while all triggers and constraints are disabled.
    fn can_hold(field: &str, text: &str) -> bool;
}

/// An SQL server on which the conformance suite runs.
pub(crate) struct UnderTest<S>(pub(crate) S);

fn condition(namespace: &str, node: u64) -> String {
    format!("namespace = '{namespace}' AND node = {node}")
}

impl<S: SqlServer> StoreUnderTest for UnderTest<S> {
    fn connect(&self) -> Box<dyn Store> {
        eventually_connect(&self.0.url())
    }

    fn crash(&self) {
        self.0.kill();
        self.0.start();
    }

    fn backup(&self) -> Box<dyn Any> {
        self.0.back_up()
    }

    fn restore(&self, copy: Box<dyn Any>) {
        self.0.put_back(copy);
    }

    fn delete_row(&self, namespace: &str, node: u64) -> Result<(), String> {
        let condition = condition(namespace, node);
        self.0.sql(&format!("DELETE FROM flakeid_node WHERE {condition}")).map(drop)
    }

    fn lower_fence(&self, namespace: &str, node: u64) -> Result<(), String> {
        let condition = condition(namespace, node);
        let update = format!("UPDATE flakeid_node SET fence = fence - 1 WHERE {condition}");
        self.0.sql(&update).map(drop)
    }

    fn guards_rows(&self) -> bool {
        true
    }

    fn damage(&self, namespace: &str, node: u64, field: &str, text: &str) {
        self.0.damage(field, text, &condition(namespace, node));
    }

    fn crash_voids_tokens(&self) -> bool {
        true
    }

    fn can_hold(&self, field: &str, text: &str) -> bool {
        S::can_hold(field, text)
    }
}

/// Defines a test function for each shared SQL test, for one kind of server.
macro_rules! test_sql_server {
    ($server:ty) => {
        /// The conformance suite.
        mod conformance {
            use flakeid_conformance::Test;
            use flakeid_test_servers::Shared;

            use $crate::sql::{SqlServer, UnderTest};

            fn on_shared_server(test: Test) {
                static SERVER: Shared<UnderTest<$server>> = Shared::new();
                test(&*SERVER.get(|| UnderTest(<$server>::new())));
            }

            fn on_new_server(test: Test) {
                let server = <$server>::new();
                SqlServer::allow_damage(&server);
                test(&UnderTest(server));
            }

            flakeid_conformance::test_store!(shared = on_shared_server, own = on_new_server);
        }

        $crate::sql::test_sql_server!(
            $server,
            server_named_by_an_environment_variable_grants_leases,
            two_hundred_clients_get_distinct_nodes_at_once,
            errors_name_the_server_and_hide_the_password,
            missing_table_is_named_in_the_error,
            paused_server_is_unavailable_until_it_resumes,
            listener_that_never_responds_is_unavailable,
            killed_server_is_unavailable_until_it_restarts,
            locked_row_is_unavailable_until_it_is_unlocked,
            store_can_be_used_inside_an_asynchronous_runtime,
            documented_privileges_suffice_for_a_service_and_no_more,
            random_restores_repeat_no_tick,
            random_pauses_repeat_no_tick,
            triggers_reject_unsafe_changes_by_the_owner,
            history_is_deleted_only_by_pruning,
            server_certificate_is_verified,
            connection_without_required_tls_is_rejected
        );
    };
    ($server:ty, $($test:ident),+) => {
        $(
            #[test]
            fn $test() {
                $crate::sql::$test::<$server>();
            }
        )+
    };
}
pub(crate) use test_sql_server;

pub(crate) fn random_restores_repeat_no_tick<S: SqlServer>() {
    let under_test = UnderTest(S::new());
    flakeid_conformance::campaigns::random_restores_repeat_no_tick(&under_test, 6);
}

pub(crate) fn random_pauses_repeat_no_tick<S: SqlServer>() {
    let new = || UnderTest(S::new());
    flakeid_conformance::campaigns::random_pauses_repeat_no_tick(new, 4, 0..4_000);
}

/// Checks leases on the running server whose URL is in an environment variable, so that other server versions can be
/// tested. If the variable is not set, the test starts a private server.
pub(crate) fn server_named_by_an_environment_variable_grants_leases<S: SqlServer>() {
    match std::env::var(S::GIVEN) {
        Ok(url) => client::leases(&url),
        Err(_) => client::leases(&S::new().url()),
    }
}

/// Checks that 200 clients that request nodes at the same time get distinct nodes, although all clients prefer the same
/// node. Most clients must succeed without a retry.
pub(crate) fn two_hundred_clients_get_distinct_nodes_at_once<S: SqlServer>() {
    let server = S::new();
    acquire_at_once(&server.url(), 200);
}

/// Acquires a node for each of the given number of clients, and checks that the nodes are distinct. Clients retry, as a
/// keeper does, because a request may exceed the timeout on a busy machine. More than half of the clients must succeed
/// on the first attempt.
pub(crate) fn acquire_at_once(url: &str, clients: usize) {
    let namespace = fresh_namespace("rush");
    operations::init(&mut *connect(url).unwrap(), &namespace).unwrap();
    let start = Barrier::new(clients);
    let faults = Mutex::new(Vec::new());
    let acquire = || {
        let mut store = eventually_connect(url);
        start.wait();
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            match operations::acquire(&mut *store, &namespace.name, &request(&namespace)) {
                Ok(grant) => return grant.node,
                Err(fault @ Fault::Unavailable(_)) if Instant::now() < deadline => {
                    faults.lock().unwrap().push(fault);
                }
                Err(fault) => panic!("{fault}"),
            }
            store = eventually_connect(url);
        }
    };
    let mut nodes: Vec<u64> = thread::scope(|scope| {
        let threads: Vec<_> = (0..clients).map(|_| scope.spawn(acquire)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    nodes.sort_unstable();
    nodes.dedup();
    assert_eq!(nodes.len(), clients, "{nodes:?}");
    let faults = faults.into_inner().unwrap();
    assert!(faults.len() < clients / 2, "{faults:?}");
}

/// Issues IDs until the next renewal is confirmed, and checks that the lease still has the same grant as `before`.
pub(crate) fn check_lease_continues(generator: &Generator, before: &LeaseStatus) {
    let deadline = Instant::now() + Duration::from_secs(30);
    let renewals = flakeid::Lease::of(generator).unwrap().status().renewals;
    let mut last = generator.next_id().unwrap();
    while flakeid::Lease::of(generator).unwrap().status().renewals <= renewals {
        assert!(Instant::now() < deadline, "{:?}", flakeid::Lease::of(generator).unwrap().status());
        let id = generator.next_id().unwrap();
        assert!(id > last);
        last = id;
    }
    let after = flakeid::Lease::of(generator).unwrap().status();
    assert_eq!((after.start, after.grants), (before.start, before.grants), "{after:?}");
}
