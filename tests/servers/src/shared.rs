//! A server that several tests of an executable use at the same time.

use std::sync::{Arc, Mutex, PoisonError, Weak};

/// A server that starts when the first test uses it, and stops when no test uses it any more. A
/// `static` cannot contain the server itself, because the server of a `static` would never stop.
#[derive(Debug)]
pub struct Shared<T>(Mutex<Weak<T>>);

impl<T> Shared<T> {
    /// Creates a place for a server, and starts none.
    #[must_use]
    pub const fn new() -> Self {
        Self(Mutex::new(Weak::new()))
    }

    /// Returns the server that other tests use at the moment, or starts one.
    pub fn get(&self, start: impl FnOnce() -> T) -> Arc<T> {
        // The start of a server can fail in one test. The next test then tries again.
        let mut current = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        current.upgrade().unwrap_or_else(|| {
            let server = Arc::new(start());
            *current = Arc::downgrade(&server);
            server
        })
    }
}

impl<T> Default for Shared<T> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn server_is_shared_while_it_is_used_and_started_again_afterwards() {
        let (place, started) = (Shared::new(), AtomicUsize::new(0));
        let start = || started.fetch_add(1, Ordering::SeqCst);
        let (first, second) = (place.get(start), place.get(start));
        assert!(Arc::ptr_eq(&first, &second));
        drop((first, second));
        assert_eq!((*place.get(start), started.load(Ordering::SeqCst)), (1, 2));
    }
}
