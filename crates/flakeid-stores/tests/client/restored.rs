//! Helpers for tests of failovers.

use flakeid_protocol::store::{Continuity, Fault};
use flakeid_protocol::{Grant, Namespace, Refusal, operations};

use crate::client::{connect, eventually_connect, fresh_namespace, request};

/// Creates a namespace with one grant.
pub(crate) fn lease(url: &str, name: &str) -> (Namespace, Grant) {
    let mut store = connect(url).unwrap();
    let namespace = fresh_namespace(name);
    operations::init(&mut *store, &namespace).unwrap();
    let grant = operations::acquire(&mut *store, &namespace.name, &request(&namespace)).unwrap();
    (namespace, grant)
}

/// Checks that a URL leads to the new primary, which counts as another run and has the row of one node.
pub(crate) fn check_restored(url: &str, namespace: &Namespace, last: &Grant) {
    let mut store = eventually_connect(url);
    let listing = operations::list(&mut *store, &namespace.name).unwrap();
    assert_eq!((listing.continuity, listing.rows.len()), (Continuity::Restored, 1));
    let refused = operations::acquire(&mut *store, &namespace.name, &request(namespace));
    assert!(matches!(refused, Err(Fault::Refused(Refusal::Restored { .. }))), "{refused:?}");
    let listing = operations::list(&mut *store, &namespace.name).unwrap();
    assert_eq!(listing.continuity, Continuity::Same, "the restore is recorded");
    assert!(listing.namespace.floor >= last.fence, "new windows start above the last one");
}
