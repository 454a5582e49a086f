"""The public form of an ID: encrypted with Speck64/128, under a key for its domain.

Speck is from Beaulieu et al., "The SIMON and SPECK Families of Lightweight Block Ciphers" (2013):
with words of 32 bits and 27 rounds,

    round(x, y, k) = (x', rotl(y, 3) ^ x')   where x' = (rotr(x, 8) + y mod 2^32) ^ k

A block is x * 2^32 + y. A key is 16 bytes: four little-endian words. The key of a domain
consists of two CBC-MACs of its name. Each CBC-MAC starts with a block that has the number of the
code (1 or 2) in the upper half, and the length of the name in the lower half.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass

from errors import INVALID_ID, INVALID_OPTION, FlakeIdError
from layout import Layout
from text import BITCOIN, FORMS

MASK = 2**32 - 1
ROUNDS = 27
MOST_AHEAD_MS = 60_000
KEY_LINE = re.compile(r"([a-z])\s+([0-9A-Fa-f]{32})")
PREFIX = re.compile(r"[a-z][a-z0-9]{0,15}")


def speck_round(x: int, y: int, key: int) -> tuple[int, int]:
    """Perform one round of encryption."""
    x = (((x >> 8 | x << 24) & MASK) + y & MASK) ^ key
    return x, (y << 3 | y >> 29) & MASK ^ x


def round_keys(key: bytes) -> list[int]:
    """Return the keys of the rounds, which the round function derives from the key."""
    current, *others = struct.unpack("<4I", key)
    keys = []
    for number in range(ROUNDS):
        keys.append(current)
        other, current = speck_round(others.pop(0), current, number)
        others.append(other)
    return keys


def encipher(key: bytes, block: int) -> int:
    """Encrypt a block of 64 bits."""
    x, y = block >> 32, block & MASK
    for each in round_keys(key):
        x, y = speck_round(x, y, each)
    return x << 32 | y


def decipher(key: bytes, block: int) -> int:
    """Decrypt a block of 64 bits."""
    x, y = block >> 32, block & MASK
    for each in reversed(round_keys(key)):
        y ^= x
        y = (y >> 3 | y << 29) & MASK
        x = (x ^ each) - y & MASK
        x = (x << 8 | x >> 24) & MASK
    return x << 32 | y


def key_of_domain(key: bytes, domain: str) -> bytes:
    """Return the domain's key: two message authentication codes of its name, eight bytes each."""
    name = domain.encode()
    padded = name + bytes(-len(name) % 8)
    codes = []
    for number in (1, 2):
        code = encipher(key, number << 32 | len(name))
        for (block,) in struct.iter_unpack("<Q", padded):
            code = encipher(key, code ^ block)
        codes.append(code)
    return struct.pack("<2Q", *codes)


def parse_keyring(text: str) -> dict[str, bytes]:
    """Return the keys by their letters, the current key last."""
    keys: dict[str, bytes] = {}
    for line in map(str.strip, text.split("\n")):
        if not line or line.startswith("#"):
            continue
        found = KEY_LINE.fullmatch(line)
        if found is None or found[1] in keys:
            raise FlakeIdError(INVALID_OPTION, field="keyring")
        keys[found[1]] = bytes.fromhex(found[2])
    if not keys:
        raise FlakeIdError(INVALID_OPTION, field="keyring")
    return keys


@dataclass(frozen=True)
class PublicIds:
    """The public form of the IDs of one domain."""

    keys: dict[str, bytes]
    layout: Layout
    prefix: str | None = None
    since_ms: int | None = None

    @classmethod
    def of(
        cls, keyring: str, domain: str, layout: Layout, prefix: str | None, since_ms: int | None
    ) -> PublicIds:
        """Check the options, and raise an error for an invalid keyring, domain or prefix."""
        keys = parse_keyring(keyring)
        if not 1 <= len(domain.encode()) <= 64:
            raise FlakeIdError(INVALID_OPTION, field="domain")
        if prefix is not None and PREFIX.fullmatch(prefix) is None:
            raise FlakeIdError(INVALID_OPTION, field="prefix")
        own = {letter: key_of_domain(key, domain) for letter, key in keys.items()}
        return cls(own, layout, prefix, since_ms)

    @property
    def start(self) -> str:
        """Return the part of the text before the letter of the key."""
        return "" if self.prefix is None else f"{self.prefix}_"

    def seal_bits(self, id_: int) -> int:
        """Encrypt an ID with the current key."""
        self.layout.unpack(id_)
        return encipher(list(self.keys.values())[-1], id_)

    def seal(self, id_: int) -> str:
        """Encrypt an ID, and return the public ID as text."""
        digits = FORMS["base58"].encode(self.seal_bits(id_)).rjust(11, BITCOIN[0])
        return self.start + list(self.keys)[-1] + digits

    def open_at(self, text: str, now_ms: int) -> int:
        """Decrypt a public ID; every fault is FLAKEID_INVALID_ID."""
        found = re.fullmatch(f"{self.start}(.)([{BITCOIN}]{{11}})", text, re.DOTALL)
        if found is None or found[1] not in self.keys:
            raise FlakeIdError(INVALID_ID)
        block = 0
        for digit in found[2]:
            block = block * 58 + BITCOIN.index(digit)
        if block >= 2**64:
            raise FlakeIdError(INVALID_ID)
        id_ = decipher(self.keys[found[1]], block)
        time = self.layout.unix_ms(self.layout.unpack(id_).tick)
        early = self.since_ms is not None and id_ < self.layout.lower_bound(self.since_ms)
        if early or time > now_ms + MOST_AHEAD_MS:
            raise FlakeIdError(INVALID_ID)
        return id_
