//! Events for the crate `tracing`. Without the feature `tracing`, the functions do nothing. Without a subscriber,
//! nothing is printed. No event contains a password, because errors name a store without its password.

use std::collections::BTreeSet;

use flakeid_core::Error;
use flakeid_protocol::keeper::LeaseEvent;

/// The part of a broker's state that the log reports.
#[derive(Debug, Default)]
pub(crate) struct BrokerLog {
    is_store_lost: bool,
    blocks: BTreeSet<u64>,
}

#[cfg(feature = "tracing")]
mod enabled {
    use std::collections::BTreeSet;
    use std::fmt::Display;

    use super::{BrokerLog, Error, LeaseEvent};

    const LEASE: &str = "flakeid::lease";
    const BROKER: &str = "flakeid::broker";

    /// Logs a change in the state of a lease.
    pub(crate) fn lease_event(namespace: &str, source: &dyn Display, event: &LeaseEvent) {
        let (event_name, node) = (event.kind(), event.node());
        match event {
            LeaseEvent::Acquired { fence, .. } => {
                tracing::info!(target: LEASE, namespace, node, fence, event = event_name, "acquired node");
            }
            LeaseEvent::Renewed { fence, .. } => {
                tracing::debug!(target: LEASE, namespace, node, fence, event = event_name, "renewed lease");
            }
            LeaseEvent::Released { .. } => {
                tracing::info!(target: LEASE, namespace, node, event = event_name, "released node");
            }
            LeaseEvent::StoreFound => {
                tracing::info!(target: LEASE, namespace, %source, event = event_name, "store responds again");
            }
            event => {
                let error = event.error().map(tracing::field::display);
                tracing::warn!(target: LEASE, namespace, node, %source, error, event = event_name, "lease has a problem");
            }
        }
    }

    impl BrokerLog {
        /// Logs the changes since the last call: the store's failures, and the blocks gained and lost.
        pub(crate) fn update(
            &mut self,
            namespace: &str,
            failure: Option<&Error>,
            blocks: BTreeSet<u64>,
        ) {
            match failure {
                Some(error) if !self.is_store_lost => {
                    tracing::warn!(target: BROKER, namespace, %error, "broker cannot renew or lease blocks");
                }
                None if self.is_store_lost => {
                    tracing::info!(target: BROKER, namespace, "broker can renew and lease blocks again");
                }
                _ => {}
            }
            self.is_store_lost = failure.is_some();
            for block in blocks.difference(&self.blocks) {
                tracing::info!(target: BROKER, namespace, block, "broker acquired a block");
            }
            for block in self.blocks.difference(&blocks) {
                tracing::info!(target: BROKER, namespace, block, "broker no longer holds the block");
            }
            self.blocks = blocks;
        }
    }
}

#[cfg(feature = "tracing")]
pub(crate) use enabled::lease_event;

#[cfg(not(feature = "tracing"))]
pub(crate) fn lease_event(_: &str, _: &dyn std::fmt::Display, _: &LeaseEvent) {}

#[cfg(not(feature = "tracing"))]
impl BrokerLog {
    pub(crate) fn update(&mut self, _: &str, _: Option<&Error>, blocks: BTreeSet<u64>) {
        self.blocks = blocks;
        self.is_store_lost = false;
    }
}
