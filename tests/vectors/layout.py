"""Layouts: descriptors, packing, unpacking, bounds and time stamps.

A layout cuts the low ``width`` bits of an ID into fields, most significant first:

    id       = sum(value(field) << shift(field))
    shift(f) = sum of the widths of the fields after f
    tick     = floor((unix_ms - epoch) / unit)
    node     = datacenter << worker_bits | worker      where the node is split
    horizon  = epoch + 2^time_bits * unit              (Unix ms, exclusive)
"""

from __future__ import annotations

import datetime
import functools
import re
from dataclasses import dataclass

from errors import FIELD_OUT_OF_RANGE, INVALID_ID, INVALID_LAYOUT, FlakeIdError

I64_MAX = 2**63 - 1
U64_MAX = 2**64 - 1
EPOCH_MAX = 253_402_300_799_999  # 9999-12-31T23:59:59.999Z
DAY_MS = 86_400_000
UNIX_DAY = datetime.date(1970, 1, 1).toordinal()

PRESETS = {
    "twitter": "t41.d5.w5.s12@1288834974657/1ms",
    "flakeid": "t42.d5.w5.s12@0/1ms",
    "plain": "t41.n10.s12@0/1ms",
    "baidu": "t28.n22.s13@1463673600000/1s",
    "baidu-29": "t29.n21.s13@1474300800000/1s",
    "sonyflake": "t39.s8.n16@1409529600000/10ms",
    "discord": "t42.d5.w5.s12@1420070400000/1ms",
    "instagram": "t41.n13.s10@1314220021721/1ms",
    "js-safe": "t41.n6.s6@1582136402000/1ms",
    "mastodon": "t47.s16@0/1ms",
    "tsid": "t42.n10.s12@1577836800000/1ms",
    "cosid": "t41.n10.s12@1577203200000/1ms",
    "pgedge": "t41.n10.s12@1672531200000/1ms",
}

NUMBER = re.compile(r"0|[1-9][0-9]*")
FIELD = re.compile(r"([tdwnscr])([1-9][0-9]*)")
UNIT = re.compile(r"([1-9][0-9]*)(ms|s)")
RFC_3339 = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]{1,3}))?"
    r"(?:Z|([+-])([0-9]{2}):([0-9]{2}))"
)


@dataclass(frozen=True)
class Parts:
    """The fields of an ID."""

    tick: int
    node: int = 0
    clock_sequence: int = 0
    sequence: int = 0


@dataclass(frozen=True)
class Layout:
    """The fields as (letter, width), most significant first; epoch and unit in ms."""

    fields: tuple[tuple[str, int], ...]
    epoch: int
    unit: int

    # Geometry

    def bits(self, letter: str) -> int:
        """Return the field's width, or 0 if the layout has no such field."""
        return dict(self.fields).get(letter, 0)

    def shift(self, letter: str) -> int:
        """Return the sum of the widths to the right of the field."""
        letters = [name for name, _ in self.fields]
        return sum(width for _, width in self.fields[letters.index(letter) + 1 :])

    def maximum(self, letter: str) -> int:
        """Return ``2^bits - 1``, which is 0 if the layout has no such field."""
        return (1 << self.bits(letter)) - 1

    @property
    def width(self) -> int:
        """The sum of all widths."""
        return sum(width for _, width in self.fields)

    @property
    def split(self) -> bool:
        """Whether the node is split into datacenter and worker."""
        return self.bits("d") > 0

    @property
    def node_bits(self) -> int:
        """The bits of the whole node, split or not."""
        return self.bits("n") + self.bits("d") + self.bits("w")

    @property
    def max_tick(self) -> int:
        """``2^time_bits - 1``."""
        return self.maximum("t")

    @property
    def max_node(self) -> int:
        """``2^node_bits - 1``; 0 without a node field."""
        return (1 << self.node_bits) - 1

    @property
    def max_sequence(self) -> int:
        """``2^sequence_bits - 1``; 0 without a sequence field."""
        return self.maximum("s")

    @property
    def generates(self) -> bool:
        """``t + s <= 63``, or with clock-sequence bits ``t + s + c <= 62``."""
        clock_sequence = self.bits("c")
        position = self.bits("t") + self.bits("s")
        return position + clock_sequence <= 62 if clock_sequence else position <= 63

    # Time

    @property
    def horizon(self) -> int:
        """The Unix ms at which the ticks run out: ``epoch + 2^time_bits * unit``."""
        return self.unix_ms(self.max_tick + 1)

    @property
    def fits_i64_until(self) -> int:
        """The Unix ms from which IDs have their top bit set, or the horizon if none has."""
        if self.width < 64:
            return self.horizon
        return self.epoch + (1 << (self.bits("t") - 1)) * self.unit

    def unix_ms(self, tick: int) -> int:
        """Return the start of a tick."""
        return self.epoch + tick * self.unit

    def tick(self, unix_ms: int) -> int:
        """Return ``floor((unix_ms - epoch) / unit)``, which is negative before the epoch."""
        return (unix_ms - self.epoch) // self.unit

    @property
    def precision(self) -> int:
        """The least d for which unit and epoch are multiples of 10^(3-d) ms."""
        return next(
            digits
            for digits in range(4)
            if self.unit % 10 ** (3 - digits) == 0 and self.epoch % 10 ** (3 - digits) == 0
        )

    def timestamp(self, unix_ms: int) -> str | None:
        """Return RFC 3339 in UTC with the layout's precision, or None after the year 9999."""
        if unix_ms > EPOCH_MAX:
            return None
        days, millis = divmod(unix_ms, DAY_MS)
        date = datetime.date.fromordinal(UNIX_DAY + days).isoformat()
        seconds, fraction = divmod(millis, 1000)
        clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
        digits = f".{fraction:03}"[: self.precision + 1] if self.precision else ""
        return f"{date}T{clock}{digits}Z"

    # IDs

    def node(self, datacenter: int, worker: int) -> int:
        """Return ``datacenter << worker_bits | worker``, after checking both."""
        for field, letter, value in (
            ("datacenter", "d", datacenter),
            ("worker", "w", worker),
        ):
            if not 0 <= value <= self.maximum(letter):
                raise FlakeIdError(FIELD_OUT_OF_RANGE, field=field)
        return datacenter << self.bits("w") | worker

    def split_node(self, node: int) -> tuple[int, int] | tuple[None, None]:
        """Return datacenter and worker, or two Nones if the node is not split."""
        if not self.split:
            return None, None
        return node >> self.bits("w"), node & self.maximum("w")

    def pack(self, parts: Parts) -> int:
        """Return the ID of the parts, after checking each part against its field."""
        for field, value, most in (
            ("tick", parts.tick, self.max_tick),
            ("node", parts.node, self.max_node),
            ("clock_sequence", parts.clock_sequence, self.maximum("c")),
            ("sequence", parts.sequence, self.max_sequence),
        ):
            if not 0 <= value <= most:
                raise FlakeIdError(FIELD_OUT_OF_RANGE, field=field)
        datacenter, worker = self.split_node(parts.node)
        values = {
            "t": parts.tick,
            "n": parts.node,
            "d": datacenter,
            "w": worker,
            "c": parts.clock_sequence,
            "s": parts.sequence,
            "r": 0,
        }
        return sum((values[letter] or 0) << self.shift(letter) for letter, _ in self.fields)

    def unpack(self, id_: int) -> Parts:
        """Return the parts of an ID; bits outside the fields, and reserved bits, must be zero."""
        if id_ >> self.width:
            raise FlakeIdError(INVALID_ID)
        values = {
            letter: id_ >> self.shift(letter) & self.maximum(letter) for letter, _ in self.fields
        }
        if values.get("r", 0):
            raise FlakeIdError(INVALID_ID)
        node = self.node(values["d"], values["w"]) if self.split else values.get("n", 0)
        return Parts(values["t"], node, values.get("c", 0), values.get("s", 0))

    def lower_bound(self, unix_ms: int) -> int:
        """Return the smallest ID of the clamped tick: the other fields are zero."""
        return self.pack(Parts(self.clamped_tick(unix_ms)))

    def upper_bound(self, unix_ms: int) -> int:
        """Return the largest ID of the clamped tick: other fields all ones, reserved bits zero."""
        most = (self.max_node, self.maximum("c"), self.max_sequence)
        return self.pack(Parts(self.clamped_tick(unix_ms), *most))

    def clamped_tick(self, unix_ms: int) -> int:
        """Return the tick of an instant, clamped to 0..=max_tick."""
        return min(max(self.tick(unix_ms), 0), self.max_tick)

    # Text

    @property
    def descriptor(self) -> str:
        """The canonical ``FIELDS@EPOCH/UNIT``."""
        fields = ".".join(f"{letter}{width}" for letter, width in self.fields)
        unit = f"{self.unit}ms" if self.unit % 1000 else f"{self.unit // 1000}s"
        return f"{fields}@{self.epoch}/{unit}"


@functools.cache
def parse(text: str) -> Layout:
    """Parse a descriptor or the name of a preset."""
    return parse_descriptor(PRESETS.get(text, text))


def parse_descriptor(text: str) -> Layout:
    """Parse ``FIELDS@EPOCH/UNIT``; every fault is FLAKEID_INVALID_LAYOUT."""
    fields_text, at, rest = text.partition("@")
    epoch_text, slash, unit_text = rest.partition("/")
    if not (at and slash):
        raise FlakeIdError(INVALID_LAYOUT)
    layout = Layout(parse_fields(fields_text), parse_epoch(epoch_text), parse_unit(unit_text))
    if layout.horizon > I64_MAX:
        raise FlakeIdError(INVALID_LAYOUT)
    return layout


def parse_fields(text: str) -> tuple[tuple[str, int], ...]:
    """Parse letters and widths: t first; n, or d followed by w, or neither; at most 64 bits."""
    fields = []
    for part in text.split("."):
        match = FIELD.fullmatch(part)
        if match is None or int(match[2]) > 64:
            raise FlakeIdError(INVALID_LAYOUT)
        fields.append((match[1], int(match[2])))
    letters = "".join(letter for letter, _ in fields)
    sound = (
        letters.startswith("t")
        and len(set(letters)) == len(letters)
        and ("d" in letters) == ("w" in letters) == ("dw" in letters)
        and not ("n" in letters and "d" in letters)
        and sum(width for _, width in fields) <= 64
    )
    if not sound:
        raise FlakeIdError(INVALID_LAYOUT)
    return tuple(fields)


def parse_epoch(text: str) -> int:
    """Parse Unix ms in decimal, or an RFC 3339 timestamp, in 0..=EPOCH_MAX."""
    epoch = int(text) if NUMBER.fullmatch(text) else parse_rfc_3339(text)
    if not 0 <= epoch <= EPOCH_MAX:
        raise FlakeIdError(INVALID_LAYOUT)
    return epoch


def parse_rfc_3339(text: str) -> int:
    """Return the Unix ms of a timestamp with an offset and at most three fraction digits."""
    match = RFC_3339.fullmatch(text)
    if match is None:
        raise FlakeIdError(INVALID_LAYOUT)
    year, month, day, hour, minute, second = (int(group) for group in match.groups()[:6])
    sign, offset_hour, offset_minute = (
        match[8] or "+",
        int(match[9] or 0),
        int(match[10] or 0),
    )
    if max(hour, offset_hour) > 23 or max(minute, second, offset_minute) > 59:
        raise FlakeIdError(INVALID_LAYOUT)
    try:
        days = datetime.date(year, month, day).toordinal() - UNIX_DAY
    except ValueError as error:
        raise FlakeIdError(INVALID_LAYOUT) from error
    offset = (offset_hour * 60 + offset_minute) * (-1 if sign == "-" else 1)
    seconds = (hour * 60 + minute - offset) * 60 + second
    return days * DAY_MS + seconds * 1000 + int((match[7] or "").ljust(3, "0"))


def parse_unit(text: str) -> int:
    """Parse ``<n>ms`` or ``<n>s`` with n >= 1; return ms."""
    match = UNIT.fullmatch(text)
    if match is None:
        raise FlakeIdError(INVALID_LAYOUT)
    return int(match[1]) * (1000 if match[2] == "s" else 1)
