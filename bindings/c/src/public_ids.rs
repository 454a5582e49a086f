//! Public IDs: the encrypted form in which outsiders see IDs.

use std::ffi::c_char;
use std::mem::MaybeUninit;

use flakeid_core::{Id, PublicIds};

use crate::border::{self, given};
use crate::fault::Fault;
use crate::guard::{free, guard};
use crate::status::Status;

/// The size, in bytes, of a buffer that can hold any public ID, including the final NUL.
pub const FLAKEID_PUBLIC_ID_SIZE: usize = 30;

/// A converter between the IDs of one domain (a kind of object, such as "user") and their public
/// form. The public form is encrypted, so it reveals neither the parts of an ID nor the number of
/// IDs. Public IDs hide IDs but do not authorise access: in rare cases, a random string is accepted
/// as a public ID. Thread-safe.
pub struct PublicIdsHandle(PublicIds);

/// Creates a converter for the public IDs of a domain. `keyring` is the content of the file that
/// `flakeid keygen` writes. `domain` is the kind of object that the IDs identify, such as "user".
/// The domain has 1 to 64 bytes and must not change while public IDs are in use. `prefix` has up to
/// 16 lowercase letters and digits and starts with a letter; NULL means no prefix. IDs from before
/// `since_ms` (Unix milliseconds) cannot be opened; NULL means the layout's epoch. The caller owns
/// the handle and must free it with flakeid_public_ids_free(). Thread-safe.
///
/// Errors: FLAKEID_INVALID_OPTION (keyring, domain or prefix), FLAKEID_INVALID_LAYOUT,
/// FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_public_ids_new(
    keyring: *const c_char,
    domain: *const c_char,
    layout: *const c_char,
    prefix: *const c_char,
    since_ms: Option<&i64>,
    ids: Option<&mut MaybeUninit<Box<PublicIdsHandle>>>,
) -> Status {
    guard(|| {
        let ids = given(ids, "ids")?;
        // SAFETY: the C caller guarantees that strings are NULL or NUL-terminated.
        let [keyring, domain, layout, prefix] =
            [keyring, domain, layout, prefix].map(|text| unsafe { border::text(text) });
        let keyring = given(keyring, "keyring")?;
        let domain = given(domain, "domain")?;
        let layout = border::layout(layout)?;
        let made =
            PublicIds::from_text(&keyring, &domain, layout, prefix.as_deref(), since_ms.copied())?;
        ids.write(Box::new(PublicIdsHandle(made)));
        Ok(())
    })
}

/// Writes the public form of an ID: the prefix and an underscore (if there is a prefix), the
/// current key's letter, and 11 base58 digits. FLAKEID_PUBLIC_ID_SIZE bytes are always enough.
/// Thread-safe.
///
/// Errors: FLAKEID_INVALID_ID (the ID has bits that the layout never sets),
/// FLAKEID_BUFFER_TOO_SMALL (nothing is written), FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_public_ids_seal(
    ids: Option<&PublicIdsHandle>,
    id: u64,
    buffer: *mut c_char,
    size: usize,
) -> Status {
    guard(|| {
        let sealed = given(ids, "ids")?.0.seal(Id::from_u64(id))?;
        // SAFETY: the C caller guarantees that `buffer` is NULL or points to `size` writable bytes.
        unsafe { border::write_text(&sealed, buffer, size) }
    })
}

/// Writes the public form of an ID as a 64-bit integer, without the prefix and the key letter.
/// Thread-safe.
///
/// Errors: FLAKEID_INVALID_ID, FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_public_ids_seal_bits(
    ids: Option<&PublicIdsHandle>,
    id: u64,
    bits: Option<&mut MaybeUninit<u64>>,
) -> Status {
    guard(|| {
        let (ids, bits) = (given(ids, "ids")?, given(bits, "bits")?);
        bits.write(ids.0.seal_bits(Id::from_u64(id))?);
        Ok(())
    })
}

/// Opens a public ID, compares the ID's time with the system clock, and writes the ID to `id`.
/// Thread-safe.
///
/// Errors: FLAKEID_INVALID_ID, FLAKEID_NULL_ARGUMENT. FLAKEID_INVALID_ID does not reveal why the
/// public ID was rejected. The string may be random, or may have been created with a different key,
/// domain or prefix. The ID may also be from before `since_ms`, or more than a minute ahead of the
/// clock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_public_ids_open(
    ids: Option<&PublicIdsHandle>,
    text: *const c_char,
    id: Option<&mut MaybeUninit<u64>>,
) -> Status {
    // SAFETY: the C caller guarantees that strings are NULL or NUL-terminated.
    guard(|| unsafe { open(ids, text, None, id) })
}

/// Opens a public ID in the same way as flakeid_public_ids_open(), but compares the ID's time with
/// the instant `unix_ms`, in Unix milliseconds, instead of the system clock. Thread-safe.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_public_ids_open_at(
    ids: Option<&PublicIdsHandle>,
    text: *const c_char,
    unix_ms: i64,
    id: Option<&mut MaybeUninit<u64>>,
) -> Status {
    // SAFETY: the C caller guarantees that strings are NULL or NUL-terminated.
    guard(|| unsafe { open(ids, text, Some(unix_ms), id) })
}

/// Opens a public ID, and compares the ID's time with the given instant, or with the system clock
/// if there is no instant.
///
/// # Safety
/// `text` must be NULL or point to a NUL-terminated string.
unsafe fn open(
    ids: Option<&PublicIdsHandle>,
    text: *const c_char,
    unix_ms: Option<i64>,
    id: Option<&mut MaybeUninit<u64>>,
) -> Result<(), Fault> {
    let (ids, id) = (given(ids, "ids")?, given(id, "id")?);
    // SAFETY: the caller guarantees that `text` is NULL or NUL-terminated.
    let text = given(unsafe { border::text(text) }, "text")?;
    let opened = match unix_ms {
        Some(unix_ms) => ids.0.open_at(&text, unix_ms)?,
        None => ids.0.open(&text)?,
    };
    id.write(opened.to_u64());
    Ok(())
}

/// Frees the handle; NULL is allowed. No other call may use the handle during or after this call.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_public_ids_free(ids: Option<Box<PublicIdsHandle>>) {
    free(ids);
}
