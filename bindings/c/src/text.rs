//! The text forms and the byte form of IDs. The functions are written out instead of being generated
//! by a macro, because cbindgen does not expand macros.

use std::ffi::c_char;
use std::mem::MaybeUninit;

use flakeid_core::{Id, TextForm};

use crate::border::{self, given};
use crate::fault::Fault;
use crate::guard::{guard, write_result};
use crate::status::Status;

/// The size, in bytes, of a buffer that can hold an ID in any text form, including the final NUL.
pub const FLAKEID_TEXT_SIZE: usize = 37;

/// Writes the text form of an ID into the buffer.
///
/// # Safety
/// `buffer` must be NULL or point to `size` writable bytes.
unsafe fn encode(form: TextForm, id: u64, buffer: *mut c_char, size: usize) -> Result<(), Fault> {
    // SAFETY: the caller guarantees that `buffer` is NULL or points to `size` writable bytes.
    unsafe { border::write_text(&form.encode(Id::from_u64(id)), buffer, size) }
}

/// Reads an ID from its text form.
///
/// # Safety
/// `text` must be NULL or point to a NUL-terminated string.
unsafe fn decode(
    form: TextForm,
    text: *const c_char,
    id: Option<&mut MaybeUninit<u64>>,
) -> Result<(), Fault> {
    let id = given(id, "id")?;
    // SAFETY: the caller guarantees that `text` is NULL or NUL-terminated.
    let text = given(unsafe { border::text(text) }, "text")?;
    id.write(form.decode(&text)?.to_u64());
    Ok(())
}

/// Writes the ID as 1 to 20 decimal digits. FLAKEID_TEXT_SIZE bytes are always enough. Thread-safe.
///
/// Errors: FLAKEID_BUFFER_TOO_SMALL (nothing is written), FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_to_decimal(id: u64, buffer: *mut c_char, size: usize) -> Status {
    // SAFETY: the C caller guarantees that `buffer` is NULL or points to `size` writable bytes.
    guard(|| unsafe { encode(TextForm::Decimal, id, buffer, size) })
}

/// Reads an ID from 1 to 20 decimal digits; leading zeros are allowed. Thread-safe.
///
/// Errors: FLAKEID_INVALID_ID, FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_from_decimal(
    text: *const c_char,
    id: Option<&mut MaybeUninit<u64>>,
) -> Status {
    // SAFETY: the C caller guarantees that `text` is NULL or NUL-terminated.
    guard(|| unsafe { decode(TextForm::Decimal, text, id) })
}

/// Writes the ID as 13 Crockford base32 digits, which sort in the order of the IDs.
/// FLAKEID_TEXT_SIZE bytes are always enough. Thread-safe.
///
/// Errors: FLAKEID_BUFFER_TOO_SMALL (nothing is written), FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_to_base32(id: u64, buffer: *mut c_char, size: usize) -> Status {
    // SAFETY: the C caller guarantees that `buffer` is NULL or points to `size` writable bytes.
    guard(|| unsafe { encode(TextForm::Base32, id, buffer, size) })
}

/// Reads an ID from Crockford base32 digits. Also accepts lowercase letters, I and L for 1, and O
/// for 0. Thread-safe.
///
/// Errors: FLAKEID_INVALID_ID, FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_from_base32(
    text: *const c_char,
    id: Option<&mut MaybeUninit<u64>>,
) -> Status {
    // SAFETY: the C caller guarantees that `text` is NULL or NUL-terminated.
    guard(|| unsafe { decode(TextForm::Base32, text, id) })
}

/// Writes the ID as 1 to 13 lowercase base36 digits. FLAKEID_TEXT_SIZE bytes are always enough.
/// Thread-safe.
///
/// Errors: FLAKEID_BUFFER_TOO_SMALL (nothing is written), FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_to_base36(id: u64, buffer: *mut c_char, size: usize) -> Status {
    // SAFETY: the C caller guarantees that `buffer` is NULL or points to `size` writable bytes.
    guard(|| unsafe { encode(TextForm::Base36, id, buffer, size) })
}

/// Reads an ID from base36 digits, in upper or lower case. Thread-safe.
///
/// Errors: FLAKEID_INVALID_ID, FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_from_base36(
    text: *const c_char,
    id: Option<&mut MaybeUninit<u64>>,
) -> Status {
    // SAFETY: the C caller guarantees that `text` is NULL or NUL-terminated.
    guard(|| unsafe { decode(TextForm::Base36, text, id) })
}

/// Writes the ID as 1 to 11 base58 digits in Bitcoin's alphabet. FLAKEID_TEXT_SIZE bytes are always
/// enough. Thread-safe.
///
/// Errors: FLAKEID_BUFFER_TOO_SMALL (nothing is written), FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_to_base58(id: u64, buffer: *mut c_char, size: usize) -> Status {
    // SAFETY: the C caller guarantees that `buffer` is NULL or points to `size` writable bytes.
    guard(|| unsafe { encode(TextForm::Base58, id, buffer, size) })
}

/// Reads an ID from base58 digits in Bitcoin's alphabet. Thread-safe.
///
/// Errors: FLAKEID_INVALID_ID, FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_from_base58(
    text: *const c_char,
    id: Option<&mut MaybeUninit<u64>>,
) -> Status {
    // SAFETY: the C caller guarantees that `text` is NULL or NUL-terminated.
    guard(|| unsafe { decode(TextForm::Base58, text, id) })
}

/// Writes the ID as 11 base62 digits (0-9A-Za-z), which sort in the order of the IDs.
/// FLAKEID_TEXT_SIZE bytes are always enough. Thread-safe.
///
/// Errors: FLAKEID_BUFFER_TOO_SMALL (nothing is written), FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_to_base62(id: u64, buffer: *mut c_char, size: usize) -> Status {
    // SAFETY: the C caller guarantees that `buffer` is NULL or points to `size` writable bytes.
    guard(|| unsafe { encode(TextForm::Base62, id, buffer, size) })
}

/// Reads an ID from 11 base62 digits. Thread-safe.
///
/// Errors: FLAKEID_INVALID_ID, FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_from_base62(
    text: *const c_char,
    id: Option<&mut MaybeUninit<u64>>,
) -> Status {
    // SAFETY: the C caller guarantees that `text` is NULL or NUL-terminated.
    guard(|| unsafe { decode(TextForm::Base62, text, id) })
}

/// Writes the ID as 16 lowercase hexadecimal digits, which sort in the order of the IDs.
/// FLAKEID_TEXT_SIZE bytes are always enough. Thread-safe.
///
/// Errors: FLAKEID_BUFFER_TOO_SMALL (nothing is written), FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_to_hex(id: u64, buffer: *mut c_char, size: usize) -> Status {
    // SAFETY: the C caller guarantees that `buffer` is NULL or points to `size` writable bytes.
    guard(|| unsafe { encode(TextForm::Hex, id, buffer, size) })
}

/// Reads an ID from 16 hexadecimal digits, in upper or lower case, without the prefix 0x.
/// Thread-safe.
///
/// Errors: FLAKEID_INVALID_ID, FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_from_hex(
    text: *const c_char,
    id: Option<&mut MaybeUninit<u64>>,
) -> Status {
    // SAFETY: the C caller guarantees that `text` is NULL or NUL-terminated.
    guard(|| unsafe { decode(TextForm::Hex, text, id) })
}

/// Writes the ID as 1 to 11 base58 digits in Flickr's alphabet, as the Go library
/// bwmarrin/snowflake does. FLAKEID_TEXT_SIZE bytes are always enough. Thread-safe.
///
/// Errors: FLAKEID_BUFFER_TOO_SMALL (nothing is written), FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_to_base58_flickr(
    id: u64,
    buffer: *mut c_char,
    size: usize,
) -> Status {
    // SAFETY: the C caller guarantees that `buffer` is NULL or points to `size` writable bytes.
    guard(|| unsafe { encode(TextForm::Base58Flickr, id, buffer, size) })
}

/// Reads an ID from base58 digits in Flickr's alphabet. Thread-safe.
///
/// Errors: FLAKEID_INVALID_ID, FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_from_base58_flickr(
    text: *const c_char,
    id: Option<&mut MaybeUninit<u64>>,
) -> Status {
    // SAFETY: the C caller guarantees that `text` is NULL or NUL-terminated.
    guard(|| unsafe { decode(TextForm::Base58Flickr, text, id) })
}

/// Writes the ID as 1 to 13 z-base-32 digits, as Base32() does in the Go library
/// bwmarrin/snowflake. FLAKEID_TEXT_SIZE bytes are always enough. Thread-safe.
///
/// Errors: FLAKEID_BUFFER_TOO_SMALL (nothing is written), FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_to_zbase32(id: u64, buffer: *mut c_char, size: usize) -> Status {
    // SAFETY: the C caller guarantees that `buffer` is NULL or points to `size` writable bytes.
    guard(|| unsafe { encode(TextForm::Zbase32, id, buffer, size) })
}

/// Reads an ID from z-base-32 digits, in upper or lower case. Thread-safe.
///
/// Errors: FLAKEID_INVALID_ID, FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_from_zbase32(
    text: *const c_char,
    id: Option<&mut MaybeUninit<u64>>,
) -> Status {
    // SAFETY: the C caller guarantees that `text` is NULL or NUL-terminated.
    guard(|| unsafe { decode(TextForm::Zbase32, text, id) })
}

/// Writes the ID as the 36 characters of a UUID of version 8 (RFC 9562), which sort in the order of
/// the IDs. FLAKEID_TEXT_SIZE bytes are always enough. Thread-safe.
///
/// Errors: FLAKEID_BUFFER_TOO_SMALL (nothing is written), FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_to_uuid(id: u64, buffer: *mut c_char, size: usize) -> Status {
    // SAFETY: the C caller guarantees that `buffer` is NULL or points to `size` writable bytes.
    guard(|| unsafe { encode(TextForm::Uuid, id, buffer, size) })
}

/// Reads an ID from the 36 characters of a UUID, in upper or lower case. Rejects UUIDs that flakeid
/// did not create from IDs. Thread-safe.
///
/// Errors: FLAKEID_INVALID_ID, FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_from_uuid(
    text: *const c_char,
    id: Option<&mut MaybeUninit<u64>>,
) -> Status {
    // SAFETY: the C caller guarantees that `text` is NULL or NUL-terminated.
    guard(|| unsafe { decode(TextForm::Uuid, text, id) })
}

/// Writes the ID as 8 bytes, the most significant byte first, so that the bytes sort in the order
/// of the IDs. Writes no NUL after the bytes. Thread-safe.
///
/// Errors: FLAKEID_BUFFER_TOO_SMALL (nothing is written), FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_to_bytes(id: u64, buffer: *mut u8, size: usize) -> Status {
    // SAFETY: the C caller guarantees that `buffer` is NULL or points to `size` writable bytes.
    guard(|| unsafe { border::write_bytes(Id::from_u64(id).to_be_bytes(), buffer, size) })
}

/// Reads an ID from the `size` bytes at `bytes`, the most significant byte first; `size` must be 8.
/// Thread-safe.
///
/// Errors: FLAKEID_INVALID_ID, FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_from_bytes(
    bytes: *const u8,
    size: usize,
    id: Option<&mut MaybeUninit<u64>>,
) -> Status {
    write_result(id, "id", || {
        // SAFETY: the C caller guarantees that `bytes` is NULL or points to `size` readable bytes.
        Ok(Id::from_be_bytes(unsafe { border::bytes("an ID", bytes, size) }?).to_u64())
    })
}

/// Writes the ID as the 16 bytes of a UUID of version 8 (RFC 9562), which sort in the order of the
/// IDs. Writes no NUL after the bytes. Thread-safe.
///
/// Errors: FLAKEID_BUFFER_TOO_SMALL (nothing is written), FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_to_uuid_bytes(id: u64, buffer: *mut u8, size: usize) -> Status {
    // SAFETY: the C caller guarantees that `buffer` is NULL or points to `size` writable bytes.
    guard(|| unsafe { border::write_bytes(Id::from_u64(id).to_uuid_bytes(), buffer, size) })
}

/// Reads an ID from the `size` bytes of a UUID at `bytes`; `size` must be 16. Rejects UUIDs that
/// flakeid did not create from IDs. Thread-safe.
///
/// Errors: FLAKEID_INVALID_ID, FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_from_uuid_bytes(
    bytes: *const u8,
    size: usize,
    id: Option<&mut MaybeUninit<u64>>,
) -> Status {
    write_result(id, "id", || {
        // SAFETY: the C caller guarantees that `bytes` is NULL or points to `size` readable bytes.
        let bytes = unsafe { border::bytes("a UUID", bytes, size) }?;
        Ok(Id::from_uuid_bytes(bytes)?.to_u64())
    })
}
