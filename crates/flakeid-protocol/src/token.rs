use std::fmt;

/// What a holder shows to prove that a grant is still its own: 64 bits that stay for the whole grant,
/// and 64 that are new in every renewal.
///
/// Its value is no secret worth guessing, but it decides who may renew, so no text shows it:
/// `Debug` prints none of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Token(u128);

impl Token {
    /// A token of these bits; they must be random.
    #[must_use]
    pub const fn from_bits(bits: u128) -> Self {
        Self(bits)
    }

    /// The reverse of [`from_bits`](Self::from_bits).
    #[must_use]
    pub const fn to_bits(self) -> u128 {
        self.0
    }

    /// These random bits for a renewal, together with the half of `other` that its grant gave it. All
    /// tokens of one grant have that half, so a store that has lost renewals still knows its holder.
    #[must_use]
    pub const fn of_grant(self, other: Self) -> Self {
        Self(other.0 & !Self::RENEWAL | self.0 & Self::RENEWAL)
    }

    /// Whether both are of one grant.
    #[must_use]
    pub const fn is_same_grant(self, other: Self) -> bool {
        self.0 & !Self::RENEWAL == other.0 & !Self::RENEWAL
    }

    /// The bits that every renewal changes.
    const RENEWAL: u128 = u64::MAX as u128;

    /// As stores keep it: 32 hexadecimal digits.
    #[must_use]
    pub fn to_text(self) -> String {
        format!("{:032x}", self.0)
    }

    /// The reverse of [`to_text`](Self::to_text); `None` for any other text.
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
