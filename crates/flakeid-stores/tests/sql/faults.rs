//! Tests of servers that hang, are killed, or have tables of the wrong version.

use std::net::TcpListener;

use flakeid_protocol::Release;
use flakeid_protocol::store::{Continuity, Fault};

use super::SqlServer;
use crate::client::{Client, check_faults, connect, fresh_namespace, request};
use crate::operations;

pub(crate) fn errors_name_the_server_and_hide_the_password<S: SqlServer>() {
    let server = S::new();
    let cases = server.unreachable();
    check_faults(&cases, &["wr0ng", "secret", S::PASSWORD]);
}

pub(crate) fn missing_table_is_named_in_the_error<S: SqlServer>() {
    let server = S::new();
    let mut store = connect(&server.url()).unwrap();
    let namespace = fresh_namespace("missing");
    for _ in 0..2 {
        let fault =
            operations::acquire(&mut *store, &namespace.name, &request(&namespace)).unwrap_err();
        assert_eq!(fault, Fault::MissingTables);
    }
    operations::init(&mut *store, &namespace).unwrap();
    operations::acquire(&mut *store, &namespace.name, &request(&namespace)).unwrap();
    server.sql("UPDATE flakeid_schema SET version = 5").unwrap();
    let fault = operations::list(&mut *store, &namespace.name).unwrap_err();
    assert!(fault.to_string().contains("version 5"), "{fault}");
}

/// Checks that a hanging server is reported as unavailable on both existing and new connections, and that the server is
/// usable after it resumes.
pub(crate) fn paused_server_is_unavailable_until_it_resumes<S: SqlServer>() {
    let server = S::new();
    let mut client = Client::new(&server.url(), "paused");
    server.pause();
    let hung = client.acquire();
    let refused = connect(&server.url()).map(drop);
    server.resume();
    for outcome in [hung.map(drop), refused] {
        let Err(Fault::Unavailable(text)) = outcome else { panic!("{outcome:?}") };
        assert!(text.contains("did not respond") || text.contains("time"), "{text}");
    }
    // After the fault, the state of the connection is unknown, so the connection must not be used again.
    let lost = client.list().unwrap_err();
    assert!(matches!(lost, Fault::Unavailable(_)), "{lost:?}");
    client.reconnect(&server.url());
    client.acquire().unwrap();
}

/// Checks that a listener that accepts connections but never responds is reported as unavailable.
pub(crate) fn listener_that_never_responds_is_unavailable<S: SqlServer>() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let url = format!("{}://u:p@127.0.0.1:{port}/d", S::SCHEME);
    let fault = connect(&url).map(drop).unwrap_err();
    assert!(matches!(fault, Fault::Unavailable(_)), "{fault:?}");
}

pub(crate) fn killed_server_is_unavailable_until_it_restarts<S: SqlServer>() {
    let server = S::new();
    let mut client = Client::new(&server.url(), "killed");
    let grant = client.acquire().unwrap();
    server.kill();
    let fault = client.list().unwrap_err();
    assert!(matches!(fault, Fault::Unavailable(_)), "{fault:?}");
    assert!(matches!(connect(&server.url()), Err(Fault::Unavailable(_))));
    server.start();
    client.reconnect(&server.url());
    let listing = client.list().unwrap();
    assert_eq!(listing.continuity, Continuity::Restored);
    assert_eq!(listing.rows[0].fence, grant.fence);
}

/// Checks that a request fails after a timeout if its row remains locked.
pub(crate) fn locked_row_is_unavailable_until_it_is_unlocked<S: SqlServer>() {
    let server = S::new();
    let mut client = Client::new(&server.url(), "locked");
    let grant = client.acquire().unwrap();
    let condition = super::condition(&client.namespace.name, grant.node);
    let lock = format!("SELECT node FROM flakeid_node WHERE {condition} FOR UPDATE");
    std::thread::scope(|scope| {
        let blocker =
            scope.spawn(|| server.sql(&format!("BEGIN; {lock}; {}; COMMIT", S::sleep(12))));
        while server.sql(S::SLEEPING).unwrap() != "1" {
            std::thread::yield_now();
        }
        let release = Release { node: grant.node, token: grant.token, used_until: grant.start };
        let outcome = operations::release(&mut *client.store, &client.namespace.name, &release);
        assert!(matches!(outcome, Err(Fault::Unavailable(_))), "{outcome:?}");
        // The other nodes are not locked, so a free node must be granted.
        client.reconnect(&server.url());
        let other = client.acquire();
        assert_ne!(other.unwrap().node, grant.node);
        blocker.join().unwrap().unwrap();
    });
}

/// Checks that a store can be used on a thread of an asynchronous runtime.
pub(crate) fn store_can_be_used_inside_an_asynchronous_runtime<S: SqlServer>() {
    let server = S::new();
    let namespace = fresh_namespace("tokio");
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let mut store = connect(&server.url()).unwrap();
        operations::init(&mut *store, &namespace).unwrap();
        operations::acquire(&mut *store, &namespace.name, &request(&namespace)).unwrap();
    });
}
