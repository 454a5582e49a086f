//! Where pointers from C are dereferenced. Each function says what its caller, a C program, must
//! promise; the header's conventions say so to C.

use std::ffi::{CStr, c_char};
use std::mem::{MaybeUninit, size_of};
use std::ptr;

use flakeid_core::{Error, ErrorKind, Layout};

use crate::fault::Fault;

/// A handle or an input that must not be NULL.
#[inline]
pub(crate) fn given<T>(value: Option<T>, argument: &'static str) -> Result<T, Fault> {
    value.ok_or(Fault::Null { argument })
}

/// A string that may be NULL.
///
/// # Safety
/// `text` is NULL or ends in NUL, and is not changed while the result lives.
unsafe fn string<'a>(text: *const c_char) -> Option<&'a CStr> {
    // SAFETY: not null, and the caller promises the rest.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) })
}

/// A string as the core reads it. What is not UTF-8 becomes U+FFFD, which no layout and no text
/// form knows, so the core refuses it in its own words.
///
/// # Safety
/// `text` is NULL or ends in NUL.
pub(crate) unsafe fn text(text: *const c_char) -> Option<String> {
    // SAFETY: as promised by the caller; the borrow ends here.
    unsafe { string(text) }.map(|text| text.to_string_lossy().into_owned())
}

/// The layout that a string names; the default if there is none.
pub(crate) fn layout(text: Option<String>) -> Result<Layout, Error> {
    text.map_or_else(|| Ok(Layout::default()), |text| text.parse())
}

/// Copies `text` and a NUL into the buffer, or writes nothing if they do not fit.
///
/// # Safety
/// `buffer` is NULL or has `size` writable bytes.
pub(crate) unsafe fn write_text(text: &str, buffer: *mut c_char, size: usize) -> Result<(), Fault> {
    if buffer.is_null() {
        return Err(Fault::Null { argument: "buffer" });
    }
    let needed = text.len() + 1;
    if size < needed {
        return Err(Fault::TooSmall { size, needed });
    }
    // SAFETY: there is room for the text and the NUL, and a string of ours is not C's buffer.
    unsafe {
        ptr::copy_nonoverlapping(text.as_ptr().cast(), buffer, text.len());
        buffer.add(text.len()).write(0);
    }
    Ok(())
}

/// The most integers that fit into memory.
const MOST_NUMBERS: usize = isize::MAX.unsigned_abs() / size_of::<u64>();

/// The integers that a call fills. `numbers` may be NULL if `n` is 0.
///
/// # Safety
/// `numbers` is NULL or has `n` writable, aligned integers that nothing else uses meanwhile.
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
    // SAFETY: not null, no larger than memory may be, and the caller promises the rest. Integers
    // that C left without a value are only written.
    Ok(unsafe { std::slice::from_raw_parts_mut(numbers, n) })
}

/// The integers of an option, if there is an array of them.
///
/// # Safety
/// `nodes` is NULL or has `count` readable, aligned integers.
pub(crate) unsafe fn nodes(nodes: *const u64, count: usize) -> Result<Option<Vec<u64>>, Fault> {
    if nodes.is_null() {
        return if count == 0 { Ok(None) } else { Err(Fault::Null { argument: "nodes" }) };
    }
    if count > MOST_NUMBERS {
        let most = MOST_NUMBERS as u64;
        return Err(Error::field_out_of_range("node_count", &count, 1, most).into());
    }
    // SAFETY: not null, no larger than memory may be, and the caller promises the rest.
    Ok(Some(unsafe { std::slice::from_raw_parts(nodes, count) }.to_vec()))
}

/// The eight bytes of an ID.
///
/// # Safety
/// `bytes` is NULL or has `size` readable bytes.
pub(crate) unsafe fn bytes(bytes: *const u8, size: usize) -> Result<[u8; 8], Fault> {
    if bytes.is_null() {
        return Err(Fault::Null { argument: "bytes" });
    }
    if size != 8 {
        let message = format!("{size} bytes are not an ID: it must be exactly 8");
        return Err(Error::new(ErrorKind::InvalidId, &message, None).into());
    }
    // SAFETY: eight bytes, as was checked.
    Ok(unsafe { bytes.cast::<[u8; 8]>().read() })
}

/// Writes the eight bytes of an ID, or nothing if they do not fit.
///
/// # Safety
/// `buffer` is NULL or has `size` writable bytes.
pub(crate) unsafe fn write_bytes(
    bytes: [u8; 8],
    buffer: *mut u8,
    size: usize,
) -> Result<(), Fault> {
    if buffer.is_null() {
        return Err(Fault::Null { argument: "buffer" });
    }
    if size < bytes.len() {
        return Err(Fault::TooSmall { size, needed: bytes.len() });
    }
    // SAFETY: there is room for eight bytes.
    unsafe { buffer.cast::<[u8; 8]>().write(bytes) };
    Ok(())
}

/// A struct of plain numbers and pointers that begins with its own size as a `u32`.
///
/// # Safety
/// It is `repr(C)` and begins with a `u32`, and all bytes zero are a value of it.
pub(crate) unsafe trait Sized32: Copy {
    /// Its size in the first release. No program has a smaller one.
    const FIRST: usize;
}

/// # Safety
/// `at` is NULL or begins with a readable `u32`.
unsafe fn told_size<T: Sized32>(at: *const T) -> Result<usize, Fault> {
    // SAFETY: as promised by the caller, unless it is null.
    let size = unsafe { at.cast::<u32>().as_ref() }.ok_or(Fault::Null { argument: "struct" })?;
    let size = *size as usize;
    if size < T::FIRST || !size.is_multiple_of(size_of::<u32>()) {
        let reason = format!(
            "{size} is not a size of this struct, which has at least {} bytes; initialise it with \
             its _INIT macro",
            T::FIRST
        );
        return Err(Error::invalid_option("struct_size", &reason).into());
    }
    Ok(size)
}

/// Reads a struct of a program. An older program's struct lacks fields at the end, which are read
/// as zero; a newer program must not have set fields that are unknown here.
///
/// # Safety
/// `at` is NULL or has as many readable bytes as it says.
pub(crate) unsafe fn read_sized<T: Sized32>(at: *const T) -> Result<T, Fault> {
    // SAFETY: as promised by the caller.
    let size = unsafe { told_size(at) }?;
    let known = size_of::<T>().min(size);
    let mut value = MaybeUninit::<T>::zeroed();
    // SAFETY: `size` bytes are readable, and `known` fit; zero bytes are a value for the rest.
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

/// As [`read_sized`], and for NULL every default, which is zero.
///
/// # Safety
/// As [`read_sized`].
pub(crate) unsafe fn read_optional<T: Sized32>(at: *const T) -> Result<T, Fault> {
    if at.is_null() {
        // SAFETY: zero bytes are a value of it.
        return Ok(unsafe { MaybeUninit::zeroed().assume_init() });
    }
    // SAFETY: as promised by the caller.
    unsafe { read_sized(at) }
}

/// Writes as much of a struct as the program knows. Fields that only the program knows become zero,
/// and its `struct_size` is kept.
///
/// # Safety
/// `to` is NULL or has as many writable bytes as it says.
pub(crate) unsafe fn write_sized<T: Sized32>(value: &T, to: *mut T) -> Result<(), Fault> {
    // SAFETY: as promised by the caller.
    let size = unsafe { told_size(to) }?;
    let known = size_of::<T>().min(size);
    let told = size_of::<u32>();
    let (from, to) = (ptr::from_ref(value).cast::<u8>(), to.cast::<u8>());
    // SAFETY: `size` bytes are writable, of which `known` have a counterpart in `value`.
    unsafe {
        ptr::copy_nonoverlapping(from.add(told), to.add(told), known - told);
        ptr::write_bytes(to.add(known), 0, size - known);
    }
    Ok(())
}
