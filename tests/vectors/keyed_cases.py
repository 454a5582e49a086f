"""The content of keyed.json: public IDs to seal and open, and refusals."""

from __future__ import annotations

from typing import Any

import layout
from errors import INVALID_ID, INVALID_OPTION, FlakeIdError
from keyed import PublicIds, decipher, encipher

OF_ONE = "a 000102030405060708090a0b0c0d0e0f"
OF_TWO = (
    "# The first was made in spring.\na 000102030405060708090a0b0c0d0e0f\n\n"
    "  b 00112233445566778899AABBCCDDEEFF\r\n"
)
TWITTER_ID = 910_499_571_847_892_992
NOW = 1_795_000_000_000

PUBLISHED = ("0001020308090a0b1011121318191a1b", 0x3B7265747475432D, 0x8C6FA548454E028B)
"""The test vector of the paper (appendix C), with its bytes in the order of the authors' guide."""

DOMAINS = ("user", "users", "u", "exactly8", "nine byte", "\u00fc\u4e2d\U0001f600", "x" * 64)
LAYOUTS = ("twitter", "sonyflake", "js-safe", "flakeid", "t52.s12@0/1ms")


def cases() -> list[dict[str, Any]]:
    """Return public IDs of every domain and of several layouts, with and without a prefix."""
    found = []
    for number, domain in enumerate(DOMAINS):
        prefix = "usr" if number % 2 == 0 else None
        keyring = OF_ONE if number % 3 == 0 else OF_TWO
        found.append(case(keyring, domain, "twitter", prefix, TWITTER_ID))
    for number, name in enumerate(LAYOUTS):
        parsed = layout.parse(name)
        low, high = parsed.lower_bound(NOW - 86_400_000 * number), parsed.upper_bound(NOW)
        found += [case(OF_TWO, "orders", name, "o7", id_) for id_ in (low, high)]
    ids = PublicIds.of(OF_ONE, "small", layout.parse("twitter"), None, None)
    # Blocks that need fewer than eleven digits; their text starts with the digit for zero.
    wanted = (id_ for id_ in range(TWITTER_ID, TWITTER_ID + 10_000) if ids.seal(id_)[1] == "1")
    found.append(case(OF_ONE, "small", "twitter", None, next(wanted)))
    return found


def case(keyring: str, domain: str, name: str, prefix: str | None, id_: int) -> dict[str, Any]:
    """Return the case of one public ID."""
    ids = PublicIds.of(keyring, domain, layout.parse(name), prefix, None)
    text = ids.seal(id_)
    if ids.open_at(text, NOW) != id_:
        raise AssertionError(f"{text} does not open")
    given = {"keyring": keyring, "domain": domain, "layout": name, "prefix": prefix}
    return {**given, "id": str(id_), "bits": str(ids.seal_bits(id_)), "text": text}


def rejected() -> list[dict[str, Any]]:
    """Return public IDs that must not open, or not at the given time."""
    twitter = layout.parse("twitter")
    ids = PublicIds.of(OF_TWO, "user", twitter, "usr", None)
    text = ids.seal(TWITTER_ID)
    time = twitter.unix_ms(twitter.unpack(TWITTER_ID).tick)
    other = PublicIds.of(OF_TWO, "order", twitter, "usr", None).seal(TWITTER_ID)
    old = PublicIds.of(f"b {'f' * 32}", "user", twitter, "usr", None)
    outside = 2**63 + TWITTER_ID
    of_64 = PublicIds.of(OF_TWO, "user", layout.parse("t52.s12@0/1ms"), "usr", None)
    swapped = text[:-2] + text[-1] + text[-2]
    rows = [
        (text, time - 60_001, None, "of more than a minute from now"),
        (text, NOW, time + 1, "of a tick before the first"),
        (other, NOW, time, "of another domain"),
        (old.seal(TWITTER_ID), NOW, time, "of another key with the same letter"),
        (of_64.seal(outside), NOW, None, "of another layout"),
        (swapped, NOW, NOW - 1_000, "two digits the wrong way round"),
        (text.replace("_b", "_c"), NOW, None, "a letter without a key"),
        (text.replace("_b", "_B"), NOW, None, "a letter in upper case"),
        (text.replace("usr_", "USR_"), NOW, None, "the prefix in upper case"),
        (text.replace("usr_", "use_"), NOW, None, "another prefix"),
        (text.replace("usr_", ""), NOW, None, "no prefix"),
        (text.replace("usr_", "usr"), NOW, None, "no underscore"),
        (text[:-1], NOW, None, "a digit too few"),
        (text + "1", NOW, None, "a digit too many"),
        (text[:5] + "0" + text[6:], NOW, None, "no digit of base58"),
        (text[:5] + "\u00e9" + text[6:], NOW, None, "a letter that is not ASCII"),
        ("usr_b" + "z" * 11, NOW, None, "above 2^64 - 1"),
        (f" {text}", NOW, None, "white space"),
        (f"{text}\n", NOW, None, "a line end"),
        ("", NOW, None, "empty"),
        ("usr_", NOW, None, "the prefix alone"),
        ("usr_b", NOW, None, "prefix and letter alone"),
        (str(TWITTER_ID), NOW, None, "the ID itself"),
    ]
    found = []
    for refused, now, since, why in rows:
        try:
            PublicIds.of(OF_TWO, "user", twitter, "usr", since).open_at(refused, now)
        except FlakeIdError as error:
            if error.code != INVALID_ID:
                raise
        else:
            raise AssertionError(f"{refused!r} opens: {why}")
        found.append(
            {
                "text": refused,
                "now_ms": str(now),
                "since_ms": None if since is None else str(since),
                "code": INVALID_ID,
                "why": why,
            }
        )
    return found


def opened() -> list[dict[str, Any]]:
    """Return public IDs that open with the options of the rejected ones."""
    twitter = layout.parse("twitter")
    time = twitter.unix_ms(twitter.unpack(TWITTER_ID).tick)
    by_first_key = PublicIds.of(OF_ONE, "user", twitter, "usr", None).seal(TWITTER_ID)
    current = PublicIds.of(OF_TWO, "user", twitter, "usr", None).seal(TWITTER_ID)
    rows = [
        (current, time - 60_000, None),
        (current, NOW, time),
        (by_first_key, NOW, None),
        (current, NOW, 0),
    ]
    found = []
    for text, now, since in rows:
        ids = PublicIds.of(OF_TWO, "user", twitter, "usr", since)
        since_ms = None if since is None else str(since)
        id_ = str(ids.open_at(text, now))
        found.append({"text": text, "now_ms": str(now), "since_ms": since_ms, "id": id_})
    return found


def invalid() -> list[dict[str, Any]]:
    """Return invalid keyrings, domains and prefixes."""
    key = "000102030405060708090a0b0c0d0e0f"
    rows = [
        ("", "user", None, "keyring", "no key"),
        ("# none\n", "user", None, "keyring", "a comment alone"),
        (f"a {key[:-1]}", "user", None, "keyring", "a key that is too short"),
        (f"a {key}0", "user", None, "keyring", "a key that is too long"),
        (f"a {key[:-1]}g", "user", None, "keyring", "a key that is not hexadecimal"),
        (f"A {key}", "user", None, "keyring", "a letter in upper case"),
        (f"1 {key}", "user", None, "keyring", "a digit for a letter"),
        (f"ab {key}", "user", None, "keyring", "two letters"),
        (key, "user", None, "keyring", "no letter"),
        (f"a {key} x", "user", None, "keyring", "a third word"),
        (f"a {key}\na {key}", "user", None, "keyring", "a letter that is there twice"),
        (OF_ONE, "", None, "domain", "empty"),
        (OF_ONE, "x" * 65, None, "domain", "too long"),
        (OF_ONE, "\u00fc" * 33, None, "domain", "too long in bytes"),
        (OF_ONE, "user", "", "prefix", "empty"),
        (OF_ONE, "user", "Usr", "prefix", "upper case"),
        (OF_ONE, "user", "7up", "prefix", "a digit first"),
        (OF_ONE, "user", "usr_", "prefix", "an underscore"),
        (OF_ONE, "user", "x" * 17, "prefix", "too long"),
        (OF_ONE, "user", "\u00fcsr", "prefix", "a letter that is not ASCII"),
    ]
    found = []
    for keyring, domain, prefix, option, why in rows:
        try:
            PublicIds.of(keyring, domain, layout.parse("twitter"), prefix, None)
        except FlakeIdError as error:
            if (error.code, error.field) != (INVALID_OPTION, option):
                raise
        else:
            raise AssertionError(f"{option}: {why} is accepted")
        members = {"keyring": keyring, "domain": domain, "prefix": prefix}
        found.append({**members, "option": option, "code": INVALID_OPTION, "why": why})
    return found


def check_published() -> None:
    """Check that the cipher is Speck64/128."""
    key, block, sealed = bytes.fromhex(PUBLISHED[0]), *PUBLISHED[1:]
    if encipher(key, block) != sealed or decipher(key, sealed) != block:
        raise AssertionError("the published vector")


def document() -> dict[str, Any]:
    """Return the content of keyed.json."""
    check_published()
    return {
        "public_ids": cases(),
        "one_domain": {"keyring": OF_TWO, "domain": "user", "layout": "twitter", "prefix": "usr"},
        "opened": opened(),
        "rejected": rejected(),
        "invalid": invalid(),
    }
