//! The options for pruning the history, which removes old grants while the server runs.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use flakeid_protocol::operations::{self, Pruned};
use flakeid_protocol::store::{Fault, Store};

/// The time from the start of the server until the history is pruned for the first time. The delay allows the server to
/// lease its nodes first.
const DELAY: Duration = Duration::from_secs(60);
/// The time between two successive prunings of the history.
const INTERVAL: Duration = Duration::from_secs(60 * 60);

type Opener = dyn Fn() -> Result<Box<dyn Store>, Fault> + Send + Sync;

/// The namespaces whose history a [`Server`](crate::Server) prunes, and the time for which ended grants stay in the
/// history. `flakeid whois` and [`operations::whois`] read the history.
///
/// ```
/// use std::collections::BTreeMap;
/// use std::time::Duration;
///
/// use flakeid_core::{Generator, Layout};
/// use flakeid_protocol::MemoryStore;
/// use flakeid_server::{HistoryPruning, Service};
///
/// let store = MemoryStore::new();
/// let open = move || Ok(Box::new(store.clone()) as _);
/// let keep = Duration::from_secs(90 * 24 * 60 * 60);
/// let orders = Generator::new(Layout::TWITTER, 7)?;
/// let service = Service::new(BTreeMap::from([("orders".into(), orders)]))
///     .prune_history(HistoryPruning::new(keep, ["orders".to_owned()], open));
/// # Ok::<(), flakeid_core::Error>(())
/// ```
#[derive(Clone)]
pub struct HistoryPruning {
    keep: Duration,
    namespaces: Arc<[String]>,
    open: Arc<Opener>,
    pub(crate) delay: Duration,
    pub(crate) interval: Duration,
}

impl HistoryPruning {
    /// Creates the options for pruning the history a minute after the start of the server, and then every hour. Pruning
    /// removes the grants of the given namespaces that ended more than `keep` ago according to the store's clock.
    /// `open` connects to the store.
    pub fn new(
        keep: Duration,
        namespaces: impl IntoIterator<Item = String>,
        open: impl Fn() -> Result<Box<dyn Store>, Fault> + Send + Sync + 'static,
    ) -> Self {
        let namespaces = namespaces.into_iter().collect();
        Self { keep, namespaces, open: Arc::new(open), delay: DELAY, interval: INTERVAL }
    }

    /// Sets the time from the start of the server until the history is pruned for the first time, and the time between
    /// two successive prunings.
    #[must_use]
    pub const fn schedule(mut self, delay: Duration, interval: Duration) -> Self {
        (self.delay, self.interval) = (delay, interval);
        self
    }

    pub(crate) fn namespaces(&self) -> &[String] {
        &self.namespaces
    }

    /// Removes old grants from the history of a namespace. Blocks until the store has responded.
    pub(crate) fn prune(&self, namespace: &str) -> Result<Pruned, Fault> {
        let keep_ms = i64::try_from(self.keep.as_millis()).unwrap_or(i64::MAX);
        let mut store = (self.open)()?;
        operations::prune_older(&mut *store, namespace, keep_ms)
    }
}

impl fmt::Debug for HistoryPruning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HistoryPruning")
            .field("keep", &self.keep)
            .field("namespaces", &self.namespaces)
            .finish_non_exhaustive()
    }
}
