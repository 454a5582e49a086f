"""Text forms: positional notations of a 64-bit number.

The most significant digit comes first:

    value = sum(digit[i] * base^(length - 1 - i))
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from errors import INVALID_ID, FlakeIdError
from layout import U64_MAX

DIGITS = "0123456789"
UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
LOWER = UPPER.lower()
CROCKFORD = DIGITS + "ABCDEFGHJKMNPQRSTVWXYZ"
BITCOIN = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
FLICKR = "123456789abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ"
ZBASE32 = "ybndrfg8ejkmcpqxot1uwisza345h769"


@dataclass(frozen=True)
class Form:
    """A notation: its digits, its lengths, and other spellings of a digit."""

    name: str
    alphabet: str
    shortest: int
    longest: int
    leading_zeros: bool
    aliases: Mapping[str, str] = field(default_factory=dict)

    @property
    def base(self) -> int:
        """The number of digits."""
        return len(self.alphabet)

    def encode(self, value: int) -> str:
        """Return the canonical text; forms of one length are padded with the zero digit."""
        text = ""
        while value:
            value, digit = divmod(value, self.base)
            text = self.alphabet[digit] + text
        return text.rjust(self.shortest, self.alphabet[0])

    def decode(self, text: str) -> int:
        """Return the number; every fault is FLAKEID_INVALID_ID."""
        if not self.shortest <= len(text) <= self.longest:
            raise FlakeIdError(INVALID_ID)
        first = self.aliases.get(text[0], text[0])
        if not self.leading_zeros and len(text) > 1 and first == self.alphabet[0]:
            raise FlakeIdError(INVALID_ID)
        value = 0
        for character in text:
            digit = self.alphabet.find(self.aliases.get(character, character))
            if digit < 0:
                raise FlakeIdError(INVALID_ID)
            value = value * self.base + digit
        if value > U64_MAX:
            raise FlakeIdError(INVALID_ID)
        return value


CROCKFORD_ALIASES = {
    **{letter.lower(): letter for letter in CROCKFORD[10:]},
    **dict.fromkeys("iIlL", "1"),
    **dict.fromkeys("oO", "0"),
}

FORMS = {
    form.name: form
    for form in (
        Form("decimal", DIGITS, 1, 20, leading_zeros=True),
        Form("base32", CROCKFORD, 13, 13, leading_zeros=True, aliases=CROCKFORD_ALIASES),
        Form(
            "base36",
            DIGITS + LOWER,
            1,
            13,
            leading_zeros=False,
            aliases=dict(zip(UPPER, LOWER, strict=True)),
        ),
        Form("base58", BITCOIN, 1, 11, leading_zeros=False),
        Form("base62", DIGITS + UPPER + LOWER, 11, 11, leading_zeros=True),
        Form(
            "hex",
            DIGITS + "abcdef",
            16,
            16,
            leading_zeros=True,
            aliases=dict(zip("ABCDEF", "abcdef", strict=True)),
        ),
        Form("base58_flickr", FLICKR, 1, 11, leading_zeros=False),
        Form(
            "zbase32",
            ZBASE32,
            1,
            13,
            leading_zeros=False,
            aliases={letter.upper(): letter for letter in ZBASE32 if letter.isalpha()},
        ),
    )
}
