use std::fmt;

/// What a holder shows to prove that a grant is still its own; another one at every renewal.
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
