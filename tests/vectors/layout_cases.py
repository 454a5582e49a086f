"""The content of layouts.json: presets, descriptors, IDs, bounds, refusals."""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Iterator
from typing import Any

import known
from errors import FIELD_OUT_OF_RANGE, INVALID_ID, INVALID_LAYOUT, FlakeIdError
from layout import EPOCH_MAX, I64_MAX, PRESETS, U64_MAX, Layout, Parts, parse
from pseudo_random import splitmix64

I64_MIN = -(2**63)
RANDOM_IDS = 5
DAY_MS = 86_400_000
MASTODON = "t48.s16@0/1ms"

CUSTOM = (
    "t40.s12.d5.w5@1577836800000/1ms",  # sequence above a split node
    "t41.r2.n10.s10@1577836800000/1ms",  # reserved bits inside
    "t40.n8.s12.r4@0/1ms",  # reserved bits at the end, 64 bits
    "t39.c2.n8.s12@1577836800000/1ms",  # clock-sequence bits
    "t38.n6.s8.c1@1577836800000/1ms",  # a clock-sequence bit at the end, 53 bits
    "t44.n12.s8@0/1ms",  # 64 bits
    "t40.n5.s8@1704067200000/1ms",  # 53 bits
    "t1.c1.d1.w1.s1.r1@0/1ms",  # every field one bit
    "t40.n10.s13@1577836800005/5ms",
    "t42.n10.s11@1577836800000/7ms",
    "t38.s9.n16@1577836800010/10ms",
    "t36.n12.s12@1577836800100/100ms",
    "t30.n10.s10@1577836800123/1s",  # the epoch is not a multiple of the unit
    "t32.n16.s15@0/1s",
    "t24.n10.s16@1577836800000/60s",
    "t41.s12@0/1ms",  # no node
    "t41.n10@0/1ms",  # no sequence
    "t41@1577836800000/1ms",  # only a time field
    "t50.n1.s13@0/1ms",  # time and sequence have exactly 63 bits
    "t62.n1.s1@0/1ms",  # the longest possible time field
    MASTODON,
)

VALID_DESCRIPTORS = (
    *PRESETS,
    *PRESETS.values(),
    *CUSTOM,
    "t41.d5.w5.s12@2010-11-04T01:42:54.657Z/1ms",
    "t41.n10.s12@1970-01-01T00:00:00Z/1ms",
    "t29.n21.s13@2016-09-20T00:00:00+08:00/1s",
    "t29.n21.s13@2016-09-19T11:00:00-05:00/1000ms",
    "t29.n21.s13@2016-09-19T21:30:00+05:30/1s",
    "t39.s8.n16@2014-09-01T00:00:00.0Z/10ms",
    "t39.s8.n16@2014-09-01T00:00:00.00Z/10ms",
    "t39.s8.n16@2014-09-01T00:00:00.000Z/10ms",
    "t39.s8.n16@2014-09-01T00:00:00.5Z/10ms",
    "t39.s8.n16@2014-09-01T00:00:00.05Z/10ms",
    "t41.n10.s12@2020-02-29T23:59:59.999Z/1ms",
    "t41.n10.s12@2000-02-29T00:00:00Z/1ms",
    "t41.n10.s12@1969-12-31T23:00:00-01:00/1ms",
    "t41.n10.s12@9999-12-31T23:59:59.999Z/1ms",
    f"t41.n10.s12@{EPOCH_MAX}/1ms",
    "t24.n10.s16@0/60000ms",
    "t24.n10.s16@0/1500ms",
    "t24.n10.s16@0/3600s",
    "t41.c2.s10.r3.n8@0/1ms",
    "t40.d8.w4.s12@0/1ms",
    "t41.s10.n12@0/1ms",
    "t50.n1.s12.c1@0/1ms",
    "t48.n1.s12.c2@0/1ms",
    "t49.n1.s12.c2@0/1ms",
    "t62@0/1ms",
    "t62.s1@0/1ms",
    "t62.s2@0/1ms",
    "t1.n63@0/1ms",
    "t1.s62@0/1ms",
    "t1.s63@0/1ms",
    "t1@1/4611686018427387903ms",  # the horizon is 2^63 - 1
)

INVALID_DESCRIPTORS = (
    ("", "empty"),
    ("@", "nothing but separators"),
    ("t41.n10.s12", "no epoch and no unit"),
    ("t41.n10.s12@0", "no unit"),
    ("t41.n10.s12/1ms", "no epoch"),
    ("t41.n10.s12/1ms@0", "separators the wrong way round"),
    ("@0/1ms", "no fields"),
    ("n10.s12@0/1ms", "no time field"),
    ("n10.t41.s12@0/1ms", "time is not first"),
    ("s12.t41.n10@0/1ms", "time is not first"),
    ("t41.t1.n10@0/1ms", "a letter twice: t"),
    ("t41.s6.n10.s6@0/1ms", "a letter twice: s"),
    ("t41.r1.n10.r1@0/1ms", "a letter twice: r"),
    ("t41.d5.w5.d5@0/1ms", "a letter twice: d"),
    ("t41.x10.s12@0/1ms", "unknown letter"),
    ("T41.n10.s12@0/1ms", "upper-case letter"),
    ("t41.n.s12@0/1ms", "no width"),
    ("t.n10.s12@0/1ms", "no width"),
    ("t41.10.s12@0/1ms", "no letter"),
    ("t41.n0.s12@0/1ms", "width 0"),
    ("t0.n10.s12@0/1ms", "width 0"),
    ("t41.n+10.s12@0/1ms", "sign in a width"),
    ("t41.n-1.s12@0/1ms", "negative width"),
    ("t41.n1x.s12@0/1ms", "rubbish after a width"),
    ("t65@0/1ms", "width 65"),
    ("t1.n64@0/1ms", "65 bits together"),
    ("t41.n12.s12@0/1ms", "65 bits together"),
    ("t41.n18446744073709551616@0/1ms", "width beyond 64 bits"),
    ("t41.n4294967306.s12@0/1ms", "width that is 10 modulo 2^32"),
    ("t41.n266.s12@0/1ms", "width that is 10 modulo 2^8"),
    ("t41.d5.s12@0/1ms", "datacenter without worker"),
    ("t41.w5.s12@0/1ms", "worker without datacenter"),
    ("t41.w5.d5.s12@0/1ms", "worker above datacenter"),
    ("t41.d5.s12.w5@0/1ms", "worker not directly after datacenter"),
    ("t41.d5.r1.w5@0/1ms", "worker not directly after datacenter"),
    ("t41.n2.d4.w4.s12@0/1ms", "node and datacenter"),
    ("t41.d4.w4.n2.s12@0/1ms", "worker and node"),
    ("t41.n10.s12.@0/1ms", "dot at the end"),
    (".t41.n10.s12@0/1ms", "dot at the start"),
    ("t41..n10.s12@0/1ms", "two dots"),
    ("t41,n10,s12@0/1ms", "commas"),
    ("t41 .n10.s12@0/1ms", "white space among the fields"),
    (" t41.n10.s12@0/1ms", "white space before"),
    ("t41.n10.s12@0/1ms ", "white space after"),
    ("t41.n10.s12@0/1ms\n", "line end after"),
    ("t41.n10.s12@0/1ms\0", "NUL after"),
    ("t41.n10.s12@ 0/1ms", "white space before the epoch"),
    ("t\u0664\u0661.n10.s12@0/1ms", "digits that are not ASCII"),
    ("t41.n10.s12@\uff10/1ms", "digits that are not ASCII"),
    ("t41.n10.s12@0/\uff11ms", "digits that are not ASCII"),
    ("t41.n10.s12@/1ms", "empty epoch"),
    ("t41.n10.s12@-1/1ms", "negative epoch"),
    ("t41.n10.s12@+1/1ms", "sign before the epoch"),
    ("t41.n10.s12@1.5/1ms", "fraction in an epoch in ms"),
    ("t41.n10.s12@0x10/1ms", "hexadecimal epoch"),
    ("t41.n10.s12@1e3/1ms", "exponent in an epoch"),
    ("t41.n10.s12@253402300800000/1ms", "epoch past the year 9999"),
    ("t41.n10.s12@18446744073709551616/1ms", "epoch beyond 64 bits"),
    ("t41.n10.s12@1969-12-31T23:59:59Z/1ms", "time stamp before 1970"),
    ("t41.n10.s12@1970-01-01T00:00:00+00:01/1ms", "time stamp before 1970"),
    (
        "t41.n10.s12@9999-12-31T23:59:59-01:00/1ms",
        "time stamp past the year 9999 in UTC",
    ),
    ("t41.n10.s12@2020-01-01/1ms", "date alone"),
    ("t41.n10.s12@2020-01-01T00:00:00/1ms", "time stamp without an offset"),
    ("t41.n10.s12@2020-01-01T00:00Z/1ms", "time stamp without seconds"),
    ("t41.n10.s12@2020-01-01T00:00:00.Z/1ms", "point without digits"),
    ("t41.n10.s12@2020-01-01T00:00:00.0000Z/1ms", "more fraction digits than ms have"),
    (
        "t41.n10.s12@2020-01-01T00:00:00.123456Z/1ms",
        "more fraction digits than ms have",
    ),
    ("t41.n10.s12@2020-01-01T00:00:00,5Z/1ms", "comma before the fraction"),
    ("t41.n10.s12@2020-01-01T00:00:00+0800/1ms", "offset without a colon"),
    ("t41.n10.s12@2020-01-01T00:00:00+08/1ms", "offset without minutes"),
    ("t41.n10.s12@2020-01-01T00:00:00+24:00/1ms", "offset of 24 hours"),
    ("t41.n10.s12@2020-01-01T00:00:00+08:60/1ms", "offset with 60 minutes"),
    ("t41.n10.s12@2020-00-01T00:00:00Z/1ms", "month 0"),
    ("t41.n10.s12@2020-13-01T00:00:00Z/1ms", "month 13"),
    ("t41.n10.s12@2020-01-00T00:00:00Z/1ms", "day 0"),
    ("t41.n10.s12@2020-01-32T00:00:00Z/1ms", "day 32"),
    ("t41.n10.s12@2020-04-31T00:00:00Z/1ms", "April 31st"),
    ("t41.n10.s12@2021-02-29T00:00:00Z/1ms", "February 29th, no leap year"),
    ("t41.n10.s12@2100-02-29T00:00:00Z/1ms", "February 29th, no leap year"),
    ("t41.n10.s12@2020-01-01T24:00:00Z/1ms", "hour 24"),
    ("t41.n10.s12@2020-01-01T00:60:00Z/1ms", "minute 60"),
    ("t41.n10.s12@2016-12-31T23:59:60Z/1ms", "leap second: Unix time has none"),
    ("t41.n10.s12@20-01-01T00:00:00Z/1ms", "year of two digits"),
    ("t41.n10.s12@10000-01-01T00:00:00Z/1ms", "year of five digits"),
    ("t41.n10.s12@0/", "empty unit"),
    ("t41.n10.s12@0/ms", "unit without a number"),
    ("t41.n10.s12@0/1", "unit without a name"),
    ("t41.n10.s12@0/0ms", "unit 0"),
    ("t41.n10.s12@0/0s", "unit 0"),
    ("t41.n10.s12@0/-1ms", "negative unit"),
    ("t41.n10.s12@0/+1ms", "sign before the unit"),
    ("t41.n10.s12@0/1 ms", "white space in the unit"),
    ("t41.n10.s12@0/ 1ms", "white space in the unit"),
    ("t41.n10.s12@0/1.5ms", "fraction in the unit"),
    ("t41.n10.s12@0/1us", "unknown unit"),
    ("t41.n10.s12@0/1m", "unknown unit"),
    ("t41.n10.s12@0/1MS", "upper-case unit"),
    ("t41.n10.s12@0/1mss", "rubbish after the unit"),
    ("t41.n10.s12@0/1ms/1ms", "two units"),
    ("t41.n10.s12@0@0/1ms", "two epochs"),
    ("t1.n1@0/18446744073709551616ms", "unit beyond 64 bits"),
    ("t1.n1@0/18446744073709552s", "unit beyond 64 bits once in ms"),
    ("t1@1/4611686018427387904ms", "horizon past 2^63 - 1"),
    ("t1@2/4611686018427387903ms", "horizon past 2^63 - 1"),
    ("t62@0/2ms", "horizon past 2^63 - 1"),
    ("t63@0/1ms", "horizon past 2^63 - 1"),
    ("t64@0/1ms", "horizon past 2^63 - 1"),
    ("t41.n10.s12@0/4194304000s", "horizon past 2^63 - 1"),
    ("TWITTER", "upper-case preset"),
    ("Twitter", "upper-case preset"),
    ("js_safe", "not a preset's name"),
    ("mastodont", "not a preset's name"),
    ("twitter ", "white space after a preset"),
    ("twitter@0/1ms", "preset where fields belong"),
)


def document() -> dict[str, Any]:
    """Return the content of layouts.json."""
    names = [*PRESETS, *CUSTOM]
    return {
        "presets": [preset(name) for name in PRESETS],
        "descriptors": {
            "valid": [valid_descriptor(text) for text in VALID_DESCRIPTORS],
            "invalid": [invalid_descriptor(text, why) for text, why in INVALID_DESCRIPTORS],
        },
        "ids": [
            *(id_entry(entry.layout, entry.id, entry.origin) for entry in known.IDS),
            *(id_entry("twitter", id_, origin + " (bytes)") for id_, _, origin in known.BYTES),
            *itertools.chain.from_iterable(systematic_ids(name) for name in names),
        ],
        "rejected_parts": list(itertools.chain.from_iterable(map(rejected_parts, names))),
        "rejected_splits": list(itertools.chain.from_iterable(map(rejected_splits, names))),
        "rejected_ids": list(itertools.chain.from_iterable(map(rejected_ids, names))),
        "bounds": list(itertools.chain.from_iterable(map(bounds, names))),
    }


def preset(name: str) -> dict[str, Any]:
    """Return a preset, and everything that follows from its descriptor."""
    layout = parse(name)
    return {
        "name": name,
        "descriptor": layout.descriptor,
        "width": layout.width,
        "max_tick": str(layout.max_tick),
        "max_node": str(layout.max_node),
        "max_sequence": str(layout.max_sequence),
        "ids_per_tick": str(layout.max_sequence + 1),
        "horizon_unix_ms": str(layout.horizon),
        "horizon": layout.timestamp(layout.horizon),
        "fits_i64_until_unix_ms": str(layout.fits_i64_until),
        "split": layout.split,
        "generates": layout.generates,
    }


def valid_descriptor(text: str) -> dict[str, Any]:
    """Return a descriptor and its canonical form, which must describe the same layout."""
    layout = parse(text)
    known.expect(parse(layout.descriptor), layout, f"canonical form of {text}")
    return {"text": text, "canonical": layout.descriptor, "generates": layout.generates}


def invalid_descriptor(text: str, why: str) -> dict[str, Any]:
    """Return a descriptor that must be rejected."""
    try:
        parse(text)
    except FlakeIdError as error:
        known.expect(error.code, INVALID_LAYOUT, f"layout {text!r}")
        return {"text": text, "why": why}
    raise known.MismatchError(f"layout {text!r} must be refused: {why}")


def id_entry(name: str, id_: int, origin: str) -> dict[str, Any]:
    """Return an ID and its parts."""
    layout = parse(name)
    parts = layout.unpack(id_)
    known.expect(layout.pack(parts), id_, f"{name} {id_}")
    unix_ms = layout.unix_ms(parts.tick)
    datacenter, worker = layout.split_node(parts.node)
    return {
        "layout": name,
        "id": str(id_),
        "tick": str(parts.tick),
        "unix_ms": str(unix_ms),
        "timestamp": layout.timestamp(unix_ms),
        "node": str(parts.node),
        "datacenter": None if datacenter is None else str(datacenter),
        "worker": None if worker is None else str(worker),
        "clock_sequence": str(parts.clock_sequence),
        "sequence": str(parts.sequence),
        "bytes": id_.to_bytes(8, "big").hex(),
        "origin": origin,
    }


def systematic_ids(name: str) -> Iterator[dict[str, Any]]:
    """Return IDs with all fields zero, all at most, each field alone at most, and random fields."""
    layout = parse(name)
    fields = {letter: layout.maximum(letter) for letter, _ in layout.fields if letter != "r"}
    yield id_entry(name, 0, "corner: all zero")
    yield id_entry(name, of_fields(layout, fields), "corner: every field at most")
    for letter, most in fields.items():
        yield id_entry(name, of_fields(layout, {letter: most}), f"corner: {letter} alone at most")
    words = splitmix64(zlib.crc32(name.encode()))
    for _ in range(RANDOM_IDS):
        values = {letter: next(words) & most for letter, most in fields.items()}
        yield id_entry(name, of_fields(layout, values), "pseudo-random")


def of_fields(layout: Layout, values: dict[str, int]) -> int:
    """Return the ID of fields by letter; the other fields are zero."""
    return sum(value << layout.shift(letter) for letter, value in values.items())


def rejected_parts(name: str) -> Iterator[dict[str, Any]]:
    """Return parts with one field out of range, by one and as far as 64 bits allow."""
    layout = parse(name)
    limits = {
        "tick": layout.max_tick,
        "node": layout.max_node,
        "clock_sequence": layout.maximum("c"),
        "sequence": layout.max_sequence,
    }
    cases = [(field, value) for field, most in limits.items() for value in (most + 1, U64_MAX)]
    if name == "twitter":
        cases += [
            ("node", 2**32),
            ("sequence", 2**32),
            ("node", 2**16),
            ("sequence", 2**16),
        ]
    for field, value in cases:
        yield rejected_part(name, field, value)
    if name == "baidu":  # 30/18/5: an oversized worker must not bleed into its neighbour
        yield rejected_part("t30.n18.s5@1463673600000/1s", "node", 462146)


def rejected_part(name: str, field: str, value: int) -> dict[str, Any]:
    """Return parts with one field out of range."""
    values = {"tick": 0, "node": 0, "clock_sequence": 0, "sequence": 0, field: value}
    try:
        parse(name).pack(Parts(**values))
    except FlakeIdError as error:
        known.expect((error.code, error.field), (FIELD_OUT_OF_RANGE, field), f"{name} {values}")
        texts = {key: str(number) for key, number in values.items()}
        return {"layout": name, **texts, "code": error.code, "field": error.field}
    raise known.MismatchError(f"{name} {values} must be refused")


def rejected_splits(name: str) -> Iterator[dict[str, Any]]:
    """Return nodes with datacenter or worker out of range, if the layout splits the node."""
    layout = parse(name)
    if not layout.split:
        return
    datacenters, workers = layout.maximum("d") + 1, layout.maximum("w") + 1
    for datacenter, worker, field in (
        (datacenters, 0, "datacenter"),
        (U64_MAX, 0, "datacenter"),
        (0, workers, "worker"),
        (0, U64_MAX, "worker"),
        (datacenters - 1, workers, "worker"),
        (datacenters, workers - 1, "datacenter"),
    ):
        try:
            layout.node(datacenter, worker)
        except FlakeIdError as error:
            what = f"{name}: datacenter {datacenter}, worker {worker}"
            known.expect((error.code, error.field), (FIELD_OUT_OF_RANGE, field), what)
            yield {
                "layout": name,
                "datacenter": str(datacenter),
                "worker": str(worker),
                "code": error.code,
                "field": error.field,
            }


def rejected_ids(name: str) -> Iterator[dict[str, Any]]:
    """Return IDs with bits above the fields, or with reserved bits set."""
    layout = parse(name)
    ids = []
    if layout.width < 64:
        ids += [1 << layout.width, 1 << 63, 1 << 63 | 1, U64_MAX]
    if layout.bits("r"):
        lowest = 1 << layout.shift("r")
        highest = lowest << (layout.bits("r") - 1)
        ids += [lowest, highest, lowest * layout.maximum("r"), (1 << layout.width) - 1]
    for id_ in dict.fromkeys(ids):
        try:
            layout.unpack(id_)
        except FlakeIdError as error:
            known.expect(error.code, INVALID_ID, f"{name} {id_}")
            yield {"layout": name, "id": str(id_), "code": error.code}


def bounds(name: str) -> Iterator[dict[str, Any]]:
    """Return bounds inside the layout, at its edges and far outside."""
    layout = parse(name)
    epoch, unit, horizon = layout.epoch, layout.unit, layout.horizon
    instants = {
        *(I64_MIN, -1, 0, known.NEW_YEAR_2020 + 123, I64_MAX),
        *(epoch - 1, epoch, epoch + unit - 1, epoch + unit),
        *(horizon - unit, horizon - 1, horizon, min(horizon + DAY_MS, I64_MAX)),
    }
    for unix_ms in sorted(instants):
        yield {
            "layout": name,
            "unix_ms": str(unix_ms),
            "lower": str(layout.lower_bound(unix_ms)),
            "upper": str(layout.upper_bound(unix_ms)),
        }
