//! Recognition of other identifiers: UUIDs, ULIDs, KSUIDs, and numbers that JavaScript has rounded.

use std::fmt;

use flakeid_core::{Id, Rfc3339};

/// An identifier that a user may have entered instead of an ID.
///
/// ```
/// use flakeid_json::Identifier;
///
/// let found = Identifier::recognize("017f22e2-79b0-7cc3-98c4-dc0c0c07398f").unwrap();
/// assert_eq!(found.to_string(), "a UUID of version 7, created at 2022-02-22T19:22:22.000Z");
/// assert_eq!(found.unix_ms(), Some(1_645_557_742_000));
/// assert_eq!(Identifier::recognize("910499571847892992"), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Identifier {
    /// A UUID that flakeid created from an ID.
    UuidOfId(Id),
    /// Another UUID. Only UUIDs of the versions 1, 6 and 7 have a time.
    Uuid {
        /// The version of the UUID, from 1 to 8.
        version: u8,
        /// The time in Unix milliseconds.
        unix_ms: Option<i64>,
    },
    /// The UUID with 128 zero bits.
    NilUuid,
    /// The UUID with 128 one bits.
    MaxUuid,
    /// A ULID.
    Ulid {
        /// The time in Unix milliseconds.
        unix_ms: i64,
    },
    /// A KSUID, whose time has whole seconds.
    Ksuid {
        /// The time in Unix milliseconds.
        unix_ms: i64,
    },
    /// A decimal number that JavaScript prints for all integers from `first` to `last`, and therefore perhaps for an ID.
    Rounded {
        /// The smallest possible original.
        first: u64,
        /// The largest possible original.
        last: u64,
        /// The number of IDs of this size of which one has this form by chance.
        spacing: u64,
    },
}

impl Identifier {
    /// Recognizes the identifier in a string. Accepts UUIDs with or without hyphens, in braces, and after `urn:uuid:`.
    /// Returns `None` for IDs, for `0x` and for all other strings.
    #[must_use]
    pub fn recognize(text: &str) -> Option<Self> {
        let text = text.trim();
        uuid(text).or_else(|| ulid(text)).or_else(|| ksuid(text)).or_else(|| rounded(text))
    }

    /// The time of the identifier, in Unix milliseconds.
    #[must_use]
    pub const fn unix_ms(&self) -> Option<i64> {
        match *self {
            Self::Uuid { unix_ms, .. } => unix_ms,
            Self::Ulid { unix_ms } | Self::Ksuid { unix_ms } => Some(unix_ms),
            _ => None,
        }
    }
}

impl fmt::Display for Identifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::UuidOfId(id) => write!(f, "a UUID that contains the ID {id}"),
            Self::Uuid { version, unix_ms: None } => {
                let contents = match version {
                    2 => "a local identifier and a time",
                    3 | 5 => "the hash of a name",
                    4 => "random bits",
                    _ => "bits of an unknown meaning",
                };
                write!(f, "a UUID of version {version}, which contains {contents}")
            }
            Self::Uuid { version, unix_ms: Some(unix_ms) } => {
                write!(f, "a UUID of version {version}, created at {}", Rfc3339::new(unix_ms, 3))
            }
            Self::NilUuid => f.write_str("the nil UUID, all of whose bits are 0"),
            Self::MaxUuid => f.write_str("the max UUID, all of whose bits are 1"),
            Self::Ulid { unix_ms } => write!(f, "a ULID, created at {}", Rfc3339::new(unix_ms, 3)),
            Self::Ksuid { unix_ms } => {
                write!(f, "a KSUID, created at {}", Rfc3339::new(unix_ms, 0))
            }
            Self::Rounded { first, last, spacing } => write!(
                f,
                "a number that JavaScript may have rounded: the original is from {first} to {last} (1 in {spacing} \
                 IDs of this size looks like this by chance)"
            ),
        }
    }
}

/// The number of 100 ns intervals from the epoch of UUIDs (1582-10-15) to the Unix epoch (RFC 9562, appendix A.1).
const UUID_EPOCH: i64 = 0x01B2_1DD2_1381_4000;

fn uuid(text: &str) -> Option<Identifier> {
    let text = text.strip_prefix("urn:uuid:").unwrap_or(text);
    let text = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')).unwrap_or(text);
    let has_hyphens =
        text.len() == 36 && [8, 13, 18, 23].iter().all(|at| text.as_bytes()[*at] == b'-');
    let digits = if has_hyphens { text.replace('-', "") } else { text.to_owned() };
    if digits.len() != 32 || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let bits = u128::from_str_radix(&digits, 16).ok()?;
    match bits {
        0 => return Some(Identifier::NilUuid),
        u128::MAX => return Some(Identifier::MaxUuid),
        _ => {}
    }
    if let Ok(id) = Id::from_uuid_bytes(bits.to_be_bytes()) {
        return Some(Identifier::UuidOfId(id));
    }
    let (variant, version) = (bits >> 62 & 0b11, (bits >> 76 & 0xf) as u8);
    if variant != 0b10 || !(1..=8).contains(&version) {
        return None;
    }
    let of_intervals = |intervals: u64| (intervals as i64 - UUID_EPOCH).div_euclid(10_000);
    let (upper, middle, lower) =
        ((bits >> 96) as u64, (bits >> 80 & 0xffff) as u64, (bits >> 64 & 0xfff) as u64);
    let unix_ms = match version {
        1 => Some(of_intervals(lower << 48 | middle << 32 | upper)),
        6 => Some(of_intervals(upper << 28 | middle << 12 | lower)),
        7 => Some((bits >> 80) as i64),
        _ => None,
    };
    Some(Identifier::Uuid { version, unix_ms })
}

/// Recognizes 26 digits in Crockford's base32, the first of which is at most 7. The first 48 bits are the time in
/// milliseconds. See <https://github.com/ulid/spec>.
fn ulid(text: &str) -> Option<Identifier> {
    const DIGITS: &str = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    if text.len() != 26 {
        return None;
    }
    let mut unix_ms = 0;
    for (place, digit) in text.chars().enumerate() {
        let value = DIGITS.find(digit.to_ascii_uppercase())?;
        if place == 0 && value > 7 {
            return None;
        }
        if place < 10 {
            unix_ms = unix_ms << 5 | value as i64;
        }
    }
    Some(Identifier::Ulid { unix_ms })
}

/// Recognizes 27 digits in base62, which encode 20 bytes. The first 4 bytes are the seconds since the KSUID epoch. See
/// <https://github.com/segmentio/ksuid>.
fn ksuid(text: &str) -> Option<Identifier> {
    const EPOCH: i64 = 1_400_000_000;
    if text.len() != 27 {
        return None;
    }
    let mut words = [0_u32; 5];
    for digit in text.chars() {
        let value = match digit {
            '0'..='9' => digit as u32 - '0' as u32,
            'A'..='Z' => digit as u32 - 'A' as u32 + 10,
            'a'..='z' => digit as u32 - 'a' as u32 + 36,
            _ => return None,
        };
        let mut carry = u64::from(value);
        for word in words.iter_mut().rev() {
            carry += u64::from(*word) * 62;
            *word = carry as u32;
            carry >>= 32;
        }
        if carry > 0 {
            return None;
        }
    }
    Some(Identifier::Ksuid { unix_ms: (EPOCH + i64::from(words[0])) * 1000 })
}

/// Recognizes a number that JavaScript prints. From 2^53 on, JavaScript distinguishes only some integers, and prints the
/// smallest number of digits that identifies one of them, followed by zeros. Below 2^56, at least 1 of 8 integers has
/// this form, so the form proves nothing.
fn rounded(text: &str) -> Option<Identifier> {
    let number: u64 = text.parse().ok().filter(|number| *number >= 1 << 56)?;
    let double = number as f64;
    if double.to_string() != text {
        return None;
    }
    let spacing = 1 << (u64::BITS - number.leading_zeros() - f64::MANTISSA_DIGITS);
    // The cast saturates at 2^64 − 1.
    let (nearest, half) = (double as u64, spacing / 2);
    Some(Identifier::Rounded { first: nearest - half, last: nearest.saturating_add(half), spacing })
}

#[cfg(test)]
#[allow(clippy::panic, reason = "tests")]
mod tests {
    use flakeid_core::TextForm;

    use super::*;

    fn described(text: &str) -> Option<String> {
        Identifier::recognize(text).map(|found| found.to_string())
    }

    /// The UUIDs are the examples of RFC 9562, appendix A. The ULID and the KSUID are the examples of their
    /// specifications.
    #[test]
    fn identifiers_are_recognized_with_their_times() {
        let at = "2022-02-22T19:22:22.000Z";
        for (text, expected) in [
            (
                "C232AB00-9414-11EC-B3C8-9F6BDECED846",
                format!("a UUID of version 1, created at {at}"),
            ),
            (
                "1ec9414c-232a-6b00-b3c8-9f6bdeced846",
                format!("a UUID of version 6, created at {at}"),
            ),
            (
                "017f22e2-79b0-7cc3-98c4-dc0c0c07398f",
                format!("a UUID of version 7, created at {at}"),
            ),
            ("{017f22e279b07cc398c4dc0c0c07398f}", format!("a UUID of version 7, created at {at}")),
            (
                "urn:uuid:919108f7-52d1-4320-9bac-f847db4148a8",
                "a UUID of version 4, which contains random bits".into(),
            ),
            (
                "2ed6657d-e927-568b-95e1-2665a8aea6a2",
                "a UUID of version 5, which contains the hash of a name".into(),
            ),
            (
                "2489e9ad-2ee2-8e00-8ec9-32d5f69181c0",
                "a UUID of version 8, which contains bits of an unknown meaning".into(),
            ),
            (
                "0ca2be89-5c23-8900-8366-6c616b656964",
                "a UUID that contains the ID 910499571847892992".into(),
            ),
            (
                "00000000-0000-0000-0000-000000000000",
                "the nil UUID, all of whose bits are 0".into(),
            ),
            ("01ARZ3NDEKTSV4RRFFQ69G5FAV", "a ULID, created at 2016-07-30T23:54:10.259Z".into()),
            ("01arz3ndektsv4rrffq69g5fav", "a ULID, created at 2016-07-30T23:54:10.259Z".into()),
            ("0ujtsYcgvSTl8PAuAdqWYSMnLOv", "a KSUID, created at 2017-10-10T04:00:47Z".into()),
            ("aWgEPTl1tmebfsQzFP4bxwgy80V", "a KSUID, created at 2150-06-19T23:21:35Z".into()),
        ] {
            assert_eq!(described(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn numbers_that_javascript_prints_are_recognized_with_the_possible_originals() {
        assert_eq!(
            Identifier::recognize("910499571847893000"),
            Some(Identifier::Rounded {
                first: 910_499_571_847_892_928,
                last: 910_499_571_847_893_056,
                spacing: 128,
            })
        );
        assert_eq!(
            Identifier::recognize("18446744073709552000"),
            None,
            "the number is larger than every ID"
        );
        for id in [910_499_571_847_892_993_u64, 1_050_118_621_198_921_728, u64::MAX >> 1] {
            let printed = (id as f64).to_string();
            let Some(Identifier::Rounded { first, last, .. }) = Identifier::recognize(&printed)
            else {
                panic!("{printed} is not recognized")
            };
            assert!((first..=last).contains(&id), "{id} is not from {first} to {last}");
        }
    }

    #[test]
    fn other_strings_are_not_recognized() {
        for text in [
            "",
            "0",
            "910499571847892992",
            "9007199254740994",
            "00910499571847893000",
            "0ca2be89-5c23-8900-8066-6c616b65696",
            "017f22e2-79b0-7cc3-18c4-dc0c0c07398f",
            "017f22e2-79b0-fcc3-98c4-dc0c0c07398f",
            "017f22e2479b047cc3498c44dc0c0c07398f",
            "81ARZ3NDEKTSV4RRFFQ69G5FAV",
            "01ARZ3NDEKTSV4RRFFQ69G5FAU",
            "aWgEPTl1tmebfsQzFP4bxwgy80W",
            "0ujtsYcgvSTl8PAuAdqWYSMnLO-",
            "ééééééééééééé",
            "ééééééééé",
        ] {
            assert_eq!(Identifier::recognize(text), None, "{text}");
        }
        for form in TextForm::ALL.into_iter().filter(|form| *form != TextForm::Uuid) {
            for bits in [0, 1, 910_499_571_847_892_992, u64::MAX] {
                assert_eq!(described(&form.encode(Id::from_u64(bits))), None, "{form} of {bits}");
            }
        }
    }
}
