//! An in-memory store with which tests simulate slow and unavailable stores.

use flakeid_protocol::MemoryStore;
use flakeid_protocol::store::{Fault, Ledger, Store};

/// An in-memory store that calls a function before each transaction. The function can wait. If the
/// function returns an error, the transaction fails with this error.
pub struct HookedStore<F> {
    store: MemoryStore,
    before: F,
}

impl<F: Fn() -> Result<(), Fault> + Send + 'static> HookedStore<F> {
    /// Returns a connection to the store. `before` is called before each transaction on the
    /// connection.
    pub fn connect(store: &MemoryStore, before: F) -> Box<dyn Store> {
        Box::new(Self { store: store.clone(), before })
    }
}

impl<F: Fn() -> Result<(), Fault> + Send> Store for HookedStore<F> {
    fn transact(
        &mut self,
        namespace: &str,
        work: &mut dyn FnMut(&mut dyn Ledger) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        (self.before)()?;
        self.store.transact(namespace, work)
    }

    fn prepare(&mut self) -> Result<(), Fault> {
        self.store.prepare()
    }

    fn namespaces(&mut self) -> Result<Vec<String>, Fault> {
        self.store.namespaces()
    }

    fn creates_namespaces(&self) -> bool {
        self.store.creates_namespaces()
    }
}
