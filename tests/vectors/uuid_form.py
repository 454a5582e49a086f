"""IDs as UUIDs of version 8 (RFC 9562, section 5.8), as strings of bits.

The most significant bit comes first:

    uuid = id[:48] + "1000" + id[48:60] + "10" + id[60:] + "11" + bits("flakeid")
"""

from __future__ import annotations

import re

from errors import INVALID_ID, FlakeIdError

VERSION = "1000"
VARIANT = "10"
MARK = "11" + "".join(f"{byte:08b}" for byte in b"flakeid")
SHAPE = re.compile("-".join(f"[0-9a-fA-F]{{{digits}}}" for digits in (8, 4, 4, 4, 12)), re.ASCII)


def encode_bytes(id_: int) -> bytes:
    """Return the 16 bytes of an ID."""
    bits = f"{id_:064b}"
    return pack(bits[:48] + VERSION + bits[48:60] + VARIANT + bits[60:] + MARK)


def decode_bytes(data: bytes) -> int:
    """Return the ID; a UUID with other fixed bits is FLAKEID_INVALID_ID."""
    bits = "".join(f"{byte:08b}" for byte in data)
    if len(bits) != 128 or (bits[48:52], bits[64:66], bits[70:]) != (VERSION, VARIANT, MARK):
        raise FlakeIdError(INVALID_ID)
    return int(bits[:48] + bits[52:64] + bits[66:70], 2)


def encode(id_: int) -> str:
    """Return the 36 characters of an ID."""
    return spell(encode_bytes(id_))


def decode(text: str) -> int:
    """Return the ID; every fault is FLAKEID_INVALID_ID."""
    if not SHAPE.fullmatch(text):
        raise FlakeIdError(INVALID_ID)
    return decode_bytes(bytes.fromhex(text.replace("-", "")))


def spell(data: bytes) -> str:
    """Return 16 bytes as lowercase digits in groups of 8, 4, 4, 4 and 12."""
    digits = data.hex()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


def pack(bits: str) -> bytes:
    """Return a string of bits as bytes."""
    return bytes(int(bits[place : place + 8], 2) for place in range(0, len(bits), 8))
