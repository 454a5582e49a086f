use std::fmt;

/// The proof that a grant belongs to a holder: 64 bits that stay the same for the whole grant, and 64 bits that
/// change with every renewal.
///
/// A process that knows the token can renew the lease, so messages do not contain the token, and `Debug` does not
/// print it.
///
/// ```
/// use flakeid_protocol::Token;
///
/// let token = Token::from_bits(0x5eed << 64 | 1);
/// let next = Token::from_bits(2).of_grant(token);
/// assert!(next != token && next.is_same_grant(token));
/// assert_eq!(Token::from_text(&next.to_text()), Some(next));
/// assert_eq!(format!("{next:?}"), "Token(…)");
/// ```
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

    /// Combines this token's random bits with the constant half of `other` into a token for a renewal. All tokens of
    /// one grant share the constant half, so a store that has lost renewals still recognizes the grant's holder.
    #[must_use]
    pub const fn of_grant(self, other: Self) -> Self {
        Self(other.0 & !Self::RENEWAL | self.0 & Self::RENEWAL)
    }

    /// Whether both tokens belong to the same grant.
    #[must_use]
    pub const fn is_same_grant(self, other: Self) -> bool {
        self.0 & !Self::RENEWAL == other.0 & !Self::RENEWAL
    }

    /// The bits that every renewal changes.
    const RENEWAL: u128 = u64::MAX as u128;

    /// Encodes the token as 32 hexadecimal digits, the form that stores use.
    #[must_use]
    pub fn to_text(self) -> String {
        format!("{:032x}", self.0)
    }

    /// Parses a string that [`to_text`](Self::to_text) produced. Returns `None` for any other string.
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
