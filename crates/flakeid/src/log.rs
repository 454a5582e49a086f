//! Events for the crate `tracing`. Without the feature `tracing`, the functions do nothing. Without a subscriber,
//! nothing is printed. No event contains a password, because errors name a store without its password.

use std::collections::BTreeSet;

use flakeid_core::Error;
use flakeid_protocol::keeper::LeaseEvent;

/// The lease problems that were logged since the last event without an error. Each problem consists of the kind of
/// event, the node, and the code of the error.
#[derive(Debug, Default)]
pub(crate) struct LeaseLog {
    problems: BTreeSet<(&'static str, Option<u64>, &'static str)>,
}

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

    use flakeid_core::{Layout, Rfc3339};
    use tracing::field::display;

    use super::{BrokerLog, Error, LeaseEvent, LeaseLog};

    const LEASE: &str = "flakeid::lease";
    const BROKER: &str = "flakeid::broker";

    impl LeaseLog {
        /// Whether the event reports a problem that the log has already reported.
        pub(super) fn is_repeated(&mut self, event: &LeaseEvent) -> bool {
            let Some(error) = event.error() else {
                self.problems.clear();
                return false;
            };
            !self.problems.insert((event.kind(), event.node(), error.code()))
        }

        /// Logs an event of a lease. If a request fails repeatedly for the same reason, only the first failure is a
        /// warning. `layout` converts fences to times.
        pub(crate) fn event(
            &mut self,
            namespace: &str,
            source: &dyn Display,
            layout: &Layout,
            event: &LeaseEvent,
        ) {
            let (event_name, node) = (event.kind(), event.node());
            let time = |fence: u64| display(Rfc3339::with_fewest_digits(layout.unix_ms_at(fence)));
            let is_repeated = self.is_repeated(event);
            match event {
                LeaseEvent::Acquired { fence, .. } => {
                    let fence = time(*fence);
                    tracing::info!(target: LEASE, namespace, node, fence, event = event_name, "acquired node");
                }
                LeaseEvent::Renewed { fence, .. } => {
                    let fence = time(*fence);
                    tracing::debug!(target: LEASE, namespace, node, fence, event = event_name, "renewed lease");
                }
                LeaseEvent::Released { .. } => {
                    tracing::info!(target: LEASE, namespace, node, event = event_name, "released node");
                }
                LeaseEvent::StoreFound => {
                    tracing::info!(target: LEASE, namespace, %source, event = event_name, "store responds again");
                }
                event => {
                    let error = event.error().map(display);
                    if is_repeated {
                        tracing::debug!(target: LEASE, namespace, node, %source, error, event = event_name, "lease still has a problem");
                    } else {
                        tracing::warn!(target: LEASE, namespace, node, %source, error, event = event_name, "lease has a problem");
                    }
                }
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

#[cfg(not(feature = "tracing"))]
impl LeaseLog {
    pub(crate) fn event(
        &mut self,
        _: &str,
        _: &dyn std::fmt::Display,
        _: &flakeid_core::Layout,
        _: &LeaseEvent,
    ) {
        self.problems.clear();
    }
}

#[cfg(not(feature = "tracing"))]
impl BrokerLog {
    pub(crate) fn update(&mut self, _: &str, _: Option<&Error>, blocks: BTreeSet<u64>) {
        self.blocks = blocks;
        self.is_store_lost = false;
    }
}

#[cfg(all(test, feature = "tracing"))]
mod tests {
    use flakeid_core::ErrorKind;

    use super::*;

    #[test]
    fn lease_log_recognizes_repeated_problems_until_the_lease_is_in_order() {
        let refused = |kind| LeaseEvent::Refused { error: Error::new(kind, "refused", None) };
        let (full, skewed) = (refused(ErrorKind::NoFreeNode), refused(ErrorKind::ClockSkew));
        let acquired = LeaseEvent::Acquired { node: 7, start: 1, fence: 9 };
        let mut log = LeaseLog::default();
        let events = [&full, &full, &skewed, &full, &acquired, &full];
        let repeated = events.map(|event| log.is_repeated(event));
        assert_eq!(repeated, [false, true, false, true, false, false]);
    }
}
