//! Tests for Redis and etcd, in which other programs can delete rows.

use std::time::Duration;

use flakeid_conformance::StoreUnderTest;
use flakeid_protocol::store::{Continuity, Fault, Ledger, Store};
use flakeid_protocol::{Acquire, Bounds, Identity, Namespace, Refusal};

use crate::client::{connect, fresh_namespace, renewal, request};
use crate::operations;

/// Builds a namespace that grants nodes again within seconds after a restore.
pub(crate) fn brief_namespace(name: &str) -> Namespace {
    let bounds =
        Bounds { max_window_ms: 300, max_ahead_ms: 200, max_skew_ms: 1500, quiet_ms: 3_400 };
    Namespace { bounds, ..fresh_namespace(name) }
}

/// Checks that a deleted row does not make its node count as unused. The store counts as restored once, and the
/// floor rises above the lost grant.
pub(crate) fn deleted_row_is_detected_as_a_restore(under_test: &dyn StoreUnderTest) {
    let mut store = under_test.connect();
    let namespace = brief_namespace("deleted");
    let name = &namespace.name;
    operations::init(&mut *store, &namespace).unwrap();
    let lost = operations::acquire(&mut *store, name, &request(&namespace)).unwrap();
    let kept = operations::acquire(&mut *store, name, &request(&namespace)).unwrap();
    assert_eq!((lost.node, kept.node), (0, 1));
    under_test.delete_row(name, lost.node).unwrap();
    assert_eq!(operations::list(&mut *store, name).unwrap().continuity, Continuity::Restored);

    let refused = operations::acquire(&mut *store, name, &request(&namespace));
    assert!(matches!(refused, Err(Fault::Refused(Refusal::Restored { .. }))), "{refused:?}");
    let listing = operations::list(&mut *store, name).unwrap();
    assert_eq!(listing.continuity, Continuity::Same, "the restore is recorded");
    assert!(listing.namespace.floor >= lost.fence);
    let nodes: Vec<u64> = listing.rows.iter().map(|row| row.node).collect();
    assert_eq!(nodes, [0, 1]);

    let fenced_off = operations::renew(&mut *store, name, &renewal(&lost));
    assert!(matches!(fenced_off, Err(Fault::Refused(_))), "{fenced_off:?}");
    let again = loop {
        let only = Acquire { identity: Identity::Node(0), ..request(&namespace) };
        match operations::acquire(&mut *store, name, &only) {
            Err(Fault::Refused(
                Refusal::FenceInFuture { retry_after_ms } | Refusal::Restored { retry_after_ms },
            )) => {
                std::thread::sleep(Duration::from_millis(retry_after_ms.min(500)));
            }
            granted => break granted.unwrap(),
        }
    };
    assert!(again.start >= listing.namespace.floor && again.start >= lost.fence);
}

/// Checks that a node whose row was deleted cannot be quarantined, because this would hide the deletion.
pub(crate) fn deleted_row_cannot_be_quarantined(under_test: &dyn StoreUnderTest) {
    let mut store = under_test.connect();
    let namespace = brief_namespace("hidden");
    let name = &namespace.name;
    operations::init(&mut *store, &namespace).unwrap();
    let lost = operations::acquire(&mut *store, name, &request(&namespace)).unwrap();
    under_test.delete_row(name, lost.node).unwrap();
    let quarantine = |store: &mut dyn Store| {
        operations::repair(store, name, lost.node, operations::Repair::Quarantine)
    };
    let refused = quarantine(&mut *store);
    let Err(Fault::Rejected(text)) = refused else { panic!("{refused:?}") };
    assert!(text.contains("deleted"), "{text}");
    operations::adopt(&mut *store, name).unwrap();
    assert!(quarantine(&mut *store).unwrap().is_some());
    assert!(operations::list(&mut *store, name).unwrap().namespace.floor >= lost.fence);
}

/// Checks that operations handle more rows than one response or one request of the store can contain.
pub(crate) fn operations_handle_more_rows_than_one_response(under_test: &dyn StoreUnderTest) {
    const ROWS: u64 = 600;
    let mut store = under_test.connect();
    let namespace = fresh_namespace("many");
    let name = &namespace.name;
    operations::init(&mut *store, &namespace).unwrap();
    // One transaction writes all rows, so that they are equally old. Only the last row has expired.
    let template = operations::acquire(&mut *store, name, &request(&namespace)).unwrap();
    store
        .transact(name, &mut |ledger: &mut dyn Ledger| {
            let row = ledger.row(template.node)?.expect("the granted node has a row");
            for node in 1..ROWS {
                let expires = if node == ROWS - 1 { 0 } else { i64::MAX };
                let new = flakeid_protocol::Row { node, expires, ..row.clone() };
                ledger.put_row(None, &new)?;
            }
            Ok(())
        })
        .unwrap();

    let next = |from, to, rotation| Acquire { from, to, rotation, ..request(&namespace) };
    let mut granted =
        |request: &Acquire| operations::acquire(&mut *store, name, request).unwrap().node;
    assert_eq!(granted(&next(0, 1023, 0)), ROWS);
    assert_eq!(granted(&next(10, 1023, 900)), 910);
    assert_eq!(granted(&next(0, ROWS + 1, 3)), ROWS + 1, "the only unused node");
    assert_eq!(granted(&next(0, ROWS - 1, 0)), ROWS - 1, "the only expired node");
    let none = operations::acquire(&mut *store, name, &next(0, ROWS - 1, 0));
    let Err(Fault::Refused(Refusal::NoFreeNode { held, .. })) = none else { panic!("{none:?}") };
    assert_eq!(held, ROWS);

    operations::fast_forward(&mut *store, name, template.fence + 1).unwrap();
    let rows = operations::list(&mut *store, name).unwrap().rows;
    assert_eq!(rows.len() as u64, ROWS + 3);
    assert!(rows.iter().all(|row| row.token.is_none()));
    let fenced_off = operations::renew(&mut *store, name, &renewal(&template));
    assert_eq!(fenced_off.unwrap_err(), Fault::Refused(Refusal::FencedOff));
}

/// Checks that a client reports a server that hangs, or a network that loses all packets, as unavailable.
pub(crate) fn check_hanging(store: &mut dyn Store, namespace: &Namespace, url: &str) {
    let hung = operations::acquire(store, &namespace.name, &request(namespace)).map(drop);
    assert!(matches!(hung, Err(Fault::Unavailable(_))), "{hung:?}");
    let refused = connect(url).map(drop);
    assert!(matches!(refused, Err(Fault::Unavailable(_))), "{refused:?}");
}

/// Copies a directory with its contents.
pub(crate) fn copy(from: &std::path::Path, to: &std::path::Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}
