//! Release of leased nodes when the interpreter exits.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use flakeid::Generator;
use pyo3::prelude::*;

use crate::callback;

/// The open leases. Only threads that are attached to the interpreter lock the list, and no thread
/// waits while it holds the lock. In an interpreter with a GIL, the lock is therefore never
/// contended, and no thread holds the lock during a call to `os.fork`.
static OPEN: Mutex<Vec<Weak<Generator>>> = Mutex::new(Vec::new());

fn open() -> MutexGuard<'static, Vec<Weak<Generator>>> {
    // The list remains consistent even if a thread panics, so the poisoning of the lock can be
    // ignored.
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Adds a lease to the list of leases that are closed when the interpreter exits.
pub(crate) fn note(leased: &Arc<Generator>) {
    let mut open = open();
    open.retain(|leased| leased.strong_count() > 0);
    open.push(Arc::downgrade(leased));
}

/// Closes all leased generators concurrently when the interpreter exits. Ten unresponsive stores
/// therefore delay the exit by only one second, as a single unresponsive store would.
#[pyfunction]
#[pyo3(name = "_close_leases")]
pub(crate) fn close_leases(py: Python<'_>) {
    let leases: Vec<_> = std::mem::take(&mut *open()).iter().filter_map(Weak::upgrade).collect();
    py.detach(move || {
        thread::scope(|scope| {
            for leased in &leases {
                if thread::Builder::new().spawn_scoped(scope, move || leased.close()).is_err() {
                    // If the system cannot start another thread, the current thread closes the
                    // lease.
                    leased.close();
                }
            }
        });
    });
}

/// Closes all leased generators like `_close_leases`, and then prevents further callbacks.
#[pyfunction]
#[pyo3(name = "_end")]
pub(crate) fn end(py: Python<'_>) {
    close_leases(py);
    callback::silence(py, Duration::from_secs(1));
}
