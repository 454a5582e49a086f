//! IDs as text and as bytes. Functions are written out because cbindgen does not look into macros.

use std::ffi::c_char;
use std::mem::MaybeUninit;

use flakeid_core::{Id, TextForm};

use crate::border::{self, given};
use crate::fault::Fault;
use crate::guard::guard;
use crate::status::Status;

/// Bytes that are enough for an ID in every text form, with the final NUL.
pub const FLAKEID_TEXT_SIZE: usize = 21;

/// # Safety
/// `buffer` is NULL or has `size` writable bytes.
unsafe fn encode(form: TextForm, id: u64, buffer: *mut c_char, size: usize) -> Result<(), Fault> {
    // SAFETY: as promised by the caller.
    unsafe { border::write_text(&form.encode(Id::from_u64(id)), buffer, size) }
}

/// # Safety
/// `text` is NULL or ends in NUL.
unsafe fn decode(
    form: TextForm,
    text: *const c_char,
    id: Option<&mut MaybeUninit<u64>>,
) -> Result<(), Fault> {
    let id = given(id, "id")?;
    // SAFETY: as promised by the caller.
    let text = given(unsafe { border::text(text) }, "text")?;
    id.write(form.decode(&text)?.to_u64());
    Ok(())
}

/// Writes the ID as 1 to 20 decimal digits. FLAKEID_TEXT_SIZE bytes are always enough. Any thread.
///
/// FLAKEID_BUFFER_TOO_SMALL (nothing is written), FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_to_decimal(id: u64, buffer: *mut c_char, size: usize) -> Status {
    // SAFETY: C promises that `buffer` has `size` bytes.
    guard(|| unsafe { encode(TextForm::Decimal, id, buffer, size) })
}

/// Reads 1 to 20 decimal digits, leading zeros allowed. Any thread.
///
/// FLAKEID_INVALID_ID, FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_from_decimal(
    text: *const c_char,
    id: Option<&mut MaybeUninit<u64>>,
) -> Status {
    // SAFETY: C promises a string.
    guard(|| unsafe { decode(TextForm::Decimal, text, id) })
}

/// Writes the ID as 13 digits of Crockford's base32, which sort as the ID does. FLAKEID_TEXT_SIZE bytes are always enough. Any thread.
///
/// FLAKEID_BUFFER_TOO_SMALL (nothing is written), FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_to_base32(id: u64, buffer: *mut c_char, size: usize) -> Status {
    // SAFETY: C promises that `buffer` has `size` bytes.
    guard(|| unsafe { encode(TextForm::Base32, id, buffer, size) })
}

/// Reads Crockford's base32; lower case, I and L for 1, and O for 0 are accepted. Any thread.
///
/// FLAKEID_INVALID_ID, FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_from_base32(
    text: *const c_char,
    id: Option<&mut MaybeUninit<u64>>,
) -> Status {
    // SAFETY: C promises a string.
    guard(|| unsafe { decode(TextForm::Base32, text, id) })
}

/// Writes the ID as 1 to 13 digits of base36, lower case. FLAKEID_TEXT_SIZE bytes are always enough. Any thread.
///
/// FLAKEID_BUFFER_TOO_SMALL (nothing is written), FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_to_base36(id: u64, buffer: *mut c_char, size: usize) -> Status {
    // SAFETY: C promises that `buffer` has `size` bytes.
    guard(|| unsafe { encode(TextForm::Base36, id, buffer, size) })
}

/// Reads base36, either case. Any thread.
///
/// FLAKEID_INVALID_ID, FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_from_base36(
    text: *const c_char,
    id: Option<&mut MaybeUninit<u64>>,
) -> Status {
    // SAFETY: C promises a string.
    guard(|| unsafe { decode(TextForm::Base36, text, id) })
}

/// Writes the ID as 1 to 11 digits of base58 in Bitcoin's alphabet. FLAKEID_TEXT_SIZE bytes are always enough. Any thread.
///
/// FLAKEID_BUFFER_TOO_SMALL (nothing is written), FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_to_base58(id: u64, buffer: *mut c_char, size: usize) -> Status {
    // SAFETY: C promises that `buffer` has `size` bytes.
    guard(|| unsafe { encode(TextForm::Base58, id, buffer, size) })
}

/// Reads base58 in Bitcoin's alphabet. Any thread.
///
/// FLAKEID_INVALID_ID, FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_from_base58(
    text: *const c_char,
    id: Option<&mut MaybeUninit<u64>>,
) -> Status {
    // SAFETY: C promises a string.
    guard(|| unsafe { decode(TextForm::Base58, text, id) })
}

/// Writes the ID as 11 digits of base62 (0-9A-Za-z), which sort as the ID does. FLAKEID_TEXT_SIZE bytes are always enough. Any thread.
///
/// FLAKEID_BUFFER_TOO_SMALL (nothing is written), FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_to_base62(id: u64, buffer: *mut c_char, size: usize) -> Status {
    // SAFETY: C promises that `buffer` has `size` bytes.
    guard(|| unsafe { encode(TextForm::Base62, id, buffer, size) })
}

/// Reads 11 digits of base62. Any thread.
///
/// FLAKEID_INVALID_ID, FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_from_base62(
    text: *const c_char,
    id: Option<&mut MaybeUninit<u64>>,
) -> Status {
    // SAFETY: C promises a string.
    guard(|| unsafe { decode(TextForm::Base62, text, id) })
}

/// Writes the ID as 16 hexadecimal digits, lower case, which sort as the ID does. FLAKEID_TEXT_SIZE bytes are always enough. Any thread.
///
/// FLAKEID_BUFFER_TOO_SMALL (nothing is written), FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_to_hex(id: u64, buffer: *mut c_char, size: usize) -> Status {
    // SAFETY: C promises that `buffer` has `size` bytes.
    guard(|| unsafe { encode(TextForm::Hex, id, buffer, size) })
}

/// Reads 16 hexadecimal digits, either case, without 0x. Any thread.
///
/// FLAKEID_INVALID_ID, FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_from_hex(
    text: *const c_char,
    id: Option<&mut MaybeUninit<u64>>,
) -> Status {
    // SAFETY: C promises a string.
    guard(|| unsafe { decode(TextForm::Hex, text, id) })
}

/// Writes the ID as 1 to 11 digits of base58 in Flickr's alphabet, as bwmarrin/snowflake does. FLAKEID_TEXT_SIZE bytes are
/// always enough. Any thread.
///
/// FLAKEID_BUFFER_TOO_SMALL (nothing is written), FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_to_base58_flickr(
    id: u64,
    buffer: *mut c_char,
    size: usize,
) -> Status {
    // SAFETY: C promises that `buffer` has `size` bytes.
    guard(|| unsafe { encode(TextForm::Base58Flickr, id, buffer, size) })
}

/// Reads base58 in Flickr's alphabet. Any thread.
///
/// FLAKEID_INVALID_ID, FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_from_base58_flickr(
    text: *const c_char,
    id: Option<&mut MaybeUninit<u64>>,
) -> Status {
    // SAFETY: C promises a string.
    guard(|| unsafe { decode(TextForm::Base58Flickr, text, id) })
}

/// Writes the ID as 1 to 13 digits of z-base-32, as Base32 of bwmarrin/snowflake does. FLAKEID_TEXT_SIZE bytes are always
/// enough. Any thread.
///
/// FLAKEID_BUFFER_TOO_SMALL (nothing is written), FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_to_zbase32(id: u64, buffer: *mut c_char, size: usize) -> Status {
    // SAFETY: C promises that `buffer` has `size` bytes.
    guard(|| unsafe { encode(TextForm::Zbase32, id, buffer, size) })
}

/// Reads z-base-32, either case. Any thread.
///
/// FLAKEID_INVALID_ID, FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_from_zbase32(
    text: *const c_char,
    id: Option<&mut MaybeUninit<u64>>,
) -> Status {
    // SAFETY: C promises a string.
    guard(|| unsafe { decode(TextForm::Zbase32, text, id) })
}

/// Writes the ID as 8 bytes, the most significant first, so that they sort as the ID does. No NUL
/// follows. Any thread.
///
/// FLAKEID_BUFFER_TOO_SMALL (nothing is written), FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_to_bytes(id: u64, buffer: *mut u8, size: usize) -> Status {
    // SAFETY: C promises that `buffer` has `size` bytes.
    guard(|| unsafe { border::write_bytes(Id::from_u64(id).to_be_bytes(), buffer, size) })
}

/// Reads an ID from the `size` bytes at `bytes`, which must be 8. Any thread.
///
/// FLAKEID_INVALID_ID, FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_from_bytes(
    bytes: *const u8,
    size: usize,
    id: Option<&mut MaybeUninit<u64>>,
) -> Status {
    guard(|| {
        let id = given(id, "id")?;
        // SAFETY: C promises that `bytes` has `size` bytes.
        id.write(Id::from_be_bytes(unsafe { border::bytes(bytes, size) }?).to_u64());
        Ok(())
    })
}
