//! Telling a process from its forked children.

use core::fmt;

use super::limit::Limit;

/// Knows whether the process that made it is the one that asks: for whatever a forked child must
/// not use of its parent's (connections, threads, locks).
pub struct ProcessMark(Limit);

impl ProcessMark {
    /// The mark of this process.
    #[must_use]
    pub fn new() -> Self {
        Self(Limit::new(1))
    }

    /// False in a forked child of the process that made it, and in the child's children.
    #[must_use]
    pub fn is_ours(&self) -> bool {
        self.0.is_ours()
    }
}

impl Default for ProcessMark {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for ProcessMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProcessMark").field("is_ours", &self.is_ours()).finish()
    }
}
