//! IDs as UUIDs of version 8, the version whose contents each application defines (RFC 9562, section 5.8).
//!
//! The bits are numbered as in the RFC, from the most significant bit:
//!
//! | bits of the UUID | contents |
//! |---|---|
//! | 0 to 47 | the upper 48 bits of the ID |
//! | 48 to 51 | the version, 8 |
//! | 52 to 63 | the next 12 bits of the ID |
//! | 64 to 65 | the variant, binary 10 |
//! | 66 to 69 | the lower 4 bits of the ID |
//! | 70 to 127 | two one bits, and the 7 bytes `flakeid` in ASCII |
//!
//! The version, the variant and the last 58 bits are the same in each of these UUIDs, and the bits of the ID keep their
//! order. Therefore, UUIDs that are compared as unsigned bytes have the order of the IDs.
//!
//! The bits 70 and 71 are 1, because `MariaDB`'s type `UUID` rejects a UUID of version 8 whose byte 8 is 0x80.

use crate::error::TextFault;

/// The number of characters of a UUID: 32 digits and 4 hyphens.
pub(crate) const LENGTH: usize = 36;

/// The two halves of a UUID. 128-bit arithmetic would be large in WebAssembly.
pub(crate) type Halves = [u64; 2];

const VERSION: u64 = 8;
const VARIANT: u64 = 0b10;
/// The last 58 bits: two one bits, and 7 bytes.
const MARK: u64 = u64::from_be_bytes(*b"\x03flakeid");
const MARK_BITS: u32 = 58;

/// Returns the UUID that contains an ID.
pub(crate) const fn of_id(id: u64) -> Halves {
    let upper = id & !0xffff | VERSION << 12 | id >> 4 & 0xfff;
    [upper, VARIANT << 62 | (id & 0xf) << MARK_BITS | MARK]
}

/// Returns the ID that a UUID contains. The variant is checked first, because the version has a meaning only in UUIDs of
/// this variant.
pub(crate) const fn id_of([upper, lower]: Halves) -> Result<u64, TextFault> {
    if lower >> 62 != VARIANT {
        return Err(TextFault::UuidVariant);
    }
    let version = upper >> 12 & 0xf;
    if version != VERSION {
        return Err(TextFault::UuidVersion(version as u8));
    }
    if lower & ((1 << MARK_BITS) - 1) != MARK {
        return Err(TextFault::UuidMark);
    }
    Ok(upper & !0xffff | (upper & 0xfff) << 4 | lower >> MARK_BITS & 0xf)
}

/// Returns the 16 bytes of a UUID.
pub(crate) const fn bytes([upper, lower]: Halves) -> [u8; 16] {
    ((upper as u128) << 64 | lower as u128).to_be_bytes()
}

/// Returns the UUID that consists of 16 bytes.
pub(crate) const fn of_bytes(bytes: [u8; 16]) -> Halves {
    let bits = u128::from_be_bytes(bytes);
    [(bits >> 64) as u64, bits as u64]
}

/// Whether a hyphen stands at a place of the string.
const fn is_hyphen(place: usize) -> bool {
    matches!(place, 8 | 13 | 18 | 23)
}

/// Returns the 36 characters of a UUID, in ASCII.
pub(crate) fn characters([mut upper, mut lower]: Halves) -> [u8; LENGTH] {
    let mut characters = [b'-'; LENGTH];
    for place in (0..LENGTH).rev().filter(|place| !is_hyphen(*place)) {
        let half = if place > 18 { &mut lower } else { &mut upper };
        characters[place] = b"0123456789abcdef"[(*half & 0xf) as usize];
        *half >>= 4;
    }
    characters
}

/// Parses the 36 characters of a UUID. RFC 9562 requires that readers accept both cases.
pub(crate) fn parse(text: &str) -> Result<Halves, TextFault> {
    if text.is_empty() {
        return Err(TextFault::Empty);
    }
    if text.chars().count() != LENGTH {
        return Err(TextFault::UuidShape);
    }
    let mut halves = [0; 2];
    for (place, character) in text.chars().enumerate() {
        if is_hyphen(place) {
            if character != '-' {
                return Err(TextFault::UuidShape);
            }
            continue;
        }
        let digit = character.to_digit(16).ok_or(TextFault::Digit(character))?;
        let half = &mut halves[usize::from(place > 18)];
        *half = *half << 4 | u64::from(digit);
    }
    Ok(halves)
}
