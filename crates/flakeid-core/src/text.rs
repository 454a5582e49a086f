//! String forms of IDs. Encoding produces exactly one string for each ID and form. Decoding also accepts a few
//! documented variants of the string.

use core::fmt;
use core::ops::Deref;
use core::str::FromStr;

use crate::error::TextFault;
use crate::{Error, Id, uuid};

/// A string form of an ID.
///
/// ```
/// use flakeid_core::{Id, TextForm};
///
/// let id = Id::from_u64(910_499_571_847_892_992);
/// let text = TextForm::Hex.encode(id);
/// assert_eq!(text.as_str(), "0ca2be895c239000");
/// assert_eq!(TextForm::Hex.decode(&text)?, id);
/// assert_eq!("hex".parse::<TextForm>()?.name(), "hex");
/// # Ok::<(), flakeid_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TextForm {
    /// 1 to 20 decimal digits. Decoding accepts leading zeros, so that columns padded to 20 digits can be decoded.
    Decimal,
    /// 13 Crockford base32 digits. The strings sort in the same order as the IDs, and can be read aloud. Decoding also
    /// accepts lowercase letters, `I` and `L` for 1, and `O` for 0. See <https://www.crockford.com/base32.html>.
    Base32,
    /// 1 to 13 base36 digits (0-9a-z), without leading zeros. Decoding also accepts uppercase letters.
    Base36,
    /// 1 to 11 base58 digits in the Bitcoin alphabet, without leading zeros. The zero digit is `1`.
    Base58,
    /// 11 base62 digits (0-9A-Za-z). In an ASCII sort, the strings have the same order as the IDs.
    Base62,
    /// 16 lowercase hexadecimal digits. The strings sort in the same order as the IDs. Decoding also accepts uppercase
    /// letters, but not the prefix `0x`.
    Hex,
    /// 1 to 11 base58 digits in the Flickr alphabet, without leading zeros. The zero digit is `1`, and lowercase
    /// letters precede uppercase letters. bwmarrin/snowflake calls this form `Base58`.
    Base58Flickr,
    /// 1 to 13 z-base-32 digits, without leading zeros. The zero digit is `y`. Decoding also accepts uppercase letters.
    /// bwmarrin/snowflake calls this form `Base32`. This form encodes the ID as a number, whereas the original
    /// z-base-32 encodes the bits from the left. See
    /// <https://philzimmermann.com/docs/human-oriented-base-32-encoding.txt>.
    Zbase32,
    /// The 36 lowercase characters of a UUID of version 8. The strings sort in the same order as the IDs. Decoding also
    /// accepts uppercase letters, and rejects UUIDs that flakeid did not create from IDs. See
    /// [`Id::to_uuid_bytes`] for the bits.
    Uuid,
}

/// The largest number of characters in any form, which is the length of a UUID.
const MOST: usize = uuid::LENGTH;

const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const LOWER: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
const CROCKFORD: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
pub(crate) const BITCOIN: &[u8; 58] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const FLICKR: &[u8; 58] = b"123456789abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ";
const ZBASE32: &[u8; 32] = b"ybndrfg8ejkmcpqxot1uwisza345h769";

impl TextForm {
    /// All forms.
    pub const ALL: [Self; 9] = [
        Self::Decimal,
        Self::Base32,
        Self::Base36,
        Self::Base58,
        Self::Base62,
        Self::Hex,
        Self::Base58Flickr,
        Self::Zbase32,
        Self::Uuid,
    ];

    /// The name of the form: `decimal`, `base32`, `base36`, `base58`, `base62`, `hex`, `base58_flickr`, `zbase32` or
    /// `uuid`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Decimal => "decimal",
            Self::Base32 => "base32",
            Self::Base36 => "base36",
            Self::Base58 => "base58",
            Self::Base62 => "base62",
            Self::Hex => "hex",
            Self::Base58Flickr => "base58_flickr",
            Self::Zbase32 => "zbase32",
            Self::Uuid => "uuid",
        }
    }

    const fn alphabet(self) -> &'static [u8] {
        match self {
            Self::Decimal => DIGITS.split_at(10).0,
            Self::Base32 => CROCKFORD,
            Self::Base36 => LOWER,
            Self::Base58 => BITCOIN,
            Self::Base62 => DIGITS,
            Self::Hex | Self::Uuid => LOWER.split_at(16).0,
            Self::Base58Flickr => FLICKR,
            Self::Zbase32 => ZBASE32,
        }
    }

    /// The largest number of characters in this form, which is the length of the string for 2^64 − 1.
    const fn most_digits(self) -> usize {
        match self {
            Self::Decimal => 20,
            Self::Base32 | Self::Base36 | Self::Zbase32 => 13,
            Self::Base58 | Self::Base58Flickr | Self::Base62 => 11,
            Self::Hex => 16,
            Self::Uuid => uuid::LENGTH,
        }
    }

    /// Whether all strings have the same length, so that the strings sort in the same order as the IDs.
    #[must_use]
    pub const fn is_fixed_width(self) -> bool {
        matches!(self, Self::Base32 | Self::Base62 | Self::Hex | Self::Uuid)
    }

    /// Encodes an ID in this form.
    #[must_use]
    pub fn encode(self, id: Id) -> Text {
        if self == Self::Uuid {
            return Text::of_digits(&uuid::characters(uuid::of_id(id.to_u64())));
        }
        let alphabet = self.alphabet();
        let radix = alphabet.len() as u64;
        let least = if self.is_fixed_width() { self.most_digits() } else { 1 };
        let mut text = Text { digits: [0; MOST], start: MOST as u8 };
        let mut rest = id.to_u64();
        while rest > 0 || text.len() < least {
            text.start -= 1;
            text.digits[usize::from(text.start)] = alphabet[(rest % radix) as usize];
            rest /= radix;
        }
        text
    }

    /// Decodes an ID in this form.
    ///
    /// # Errors
    /// [`InvalidId`](crate::ErrorKind::InvalidId) in each of these cases:
    /// - The string is empty, or has the wrong number of digits.
    /// - A character is not a valid digit in this text form. Signs, spaces and prefixes are not digits.
    /// - The string has leading zeros that the form does not allow.
    /// - The value is above 2^64 − 1.
    /// - The string is a UUID whose version, variant or last 58 bits differ from those of [`Id::to_uuid`].
    pub fn decode(self, text: &str) -> Result<Id, Error> {
        self.value(text).map(Id::from_u64).map_err(|fault| Error::id_text(self.name(), text, fault))
    }

    fn value(self, text: &str) -> Result<u64, TextFault> {
        if self == Self::Uuid {
            return uuid::parse(text).and_then(uuid::id_of);
        }
        let radix = self.alphabet().len() as u64;
        let mut value: Option<u64> = Some(0);
        for digit in text.chars() {
            let digit = self.digit(digit).ok_or(TextFault::Digit(digit))?;
            value = value.and_then(|v| v.checked_mul(radix)?.checked_add(digit));
        }
        // All characters are ASCII digits of the form, so the number of bytes is the number of digits.
        let (length, most) = (text.len(), self.most_digits());
        let least = if self.is_fixed_width() { most } else { 1 };
        if length == 0 {
            return Err(TextFault::Empty);
        }
        if self != Self::Decimal && length > 1 && !self.is_fixed_width() {
            // The first digit is compared by its value, because the zero digit of a form may be a letter that can be
            // written in uppercase or lowercase.
            if text.chars().next().and_then(|first| self.digit(first)) == Some(0) {
                return Err(TextFault::LeadingZero);
            }
        }
        // An overflow is reported before a wrong length, because a decimal string of 21 digits is a number that is too
        // large rather than a typing error.
        let value = value.ok_or(TextFault::Overflow)?;
        if length < least || length > most {
            return Err(TextFault::Length { least: least as u8, most: most as u8 });
        }
        Ok(value)
    }

    fn digit(self, digit: char) -> Option<u64> {
        let byte = u8::try_from(digit).ok().filter(u8::is_ascii)?;
        let byte = match self {
            Self::Decimal | Self::Base58 | Self::Base58Flickr | Self::Base62 => byte,
            Self::Base36 | Self::Hex | Self::Zbase32 | Self::Uuid => byte.to_ascii_lowercase(),
            Self::Base32 => match byte.to_ascii_uppercase() {
                b'I' | b'L' => b'1',
                b'O' => b'0',
                other => other,
            },
        };
        self.alphabet().iter().position(|known| *known == byte).map(|index| index as u64)
    }
}

impl Id {
    /// Encodes the ID as a string in the given form.
    #[must_use]
    pub fn to_text(self, form: TextForm) -> Text {
        form.encode(self)
    }

    /// Encodes the ID as 13 Crockford base32 digits. The strings sort in the same order as the IDs.
    #[must_use]
    pub fn to_base32(self) -> Text {
        TextForm::Base32.encode(self)
    }

    /// Encodes the ID as 1 to 13 lowercase base36 digits.
    #[must_use]
    pub fn to_base36(self) -> Text {
        TextForm::Base36.encode(self)
    }

    /// Encodes the ID as 1 to 11 base58 digits in the Bitcoin alphabet.
    #[must_use]
    pub fn to_base58(self) -> Text {
        TextForm::Base58.encode(self)
    }

    /// Encodes the ID as 11 base62 digits (0-9A-Za-z). In an ASCII sort, the strings have the same order as the IDs.
    #[must_use]
    pub fn to_base62(self) -> Text {
        TextForm::Base62.encode(self)
    }

    /// Encodes the ID as 16 lowercase hexadecimal digits. The strings sort in the same order as the IDs.
    #[must_use]
    pub fn to_hex(self) -> Text {
        TextForm::Hex.encode(self)
    }

    /// Encodes the ID as 1 to 11 base58 digits in the Flickr alphabet, as bwmarrin/snowflake does.
    #[must_use]
    pub fn to_base58_flickr(self) -> Text {
        TextForm::Base58Flickr.encode(self)
    }

    /// Encodes the ID as 1 to 13 z-base-32 digits, as bwmarrin/snowflake does.
    #[must_use]
    pub fn to_zbase32(self) -> Text {
        TextForm::Zbase32.encode(self)
    }

    /// Encodes the ID as the 36 lowercase characters of a UUID of version 8. The strings sort in the same order as the
    /// IDs. See [`to_uuid_bytes`](Self::to_uuid_bytes) for the bits.
    #[must_use]
    pub fn to_uuid(self) -> Text {
        TextForm::Uuid.encode(self)
    }

    /// Returns the ID as the 16 bytes of a UUID of version 8 (RFC 9562, section 5.8), for columns and interfaces that
    /// require a UUID. The byte arrays sort in the same order as the IDs, and do not depend on the layout.
    ///
    /// The 64 bits of the ID fill the UUID from the left, around the version and the variant. The last 58 bits are two one
    /// bits and the 7 bytes `flakeid` in ASCII. A UUID contains no random bits, so it can be guessed like the ID.
    ///
    /// ```
    /// use flakeid_core::Id;
    ///
    /// let id = Id::from_u64(910_499_571_847_892_992); // 0x0ca2be895c239000
    /// assert_eq!(id.to_uuid().as_str(), "0ca2be89-5c23-8900-8366-6c616b656964");
    /// assert_eq!(Id::from_uuid_bytes(id.to_uuid_bytes())?, id);
    /// # Ok::<(), flakeid_core::Error>(())
    /// ```
    #[must_use]
    pub const fn to_uuid_bytes(self) -> [u8; 16] {
        uuid::bytes(uuid::of_id(self.to_u64()))
    }

    /// Creates an ID from the 16 bytes of a UUID: the inverse of [`to_uuid_bytes`](Self::to_uuid_bytes).
    ///
    /// # Errors
    /// [`InvalidId`](crate::ErrorKind::InvalidId) if the variant, the version or the last 58 bits differ from those that
    /// `to_uuid_bytes` writes.
    pub fn from_uuid_bytes(bytes: [u8; 16]) -> Result<Self, Error> {
        let halves = uuid::of_bytes(bytes);
        uuid::id_of(halves).map(Self::from_u64).map_err(|fault| {
            let text = Text::of_digits(&uuid::characters(halves));
            Error::id_text(TextForm::Uuid.name(), &text, fault)
        })
    }
}

/// Parses 1 to 20 decimal digits. Accepts leading zeros, but rejects a sign.
impl FromStr for Id {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        TextForm::Decimal.decode(text)
    }
}

impl fmt::Display for TextForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Parses the [`name`](TextForm::name) of a form.
impl FromStr for TextForm {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|form| form.name() == text).ok_or_else(|| {
            Error::invalid_option(
                "text form",
                "must be decimal, base32, base36, base58, base62, hex, base58_flickr, zbase32 or uuid",
            )
        })
    }
}

/// The string form of an ID, stored without a heap allocation. Dereferences to `str`.
///
/// ```
/// use flakeid_core::Id;
///
/// let text = Id::from_u64(910_499_571_847_892_992).to_base62();
/// assert_eq!(text.as_str().len(), 11);
/// assert!(text.is_ascii()); // as any `str`
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Text {
    digits: [u8; MOST],
    start: u8,
}

impl Text {
    /// Creates a string of at most 36 ASCII characters.
    pub(crate) fn of_digits(ascii: &[u8]) -> Self {
        let start = MOST - ascii.len();
        let mut digits = [0; MOST];
        digits[start..].copy_from_slice(ascii);
        Self { digits, start: start as u8 }
    }

    fn len(&self) -> usize {
        MOST - usize::from(self.start)
    }

    /// The characters of the string.
    #[must_use]
    #[expect(clippy::missing_panics_doc, clippy::panic, reason = "alphabets are ASCII")]
    pub fn as_str(&self) -> &str {
        // This code does not use `expect`, because the code that formats the error would be large in WebAssembly.
        let Ok(digits) = core::str::from_utf8(&self.digits[usize::from(self.start)..]) else {
            panic!("digits are ASCII");
        };
        digits
    }
}

impl Deref for Text {
    type Target = str;

    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl AsRef<str> for Text {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}
