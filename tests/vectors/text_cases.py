"""The content of text.json: canonical text, other accepted spellings, and refusals."""

from __future__ import annotations

import itertools
import zlib
from typing import Any

import known
from errors import INVALID_ID, FlakeIdError
from layout import U64_MAX
from pseudo_random import splitmix64
from text import FORMS, Form

CORNERS = (
    *(0, 1, 2, 10, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**53 - 1, 2**53, 2**53 + 1),
    *(2**62, 2**63 - 1, 2**63, 2**63 + 1, U64_MAX - 1, U64_MAX),
)
RANDOM_IDS = 20

ACCEPTED = {
    "decimal": (
        ("00", 0),
        ("007", 7),
        ("00000000000000000000", 0),
        ("00000000000000000001", 1),
        ("01844674407370955161", 1844674407370955161),
    ),
    "base32": (
        ("000000000000a", 10),
        ("23953mg16djdj", 2424242424242424242),
        ("23953Mg16dJDj", 2424242424242424242),
        ("fzzzzzzzzzzzz", U64_MAX),
        ("OOOOOOOOOOOOO", 0),
        ("ooooooooooooo", 0),
        ("000000000000I", 1),
        ("000000000000i", 1),
        ("000000000000L", 1),
        ("000000000000l", 1),
        ("0I23456789ABC", 38390726480144748),
        ("oL23456789abc", 38390726480144748),
        ("O123456789aBc", 38390726480144748),
    ),
    "base36": (
        ("8HGMW4BLVLKW", 1116817865006120960),
        ("8hGmW4bLvLkW", 1116817865006120960),
        ("3W5E11264SGSF", U64_MAX),
        ("Z", 35),
    ),
    "base58": (),
    "base62": (),
    "hex": (
        ("0F7FC0FC2F800000", 1116823421972381696),
        ("0F7fC0fc2F800000", 1116823421972381696),
        ("FFFFFFFFFFFFFFFF", U64_MAX),
    ),
    "base58_flickr": (),
    "zbase32": (
        ("B8WJM1ZROYYYY", 1427970479175499776),
        ("b8wJm1zRoYyYy", 1427970479175499776),
        ("Y", 0),
    ),
}
"""Text that decodes, but is not canonical; neither base58 nor base62 has any."""

PUNCTUATION = (
    ("+", "plus sign"),
    ("-", "minus sign"),
    ("_", "underscore"),
    (".", "point"),
    ("/", "character just below the digit 0"),
    (":", "character just above the digit 9"),
    ("@", "character just below the letter A"),
    ("[", "character just above the letter Z"),
    ("`", "character just below the letter a"),
    ("{", "character just above the letter z"),
    ("#", "foreign character"),
)
BLANK = (
    (" ", "white space"),
    ("\t", "white space"),
    ("\n", "line end"),
    ("\0", "NUL"),
)
NOT_ASCII = (
    ("\u00a0", "no-break space"),
    ("\u00e9", "letter that is not ASCII"),
    ("\uff11", "full-width digit"),
    ("\u0661", "Arabic digit"),
    ("\u212a", "Kelvin sign, whose lower case is k"),
    ("\u017f", "long s, whose upper case is S"),
    ("\u0131", "dotless i, whose upper case is I"),
    ("\U0001d7cf", "digit outside the basic plane"),
)

FOREIGN_IN_FORM = {
    "decimal": "aA",
    "base32": "uU",
    "base36": "",
    "base58": "0OIl",
    "base62": "",
    "hex": "gGxXoOlI",
    "base58_flickr": "0OIl",
    "zbase32": "0lv2LV",
}
"""Letters and digits that the form does not use."""

SPECIAL_REJECTED = {
    "decimal": (
        ("000000000000000000000", "too long: 21 digits"),
        ("018446744073709551615", "too long: 21 digits"),
        ("99999999999999999999", "overflow"),
        ("36893488147419103232", "overflow: 2^65"),
        ("-1", "sign"),
        ("+1", "sign"),
        ("-0", "sign"),
        ("1e3", "exponent"),
        ("1.0", "point"),
        ("0x10", "prefix"),
        ("1_000", "underscore"),
        ("1,000", "comma"),
    ),
    "base32": (
        ("ZZZZZZZZZZZZZ", "overflow"),
        ("zzzzzzzzzzzzz", "overflow"),
        ("23953-MG16DJDJ", "hyphen"),
        ("00000-000000A", "hyphen within the right length"),
        ("-000000000001", "sign"),
        ("+000000000001", "sign"),
    ),
    "base36": (
        ("00", "leading zero"),
        ("01", "leading zero"),
        ("08hgmw4blvlkw", "leading zero"),
        ("0000000000000", "leading zeros"),
        ("zzzzzzzzzzzzz", "overflow"),
        ("ZZZZZZZZZZZZZ", "overflow"),
        ("-1", "sign"),
        ("+1", "sign"),
    ),
    "base58": (
        ("11", "leading 1"),
        ("12", "leading 1"),
        ("1jpXCZedGfVQ", "leading 1"),
        ("zzzzzzzzzzz", "overflow"),
        ("-1", "sign"),
        ("+2", "sign"),
    ),
    "base62": (
        ("zzzzzzzzzzz", "overflow"),
        ("-0000000001", "sign"),
        ("+0000000001", "sign"),
    ),
    "hex": (
        ("0x00000000000001", "prefix within the right length"),
        ("0x0000000000000001", "prefix"),
        ("0X00000000000001", "prefix within the right length"),
        ("00000000-0000000", "hyphen"),
        ("-000000000000001", "sign"),
        ("+000000000000001", "sign"),
    ),
    "base58_flickr": (
        ("11", "leading 1"),
        ("12", "leading 1"),
        ("14jgmnx8Js8A", "leading 1"),
        ("ZZZZZZZZZZZ", "overflow"),
        ("-1", "sign"),
        ("+2", "sign"),
    ),
    "zbase32": (
        ("yy", "leading y"),
        ("yb", "leading y"),
        ("Yb", "leading y in upper case"),
        ("YY", "leading y in upper case"),
        ("yb8wjm1zroyyyy", "leading y"),
        ("9999999999999", "overflow"),
        ("-b", "sign"),
        ("+b", "sign"),
    ),
}


def document() -> dict[str, Any]:
    """Return the content of text.json."""
    return {
        "forms": [
            {
                "form": name,
                "valid": valid(form),
                "accepted": accepted(form),
                "rejected": rejected(form),
            }
            for name, form in FORMS.items()
        ]
    }


def valid(form: Form) -> list[dict[str, Any]]:
    """Return canonical text: published, extremes, powers of the base, pseudo-random."""
    published = [text.id for text in known.TEXTS if text.form == form.name]
    powers = itertools.takewhile(
        lambda power: power <= U64_MAX, (form.base**n for n in itertools.count(1))
    )
    around = [power + offset for power in powers for offset in (-1, 0, 1)]
    random = itertools.islice(splitmix64(zlib.crc32(form.name.encode())), RANDOM_IDS)
    entries = []
    for id_ in dict.fromkeys([*published, *CORNERS, *around, *random]):
        text = form.encode(id_)
        known.expect(form.decode(text), id_, f"{form.name} {text}")
        entries.append({"id": str(id_), "text": text})
    return entries


def accepted(form: Form) -> list[dict[str, Any]]:
    """Return text that decodes, but is spelled differently by encoding."""
    entries = []
    for text, id_ in ACCEPTED[form.name]:
        known.expect(form.decode(text), id_, f"{form.name} {text}")
        known.expect(form.encode(id_) != text, True, f"{form.name} {text} is canonical")
        entries.append({"text": text, "id": str(id_)})
    return entries


def rejected(form: Form) -> list[dict[str, Any]]:
    """Return text that must not decode, with the reason."""
    published = [(text, why) for name, text, why in known.REJECTED_TEXTS if name == form.name]
    reasons: dict[str, str] = {}
    for text, why in (
        *published,
        ("", "empty"),
        *wrong_lengths(form),
        *overflows(form),
        *SPECIAL_REJECTED[form.name],
        *foreign(form),
    ):
        reasons.setdefault(text, why)
    entries = []
    for text, why in reasons.items():
        try:
            form.decode(text)
        except FlakeIdError as error:
            known.expect(error.code, INVALID_ID, f"{form.name} {text!r}")
            entries.append({"text": text, "code": error.code, "why": why})
        else:
            raise known.MismatchError(f"{form.name} {text!r} must be refused: {why}")
    return entries


def wrong_lengths(form: Form) -> list[tuple[str, str]]:
    """Return text with one digit too many or too few, and with far too many."""
    largest, one = form.encode(U64_MAX), form.alphabet[1]
    texts = [
        (largest + form.alphabet[0], "too long by one"),
        (one * (form.longest + 1), "too long by one"),
        (one * 64, "far too long"),
        (one * 256, "far too long"),
    ]
    if form.shortest > 1:
        texts += [
            (one, "too short"),
            (form.encode(1)[1:], "too short by one"),
            (largest[1:], "too short by one"),
            (form.alphabet[0] + largest, "too long by one, a zero in front"),
        ]
    return texts


def overflows(form: Form) -> list[tuple[str, str]]:
    """Return numbers of 65 bits, if the longest text has room for one."""
    return [
        (text, f"overflow: {name}")
        for value, name in (
            (2**64, "2^64"),
            (2**64 + 1, "2^64 + 1"),
            (2**65 - 1, "2^65 - 1"),
        )
        if len(text := form.encode(value)) <= form.longest
    ]


def foreign(form: Form) -> list[tuple[str, str]]:
    """Return text with a foreign character in place of a digit or around the digits."""
    letters = [
        (letter, "not a valid digit in this text form") for letter in FOREIGN_IN_FORM[form.name]
    ]
    digits = form.encode(U64_MAX // 3)
    middle = len(digits) // 2
    texts = []
    for character, why in (*PUNCTUATION, *BLANK, *NOT_ASCII, *letters):
        texts += [
            (character + digits[1:], f"{why}, first"),
            (
                digits[:middle] + character + digits[middle + 1 :],
                f"{why}, in the middle",
            ),
            (digits[:-1] + character, f"{why}, last"),
        ]
    for character, why in (*BLANK, *NOT_ASCII):
        texts += [
            (character + digits, f"{why}, before"),
            (digits + character, f"{why}, after"),
        ]
    for character, why in NOT_ASCII:
        rest = digits[: -len(character.encode())]
        texts += [
            (character + rest, f"{why}, the right length in UTF-8"),
            (rest + character, f"{why}, the right length in UTF-8"),
        ]
    return texts
