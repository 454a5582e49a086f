//! Tests for all stores that keep a namespace in one document.

use std::thread;
use std::time::Duration;

use flakeid_conformance::StoreUnderTest;
use flakeid_protocol::operations;
use flakeid_protocol::store::{Fault, Ledger};
use flakeid_protocol::{Acquire, Identity, Refusal};
use serde_json::Value;

use crate::client::{Client, fresh_namespace};

/// Returns the text of a document after a change.
pub(crate) fn edited(text: &str, change: impl FnOnce(&mut Value)) -> String {
    let mut document: Value = serde_json::from_str(text).unwrap();
    change(&mut document);
    document.to_string()
}

/// The methods of `StoreUnderTest` that edit the rows in a document.
macro_rules! edit_rows {
    () => {
        fn delete_row(&self, namespace: &str, node: u64) -> Result<(), String> {
            self.edit(namespace, |document| {
                document["rows"].as_object_mut().unwrap().remove(&node.to_string());
            });
            Ok(())
        }

        fn lower_fence(&self, namespace: &str, node: u64) -> Result<(), String> {
            self.edit(namespace, |document| {
                let fence = &mut document["rows"][node.to_string()]["fence"];
                *fence = (fence.as_u64().unwrap() - 1).into();
            });
            Ok(())
        }

        fn guards_rows(&self) -> bool {
            false
        }

        fn damage(&self, namespace: &str, node: u64, field: &str, text: &str) {
            self.edit(namespace, |document| {
                document["rows"][node.to_string()][field] =
                    serde_json::from_str(text).unwrap_or_else(|_| text.into());
            });
        }

        fn crash_voids_tokens(&self) -> bool {
            false
        }
    };
}

pub(crate) use edit_rows;

/// Checks that every grant remains in the history after the namespace's document has become too long to keep it.
pub(crate) fn history_is_moved_out_of_the_namespace_document(under_test: &dyn StoreUnderTest) {
    const GRANTS: u64 = 150;
    let mut client = Client::on(under_test.connect(), fresh_namespace("history"));
    let mut grants = Vec::new();
    for node in 0..GRANTS {
        let request = Acquire { identity: Identity::Node(node), ..client.request() };
        grants.push(client.acquire_as(&request).unwrap());
    }
    let name = client.namespace.name.clone();
    for grant in &grants {
        let found = operations::whois(&mut *client.store, &name, grant.node, grant.start).unwrap();
        let found = found.unwrap_or_else(|| panic!("node {} has no history", grant.node));
        assert_eq!((found.record.start, found.fence), (grant.start, grant.fence));
    }
    // The last record of each node remains, so nothing can be pruned.
    let pruned = operations::prune(&mut *client.store, &name, i64::MAX).unwrap();
    assert_eq!((pruned.records, pruned.sub_grants), (0, 0));
}

/// Checks that a namespace whose document is full refuses new nodes, and that its holders can still renew and release
/// their leases. `rows` rows exceed the size limit, and half of them do not.
pub(crate) fn full_document_refuses_new_rows_but_renews_existing_leases(
    under_test: &dyn StoreUnderTest,
    rows: u64,
) {
    const FEW: u64 = 60;
    let namespace = flakeid_protocol::Namespace {
        keeps_history: false,
        layout: "t41.n20.s2@1767225600000/1ms".parse().unwrap(),
        ..fresh_namespace("full")
    };
    let mut client = Client::on(under_test.connect(), namespace);
    let first = client.acquire().unwrap();
    let name = client.namespace.name.clone();
    let (mut node, mut added) = (1_000, rows / 10);
    let full = loop {
        let outcome = client.store.transact(&name, &mut |ledger: &mut dyn Ledger| {
            let row = ledger.row(first.node)?.expect("the granted node has a row");
            for node in node..node + added {
                // A transaction without a response may have written the row.
                if ledger.row(node)?.is_none() {
                    ledger.put_row(None, &flakeid_protocol::Row { node, ..row.clone() })?;
                }
            }
            Ok(())
        });
        match outcome {
            Ok(()) => node += added,
            Err(Fault::Unavailable(text)) => println!("  retrying after: {text}"),
            // Near the limit, a transaction adds fewer rows than the reserve that the store keeps for renewals can contain.
            Err(Fault::Rejected(text)) if added > FEW => {
                assert!(text.contains("--block-bits"), "{text}");
                added = (added / 2).max(FEW);
            }
            Err(fault) => break fault,
        }
        assert!(node < 1_000 + rows, "the document has no size limit");
    };
    let Fault::Rejected(text) = full else { panic!("{full:?}") };
    assert!(text.contains("--block-bits"), "{text}");
    let refused = eventually(|| client.acquire().map(drop));
    assert!(matches!(refused, Err(Fault::Rejected(_))), "{refused:?}");
    eventually(|| client.renew(&first).map(drop)).unwrap();
}

/// Repeats a call until the store responds. If the machine is so busy that a write takes seconds, the namespace counts
/// as restored, and the call is repeated after the quiet time.
fn eventually(mut call: impl FnMut() -> Result<(), Fault>) -> Result<(), Fault> {
    loop {
        match call() {
            Err(Fault::Unavailable(text)) => println!("  retrying after: {text}"),
            Err(Fault::Refused(Refusal::Restored { retry_after_ms })) => {
                thread::sleep(Duration::from_millis(retry_after_ms));
            }
            outcome => return outcome,
        }
    }
}
