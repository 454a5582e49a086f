//! Lessors: the stores and brokers that grant leases.

use std::time::Instant;

use crate::store::{Fault, Store};
use crate::{Acquire, Grant, Release, Renew, Renewed, operations};

/// A granter of leases: a store, or a broker that leases from a store. Holders send the same requests to stores and
/// brokers, and the responses have the same meaning.
///
/// ```
/// use std::time::Instant;
///
/// use flakeid_core::{Clock, Layout, SystemClock};
/// use flakeid_protocol::store::Store;
/// use flakeid_protocol::{Acquire, Identity, Lessor, MemoryStore, Owner, Release, Token};
///
/// # let request = Acquire {
/// #     layout: Layout::TWITTER,
/// #     block_bits: 0,
/// #     identity: Identity::Any,
/// #     from: 0,
/// #     to: Layout::TWITTER.max_node(),
/// #     rotation: 0,
/// #     reuse: true,
/// #     token: Token::from_bits(1),
/// #     window_ms: 10_000,
/// #     ttl_ms: 60_000,
/// #     now: SystemClock.unix_ms(),
/// #     waited_ms: 0,
/// #     after: 0,
/// #     owner: Owner::default(),
/// # };
/// let store: Box<dyn Store> = Box::new(MemoryStore::new());
/// let mut lessor: Box<dyn Lessor> = Box::new(store);
/// let grant = lessor.acquire("orders", &request, Instant::now())?;
/// let release = Release { node: grant.node, token: grant.token, used_until: grant.start };
/// lessor.release("orders", &release)?;
/// # Ok::<(), flakeid_protocol::store::Fault>(())
/// ```
pub trait Lessor: Send {
    /// Grants a node or a block of nodes. `read` is the time at which the clock was read for the request. The delay
    /// since then does not count as clock skew.
    ///
    /// # Errors
    /// [`Fault::Refused`] if the lessor refuses the request; in this case, nothing was granted. After any other fault,
    /// it is unknown whether anything was granted.
    fn acquire(
        &mut self,
        namespace: &str,
        request: &Acquire,
        read: Instant,
    ) -> Result<Grant, Fault>;

    /// Grants a node that replaces the node `held`. The request is not sent to the lessor that granted `held`, because
    /// that lessor has failed to renew `held` or is about to shut down.
    ///
    /// # Errors
    /// The same errors as [`acquire`](Self::acquire), and [`Fault::Unavailable`] if the URL does not name another
    /// lessor.
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

    /// Renews a lease by raising its fence. Repeating a renewal that was already applied succeeds and changes
    /// nothing.
    ///
    /// # Errors
    /// The same errors as [`acquire`](Self::acquire).
    fn renew(&mut self, namespace: &str, request: &Renew, read: Instant) -> Result<Renewed, Fault>;

    /// Releases a node; has no effect if the request's holder no longer holds the node.
    ///
    /// # Errors
    /// The same errors as [`acquire`](Self::acquire).
    fn release(&mut self, namespace: &str, request: &Release) -> Result<(), Fault>;

    /// Returns whether the lessor can be used again after a fault other than a refusal. If this method returns `false`,
    /// the lessor is dropped after such a fault, because its connection may be broken or inside a transaction.
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

/// Returns the fault for a request that cannot be sent to any lessor in the URL. For example, a request for a node from
/// another lessor fails if the URL names only one lessor.
#[must_use]
pub fn no_other_lessor() -> Fault {
    Fault::Unavailable(
        "the URL names no other store or broker that can take this request: add one to it".into(),
    )
}
