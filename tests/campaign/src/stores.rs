//! Connections to stores and brokers.

use std::io;
use std::sync::Arc;
use std::time::Instant;

use flakeid_core::{Clock, SystemClock};
use flakeid_protocol::store::Store;
use flakeid_protocol::{Acquire, Grant, Lessor, Namespace, Release, operations};
use flakeid_stores::{Location, fresh_token};

/// Connects to the store at the URL.
pub(crate) fn connect(url: &str) -> io::Result<Box<dyn Store>> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock);
    let location = Location::parse(url).map_err(io::Error::other)?;
    location.connect(&clock).map_err(io::Error::other)
}

/// Creates the namespace in the store at the URL.
pub(crate) fn create_namespace(url: &str, wanted: &Namespace) -> io::Result<()> {
    operations::init(&mut *connect(url)?, wanted).map(drop).map_err(io::Error::other)
}

/// Nodes that are leased from a broker without renewals, and released when this value is dropped.
pub(crate) struct HeldNodes {
    lessor: Box<dyn Lessor>,
    namespace: &'static str,
    grants: Vec<Grant>,
}

impl HeldNodes {
    /// Leases nodes from the broker at the URL, one after another, until the broker refuses a request or `is_enough` is
    /// true for the number of nodes.
    pub(crate) fn lease(
        url: &str,
        namespace: &'static str,
        request: &Acquire,
        is_enough: impl Fn(usize) -> bool,
    ) -> io::Result<Self> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let location = Location::parse(url).map_err(io::Error::other)?;
        let mut lessor = location.connect_lessor(&clock).map_err(io::Error::other)?;
        let mut grants = Vec::new();
        while !is_enough(grants.len()) {
            let (token, now) = (fresh_token(), SystemClock.unix_ms());
            let request = Acquire { token, now, ..request.clone() };
            match lessor.acquire(namespace, &request, Instant::now()) {
                Ok(grant) => grants.push(grant),
                Err(_) => break,
            }
        }
        Ok(Self { lessor, namespace, grants })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.grants.is_empty()
    }

    /// Releases the nodes whose number, in the order of their grants, fulfils the condition. A failure has no
    /// consequence, because a node that is not released expires.
    pub(crate) fn release(&mut self, is_released: impl Fn(usize) -> bool) {
        let (lessor, namespace) = (&mut self.lessor, self.namespace);
        let mut number = 0..;
        self.grants.retain(|grant| {
            let is_kept = !number.next().is_some_and(&is_released);
            if !is_kept {
                let Grant { node, token, start, .. } = *grant;
                let _ = lessor.release(namespace, &Release { node, token, used_until: start });
            }
            is_kept
        });
    }
}

impl Drop for HeldNodes {
    fn drop(&mut self) {
        self.release(|_| true);
    }
}
