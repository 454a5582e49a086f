//! IDs as eight bytes.

use std::mem::MaybeUninit;

use flakeid_core::Id;

use crate::border::{self, given};
use crate::guard::guard;
use crate::status::Status;

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
