use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use flakeid::LeaseBuilder;
use flakeid_conformance::HookedStore;
use flakeid_core::Layout;
use flakeid_protocol::store::Fault;
use flakeid_protocol::{MemoryStore, operations};
use flakeid_server::ServeOptions;

use crate::client::{TestServer, service_of};

/// If a server's store becomes unavailable, the server still issues IDs and remains ready until the
/// window of its lease ends. The server then reports an error until the store is available again.
/// When the server stops, it releases its node.
#[test]
fn server_resumes_after_an_outage_of_its_lease_store() {
    let store = MemoryStore::new();
    let is_away = Arc::new(AtomicBool::new(false));
    let (inner, away) = (store.clone(), Arc::clone(&is_away));
    let check = move || {
        let is_away = away.load(Ordering::SeqCst);
        if is_away { Err(Fault::Unavailable("the store does not respond".into())) } else { Ok(()) }
    };
    let generator = LeaseBuilder::from_store(Layout::TWITTER, move || {
        check().map(|()| HookedStore::connect(&inner, check.clone()))
    })
    .window(Duration::from_millis(600))
    .open()
    .unwrap();
    let node = generator.node().unwrap();
    let service = service_of(generator).max_wait(Duration::from_millis(50));
    let mut server = TestServer::new(service, ServeOptions::default());
    let ready = server.ask("GET", "/readyz", "");
    assert_eq!(ready.status, 200);
    assert!(ready.text().contains("\"seconds_left\":0."), "{}", ready.text());

    is_away.store(true, Ordering::SeqCst);
    let until = |expected: &str, done: &dyn Fn() -> bool| {
        let deadline = Instant::now() + Duration::from_secs(20);
        while !done() {
            assert!(Instant::now() < deadline, "{expected}");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    until("the server was ready without a store", &|| {
        server.ask("GET", "/readyz", "").status == 503
    });
    let refused = server.ask("POST", "/v1/default/ids", "");
    assert_eq!(refused.status, 503);
    assert!(refused.text().contains("\"FLAKEID_LEASE_EXPIRED\""), "{}", refused.text());
    assert!(refused.header("retry-after").is_some(), "{refused:?}");
    assert_eq!(server.ask("GET", "/livez", "").status, 200);

    is_away.store(false, Ordering::SeqCst);
    until("the server did not become ready again", &|| {
        server.ask("GET", "/readyz", "").status == 200
    });
    assert_eq!(server.ask("POST", "/v1/default/ids?count=3", "").ids().len(), 3);

    server.stop();
    server.wait();
    let listing = operations::list(&mut store.clone(), "default").unwrap();
    let row = listing.rows.iter().find(|row| row.node == node).unwrap();
    assert!(row.token.is_none(), "the node was not released: {row:?}");
}
