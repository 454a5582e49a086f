//! The guard around every exported function, which catches panics so that no panic unwinds into C.

use std::any::Any;
use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::border::given;
use crate::fault::Fault;
use crate::last_error;
use crate::status::{FLAKEID_OK, Status};

/// Runs `call`, stores its error for `flakeid_last_error`, and returns its status.
#[inline]
pub(crate) fn guard(call: impl FnOnce() -> Result<(), Fault>) -> Status {
    // A panic leaves no partial change, because the core changes its state in single atomic steps
    // and functions write their results last.
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(())) => FLAKEID_OK,
        Ok(Err(fault)) => failed(fault),
        Err(payload) => panicked(payload),
    }
}

/// Runs `call`, and writes its result to `to`. If `call` fails, `to` remains unchanged.
#[inline]
pub(crate) fn write_result<T>(
    to: Option<&mut MaybeUninit<T>>,
    argument: &'static str,
    call: impl FnOnce() -> Result<T, Fault>,
) -> Status {
    guard(|| {
        let to = given(to, argument)?;
        to.write(call()?);
        Ok(())
    })
}

/// Drops a handle, and catches any panic in its destructor.
pub(crate) fn free<T>(handle: Option<Box<T>>) {
    let _ = guard(|| {
        drop(handle);
        Ok(())
    });
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
    // The panic's payload is never dropped, because its destructor could panic again and unwind
    // into C.
    std::mem::forget(payload);
    failed(Fault::Panic { message })
}
