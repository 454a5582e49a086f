"""The interface of snowflake-id (`import snowflake`), version 1, built on flakeid's generators.

>>> from flakeid.compat.snowflake_id import Snowflake, SnowflakeGenerator
>>> generator = SnowflakeGenerator(42, epoch=1288834974657)
>>> Snowflake.parse(next(generator), epoch=generator.epoch).instance
42

IDs have the same 41 bits of milliseconds, 10 of the instance and 12 of the sequence. There are
three differences: `next` waits while a millisecond is full or the clock is behind, and never
returns None; generators of one instance never repeat an ID within a process; and `next` raises
ForkedError in a forked child.
"""

import datetime as dt
from dataclasses import dataclass
from time import time_ns

from flakeid._flakeid import Generator, Layout
from flakeid.errors import HorizonReachedError

__all__ = ["MAX_INSTANCE", "MAX_SEQ", "MAX_TS", "Snowflake", "SnowflakeGenerator"]

_PLAIN = Layout.parse("plain")

MAX_TS = _PLAIN.max_tick
MAX_INSTANCE = _PLAIN.max_node
MAX_SEQ = _PLAIN.max_sequence


def _layout(epoch: int) -> Layout:
    return Layout.parse(f"t41.n10.s12@{epoch}/1ms")


@dataclass(frozen=True)
class Snowflake:
    """The parts of an ID.

    Args:
        timestamp: milliseconds since the epoch, from 0 to MAX_TS.
        instance: the instance, from 0 to MAX_INSTANCE.
        epoch: Unix milliseconds.
        seq: the sequence number, from 0 to MAX_SEQ.

    Raises:
        FieldOutOfRangeError: a part is out of its range (a ValueError).
        InvalidLayoutError: the epoch is out of its range (a ValueError).
    """

    timestamp: int
    instance: int
    epoch: int = 0
    seq: int = 0

    def __post_init__(self) -> None:
        """Check the parts."""
        _ = self.value

    @classmethod
    def parse(cls, snowflake: int, epoch: int = 0) -> "Snowflake":
        """Return the parts of an ID whose tick 0 was at `epoch`.

        Raises:
            InvalidIdError: the ID is negative or has more than 63 bits (a ValueError).
        """
        parts = _layout(epoch).unpack(snowflake)
        return cls(parts.tick, parts.node, epoch, parts.sequence)

    @property
    def milliseconds(self) -> int:
        """The creation time in Unix milliseconds."""
        return self.timestamp + self.epoch

    @property
    def seconds(self) -> float:
        """The creation time in Unix seconds."""
        return self.milliseconds / 1000

    @property
    def datetime(self) -> dt.datetime:
        """The creation time in UTC, as a naive datetime."""
        return self.datetime_tz(dt.UTC).replace(tzinfo=None)

    def datetime_tz(self, tz: dt.tzinfo | None = None) -> dt.datetime:
        """Return the creation time in a time zone; without `tz`, as a naive local datetime."""
        return dt.datetime.fromtimestamp(self.seconds, tz=tz)

    @property
    def timedelta(self) -> dt.timedelta:
        """The time from 1970 to the epoch."""
        return dt.timedelta(milliseconds=self.epoch)

    @property
    def value(self) -> int:
        """The ID."""
        layout = _layout(self.epoch)
        return layout.pack(tick=self.timestamp, node=self.instance, sequence=self.seq)

    def __int__(self) -> int:
        """The ID."""
        return self.value


class SnowflakeGenerator:
    """An iterator of IDs.

    Args:
        instance: the instance, from 0 to MAX_INSTANCE. No other process may use it meanwhile.
        seq: the sequence number of the ID after which IDs begin, from 0 to MAX_SEQ.
        epoch: the instant of tick 0 in Unix milliseconds, not in the future.
        timestamp: the time of that ID in Unix milliseconds, not in the future.

    Raises:
        ValueError: an argument is out of its range.
        OverflowError: the 41 bits of time have run out.
    """

    def __init__(
        self, instance: int, *, seq: int = 0, epoch: int = 0, timestamp: int | None = None
    ) -> None:
        now = time_ns() // 1_000_000
        for name, instant in (("epoch", epoch), ("timestamp", timestamp)):
            if instant is not None and not 0 <= instant <= now:
                raise ValueError(f"{name} {instant} is out of range: must be from 0 to {now}")
        layout = _layout(epoch)
        layout.pack(tick=0, node=instance, sequence=seq)  # checks the ranges
        if now - epoch > layout.max_tick:
            raise OverflowError(f"epoch {epoch}: the 41 bits of time that begin then have run out")
        self._epoch = epoch
        self._generator = Generator(node=instance, layout=layout)
        if timestamp is not None:
            last = layout.pack(tick=max(timestamp - epoch, 0), node=instance, sequence=seq)
            while self._generator.next_id() <= last:  # until the millisecond has passed
                pass

    @classmethod
    def from_snowflake(cls, sf: Snowflake) -> "SnowflakeGenerator":
        """Return a generator that continues after an ID, with the ID's instance and epoch."""
        return cls(sf.instance, seq=sf.seq, epoch=sf.epoch, timestamp=sf.milliseconds)

    @property
    def epoch(self) -> int:
        """The instant of tick 0, in Unix milliseconds."""
        return self._epoch

    def __iter__(self) -> "SnowflakeGenerator":
        """Return the generator itself."""
        return self

    def __next__(self) -> int:
        """Return the next ID, larger than all before; wait if the current millisecond is full.

        Raises:
            OverflowError: the 41 bits of time have run out.
            ForkedError: the instance belongs to the parent of this forked process.
        """
        try:
            return self._generator.next_id()
        except HorizonReachedError as error:
            raise OverflowError(str(error)) from error
