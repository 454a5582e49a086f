//! `SQLite` stores for tests that must succeed even on a busy machine.

use std::sync::Arc;
use std::time::{Duration, Instant};

use flakeid_core::{Clock, SystemClock};
use flakeid_protocol::store::{Fault, Ledger, Store};
use flakeid_stores::Location;

/// The maximum time for which a request is retried while the machine is busy.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(60);

/// Connects to a store that uses the system clock.
pub(crate) fn connect(url: &str) -> Result<Box<dyn Store>, Fault> {
    connect_with(url, &(Arc::new(SystemClock) as Arc<dyn Clock>))
}

/// Connects to a store that uses the given clock.
pub(crate) fn connect_with(url: &str, clock: &Arc<dyn Clock>) -> Result<Box<dyn Store>, Fault> {
    Ok(Box::new(Retrying(Location::parse(url).unwrap().connect(clock)?)))
}

/// A store that repeats a request if the machine is too busy to open the file within half a second. Repeating the
/// request is safe, because a request that fails for this reason has no effect.
struct Retrying(Box<dyn Store>);

impl Retrying {
    fn retry<T>(
        &mut self,
        mut ask: impl FnMut(&mut dyn Store) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let deadline = Instant::now() + TIMEOUT;
        loop {
            match ask(&mut *self.0) {
                Err(Fault::Unavailable(text))
                    if text.contains("too long to open") && Instant::now() < deadline =>
                {
                    println!("  retrying after: {text}");
                }
                answer => return answer,
            }
        }
    }
}

impl Store for Retrying {
    fn transact(
        &mut self,
        namespace: &str,
        work: &mut dyn FnMut(&mut dyn Ledger) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        self.retry(|store| store.transact(namespace, work))
    }

    fn prepare(&mut self) -> Result<(), Fault> {
        self.retry(|store| store.prepare())
    }

    fn is_prepared(&mut self) -> Result<bool, Fault> {
        self.retry(|store| store.is_prepared())
    }

    fn namespaces(&mut self) -> Result<Vec<String>, Fault> {
        self.retry(|store| store.namespaces())
    }

    fn creates_namespaces(&self) -> bool {
        self.0.creates_namespaces()
    }
}
