//! Tests for Redis and etcd, where other programs can delete rows.

use std::time::Duration;

use flakeid_conformance::StoreUnderTest;
use flakeid_protocol::store::{Continuity, Fault, Ledger};
use flakeid_protocol::{Acquire, Bounds, Identity, Namespace, Refusal};

use crate::client::{Client, connect, fresh_namespace};
use crate::operations;

/// The methods of `StoreUnderTest` that edit the JSON of a row.
macro_rules! edit_rows {
    () => {
        fn lower_fence(&self, namespace: &str, node: u64) -> Result<(), String> {
            self.edit(namespace, node, |row| {
                row["fence"] = (row["fence"].as_u64().unwrap() - 1).into();
            });
            Ok(())
        }

        fn guards_rows(&self) -> bool {
            false
        }

        fn damage(&self, namespace: &str, node: u64, field: &str, text: &str) {
            self.edit(namespace, node, |row| {
                row[field] = serde_json::from_str(text).unwrap_or_else(|_| text.into());
            });
        }

        fn crash_voids_tokens(&self) -> bool {
            true
        }
    };
}

pub(crate) use edit_rows;

/// Builds a namespace that resumes granting nodes a few seconds after a restore.
pub(crate) fn brief_namespace(name: &str) -> Namespace {
    let bounds =
        Bounds { max_window_ms: 300, max_ahead_ms: 200, max_skew_ms: 1500, quiet_ms: 3_400 };
    Namespace { bounds, ..fresh_namespace(name) }
}

/// Checks that the node of a deleted row does not count as unused. The store counts as restored exactly once, and the
/// floor rises above the lost grant.
pub(crate) fn deleted_row_is_detected_as_a_restore(under_test: &dyn StoreUnderTest) {
    let mut client = Client::on(under_test.connect(), brief_namespace("deleted"));
    let lost = client.acquire().unwrap();
    let kept = client.acquire().unwrap();
    assert_eq!((lost.node, kept.node), (0, 1));
    under_test.delete_row(&client.namespace.name, lost.node).unwrap();
    assert_eq!(client.list().unwrap().continuity, Continuity::Restored);

    let listing = client.assert_restored_above(&lost);
    let nodes: Vec<u64> = listing.rows.iter().map(|row| row.node).collect();
    assert_eq!(nodes, [0, 1]);

    let fenced_off = client.renew(&lost);
    assert!(matches!(fenced_off, Err(Fault::Refused(_))), "{fenced_off:?}");
    let again = loop {
        let only = Acquire { identity: Identity::Node(0), ..client.request() };
        match client.acquire_as(&only) {
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

/// Checks that a node whose row was deleted cannot be quarantined, because a quarantine would hide the deletion.
pub(crate) fn deleted_row_cannot_be_quarantined(under_test: &dyn StoreUnderTest) {
    let mut client = Client::on(under_test.connect(), brief_namespace("hidden"));
    let lost = client.acquire().unwrap();
    under_test.delete_row(&client.namespace.name, lost.node).unwrap();
    let quarantine = |client: &mut Client| {
        let (store, name) = (&mut *client.store, &client.namespace.name);
        operations::repair(store, name, lost.node, operations::Repair::Quarantine)
    };
    let refused = quarantine(&mut client);
    let Err(Fault::Rejected(text)) = refused else { panic!("{refused:?}") };
    assert!(text.contains("deleted"), "{text}");
    client.adopt();
    assert!(quarantine(&mut client).unwrap().is_some());
    assert!(client.list().unwrap().namespace.floor >= lost.fence);
}

/// Checks that operations handle more rows than a single request or response of the store can contain.
pub(crate) fn operations_handle_more_rows_than_fit_in_one_response(
    under_test: &dyn StoreUnderTest,
) {
    const ROWS: u64 = 600;
    let mut client = Client::on(under_test.connect(), fresh_namespace("many"));
    // A single transaction writes all rows, so that all rows have the same age. Only the lease in the last row has
    // expired.
    let template = client.acquire().unwrap();
    let store = &mut client.store;
    store
        .transact(&client.namespace.name, &mut |ledger: &mut dyn Ledger| {
            let row = ledger.row(template.node)?.expect("the granted node has a row");
            for node in 1..ROWS {
                let expires = if node == ROWS - 1 { 0 } else { i64::MAX };
                let new = flakeid_protocol::Row { node, expires, ..row.clone() };
                ledger.put_row(None, &new)?;
            }
            Ok(())
        })
        .unwrap();

    let mut acquire = |from, to, rotation| {
        let request = Acquire { from, to, rotation, ..client.request() };
        client.acquire_as(&request).map(|granted| granted.node)
    };
    assert_eq!(acquire(0, 1023, 0).unwrap(), ROWS);
    assert_eq!(acquire(10, 1023, 900).unwrap(), 910);
    assert_eq!(acquire(0, ROWS + 1, 3).unwrap(), ROWS + 1, "the only unused node");
    assert_eq!(acquire(0, ROWS - 1, 0).unwrap(), ROWS - 1, "the only expired node");
    let none = acquire(0, ROWS - 1, 0);
    let Err(Fault::Refused(Refusal::NoFreeNode { held, .. })) = none else { panic!("{none:?}") };
    assert_eq!(held, ROWS);

    operations::fast_forward(&mut *client.store, &client.namespace.name, template.fence + 1)
        .unwrap();
    let rows = client.list().unwrap().rows;
    assert_eq!(rows.len() as u64, ROWS + 3);
    assert!(rows.iter().all(|row| row.token.is_none()));
    let fenced_off = client.renew(&template);
    assert_eq!(fenced_off.unwrap_err(), Fault::Refused(Refusal::FencedOff));
}

/// Checks that a server that hangs, or a network that loses all packets, is reported as unavailable.
pub(crate) fn check_hanging(client: &mut Client, url: &str) {
    let hung = client.acquire().map(drop);
    assert!(matches!(hung, Err(Fault::Unavailable(_))), "{hung:?}");
    let refused = connect(url).map(drop);
    assert!(matches!(refused, Err(Fault::Unavailable(_))), "{refused:?}");
}

/// Copies a directory and its contents.
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
