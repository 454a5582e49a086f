//! Methods that the interpreter calls without pyo3's wrapper. The wrapper would lengthen the
//! fastest call by up to a third, because the wrapper counts attached threads and checks the
//! object's type a second time.

#![expect(unsafe_code, reason = "a wrapper uses this item")]

use std::any::Any;
use std::ffi::CStr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use pyo3::panic::PanicException;
use pyo3::prelude::*;
use pyo3::{PyClass, ffi};

/// A method that takes no arguments and returns an ID.
pub(crate) trait DirectMethod: Sized {
    type Class: PyClass;

    const NAME: &'static CStr;

    /// The docstring, which begins with a line `name($self, /)` and a line `--`, as the interpreter
    /// requires.
    const DOC: &'static CStr;

    /// Returns the next ID, or `None` if a wait is necessary or the call fails. Implementations
    /// must not create or drop Python objects, and must not detach from the interpreter.
    fn at_hand(this: &Bound<'_, Self::Class>) -> Option<u64>;

    /// Returns the next ID when `at_hand` has returned `None`.
    ///
    /// # Errors
    /// The exception that the Python method then raises.
    fn otherwise(this: &Bound<'_, Self::Class>) -> PyResult<u64>;

    const DEFINITION: &'static ffi::PyMethodDef = &ffi::PyMethodDef {
        ml_name: Self::NAME.as_ptr(),
        ml_meth: ffi::PyMethodDefPointer { PyCFunction: call::<Self> },
        ml_flags: ffi::METH_NOARGS,
        ml_doc: Self::DOC.as_ptr(),
    };

    /// Adds the method to its class.
    ///
    /// # Errors
    /// An exception if the interpreter does not have enough memory for the method.
    fn add(py: Python<'_>) -> PyResult<()> {
        let class = py.get_type::<Self::Class>();
        // SAFETY: the class is a type object. The definition is static and is never modified. The
        // result is a new reference, or null with an exception set.
        let method = unsafe {
            let definition = ptr::from_ref(Self::DEFINITION).cast_mut();
            let method = ffi::PyDescr_NewMethod(class.as_type_ptr(), definition);
            Bound::from_owned_ptr_or_err(py, method)?
        };
        class.setattr(Self::NAME, method)
    }
}

/// Calls the method for the interpreter.
///
/// # Safety
/// This thread must be attached to the interpreter. `this` must be an object of the method's class;
/// the method descriptor checks the class before the call.
unsafe extern "C" fn call<M: DirectMethod>(
    this: *mut ffi::PyObject,
    _: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: the caller guarantees that this thread is attached and that `this` is an object of
    // the class. The caller also keeps the object alive.
    let this =
        unsafe { Borrowed::from_ptr(Python::assume_attached(), this).cast_unchecked::<M::Class>() };
    match catch_unwind(AssertUnwindSafe(|| M::at_hand(&this))) {
        // SAFETY: the caller guarantees that this thread is attached to the interpreter.
        Ok(Some(id)) => unsafe { ffi::PyLong_FromUnsignedLongLong(id) },
        Ok(None) => finish(|| M::otherwise(&this)),
        Err(panic) => finish(|| Err(exception(panic.as_ref()))),
    }
}

/// Completes a call in the same way as pyo3's wrapper. The function catches panics, and attaches to
/// the interpreter through pyo3, so that pyo3 counts the attachment.
#[cold]
#[inline(never)]
fn finish(work: impl FnOnce() -> PyResult<u64>) -> *mut ffi::PyObject {
    Python::attach(|py| {
        let result = catch_unwind(AssertUnwindSafe(work))
            .unwrap_or_else(|panic| Err(exception(panic.as_ref())));
        match result {
            Ok(id) => {
                let Ok(id) = id.into_pyobject(py);
                id.into_any().into_ptr()
            }
            Err(error) => {
                error.restore(py);
                ptr::null_mut()
            }
        }
    })
}

/// Converts a panic to the exception that pyo3 raises for panics.
fn exception(panic: &(dyn Any + Send)) -> PyErr {
    let message = match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
        (Some(text), _) => (*text).to_owned(),
        (None, Some(text)) => text.clone(),
        (None, None) => "a panic without a message".to_owned(),
    };
    PanicException::new_err(message)
}
