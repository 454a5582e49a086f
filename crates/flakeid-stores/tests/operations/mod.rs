//! The operations of a store, for tests that read the clock immediately before each request. On a busy machine, the
//! store may respond slowly, and the waiting time of a request must not count as a clock error.

use std::time::Instant;

pub(crate) use flakeid_protocol::operations::*;
use flakeid_protocol::store::{Fault, Store};
use flakeid_protocol::{Acquire, Grant, Renew, Renewed};

/// Acquires a node. The time that the store takes to respond is added to the age of the clock reading.
pub(crate) fn acquire(
    store: &mut dyn Store,
    namespace: &str,
    request: &Acquire,
) -> Result<Grant, Fault> {
    acquire_read_at(store, namespace, request, Instant::now())
}

/// Renews a grant. The time that the store takes to respond is added to the age of the clock reading.
#[allow(dead_code, reason = "not every test binary renews by itself")]
pub(crate) fn renew(
    store: &mut dyn Store,
    namespace: &str,
    request: &Renew,
) -> Result<Renewed, Fault> {
    renew_read_at(store, namespace, request, Instant::now())
}
