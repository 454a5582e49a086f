//! What is left to do when a lease is closed.

use std::sync::Arc;
use std::sync::mpsc::Receiver;

use flakeid_lease::LeasedGenerator;

/// What is left to do when a lease is closed, off the event loop.
pub(crate) struct PendingClose {
    pub(crate) generator: Arc<LeasedGenerator>,
    /// Is disconnected when the calls that were under way are over.
    pub(crate) calls: Receiver<()>,
}

impl PendingClose {
    /// Gives the node back, once the calls that are under way are over.
    pub(crate) fn finish(self) {
        // Nothing is ever sent: this returns when there is no sender left.
        let _ = self.calls.recv();
    }
}

/// Other handles may keep the generator alive, so it is closed explicitly.
impl Drop for PendingClose {
    fn drop(&mut self) {
        self.generator.close();
    }
}
