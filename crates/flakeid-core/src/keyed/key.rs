//! Secret keys, and the derivation of the key for each domain.

use core::fmt;

use super::speck::Cipher;
use crate::Error;

/// A secret 128-bit key.
///
/// Its string form is 32 hexadecimal digits. `Debug` does not print the key.
///
/// ```
/// use flakeid_core::{Key, Keyring};
///
/// let key = Key::from_bytes([7; 16]);
/// assert_eq!(key, "07070707070707070707070707070707".parse()?);
/// assert_eq!(format!("{key:?}"), "Key(…)");
/// let keyring = Keyring::new('a', key)?;
/// # Ok::<(), flakeid_core::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Key([u8; 16]);

impl Key {
    /// Creates a key from 16 bytes, which should be random.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// Derives the key for the IDs of one domain. The derived key consists of two 64-bit message authentication codes
    /// of the domain's name. Each code depends on all bits of this key.
    ///
    /// Each code is the CBC-MAC of several blocks of eight bytes. The first block contains the number of the code and
    /// the length of the name in bytes, and the other blocks contain the name. The first byte of a block is the least
    /// significant, and the last block is padded with zeros. A CBC-MAC is safe for names of different lengths if the
    /// length comes first (Bellare, Kilian and Rogaway, "The Security of the Cipher Block Chaining Message
    /// Authentication Code", 2000).
    pub(super) fn of_domain(&self, name: &str) -> Self {
        let cipher = Cipher::new(self.0);
        let code = |number: u64| {
            let first = cipher.encrypt(number << 32 | name.len() as u64);
            name.as_bytes().chunks(8).fold(first, |code, part| {
                let mut block = [0; 8];
                block[..part.len()].copy_from_slice(part);
                cipher.encrypt(code ^ u64::from_le_bytes(block))
            })
        };
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&code(1).to_le_bytes());
        bytes[8..].copy_from_slice(&code(2).to_le_bytes());
        Self(bytes)
    }

    pub(super) fn cipher(&self) -> Cipher {
        Cipher::new(self.0)
    }
}

impl core::str::FromStr for Key {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        // The message omits the input, because the input may be a mistyped secret.
        let wrong = || Error::invalid_option("key", "must have 32 hexadecimal digits (128 bits)");
        let digits = text.as_bytes();
        if digits.len() != 32 {
            return Err(wrong());
        }
        let mut bytes = [0; 16];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            for digit in pair {
                let value = char::from(*digit).to_digit(16).ok_or_else(wrong)?;
                *byte = *byte << 4 | value as u8;
            }
        }
        Ok(Self(bytes))
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}
