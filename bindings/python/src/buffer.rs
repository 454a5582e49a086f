//! Writable buffers in Python objects, which the core fills in place.

use flakeid_core::Id;
use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyMemoryView;

/// A writable, C-contiguous buffer of 64-bit integers, which cannot be resized or freed while it is
/// borrowed.
pub(crate) struct Target(PyUntypedBuffer);

impl Target {
    pub(crate) fn from_python(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        // pyo3 rejects the buffers of objects that provide no strides, such as ctypes arrays. A
        // memoryview of such an object provides strides.
        let buffer = PyUntypedBuffer::get(object)
            .or_else(|_| PyUntypedBuffer::get(PyMemoryView::from(object)?.as_any()))?;
        if !(holds_integers(buffer.format().to_bytes()) && buffer.item_size() == size_of::<u64>()) {
            return Err(PyTypeError::new_err(format!(
                "buffer must hold 64-bit integers in this machine's byte order (numpy uint64 or \
                 int64, array 'Q' or 'q'), not items of {} bytes with format '{}'",
                buffer.item_size(),
                buffer.format().to_string_lossy(),
            )));
        }
        if buffer.readonly() {
            return Err(PyBufferError::new_err("buffer is read-only"));
        }
        if !buffer.is_c_contiguous() {
            return Err(PyBufferError::new_err(
                "the buffer is not C-contiguous: fill a C-contiguous array, then copy the IDs",
            ));
        }
        if buffer.item_count() > 0 && !buffer.buf_ptr().cast::<u64>().is_aligned() {
            return Err(PyBufferError::new_err("the buffer is not aligned to 8 bytes"));
        }
        Ok(Self(buffer))
    }

    #[expect(unsafe_code, reason = "safe Rust has no view of memory that Python owns")]
    pub(crate) fn ids(&mut self) -> &mut [Id] {
        let count = self.0.item_count();
        if count == 0 {
            // The pointer to an empty buffer may be invalid.
            return &mut [];
        }
        // SAFETY: `from_python` has checked that the memory is writable, contiguous and aligned,
        // and consists of 8-byte integers, for which every bit pattern is valid. The borrowed
        // buffer keeps the memory from being freed, moved or resized. Python code in another thread
        // that writes to the array at the same time can corrupt the numbers, as with every
        // extension that fills an array without the GIL. The documentation of `fill` states this
        // restriction, and this code does not read the numbers.
        let numbers =
            unsafe { std::slice::from_raw_parts_mut(self.0.buf_ptr().cast::<u64>(), count) };
        Id::from_u64_slice_mut(numbers)
    }
}

/// Whether a `struct` format describes one integer in this machine's byte order. pyo3's own check
/// also accepts the opposite byte order.
fn holds_integers(format: &[u8]) -> bool {
    let here = if cfg!(target_endian = "little") { b'<' } else { b'>' };
    let letter = match format {
        [letter] => *letter,
        [order, letter] if [b'@', b'=', here].contains(order) => *letter,
        _ => return false,
    };
    b"qQlLnN".contains(&letter)
}
