//! Nodes are given back when the interpreter ends.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;

use crate::event;
use crate::leased::Slot;

/// As in `leased`: only attached threads lock it, and nothing waits meanwhile.
static OPEN: Mutex<Vec<Weak<Slot>>> = Mutex::new(Vec::new());

fn open() -> MutexGuard<'static, Vec<Weak<Slot>>> {
    // A list is whole between any two of its calls.
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Remembers a lease to be closed at the end.
pub(crate) fn note(slot: &Arc<Slot>) {
    let mut open = open();
    open.retain(|slot| slot.strong_count() > 0);
    open.push(Arc::downgrade(slot));
}

/// Closes every leased generator, all at the same time: one store that does not answer costs a
/// second, and ten cost no more. Called when the interpreter ends.
#[pyfunction]
#[pyo3(name = "_close_leases")]
pub(crate) fn close_leases(py: Python<'_>) {
    let slots: Vec<_> = std::mem::take(&mut *open()).iter().filter_map(Weak::upgrade).collect();
    let ended: Vec<_> = slots.iter().filter_map(|slot| slot.end()).collect();
    py.detach(|| {
        thread::scope(|scope| {
            for generator in ended {
                // If there is no thread to be had, it is dropped here and now.
                let _ = thread::Builder::new().spawn_scoped(scope, move || drop(generator));
            }
        });
    });
}

/// As `_close_leases`, and no observer is called any more.
#[pyfunction]
#[pyo3(name = "_end")]
pub(crate) fn end(py: Python<'_>) {
    close_leases(py);
    event::silence(py, Duration::from_secs(1));
}
