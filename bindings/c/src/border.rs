//! Functions that dereference pointers from C programs. Each function documents the guarantees that
//! it requires from its caller, the C program. The conventions in the header state these guarantees
//! for C programmers.

use std::ffi::{CStr, c_char};
use std::mem::{MaybeUninit, size_of};
use std::ptr;

use flakeid_core::{Error, ErrorKind, Layout};

use crate::fault::Fault;

/// Returns the value of an argument, or a fault with the argument's name if the argument is NULL.
#[inline]
pub(crate) fn given<T>(value: Option<T>, argument: &'static str) -> Result<T, Fault> {
    value.ok_or(Fault::Null { argument })
}

/// Returns a C string, or `None` for NULL.
///
/// # Safety
/// `text` must be NULL or point to a NUL-terminated string that does not change while the result is
/// in use.
unsafe fn string<'a>(text: *const c_char) -> Option<&'a CStr> {
    // SAFETY: the pointer is not null, and the caller guarantees a NUL-terminated string.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) })
}

/// Copies a C string into a Rust string, or returns `None` for NULL. Bytes that are not UTF-8
/// become U+FFFD. No layout or text form contains U+FFFD, so the core rejects the string as
/// invalid.
///
/// # Safety
/// `text` must be NULL or point to a NUL-terminated string.
pub(crate) unsafe fn text(text: *const c_char) -> Option<String> {
    // SAFETY: the caller guarantees that `text` is NULL or points to a NUL-terminated string, and
    // the borrow ends in this expression.
    unsafe { string(text) }.map(|text| text.to_string_lossy().into_owned())
}

/// Parses a layout from a string, or returns the default layout if there is no string.
pub(crate) fn layout(text: Option<String>) -> Result<Layout, Error> {
    text.map_or_else(|| Ok(Layout::default()), |text| text.parse())
}

/// Copies `text` and a final NUL into the buffer, or writes nothing if the buffer is too small.
///
/// # Safety
/// `buffer` must be NULL or point to `size` writable bytes.
pub(crate) unsafe fn write_text(text: &str, buffer: *mut c_char, size: usize) -> Result<(), Fault> {
    if buffer.is_null() {
        return Err(Fault::Null { argument: "buffer" });
    }
    let needed = text.len() + 1;
    if size < needed {
        return Err(Fault::TooSmall { size, needed });
    }
    // SAFETY: the caller guarantees `size` writable bytes, which are enough for the string and the
    // NUL. A Rust string cannot overlap the C program's buffer.
    unsafe {
        ptr::copy_nonoverlapping(text.as_ptr().cast(), buffer, text.len());
        buffer.add(text.len()).write(0);
    }
    Ok(())
}

/// The largest number of 64-bit integers that a slice can contain.
const MOST_NUMBERS: usize = isize::MAX.unsigned_abs() / size_of::<u64>();

/// Returns the C program's output array as a slice. `numbers` may be NULL if `n` is 0.
///
/// # Safety
/// `numbers` must be NULL or point to `n` writable, aligned integers that no other code uses while
/// the result is in use.
pub(crate) unsafe fn numbers<'a>(
    numbers: *mut u64,
    n: usize,
    argument: &'static str,
) -> Result<&'a mut [u64], Fault> {
    if n == 0 {
        return Ok(&mut []);
    }
    if numbers.is_null() {
        return Err(Fault::Null { argument });
    }
    if n > MOST_NUMBERS {
        return Err(Error::field_out_of_range("n", &n, 0, MOST_NUMBERS as u64).into());
    }
    // SAFETY: the pointer is not null, the array fits into a slice, and the caller guarantees `n`
    // writable integers. Uninitialized integers are only written, never read.
    Ok(unsafe { std::slice::from_raw_parts_mut(numbers, n) })
}

/// Copies the C program's array of nodes, or returns `None` if there is no array.
///
/// # Safety
/// `nodes` must be NULL or point to `count` readable, aligned integers.
pub(crate) unsafe fn nodes(nodes: *const u64, count: usize) -> Result<Option<Vec<u64>>, Fault> {
    if nodes.is_null() {
        return if count == 0 { Ok(None) } else { Err(Fault::Null { argument: "nodes" }) };
    }
    if count > MOST_NUMBERS {
        let most = MOST_NUMBERS as u64;
        return Err(Error::field_out_of_range("node_count", &count, 1, most).into());
    }
    // SAFETY: the pointer is not null, the array fits into a slice, and the caller guarantees
    // `count` readable integers.
    Ok(Some(unsafe { std::slice::from_raw_parts(nodes, count) }.to_vec()))
}

/// Reads the 8 bytes of an ID or the 16 bytes of a UUID. `subject` names the object in the error.
///
/// # Safety
/// `bytes` must be NULL or point to `size` readable bytes.
pub(crate) unsafe fn bytes<const LENGTH: usize>(
    subject: &str,
    bytes: *const u8,
    size: usize,
) -> Result<[u8; LENGTH], Fault> {
    if bytes.is_null() {
        return Err(Fault::Null { argument: "bytes" });
    }
    if size != LENGTH {
        let message = format!("{subject} has exactly {LENGTH} bytes, not {size}");
        return Err(Error::new(ErrorKind::InvalidId, &message, None).into());
    }
    // SAFETY: the caller guarantees `size` readable bytes, and `size` is `LENGTH`.
    Ok(unsafe { bytes.cast::<[u8; LENGTH]>().read() })
}

/// Writes the bytes of an ID or of a UUID, or nothing if the buffer is too small.
///
/// # Safety
/// `buffer` must be NULL or point to `size` writable bytes.
pub(crate) unsafe fn write_bytes<const LENGTH: usize>(
    bytes: [u8; LENGTH],
    buffer: *mut u8,
    size: usize,
) -> Result<(), Fault> {
    if buffer.is_null() {
        return Err(Fault::Null { argument: "buffer" });
    }
    if size < LENGTH {
        return Err(Fault::TooSmall { size, needed: LENGTH });
    }
    // SAFETY: the caller guarantees `size` writable bytes, and `size` is at least `LENGTH`.
    unsafe { buffer.cast::<[u8; LENGTH]>().write(bytes) };
    Ok(())
}

/// A struct of plain numbers and pointers that starts with its own size as a `u32`.
///
/// # Safety
/// The struct must be `repr(C)` and start with a `u32`, and a struct whose bytes are all zero must
/// be valid.
pub(crate) unsafe trait Sized32: Copy {
    /// The size, in bytes, that the struct had in the first release. This size is the smallest
    /// valid `struct_size`.
    const FIRST: usize;
}

/// Returns the `struct_size` of a struct, or a fault if the size is invalid.
///
/// # Safety
/// `at` must be NULL or point to a readable `u32`.
unsafe fn declared_size<T: Sized32>(at: *const T) -> Result<usize, Fault> {
    // SAFETY: `as_ref` checks for null, and the caller guarantees that any other pointer points to
    // a readable `u32`.
    let size = unsafe { at.cast::<u32>().as_ref() }.ok_or(Fault::Null { argument: "struct" })?;
    let size = *size as usize;
    if size < T::FIRST || !size.is_multiple_of(size_of::<u32>()) {
        let reason = format!(
            "{size} is not a valid size of this struct, which has at least {} bytes; initialise the \
             struct with its _INIT macro",
            T::FIRST
        );
        return Err(Error::invalid_option("struct_size", &reason).into());
    }
    Ok(size)
}

/// Reads a struct from a C program. Fields that an older version of the struct lacks are read as
/// zero. Fields that only a newer version of the struct contains must be zero.
///
/// # Safety
/// `at` must be NULL or point to a struct with `struct_size` readable bytes.
pub(crate) unsafe fn read_sized<T: Sized32>(at: *const T) -> Result<T, Fault> {
    // SAFETY: the caller guarantees that `at` is NULL or points to a struct.
    let size = unsafe { declared_size(at) }?;
    let known = size_of::<T>().min(size);
    let mut value = MaybeUninit::<T>::zeroed();
    // SAFETY: the caller guarantees `size` readable bytes, and the first `known` bytes fit into
    // `value`. [`Sized32`] guarantees that the remaining bytes of `value` may be zero.
    let (value, unknown) = unsafe {
        ptr::copy_nonoverlapping(at.cast::<u8>(), value.as_mut_ptr().cast::<u8>(), known);
        let unknown = std::slice::from_raw_parts(at.cast::<u8>().add(known), size - known);
        (value.assume_init(), unknown)
    };
    if unknown.iter().any(|byte| *byte != 0) {
        let reason = "the struct sets fields that this version of the library does not know";
        return Err(Error::invalid_option("struct_size", reason).into());
    }
    Ok(value)
}

/// Reads a struct like [`read_sized`], but returns the default struct, whose bytes are all zero, if
/// the pointer is NULL.
///
/// # Safety
/// The requirements of [`read_sized`] apply.
#[cfg(not(target_family = "wasm"))]
pub(crate) unsafe fn read_optional<T: Sized32>(at: *const T) -> Result<T, Fault> {
    if at.is_null() {
        // SAFETY: [`Sized32`] guarantees that a struct whose bytes are all zero is valid.
        return Ok(unsafe { MaybeUninit::zeroed().assume_init() });
    }
    // SAFETY: the caller guarantees that `at` is NULL or points to a struct with `struct_size`
    // readable bytes.
    unsafe { read_sized(at) }
}

/// Writes the fields of `value` that the C program's version of the struct also contains. Fields
/// that only the program's version contains become zero, and `struct_size` does not change.
///
/// # Safety
/// `to` must be NULL or point to a struct with `struct_size` writable bytes.
pub(crate) unsafe fn write_sized<T: Sized32>(value: &T, to: *mut T) -> Result<(), Fault> {
    // SAFETY: the caller guarantees that `to` is NULL or points to a struct.
    let size = unsafe { declared_size(to) }?;
    let known = size_of::<T>().min(size);
    let size_field = size_of::<u32>();
    let (from, to) = (ptr::from_ref(value).cast::<u8>(), to.cast::<u8>());
    // SAFETY: the caller guarantees `size` writable bytes, and `value` has at least `known` bytes.
    unsafe {
        ptr::copy_nonoverlapping(from.add(size_field), to.add(size_field), known - size_field);
        ptr::write_bytes(to.add(known), 0, size - known);
    }
    Ok(())
}
