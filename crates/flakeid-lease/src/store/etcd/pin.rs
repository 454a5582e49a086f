use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use ureq::unversioned::transport::{ConnectionDetails, Connector, DefaultConnector, Transport};

/// Keeps the requests of a transaction on one connection, and so on one run of one member: what was
/// read from one run must not be compared with another's. An older copy of the data that was put back
/// twice has the same term and the same revisions both times.
#[derive(Clone, Debug, Default)]
pub(super) struct Pin(Arc<AtomicBool>);

impl Pin {
    /// From here on no new connection is made.
    pub(super) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(super) fn lift(&self) {
        self.0.store(false, Ordering::Relaxed);
    }
}

/// Connects, unless that is pinned down.
#[derive(Debug)]
pub(super) struct PinnedConnector {
    pin: Pin,
    inner: DefaultConnector,
}

impl PinnedConnector {
    pub(super) fn new(pin: Pin) -> Self {
        Self { pin, inner: DefaultConnector::new() }
    }
}

impl Connector for PinnedConnector {
    type Out = Box<dyn Transport>;

    fn connect(
        &self,
        details: &ConnectionDetails<'_>,
        chained: Option<()>,
    ) -> Result<Option<Self::Out>, ureq::Error> {
        if self.pin.0.load(Ordering::Relaxed) {
            let lost = "the connection was lost in the middle of a transaction";
            return Err(io::Error::other(lost).into());
        }
        self.inner.connect(details, chained)
    }
}
