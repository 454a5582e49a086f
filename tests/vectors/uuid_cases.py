"""The content of uuid.json: IDs as UUIDs, other accepted spellings, and refusals."""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Callable
from typing import Any, TypeVar

import known
import uuid_form
from errors import FlakeIdError
from pseudo_random import splitmix64
from text_cases import BLANK, CORNERS, NOT_ASCII, PUNCTUATION

_T = TypeVar("_T")

RANDOM_IDS = 60
SAMPLE = 910499571847892992

FOREIGN = (
    ("00000000-0000-0000-0000-000000000000", "nil UUID"),
    ("ffffffff-ffff-ffff-ffff-ffffffffffff", "max UUID"),
    ("c232ab00-9414-11ec-b3c8-9f6bdeced846", "version 1, RFC 9562, appendix A.1"),
    ("5df41881-3aed-3515-88a7-2f4a814cf09e", "version 3, RFC 9562, appendix A.2"),
    ("919108f7-52d1-4320-9bac-f847db4148a8", "version 4, RFC 9562, appendix A.3"),
    ("2ed6657d-e927-568b-95e1-2665a8aea6a2", "version 5, RFC 9562, appendix A.4"),
    ("1ec9414c-232a-6b00-b3c8-9f6bdeced846", "version 6, RFC 9562, appendix A.5"),
    ("017f22e2-79b0-7cc3-98c4-dc0c0c07398f", "version 7, RFC 9562, appendix A.6"),
    ("2489e9ad-2ee2-8e00-8ec9-32d5f69181c0", "version 8 of others, RFC 9562, appendix B.1"),
    ("5c146b14-3c52-8afd-938a-375d0df1fbf6", "version 8 of others, RFC 9562, appendix B.2"),
)


def document() -> dict[str, Any]:
    """Return the content of uuid.json."""
    return {
        "valid": valid(),
        "accepted": accepted(),
        "rejected": rejected(),
        "rejected_bytes": rejected_bytes(),
    }


def valid() -> list[dict[str, Any]]:
    """Return IDs in ascending order: corners, single bits, pseudo-random."""
    ids = {
        SAMPLE,
        0xABCDEF0123456789,
        *CORNERS,
        *(1 << bit for bit in range(64)),
        *itertools.islice(splitmix64(9562), RANDOM_IDS),
    }
    entries = []
    for id_ in sorted(ids):
        data, text = uuid_form.encode_bytes(id_), uuid_form.encode(id_)
        parsed = uuid.UUID(text)
        known.expect(parsed.bytes, data, f"bytes of {text}")
        known.expect((parsed.version, parsed.variant), (8, uuid.RFC_4122), text)
        known.expect(uuid_form.decode_bytes(data), id_, text)
        known.expect(uuid_form.decode(text), id_, text)
        entries.append({"id": str(id_), "text": text, "bytes": data.hex()})
    for key in ("text", "bytes"):
        written = [entry[key] for entry in entries]
        known.expect(written, sorted(written), f"the order of {key}")
    return entries


def accepted() -> list[dict[str, Any]]:
    """Return strings in uppercase and in both cases, which RFC 9562 (section 4) allows."""
    text = uuid_form.encode(0xABCDEF0123456789)
    return [
        {"text": spelling, "id": str(uuid_form.decode(spelling))}
        for spelling in (text.upper(), text[:18].upper() + text[18:])
    ]


def rejected() -> list[dict[str, Any]]:
    """Return strings that must not decode, with the reason."""
    text = uuid_form.encode(SAMPLE)
    digits = text.replace("-", "")
    reasons: dict[str, str] = {}
    for spelling, why in (
        ("", "empty"),
        *FOREIGN,
        (digits, "no hyphens"),
        ("{" + text + "}", "braces"),
        ("urn:uuid:" + text, "prefix"),
        ("0x" + text, "prefix"),
        (text[:-1], "too short by one"),
        (text + "0", "too long by one"),
        (text + text, "far too long"),
        (str(SAMPLE), "decimal digits"),
        (text[:7] + "-" + text[7:8] + text[9:], "hyphen at another place"),
        (text[:8] + "0" + text[9:], "digit in place of a hyphen"),
        (text[:8] + "-" + text[8:-1], "two hyphens"),
        (text[:24] + "-" + text[25:], "hyphen in place of a digit"),
        *(
            (text[:place] + character + text[place + 1 :], f"{why}, at place {place}")
            for character, why in (*PUNCTUATION, *BLANK, *NOT_ASCII, ("g", "letter after f"))
            for place in (0, 8, 14, 35)
            if character != "-" or place != 8
        ),
        *((text[:-1] + character, f"{why}, last") for character, why in BLANK),
        *((text + character, f"{why}, after") for character, why in (*BLANK, *NOT_ASCII)),
        *((character + text, f"{why}, before") for character, why in (*BLANK, *NOT_ASCII)),
        *((uuid_form.spell(data), why) for data, why in changed_bits()),
    ):
        reasons.setdefault(spelling, why)
    return [
        {"text": spelling, "code": refusal(uuid_form.decode, spelling), "why": why}
        for spelling, why in reasons.items()
    ]


def rejected_bytes() -> list[dict[str, Any]]:
    """Return bytes that must not decode, with the reason; `bytes` may have any length."""
    data = uuid_form.encode_bytes(SAMPLE)
    cases = [
        (b"", "empty"),
        (data[:8], "8 bytes"),
        (data[:15], "too short by one"),
        (data + b"\0", "too long by one"),
        *((bytes.fromhex(text.replace("-", "")), why) for text, why in FOREIGN),
        *changed_bits(),
    ]
    return [
        {"bytes": given.hex(), "code": refusal(uuid_form.decode_bytes, given), "why": why}
        for given, why in cases
    ]


def changed_bits() -> list[tuple[bytes, str]]:
    """Return UUIDs with one fixed bit changed: each of the 64 bits that are not the ID's."""
    whole = int.from_bytes(uuid_form.encode_bytes(SAMPLE))
    names = (
        (range(48, 52), "version"),
        (range(64, 66), "variant"),
        (range(70, 128), "last 58 bits"),
    )
    return [
        ((whole ^ 1 << (127 - bit)).to_bytes(16), f"{name}: bit {bit} changed")
        for bits, name in names
        for bit in bits
    ]


def refusal(decode: Callable[[_T], int], given: _T) -> str:
    """Return the code of the refusal."""
    try:
        decode(given)
    except FlakeIdError as error:
        return error.code
    raise known.MismatchError(f"{given!r} must be refused")
