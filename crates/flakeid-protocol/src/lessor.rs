//! Lessors: the stores and brokers that grant leases.

use std::time::Instant;

use crate::store::{Fault, Store};
use crate::{Acquire, Grant, Release, Renew, Renewed, operations};

/// A grantor of leases: a store, or a broker that leases from a store. Holders send the same requests to both, and
/// the responses have the same meaning.
pub trait Lessor: Send {
    /// Grants a node, or a block of nodes. The request's clock was read at `read`, so that the time for which it
    /// waited does not make its clock look wrong.
    ///
    /// # Errors
    /// [`Fault::Refused`], with nothing granted; any other fault leaves it unknown what was granted.
    fn acquire(
        &mut self,
        namespace: &str,
        request: &Acquire,
        read: Instant,
    ) -> Result<Grant, Fault>;

    /// Grants a node to replace the node `held`, which its granter does not renew. Any other lessor is asked, but not
    /// the granter.
    ///
    /// # Errors
    /// Those of [`acquire`](Self::acquire); [`Fault::Unavailable`] if there is no other lessor.
    fn acquire_elsewhere(
        &mut self,
        namespace: &str,
        request: &Acquire,
        held: u64,
        read: Instant,
    ) -> Result<Grant, Fault> {
        let _ = (namespace, request, held, read);
        Err(no_other_lessor())
    }

    /// Raises a fence, or confirms a renewal that was applied before.
    ///
    /// # Errors
    /// Those of [`acquire`](Self::acquire).
    fn renew(&mut self, namespace: &str, request: &Renew, read: Instant) -> Result<Renewed, Fault>;

    /// Releases a node; has no effect if the request's holder no longer holds the node.
    ///
    /// # Errors
    /// Those of [`acquire`](Self::acquire).
    fn release(&mut self, namespace: &str, request: &Release) -> Result<(), Fault>;

    /// Whether the lessor can be used again after a fault other than a refusal. Otherwise it is dropped after such a
    /// fault, because its connection may be broken, or inside a transaction.
    fn outlives_faults(&self) -> bool {
        false
    }
}

impl Lessor for Box<dyn Store> {
    fn acquire(
        &mut self,
        namespace: &str,
        request: &Acquire,
        read: Instant,
    ) -> Result<Grant, Fault> {
        operations::acquire_read_at(&mut **self, namespace, request, read)
    }

    fn renew(&mut self, namespace: &str, request: &Renew, read: Instant) -> Result<Renewed, Fault> {
        operations::renew_read_at(&mut **self, namespace, request, read)
    }

    fn release(&mut self, namespace: &str, request: &Release) -> Result<(), Fault> {
        operations::release(&mut **self, namespace, request)
    }
}

/// Returns the fault that there is no lessor besides the one that granted the node.
#[must_use]
pub fn no_other_lessor() -> Fault {
    Fault::Unavailable("there is no other lessor to ask".into())
}
