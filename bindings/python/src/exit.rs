//! Nodes are given back when the interpreter ends.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use flakeid::Generator;
use pyo3::prelude::*;

use crate::callback;

/// Only attached threads lock it, and they wait for nothing while they hold the lock. So with the
/// GIL it is never contended, and no `os.fork` finds it locked.
static OPEN: Mutex<Vec<Weak<Generator>>> = Mutex::new(Vec::new());

fn open() -> MutexGuard<'static, Vec<Weak<Generator>>> {
    // A list is whole between any two of its calls.
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Remembers a lease to be closed at the end.
pub(crate) fn note(leased: &Arc<Generator>) {
    let mut open = open();
    open.retain(|leased| leased.strong_count() > 0);
    open.push(Arc::downgrade(leased));
}

/// Closes every leased generator, all at the same time: one store that does not answer costs a
/// second, and ten cost no more. Called when the interpreter ends.
#[pyfunction]
#[pyo3(name = "_close_leases")]
pub(crate) fn close_leases(py: Python<'_>) {
    let leases: Vec<_> = std::mem::take(&mut *open()).iter().filter_map(Weak::upgrade).collect();
    py.detach(move || {
        thread::scope(|scope| {
            for leased in &leases {
                if thread::Builder::new().spawn_scoped(scope, move || leased.close()).is_err() {
                    // The system has no thread left.
                    leased.close();
                }
            }
        });
    });
}

/// As `_close_leases`, and no callback is called any more.
#[pyfunction]
#[pyo3(name = "_end")]
pub(crate) fn end(py: Python<'_>) {
    close_leases(py);
    callback::silence(py, Duration::from_secs(1));
}
