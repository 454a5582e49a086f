//! The 64-bit fingerprint that identifies a world. The standard library's hasher would take a quarter of the search's
//! time.

use std::hash::Hasher;

/// A hasher with two 64-bit states, which combine each word in different ways. In `mixed`, a word affects every bit.
/// The update of `kept` is a bijection for each word, so that different states stay different.
#[derive(Clone, Copy, Default)]
pub struct Fingerprint {
    mixed: u64,
    kept: u64,
}

const ODD: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xd1b5_4a32_d192_ed03];

/// Returns the exclusive or of the upper and the lower half of the product of two numbers.
const fn fold(one: u64, other: u64) -> u64 {
    let product = one as u128 * other as u128;
    (product >> 64) as u64 ^ product as u64
}

impl Hasher for Fingerprint {
    fn write_u64(&mut self, word: u64) {
        self.mixed = fold(self.mixed ^ word ^ ODD[0], ODD[1]);
        self.kept = (self.kept.rotate_left(23) ^ word).wrapping_mul(ODD[0]);
    }

    fn write_u8(&mut self, byte: u8) {
        self.write_u64(byte.into());
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }

    fn write_u128(&mut self, words: u128) {
        self.write_u64(words as u64);
        self.write_u64((words >> 64) as u64);
    }

    fn write(&mut self, bytes: &[u8]) {
        for part in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn finish(&self) -> u64 {
        fold(self.mixed ^ ODD[1], self.kept ^ ODD[0])
    }
}
