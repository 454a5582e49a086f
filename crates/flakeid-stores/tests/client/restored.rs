//! Helpers for failover tests.

use flakeid_protocol::store::Continuity;
use flakeid_protocol::{Grant, Namespace};

use crate::client::{Client, eventually_connect};

/// Creates a namespace and acquires one node in it.
pub(crate) fn lease(url: &str, name: &str) -> (Namespace, Grant) {
    let mut client = Client::new(url, name);
    let grant = client.acquire().unwrap();
    (client.namespace, grant)
}

/// Checks that the server at the URL counts as restored and contains exactly one row, and that new windows start above
/// the last grant.
pub(crate) fn check_restored(url: &str, namespace: &Namespace, last: &Grant) {
    let mut client = Client { store: eventually_connect(url), namespace: namespace.clone() };
    let listing = client.list().unwrap();
    assert_eq!((listing.continuity, listing.rows.len()), (Continuity::Restored, 1));
    client.assert_restored_above(last);
}
