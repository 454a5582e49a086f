//! Who grants leases: a store, or a broker that leases from one.

use std::time::Instant;

use crate::store::{Fault, Store};
use crate::{Acquire, Grant, Release, Renew, Renewed, operations};

/// Who grants leases: a store, or a broker that leases from one. What a holder asks of either is the
/// same, and so is what the answers mean.
pub trait Lessor: Send {
    /// Grants a node, or a block of nodes. The request's clock was read at `read`: however long others
    /// keep it waiting, the clock is not taken for a wrong one.
    ///
    /// # Errors
    /// [`Fault::Refused`], with nothing granted; any other fault leaves it unknown what was granted.
    fn acquire(
        &mut self,
        namespace: &str,
        request: &Acquire,
        read: Instant,
    ) -> Result<Grant, Fault>;

    /// Grants a node in place of the node `held`, which its granter does not renew: any other lessor is
    /// asked, and the granter is not.
    ///
    /// # Errors
    /// As [`acquire`](Self::acquire); [`Fault::Unavailable`] if there is no other lessor.
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

    /// Moves a fence up, or confirms that this very renewal did.
    ///
    /// # Errors
    /// As [`acquire`](Self::acquire).
    fn renew(&mut self, namespace: &str, request: &Renew, read: Instant) -> Result<Renewed, Fault>;

    /// Takes a node back; does nothing if the request's holder holds nothing there any more.
    ///
    /// # Errors
    /// As [`acquire`](Self::acquire).
    fn release(&mut self, namespace: &str, request: &Release) -> Result<(), Fault>;

    /// Whether it can be asked again after a fault other than a refusal. Otherwise it is dropped then,
    /// because its connection may be broken, or inside a transaction.
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

/// There is nothing to ask beside the lessor that granted a node.
#[must_use]
pub fn no_other_lessor() -> Fault {
    Fault::Unavailable("there is no other lessor to ask".into())
}
