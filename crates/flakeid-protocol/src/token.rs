use std::fmt;

/// The proof that a grant belongs to a holder: 64 bits that stay the same for the whole grant, and 64 bits that change in
/// every renewal.
///
/// A token decides who may renew, so messages do not contain it, and `Debug` does not print it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Token(u128);

impl Token {
    /// Creates a token from random bits.
    #[must_use]
    pub const fn from_bits(bits: u128) -> Self {
        Self(bits)
    }

    /// Returns the bits of the token: the inverse of [`from_bits`](Self::from_bits).
    #[must_use]
    pub const fn to_bits(self) -> u128 {
        self.0
    }

    /// Combines these random bits with the constant half of `other` to a token for a renewal. All tokens of one grant have that
    /// half, so a store that has lost renewals still recognizes its holder.
    #[must_use]
    pub const fn of_grant(self, other: Self) -> Self {
        Self(other.0 & !Self::RENEWAL | self.0 & Self::RENEWAL)
    }

    /// Whether both tokens belong to one grant.
    #[must_use]
    pub const fn is_same_grant(self, other: Self) -> bool {
        self.0 & !Self::RENEWAL == other.0 & !Self::RENEWAL
    }

    /// The bits that every renewal changes.
    const RENEWAL: u128 = u64::MAX as u128;

    /// Encodes the token as 32 hexadecimal digits, the form in stores.
    #[must_use]
    pub fn to_text(self) -> String {
        format!("{:032x}", self.0)
    }

    /// Parses the string of [`to_text`](Self::to_text); `None` for any other string.
    #[must_use]
    pub fn from_text(text: &str) -> Option<Self> {
        let plain = text.len() == 32 && text.bytes().all(|b| b.is_ascii_hexdigit());
        if plain { u128::from_str_radix(text, 16).ok().map(Self) } else { None }
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}
