//! IDs as text: strict both ways, every ID has one text in each form.

use core::fmt;
use core::ops::Deref;
use core::str::FromStr;

use crate::error::TextFault;
use crate::{Error, Id};

/// How an ID is written.
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
    /// Digits, 1 to 20 of them. Decoding allows leading zeros, so 20-digit padded columns work.
    Decimal,
    /// Crockford's base32, 13 digits: sorts, and survives being read out. Decoding takes lower
    /// case, `I` and `L` for 1, and `O` for 0. (<https://www.crockford.com/base32.html>)
    Base32,
    /// 0-9a-z, 1 to 13 digits without leading zeros. Decoding takes upper case.
    Base36,
    /// Bitcoin's alphabet, 1 to 11 digits without leading ones (its zero).
    Base58,
    /// 0-9A-Za-z, 11 digits: sorts in ASCII order.
    Base62,
    /// 16 digits, lower case: sorts. Decoding takes upper case; no `0x`.
    Hex,
    /// Flickr's alphabet, which has lower case first, 1 to 11 digits without leading ones (its zero).
    /// What `Base58` of bwmarrin/snowflake writes.
    Base58Flickr,
    /// The alphabet of z-base-32, 1 to 13 digits without leading `y`s (its zero). Decoding takes upper
    /// case. What `Base32` of bwmarrin/snowflake writes: digits of the number, not of its bits from the
    /// left as in <https://philzimmermann.com/docs/human-oriented-base-32-encoding.txt>.
    Zbase32,
}

/// The most digits any form needs: those of 2^64 − 1 in decimal.
const MOST: usize = 20;

const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const LOWER: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
const CROCKFORD: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
pub(crate) const BITCOIN: &[u8; 58] = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const FLICKR: &[u8; 58] = b"123456789abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ";
const ZBASE32: &[u8; 32] = b"ybndrfg8ejkmcpqxot1uwisza345h769";

impl TextForm {
    /// Every form.
    pub const ALL: [Self; 8] = [
        Self::Decimal,
        Self::Base32,
        Self::Base36,
        Self::Base58,
        Self::Base62,
        Self::Hex,
        Self::Base58Flickr,
        Self::Zbase32,
    ];

    /// The form's name: `decimal`, `base32`, `base36`, `base58`, `base62`, `hex`, `base58_flickr`,
    /// `zbase32`.
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
        }
    }

    const fn alphabet(self) -> &'static [u8] {
        match self {
            Self::Decimal => DIGITS.split_at(10).0,
            Self::Base32 => CROCKFORD,
            Self::Base36 => LOWER,
            Self::Base58 => BITCOIN,
            Self::Base62 => DIGITS,
            Self::Hex => LOWER.split_at(16).0,
            Self::Base58Flickr => FLICKR,
            Self::Zbase32 => ZBASE32,
        }
    }

    /// The largest number of digits: those of 2^64 − 1.
    const fn most_digits(self) -> usize {
        match self {
            Self::Decimal => 20,
            Self::Base32 | Self::Base36 | Self::Zbase32 => 13,
            Self::Base58 | Self::Base58Flickr | Self::Base62 => 11,
            Self::Hex => 16,
        }
    }

    /// Whether every ID has the same number of digits, so that texts sort as IDs do.
    #[must_use]
    pub const fn is_fixed_width(self) -> bool {
        matches!(self, Self::Base32 | Self::Base62 | Self::Hex)
    }

    /// Writes an ID in this form.
    #[must_use]
    pub fn encode(self, id: Id) -> Text {
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

    /// Reads an ID in this form.
    ///
    /// # Errors
    /// [`InvalidId`](crate::ErrorKind::InvalidId): empty, a wrong number of digits, a character
    /// that is no digit of the form (signs, spaces and prefixes included), a value above 2^64 − 1.
    pub fn decode(self, text: &str) -> Result<Id, Error> {
        self.value(text).map(Id::from_u64).map_err(|fault| Error::id_text(self.name(), text, fault))
    }

    fn value(self, text: &str) -> Result<u64, TextFault> {
        let radix = self.alphabet().len() as u64;
        let mut value: Option<u64> = Some(0);
        for digit in text.chars() {
            let digit = self.digit(digit).ok_or(TextFault::Digit(digit))?;
            value = value.and_then(|v| v.checked_mul(radix)?.checked_add(digit));
        }
        // All characters are digits, so bytes are digits too.
        let (length, most) = (text.len(), self.most_digits());
        let least = if self.is_fixed_width() { most } else { 1 };
        if length == 0 {
            return Err(TextFault::Empty);
        }
        if self != Self::Decimal && length > 1 && !self.is_fixed_width() {
            // Its value, because a zero may be a letter in either case.
            if text.chars().next().and_then(|first| self.digit(first)) == Some(0) {
                return Err(TextFault::LeadingZero);
            }
        }
        // Before the length: twenty-one digits are a number too large, not a typing error.
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
            Self::Base36 | Self::Hex | Self::Zbase32 => byte.to_ascii_lowercase(),
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
    /// The ID in a text form.
    #[must_use]
    pub fn to_text(self, form: TextForm) -> Text {
        form.encode(self)
    }

    /// 13 digits of Crockford's base32, which sort as the ID does.
    #[must_use]
    pub fn to_base32(self) -> Text {
        TextForm::Base32.encode(self)
    }

    /// 1 to 13 digits of base36, lower case.
    #[must_use]
    pub fn to_base36(self) -> Text {
        TextForm::Base36.encode(self)
    }

    /// 1 to 11 digits of base58 in Bitcoin's alphabet.
    #[must_use]
    pub fn to_base58(self) -> Text {
        TextForm::Base58.encode(self)
    }

    /// 11 digits of base62 (0-9A-Za-z), which sort as the ID does in ASCII order.
    #[must_use]
    pub fn to_base62(self) -> Text {
        TextForm::Base62.encode(self)
    }

    /// 16 hexadecimal digits, lower case, which sort as the ID does.
    #[must_use]
    pub fn to_hex(self) -> Text {
        TextForm::Hex.encode(self)
    }

    /// 1 to 11 digits of base58 in Flickr's alphabet, as bwmarrin/snowflake writes them.
    #[must_use]
    pub fn to_base58_flickr(self) -> Text {
        TextForm::Base58Flickr.encode(self)
    }

    /// 1 to 13 digits of z-base-32, as bwmarrin/snowflake writes them.
    #[must_use]
    pub fn to_zbase32(self) -> Text {
        TextForm::Zbase32.encode(self)
    }
}

/// 1 to 20 decimal digits, leading zeros allowed, no sign.
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

/// Reads a form's [`name`](TextForm::name).
impl FromStr for TextForm {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|form| form.name() == text).ok_or_else(|| {
            Error::invalid_option(
                "text form",
                "must be decimal, base32, base36, base58, base62, hex, base58_flickr or zbase32",
            )
        })
    }
}

/// An ID's digits, on the stack; a `str` by `Deref`.
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
    /// Of at most 20 ASCII characters.
    pub(crate) fn of_digits(ascii: &[u8]) -> Self {
        let start = MOST - ascii.len();
        let mut digits = [0; MOST];
        digits[start..].copy_from_slice(ascii);
        Self { digits, start: start as u8 }
    }

    fn len(&self) -> usize {
        MOST - usize::from(self.start)
    }

    /// The digits.
    #[must_use]
    #[expect(clippy::missing_panics_doc, clippy::panic, reason = "alphabets are ASCII")]
    pub fn as_str(&self) -> &str {
        // Not `expect`, which would show the error, by code that is large in WebAssembly.
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
