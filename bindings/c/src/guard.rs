//! What every function runs in: nothing unwinds into C.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::fault::Fault;
use crate::last_error;
use crate::status::{FLAKEID_OK, Status};

/// Runs `call`, keeps its error for `flakeid_last_error`, and returns its status.
#[inline]
pub(crate) fn guard(call: impl FnOnce() -> Result<(), Fault>) -> Status {
    // After a panic nothing is left half-done: the core changes its state by single atomic steps,
    // and results are written last.
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(())) => FLAKEID_OK,
        Ok(Err(fault)) => failed(fault),
        Err(payload) => panicked(payload),
    }
}

#[cold]
#[inline(never)]
fn failed(fault: Fault) -> Status {
    let status = fault.status();
    last_error::keep(fault);
    status
}

#[cold]
#[inline(never)]
fn panicked(payload: Box<dyn Any + Send>) -> Status {
    let message = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
        .into();
    // A payload whose destructor panics must not get out either.
    std::mem::forget(payload);
    failed(Fault::Panic { message })
}
