//! Converts between a 64-bit number and eleven base58 digits, including leading zeros.
//!
//! [`TextForm::Base58`](crate::TextForm::Base58) produces the same digits without leading zeros. This module always
//! uses eleven digits, so that the processor can compute two groups of five digits in parallel and with constant
//! divisors.

use crate::text::{BITCOIN, Text};

/// The number of base58 digits in the largest 64-bit number, 2^64 − 1.
pub(super) const DIGITS: usize = 11;

const FIVE: u64 = 58u64.pow(5);
const TEN: u64 = 58u64.pow(10);

/// The entry in `VALUES` for a byte that is not a digit.
const NONE: u8 = u8::MAX;

/// The value of each base58 digit, indexed by the ASCII code of the digit.
const VALUES: [u8; 128] = {
    let mut values = [NONE; 128];
    let mut value = 0;
    while value < BITCOIN.len() {
        values[BITCOIN[value] as usize] = value as u8;
        value += 1;
    }
    values
};

pub(super) fn encode(bits: u64) -> Text {
    let (first, rest) = (bits / TEN, bits % TEN);
    let mut digits = [BITCOIN[first as usize]; DIGITS];
    for (half, from) in [(rest / FIVE, 1), (rest % FIVE, 6)] {
        let mut half = half as u32;
        for place in digits[from..from + 5].iter_mut().rev() {
            *place = BITCOIN[(half % 58) as usize];
            half /= 58;
        }
    }
    Text::of_digits(&digits)
}

/// Returns the number that the digits represent, or `None` if a byte is not a digit or the number does not fit into
/// 64 bits.
pub(super) fn decode(digits: [u8; DIGITS]) -> Option<u64> {
    let mut wrong = 0;
    let mut value = |byte: u8| {
        let value = VALUES[usize::from(byte & 127)];
        wrong |= (value | byte) & 128;
        u64::from(value)
    };
    let first = value(digits[0]);
    let mut half =
        |from: usize| digits[from..from + 5].iter().fold(0, |half, byte| half * 58 + value(*byte));
    let rest = half(1) * FIVE + half(6);
    if wrong != 0 {
        return None;
    }
    first.checked_mul(TEN)?.checked_add(rest)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::{DIGITS, FIVE, TEN, decode, encode};
    use crate::{Id, TextForm};

    /// Checks the smallest and the largest number with each number of digits, and a sample of other numbers.
    #[test]
    fn encoded_digits_equal_base58_padded_to_eleven_digits() {
        let ends = (0..DIGITS as u32).map(|power| 58u64.pow(power));
        let between = (0..5_000u64).map(|index| index.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let some = [0, 1, FIVE - 1, TEN - 1, u64::MAX - 1, u64::MAX];
        for bits in ends.flat_map(|end| [end - 1, end]).chain(between).chain(some) {
            let text = TextForm::Base58.encode(Id::from_u64(bits));
            let digits = encode(bits);
            assert_eq!(digits.as_str(), alloc::format!("{text:1>11}"));
            assert_eq!(decode(digits.as_bytes().try_into().unwrap()), Some(bits));
        }
    }

    #[test]
    fn decode_rejects_invalid_bytes_and_numbers_above_64_bits() {
        assert_eq!(encode(u64::MAX).as_str(), "jpXCZedGfVQ");
        assert_eq!(decode(*b"jpXCZedGfVR"), None, "2^64");
        assert_eq!(decode([b'z'; DIGITS]), None);
        for place in 0..DIGITS {
            for byte in 0..=u8::MAX {
                let mut digits = *b"11111111111";
                digits[place] = byte;
                let is_digit =
                    TextForm::Base58.decode(core::str::from_utf8(&[byte]).unwrap_or("")).is_ok();
                let fits = place > 0 || byte <= b'j' && byte != b'I';
                assert_eq!(decode(digits).is_some(), is_digit && fits, "{byte} at {place}");
            }
        }
    }
}
