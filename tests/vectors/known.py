"""Literals published by other systems, each with its origin, and their check.

Nothing here is computed: the checks compare these figures with the reference.
"""

from __future__ import annotations

from typing import NamedTuple

from errors import FlakeIdError
from generator import Generator, Options
from layout import Parts, parse
from text import FORMS
from uuid_form import encode as encode_uuid

TUTORIAL = "a widely read tutorial's worked example of a Twitter ID"
VD2ORG = "tests of vd2org/snowflake"
SAPPHIRE = "tests of @sapphire/snowflake"
TWITTER_SPEC = "twitter-archive/snowflake, IdWorkerSpec"
FLAKE_IDGEN = "README of flake-idgen"
FLAKE_IDGEN_295 = "README of flake-idgen, which misprints generator id 295 as 259"
BAIDU = "README of baidu/uid-generator"
SEED = "a 41/10/12 generator with epoch 0 and a MAC-derived node"
DISCORD = "Discord's API reference"
DISCORD_JS = "tests of discord.js and @sapphire/snowflake"
INSTAGRAM = "a published Instagram media ID"
YITTER = "README of yitter/IdGenerator"
PGEDGE = "documentation of pgEdge/snowflake, which shows an ID from before October 2023"
BWMARRIN = "tests of bwmarrin/snowflake"
FERROID = "documentation of ferroid"
COLLECTED = "published test vector, confirmed by arithmetic"
LARGEST = "the largest 64-bit number"


class MismatchError(Exception):
    """The reference does not reproduce a published literal, or a rule about the data fails."""


class KnownId(NamedTuple):
    """An ID and its fields, as the publisher documents them."""

    layout: str
    id: int
    origin: str
    unix_ms: int
    node: int
    sequence: int
    tick: int | None = None
    split: tuple[int, int] | None = None


NEW_YEAR_2020 = 1577836800000

IDS = (
    KnownId(
        "t41.s12.n10@1672531200000/1ms",
        136169504773242881,
        PGEDGE,
        1704996539845,
        node=1,
        sequence=0,
    ),
    KnownId(
        "twitter",
        910499571847892992,
        TUTORIAL,
        1505914988849,
        node=569,
        sequence=0,
        tick=217080014192,
        split=(17, 25),
    ),
    KnownId(
        "twitter",
        856165981072306191,
        VD2ORG,
        1492960851339,
        node=363,
        sequence=15,
        tick=204125876682,
    ),
    KnownId("twitter", 1212161512043450368, SAPPHIRE, NEW_YEAR_2020, 1, 0, split=(0, 1)),
    KnownId("twitter", 1823945883910279168, SAPPHIRE, 1723697560657, 33, 0, split=(1, 1)),
    KnownId(
        "twitter",
        0x1F000,
        TWITTER_SPEC + ": worker mask",
        1288834974657,
        31,
        0,
        0,
        (0, 31),
    ),
    KnownId(
        "twitter",
        0x3E0000,
        TWITTER_SPEC + ": datacenter mask",
        1288834974657,
        992,
        0,
        0,
        (31, 0),
    ),
    KnownId(
        "twitter",
        0xFFFFFFFFFFC00000 & 0x7FFFFFFFFFFFFFFF,
        TWITTER_SPEC + ": time mask without the sign bit",
        3487858230208,
        node=0,
        sequence=0,
        tick=2199023255551,
        split=(0, 0),
    ),
    KnownId(
        "twitter",
        9223372036854775807,
        "the largest ID of 41/10/12",
        3487858230208,
        node=1023,
        sequence=4095,
        tick=2199023255551,
        split=(31, 31),
    ),
    KnownId(
        "flakeid",
        0x02308150EC000000,
        FLAKE_IDGEN,
        0x8C20543B0,
        0,
        0,
        0x8C20543B0,
        (0, 0),
    ),
    KnownId(
        "flakeid",
        0x02308150EC400000,
        FLAKE_IDGEN,
        0x8C20543B1,
        0,
        0,
        0x8C20543B1,
        (0, 0),
    ),
    KnownId(
        "flakeid",
        0x02308150EC400001,
        FLAKE_IDGEN,
        0x8C20543B1,
        0,
        1,
        0x8C20543B1,
        (0, 0),
    ),
    KnownId(
        "flakeid",
        0x02308150EC400002,
        FLAKE_IDGEN,
        0x8C20543B1,
        0,
        2,
        0x8C20543B1,
        (0, 0),
    ),
    KnownId(
        "flakeid",
        0x02308150EC400003,
        FLAKE_IDGEN,
        0x8C20543B1,
        0,
        3,
        0x8C20543B1,
        (0, 0),
    ),
    KnownId(
        "flakeid",
        0x02308300CD461000,
        FLAKE_IDGEN,
        0x8C20C0335,
        97,
        0,
        0x8C20C0335,
        (3, 1),
    ),
    KnownId(
        "flakeid",
        0x02308300CD461001,
        FLAKE_IDGEN,
        0x8C20C0335,
        97,
        1,
        0x8C20C0335,
        (3, 1),
    ),
    KnownId("flakeid", 5828128208445124608, FLAKE_IDGEN, 1389534046279, 227, 0, split=(7, 3)),
    KnownId("flakeid", 0x127000, FLAKE_IDGEN_295, 0, node=295, sequence=0, split=(9, 7)),
    KnownId("flakeid", 0x155000, FLAKE_IDGEN, 0, node=0x155, sequence=0, split=(0x0A, 0x15)),
    KnownId(
        "baidu-29",
        180363646902239241,
        BAIDU,
        1484799346000,
        node=4,
        sequence=9,
        tick=10498546,
    ),
    KnownId("plain", 7173916012573569024, SEED, 1710394862311, node=755, sequence=0),
    KnownId("plain", 7173916012570476544, SEED + ": time part", 1710394862311, 0, 0),
    KnownId("plain", 3092480, SEED + ": node part", 0, node=755, sequence=0),
    KnownId(
        "discord",
        175928847299117063,
        DISCORD,
        1462015105796,
        node=32,
        sequence=7,
        tick=41944705796,
        split=(1, 0),
    ),
    KnownId("discord", 661720242585604096, SAPPHIRE, NEW_YEAR_2020, 1, 0, split=(0, 1)),
    KnownId("discord", 661720242585735168, DISCORD_JS, NEW_YEAR_2020, 33, 0, split=(1, 1)),
    KnownId(
        "instagram",
        1671372309237077023,
        INSTAGRAM,
        1513463127280,
        node=5,
        sequence=31,
        tick=199243105559,
    ),
    KnownId(
        "js-safe",
        129053495681099,
        YITTER,
        1613643603094,
        node=1,
        sequence=11,
        tick=31507201094,
    ),
)
"""All published IDs; 0x127000 and 0x155000 are shifted generator IDs."""


class KnownText(NamedTuple):
    """An ID and its canonical text in one form."""

    form: str
    text: str
    id: int
    origin: str


TEXTS = (
    KnownText("base32", "0000000000000", 0, FERROID),
    KnownText("base32", "000000000000A", 10, FERROID),
    KnownText("base32", "23953MG16DJDJ", 2424242424242424242, FERROID),
    KnownText("base32", "0123456789ABC", 38390726480144748, COLLECTED),
    KnownText("base32", "FZZZZZZZZZZZZ", 18446744073709551615, LARGEST),
    KnownText("base62", "LygHa16AHYF", 18446744073709551615, LARGEST),
    KnownText("base62", "2qjozYFz4T6", 0x2133FB480623F824, COLLECTED),
    KnownText("base36", "8hgmw4blvlkw", 1116817865006120960, BWMARRIN),
    KnownText("hex", "0000000000003513", 13587, BWMARRIN + " (bytes)"),
    KnownText("hex", "0f7fc0fc2f800000", 1116823421972381696, BWMARRIN + " (bytes)"),
    KnownText("base58_flickr", "4jgmnx8Js8A", 1428076403798048768, BWMARRIN),
    KnownText("zbase32", "b8wjm1zroyyyy", 1427970479175499776, BWMARRIN),
    KnownText("decimal", "18446744073709551615", 18446744073709551615, LARGEST),
)

REJECTED_TEXTS = (
    ("base32", "G000000000000", "overflow: one above FZZZZZZZZZZZZ"),
    ("base32", "000000000000U", "U is no Crockford digit"),
    ("base32", "000000000000u", "u is no Crockford digit"),
    ("base32", "000000000000#", "foreign character #"),
    ("base36", "68h5gmw443blv2lk1w", "too long (" + BWMARRIN + ")"),
    ("base58_flickr", "0jgmnx8Js8A", "0 is no digit (" + BWMARRIN + ")"),
    ("base62", "LygHa16AHYG", "overflow: one above the largest"),
    ("base62", "LygHa16AHYH", "overflow: two above the largest"),
    ("decimal", "18446744073709551616", "overflow: one above the largest"),
)

BYTES = (
    (13587, "0000000000003513", BWMARRIN),
    (1116823421972381696, "0f7fc0fc2f800000", BWMARRIN),
)


UUIDS = (
    (0, "00000000-0000-8000-8366-6c616b656964"),
    (0xABCDEF0123456789, "abcdef01-2345-8678-a766-6c616b656964"),
    (18446744073709551615, "ffffffff-ffff-8fff-bf66-6c616b656964"),
)
"""Written by hand from the figure of RFC 9562, section 5.8."""


class KnownTime(NamedTuple):
    """An instant of a layout as published, with a precision of a day or of the layout."""

    layout: str
    what: str
    timestamp: str
    origin: str
    unix_ms: int | None = None


DESIGN = "this project's table of presets"

TIMES = (
    KnownTime(
        "baidu",
        "horizon",
        "2024-11-20T13:24:16Z",
        "baidu/uid-generator#100",
        1732109056000,
    ),
    KnownTime("baidu-29", "horizon", "2033-09-24", DESIGN),
    KnownTime("plain", "last tick", "2039-09-07T15:47:35.551Z", SEED),
    KnownTime("plain", "horizon", "2039-09-07", DESIGN),
    KnownTime("flakeid", "fits_i64_until", "2039-09-07", DESIGN),
    KnownTime("twitter", "fits_i64_until", "2080-07-10", DESIGN),
    KnownTime("discord", "fits_i64_until", "2084-09-06", DESIGN),
    KnownTime("baidu-29", "180363646902239241", "2017-01-19T04:15:46Z", BAIDU),
    KnownTime("twitter", "1212161512043450368", "2020-01-01T00:00:00.000Z", SAPPHIRE),
    KnownTime("discord", "661720242585604096", "2020-01-01T00:00:00.000Z", SAPPHIRE),
)


def check() -> None:
    """Compare every literal with the reference; raise MismatchError at the first difference."""
    for known in IDS:
        check_id(known)
    for text in TEXTS:
        expect(FORMS[text.form].decode(text.text), text.id, f"{text.form} {text.text}")
        expect(FORMS[text.form].encode(text.id), text.text, f"{text.form} of {text.id}")
    for form, spelling, why in REJECTED_TEXTS:
        expect(refuses(form, spelling), True, f"{form} {spelling} must be rejected: {why}")
    for id_, digits, origin in BYTES:
        expect(id_.to_bytes(8, "big").hex(), digits, f"bytes of {id_} ({origin})")
    for id_, text in UUIDS:
        expect(encode_uuid(id_), text, f"UUID of {id_}")
    for time in TIMES:
        check_time(time)
    check_clocks()


def check_id(known: KnownId) -> None:
    """Pack and unpack one published ID."""
    layout = parse(known.layout)
    tick = layout.tick(known.unix_ms)
    parts = Parts(tick, known.node, 0, known.sequence)
    label = f"{known.layout} {known.id} ({known.origin})"
    expect(layout.unpack(known.id), parts, label)
    expect(layout.pack(parts), known.id, label)
    expect(layout.unix_ms(tick), known.unix_ms, label)
    if known.tick is not None:
        expect(tick, known.tick, label)
    if known.split is not None:
        expect(layout.split_node(known.node), known.split, label)
        expect(layout.node(*known.split), known.node, label)


def check_time(known: KnownTime) -> None:
    """Compare one published instant with the layout's; a number in `what` is an ID."""
    layout = parse(known.layout)
    if known.what.isdigit():
        instant = layout.unix_ms(layout.unpack(int(known.what)).tick)
    else:
        instant = {
            "horizon": layout.horizon,
            "fits_i64_until": layout.fits_i64_until,
            "last tick": layout.unix_ms(layout.max_tick),
        }[known.what]
    label = f"{known.layout}: {known.what} ({known.origin})"
    timestamp = layout.timestamp(instant) or ""
    expect(timestamp[: len(known.timestamp)], known.timestamp, label)
    if known.unix_ms is not None:
        expect(instant, known.unix_ms, label)


def check_clocks() -> None:
    """Check the scripted clocks with published results."""
    twitter = parse("twitter")
    instant = NEW_YEAR_2020
    generator = Generator(twitter, 1, instant, Options(), None)
    sequences = []
    for reading in (instant, instant, instant + 1, instant + 2):
        generator.clock = reading
        sequences += [twitter.unpack(id_).sequence for id_ in generator.try_fill(1)]
    expect(sequences, [0, 1, 0, 0], "readings t, t, t+1, t+2")

    generator = Generator(twitter, 1, twitter.unix_ms(2), Options(), None)
    expect(len(generator.try_fill(4096)), 4096, "a full tick 2")
    (after,) = generator.fill(1)
    expect(twitter.unpack(after), Parts(3, 1), f"{TWITTER_SPEC}: readings 2, 2, 3")
    expect(generator.stats.waits, 1, f"{TWITTER_SPEC}: readings 2, 2, 3")

    masked = Generator(parse("flakeid"), 1, instant, Options(sequence_mask=0x0F), None)
    expect(len(masked.try_fill(17)), 16, f"{FLAKE_IDGEN}: seqMask 0x0F")


def refuses(form: str, text: str) -> bool:
    """Return whether decoding fails."""
    try:
        FORMS[form].decode(text)
    except FlakeIdError:
        return True
    return False


def expect(found: object, wanted: object, what: str) -> None:
    """Raise MismatchError unless the two values are equal."""
    if found != wanted:
        raise MismatchError(f"{what}: computed {found!r}, expected {wanted!r}")
