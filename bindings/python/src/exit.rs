//! Release of leased nodes when the interpreter ends.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use flakeid::Generator;
use pyo3::prelude::*;

use crate::callback;

/// The open leases. Only attached threads lock the list, and they never wait while they hold the
/// lock. With the GIL the lock is therefore never contended, and never held during an `os.fork`.
static OPEN: Mutex<Vec<Weak<Generator>>> = Mutex::new(Vec::new());

fn open() -> MutexGuard<'static, Vec<Weak<Generator>>> {
    // Every call leaves the list consistent, so a poisoned lock can be ignored.
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds a lease to the list of leases that are closed when the interpreter ends.
pub(crate) fn note(leased: &Arc<Generator>) {
    let mut open = open();
    open.retain(|leased| leased.strong_count() > 0);
    open.push(Arc::downgrade(leased));
}

/// Closes all leased generators at the same time, when the interpreter ends. Ten stores that do not
/// respond therefore delay the end by one second, as a single store does.
#[pyfunction]
#[pyo3(name = "_close_leases")]
pub(crate) fn close_leases(py: Python<'_>) {
    let leases: Vec<_> = std::mem::take(&mut *open()).iter().filter_map(Weak::upgrade).collect();
    py.detach(move || {
        thread::scope(|scope| {
            for leased in &leases {
                if thread::Builder::new().spawn_scoped(scope, move || leased.close()).is_err() {
                    // If the system cannot start another thread, this thread closes the lease.
                    leased.close();
                }
            }
        });
    });
}

/// Closes all leases as `_close_leases` does, and ends all callbacks.
#[pyfunction]
#[pyo3(name = "_end")]
pub(crate) fn end(py: Python<'_>) {
    close_leases(py);
    callback::silence(py, Duration::from_secs(1));
}
