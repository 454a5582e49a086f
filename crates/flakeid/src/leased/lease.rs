//! The lease of a generator, with its state.

use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use flakeid_core::internal::TenureSource;
use flakeid_core::{Error, Generator};

use super::LeaseUsers;
use crate::keeper::LeaseSession;
use flakeid_protocol::keeper::LeaseStatus;
use flakeid_protocol::store::CONNECT_TIMEOUT;

/// The lease of a [`Generator`]. The generator stays open as long as this value exists, unless it is closed.
///
/// ```
/// use flakeid::{Generator, Layout, Lease};
///
/// # let folder = tempfile::tempdir().unwrap();
/// # let url = format!("sqlite://{}/ids.db", folder.path().display());
/// let generator = flakeid::lease(&url, Layout::TWITTER)?.open()?;
/// let lease = Lease::of(&generator).expect("the node is leased");
/// assert_eq!(lease.status().grants, 1);
/// assert!(Lease::of(&Generator::new(Layout::TWITTER, 7)?).is_none());
/// # Ok::<(), flakeid::Error>(())
/// ```
#[derive(Clone)]
pub struct Lease {
    users: Arc<LeaseUsers>,
    generator: Generator,
}

impl Lease {
    /// Returns the lease of a generator, or `None` if its node is fixed.
    #[must_use]
    pub fn of(generator: &Generator) -> Option<Self> {
        let source: Arc<dyn Any + Send + Sync> = Arc::clone(generator.source()?) as _;
        let users = source.downcast().ok()?;
        Some(Self { users, generator: generator.clone() })
    }

    /// The state of the lease. In a forked child, the state is empty until the child leases a node.
    #[must_use]
    pub fn status(&self) -> LeaseStatus {
        let session = self.users.lease().sessions.ours();
        session.map(LeaseSession::status).unwrap_or_default()
    }

    /// Leases a node in a forked child that has none yet, as the child's first ID does. Waits at most `max_wait` plus
    /// 2 s. Does nothing if the generator already has a node.
    ///
    /// # Errors
    /// The errors of [`LeaseBuilder::open`](crate::LeaseBuilder::open);
    /// [`Closed`](flakeid_core::ErrorKind::Closed) if the generator was closed.
    pub fn settle(&self) -> Result<(), Error> {
        if self.users.has_node() {
            return Ok(());
        }
        if self.generator.is_closed() {
            return Err(LeaseSession::closed());
        }
        let timeout = self.generator.max_wait().saturating_add(CONNECT_TIMEOUT);
        self.users.acquire(timeout, Duration::ZERO).map(drop)
    }

    /// Closes the generator like [`Generator::close`], but leaves the node's fence unchanged, as if the generator had
    /// used every tick in its window. The next grant of the node begins at the fence, which can be a full window ahead
    /// of the clock.
    ///
    /// Use this method if you passed the node number to another library, because flakeid cannot determine the last tick
    /// in which that library issued an ID.
    pub fn close_at_fence(&self) {
        self.users.lease().keep_fence();
        self.generator.close();
    }

    /// The number of nodes that [`Generator::close`] did not release. They stay reserved until their leases expire.
    #[doc(hidden)]
    #[must_use]
    pub fn unreleased_nodes(&self) -> usize {
        self.users.lease().sessions.ours().map_or(0, LeaseSession::unreleased_nodes)
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lease")
            .field("namespace", &self.users.lease().options.namespace)
            .field("generator", &self.generator)
            .field("status", &self.status())
            .finish_non_exhaustive()
    }
}
