//! The public form of IDs.

use std::ffi::c_char;
use std::mem::MaybeUninit;

use flakeid_core::{Id, PublicIds};

use crate::border::{self, given};
use crate::fault::Fault;
use crate::guard::guard;
use crate::status::Status;

/// Bytes that are enough for every public ID, with the final NUL.
pub const FLAKEID_PUBLIC_ID_SIZE: usize = 30;

/// IDs of one domain as outsiders see them: encrypted, so that they tell neither a time nor a node
/// nor a number. It hides; it does not authorise: a text that was made up may open as some ID, if
/// seldom. Any thread.
pub struct PublicIdsHandle(PublicIds);

/// Makes the public form of the IDs of a domain. `keyring` is the text of the file that `flakeid
/// keygen` makes. `domain` says what the IDs are of, such as "user", in 1 to 64 bytes, and is fixed
/// for as long as their public form is in use. `prefix` has up to 16 lower-case letters and digits,
/// a letter first; NULL is none. IDs from before `since_ms` (Unix milliseconds) do not open; NULL
/// is the layout's epoch. The caller owns the handle and frees it with flakeid_public_ids_free().
/// Any thread.
///
/// FLAKEID_INVALID_OPTION (keyring, domain or prefix), FLAKEID_INVALID_LAYOUT,
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
        // SAFETY: C promises strings.
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

/// Writes the public form of an ID: the prefix and an underscore, the letter of the current key, and
/// 11 digits of base58. FLAKEID_PUBLIC_ID_SIZE bytes are always enough. Any thread.
///
/// FLAKEID_INVALID_ID (bits that the layout never sets), FLAKEID_BUFFER_TOO_SMALL (nothing is
/// written), FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_public_ids_seal(
    ids: Option<&PublicIdsHandle>,
    id: u64,
    buffer: *mut c_char,
    size: usize,
) -> Status {
    guard(|| {
        let sealed = given(ids, "ids")?.0.seal(Id::from_u64(id))?;
        // SAFETY: C promises that `buffer` has `size` bytes.
        unsafe { border::write_text(&sealed, buffer, size) }
    })
}

/// The public form of an ID as 64 bits, without the prefix and the letter of the key. Any thread.
///
/// FLAKEID_INVALID_ID, FLAKEID_NULL_ARGUMENT.
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

/// The ID of a public ID, by the system's clock. Any thread.
///
/// FLAKEID_INVALID_ID, which does not say why: another key, domain or prefix, a text that was made
/// up, or an ID from before `since_ms` or from more than a minute after now. FLAKEID_NULL_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_public_ids_open(
    ids: Option<&PublicIdsHandle>,
    text: *const c_char,
    id: Option<&mut MaybeUninit<u64>>,
) -> Status {
    // SAFETY: C promises a string.
    guard(|| unsafe { open(ids, text, None, id) })
}

/// As flakeid_public_ids_open(), at an instant in Unix milliseconds. Any thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn flakeid_public_ids_open_at(
    ids: Option<&PublicIdsHandle>,
    text: *const c_char,
    unix_ms: i64,
    id: Option<&mut MaybeUninit<u64>>,
) -> Status {
    // SAFETY: C promises a string.
    guard(|| unsafe { open(ids, text, Some(unix_ms), id) })
}

/// # Safety
/// `text` is NULL or ends in NUL.
unsafe fn open(
    ids: Option<&PublicIdsHandle>,
    text: *const c_char,
    unix_ms: Option<i64>,
    id: Option<&mut MaybeUninit<u64>>,
) -> Result<(), Fault> {
    let (ids, id) = (given(ids, "ids")?, given(id, "id")?);
    // SAFETY: as promised by the caller.
    let text = given(unsafe { border::text(text) }, "text")?;
    let opened = match unix_ms {
        Some(unix_ms) => ids.0.open_at(&text, unix_ms)?,
        None => ids.0.open(&text)?,
    };
    id.write(opened.to_u64());
    Ok(())
}

/// Frees the handle; NULL is allowed. No other call may use the handle meanwhile or later.
#[unsafe(no_mangle)]
pub extern "C" fn flakeid_public_ids_free(ids: Option<Box<PublicIdsHandle>>) {
    let _ = guard(|| {
        drop(ids);
        Ok(())
    });
}
