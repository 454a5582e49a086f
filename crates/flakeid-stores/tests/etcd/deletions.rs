//! Tests of rows that other programs deleted. A request that reads the row's node detects the deletion, because rows are
//! not counted.

use flakeid_conformance::StoreUnderTest;
use flakeid_protocol::store::{Fault, Ledger};
use flakeid_protocol::{Acquire, Identity, Refusal};
use flakeid_test_servers::{EtcdServer, Server};

use crate::client::{connect, renewal, request};
use crate::operations;
use crate::optimistic::brief_namespace;
use crate::store_under_test::Etcd;

/// Checks that requests for other nodes succeed until a client, such as the holder, requests the node.
#[test]
fn deleted_row_is_detected_by_requests_for_its_node_only() {
    let etcd = Etcd(EtcdServer::new());
    for by_holder in [true, false] {
        let mut store = connect(&etcd.0.url()).unwrap();
        let namespace = brief_namespace("others");
        let name = &namespace.name;
        operations::init(&mut *store, &namespace).unwrap();
        let lost = operations::acquire(&mut *store, name, &request(&namespace)).unwrap();
        let kept = operations::acquire(&mut *store, name, &request(&namespace)).unwrap();
        etcd.delete_row(name, lost.node).unwrap();

        operations::renew(&mut *store, name, &renewal(&kept)).unwrap();
        let elsewhere = Acquire { rotation: 5, ..request(&namespace) };
        operations::acquire(&mut *store, name, &elsewhere).unwrap();
        let detected = if by_holder {
            operations::renew(&mut *store, name, &renewal(&lost)).map(drop)
        } else {
            let only = Acquire { identity: Identity::Node(lost.node), ..request(&namespace) };
            operations::acquire(&mut *store, name, &only).map(drop)
        };
        assert!(matches!(detected, Err(Fault::Refused(Refusal::Restored { .. }))), "{detected:?}");
        let listing = operations::list(&mut *store, name).unwrap();
        assert!(listing.namespace.floor >= lost.fence);
        assert_eq!(listing.rows[0].node, lost.node, "the node must have a row again");
    }
}

/// Checks that a transaction on an unused node fails if another client's row for it is written and deleted meanwhile.
#[test]
fn row_deleted_during_a_transaction_is_detected() {
    let etcd = Etcd(EtcdServer::new());
    let (mut store, mut other) = (connect(&etcd.0.url()).unwrap(), connect(&etcd.0.url()).unwrap());
    let namespace = brief_namespace("meanwhile");
    let name = &namespace.name;
    operations::init(&mut *store, &namespace).unwrap();
    let template = operations::acquire(&mut *store, name, &request(&namespace)).unwrap();
    let mut attempts = 0;
    let outcome = store.transact(name, &mut |ledger: &mut dyn Ledger| {
        attempts += 1;
        let row = ledger.row(template.node)?.expect("the granted node has a row");
        let new = flakeid_protocol::Row { node: 7, ..row };
        ledger.put_row(None, &new)?;
        if attempts == 1 {
            let only = Acquire { identity: Identity::Node(7), ..request(&namespace) };
            operations::acquire(&mut *other, name, &only).unwrap();
            etcd.delete_row(name, 7).unwrap();
        }
        Ok(())
    });
    assert!(matches!(outcome, Err(Fault::Rejected(_))), "{outcome:?}");
    assert!(attempts > 1, "the commit must detect the conflict");
}
