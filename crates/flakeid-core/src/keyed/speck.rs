//! The block cipher Speck64/128: 64-bit blocks, 128-bit keys, 27 rounds of addition, rotation and exclusive or.
//!
//! The cipher is described in Beaulieu et al., "The SIMON and SPECK Families of Lightweight Block Ciphers", 2013:
//! <https://eprint.iacr.org/2013/404>. The byte order follows the authors' implementation guide:
//! <https://nsacyber.github.io/simon-speck/implementations/ImplementationGuide1.1.pdf>. We chose Speck because
//! databases and JavaScript programs can also compute Speck, and because its blocks are as long as an ID.

const ROUNDS: usize = 27;

/// An expanded key.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Cipher([u32; ROUNDS]);

impl Cipher {
    pub(super) fn new(key: [u8; 16]) -> Self {
        let mut words = [0; 4];
        for (word, bytes) in words.iter_mut().zip(key.chunks_exact(4)) {
            *word = bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte));
        }
        let [mut round_key, mut rest @ ..] = words;
        let mut rounds = [0; ROUNDS];
        for (number, place) in (0..).zip(&mut rounds) {
            *place = round_key;
            let turn = &mut rest[number as usize % 3];
            (*turn, round_key) = round(*turn, round_key, number);
        }
        Self(rounds)
    }

    #[inline]
    pub(super) fn encrypt(&self, block: u64) -> u64 {
        let halves = ((block >> 32) as u32, block as u32);
        let (high, low) = self.0.iter().fold(halves, |(high, low), key| round(high, low, *key));
        u64::from(high) << 32 | u64::from(low)
    }

    #[inline]
    pub(super) fn decrypt(&self, block: u64) -> u64 {
        let halves = ((block >> 32) as u32, block as u32);
        let (high, low) = self.0.iter().rev().fold(halves, |(high, low), key| {
            let low = (low ^ high).rotate_right(3);
            ((high ^ key).wrapping_sub(low).rotate_left(8), low)
        });
        u64::from(high) << 32 | u64::from(low)
    }
}

#[inline]
const fn round(high: u32, low: u32, key: u32) -> (u32, u32) {
    let high = high.rotate_right(8).wrapping_add(low) ^ key;
    (high, low.rotate_left(3) ^ high)
}

#[cfg(test)]
mod tests {
    use super::Cipher;

    /// Checks the test vector from the paper (appendix C), with the byte order of the implementation guide.
    #[test]
    fn cipher_output_matches_the_published_test_vector() {
        let key = [0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27];
        let cipher = Cipher::new(key);
        assert_eq!(cipher.encrypt(0x3b72_6574_7475_432d), 0x8c6f_a548_454e_028b);
        assert_eq!(cipher.decrypt(0x8c6f_a548_454e_028b), 0x3b72_6574_7475_432d);
    }
}
