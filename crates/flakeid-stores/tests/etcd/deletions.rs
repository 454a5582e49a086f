//! Tests of rows that other programs deleted. Only a request for the node of a deleted row detects the deletion,
//! because the store does not count rows.

use flakeid_conformance::StoreUnderTest;
use flakeid_protocol::store::{Fault, Ledger};
use flakeid_protocol::{Acquire, Identity, Refusal};
use flakeid_test_servers::{EtcdServer, Server};

use crate::client::{Client, connect, request};
use crate::operations;
use crate::optimistic::brief_namespace;
use crate::store_under_test::Etcd;

/// Checks that requests for other nodes succeed after a row is deleted. The deletion is detected when the holder or
/// another client requests the node of the row.
#[test]
fn deleted_row_is_detected_only_by_requests_for_its_node() {
    let etcd = Etcd(EtcdServer::new());
    for by_holder in [true, false] {
        let mut client = Client::with(&etcd.0.url(), brief_namespace("others"));
        let lost = client.acquire().unwrap();
        let kept = client.acquire().unwrap();
        etcd.delete_row(&client.namespace.name, lost.node).unwrap();

        client.renew(&kept).unwrap();
        let elsewhere = Acquire { rotation: 5, ..client.request() };
        client.acquire_as(&elsewhere).unwrap();
        let detected = if by_holder {
            client.renew(&lost).map(drop)
        } else {
            let only = Acquire { identity: Identity::Node(lost.node), ..client.request() };
            client.acquire_as(&only).map(drop)
        };
        assert!(matches!(detected, Err(Fault::Refused(Refusal::Restored { .. }))), "{detected:?}");
        let listing = client.list().unwrap();
        assert!(listing.namespace.floor >= lost.fence);
        assert_eq!(listing.rows[0].node, lost.node, "the node must have a row again");
    }
}

/// Checks that a transaction cannot create a row if another client has just created the same row and the row has then
/// been deleted.
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
