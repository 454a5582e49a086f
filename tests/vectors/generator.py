"""The generator on a manual clock: the executable specification of schedules.json.

A generator issues positions in increasing order:

    position  = tick << sequence_bits | sequence
    candidate = max(next, now << sequence_bits)

A sequence above the mask moves the candidate to the start of the following tick.

A candidate in the clock's own tick is issued. If a candidate is ahead of the clock,
the clock may have gone backwards (rollback), the tick may be full (overflow), or a
window may permit running ahead. The generator then issues the candidate, fails, or
raises an obstacle that ends at a known time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from errors import (
    BEFORE_EPOCH,
    CLOCK_ROLLBACK,
    CLOSED,
    FIELD_OUT_OF_RANGE,
    HORIZON_REACHED,
    INVALID_LAYOUT,
    INVALID_OPTION,
    LEASE_EXPIRED,
    SEQUENCE_EXHAUSTED,
    FlakeIdError,
)
from layout import Layout, Parts

DEFAULT_MAX_AHEAD_MS = 20_000
DEFAULT_MAX_WAIT_MS = 1_000


class Window(NamedTuple):
    """The half-open range of ticks ``[start, fence)``."""

    start: int
    fence: int


@dataclass(frozen=True)
class Options:
    """Policies and limits; None means the default."""

    overflow: str = "wait"
    rollback: str = "continue"
    sequence_mask: int | None = None
    max_ahead_ms: int | None = None
    max_wait_ms: int | None = None


@dataclass
class Stats:
    """The events since the generator was built."""

    waits: int = 0
    rollbacks: int = 0
    largest_ahead: int = 0


class ObstacleError(FlakeIdError):
    """An obstacle that ends at the Unix time `until`, in milliseconds."""

    def __init__(self, code: str, clock: int, until: int, by_ms: int | None = None) -> None:
        super().__init__(code, retry_after_ms=until - clock, by_ms=by_ms)
        self.until = until


class Generator:
    """A generator for one node. Tests set `clock` (Unix ms), and waiting moves it forward."""

    def __init__(
        self,
        layout: Layout,
        node: int,
        clock: int,
        options: Options,
        window: Window | None,
    ) -> None:
        check_build(layout, node, clock, options, window)
        self.layout = layout
        self.node = node
        self.clock = clock
        self.options = options
        self.windowed = window is not None
        self.sequence_bits = layout.bits("s")
        mask = options.sequence_mask
        self.mask = layout.max_sequence if mask is None else mask
        max_ahead_ms = options.max_ahead_ms
        max_ahead_ms = DEFAULT_MAX_AHEAD_MS if max_ahead_ms is None else max_ahead_ms
        self.max_ahead = -(-max_ahead_ms // layout.unit)
        max_wait_ms = options.max_wait_ms
        default_max_wait_ms = max(DEFAULT_MAX_WAIT_MS, 2 * layout.unit)
        self.max_wait_ms = default_max_wait_ms if max_wait_ms is None else max_wait_ms
        start, fence = window or Window(0, layout.max_tick + 1)
        self.uses_up_ticks = self.windowed and options.rollback == "continue"
        self.start = self.next = self.ahead_until = start << self.sequence_bits
        self.limit = self.position_of(min(fence, layout.max_tick + 1))
        self.closed = False
        self.seen = 0
        self.counted_rollback: int | None = None
        self.clock_sequence = 0
        self.marks = [0] * (1 << layout.bits("c"))
        self.stats = Stats()

    # Calls

    def try_fill(self, n: int) -> list[int]:
        """Return at most n IDs without waiting; raise an error only if there are none."""
        return self.issue(n, max_wait_ms=0)

    def fill(self, n: int) -> list[int]:
        """Return n IDs, waiting at most max_wait for each range; raise only if there are none."""
        return self.issue(n, self.max_wait_ms)

    def extend(self, fence: int) -> None:
        """Raise the window's fence; a lower fence has no effect."""
        if self.closed:
            raise FlakeIdError(CLOSED)
        if not self.windowed:
            raise FlakeIdError(INVALID_OPTION)
        self.limit = max(self.limit, self.position_of(min(fence, self.layout.max_tick + 1)))

    def retire(self) -> int | None:
        """Close the generator permanently; return the tick of the last issued position, or None."""
        if self.closed:
            raise FlakeIdError(CLOSED)
        self.closed = True
        return None if self.next == self.start else self.tick_of(self.next - 1)

    # Issuing

    def issue(self, n: int, max_wait_ms: int) -> list[int]:
        """Issue ranges until n IDs are returned; raise an error only if there are none."""
        ids: list[int] = []
        try:
            while len(ids) < n:
                ids += self.run(n - len(ids), max_wait_ms)
        except FlakeIdError:
            if not ids:
                raise
        return ids

    def run(self, wanted: int, max_wait_ms: int) -> list[int]:
        """Issue one range, after waiting for obstacles for at most max_wait_ms in total."""
        left = max_wait_ms
        while True:
            try:
                return self.attempt(wanted)
            except ObstacleError as obstacle:
                if left == 0:
                    raise
                step = min(obstacle.until - self.clock, left)
            if left == max_wait_ms:
                self.stats.waits += 1
            self.clock += step
            left -= step

    def attempt(self, wanted: int) -> list[int]:
        """Issue consecutive IDs of one tick at the current time, if there is no obstacle."""
        now = self.read_clock()
        candidate = max(self.next, self.position_of(now))
        if self.sequence_of(candidate) > self.mask:
            candidate = self.position_of(self.tick_of(candidate) + 1)
        if candidate >= self.limit:
            if self.tick_of(candidate) > self.layout.max_tick:
                raise FlakeIdError(HORIZON_REACHED, horizon=self.layout.horizon)
            raise FlakeIdError(LEASE_EXPIRED, retry_after_ms=self.layout.unit)
        sanctioned = False
        if self.tick_of(candidate) > now and not self.has_entered(candidate, now):
            candidate, sanctioned = self.judge(candidate, now)
        room = min(self.mask + 1 - self.sequence_of(candidate), self.limit - candidate)
        end = candidate + min(wanted, room)
        ahead = self.tick_of(candidate) - now
        if ahead > 0:
            self.stats.largest_ahead = max(self.stats.largest_ahead, ahead)
        if sanctioned:
            tick_end = self.position_of(self.tick_of(candidate) + 1)
            self.ahead_until = max(self.ahead_until, tick_end if self.uses_up_ticks else end)
        self.next = end
        return [self.id_at(position) for position in range(candidate, end)]

    def has_entered(self, candidate: int, now: int) -> bool:
        """Return whether the candidate's tick, ahead of the clock, was permitted as a whole.

        The rest of such a tick is issued without a decision, unless it is further ahead
        than any ID before.
        """
        return (
            self.uses_up_ticks
            and candidate == self.next < self.ahead_until
            and self.tick_of(candidate) - now <= self.stats.largest_ahead
        )

    def read_clock(self) -> int:
        """Return the clock's tick, or fail if the generator cannot issue at this time."""
        if self.closed:
            raise FlakeIdError(CLOSED)
        if self.clock < self.layout.epoch:
            raise FlakeIdError(BEFORE_EPOCH, retry_after_ms=self.layout.epoch - self.clock)
        now = self.layout.tick(self.clock)
        if now > self.layout.max_tick:
            raise FlakeIdError(HORIZON_REACHED, horizon=self.layout.horizon)
        return now

    def judge(self, candidate: int, now: int) -> tuple[int, bool]:
        """Decide on a candidate ahead of the clock; return the position to issue from.

        The second result is whether running ahead is permitted up to that position.
        Without a window it never is, so an issued tick past the clock then proves a
        rollback, and earlier readings are not needed.
        """
        issued = self.tick_of(self.next - 1)
        seen = self.seen if self.windowed else 0
        self.seen = max(self.seen, now)
        if now < seen:
            return self.roll_back(candidate, now, issued, seen)
        if issued > now and self.next > self.ahead_until:
            return self.roll_back(candidate, now, issued, issued)
        # The clock has not gone backwards, so an issued tick past the clock was permitted.
        sanctioned = self.windowed and (self.next == self.start or issued > now)
        if sanctioned or self.options.overflow == "borrow":
            return self.run_ahead(candidate, now), True
        full = self.obstacle(SEQUENCE_EXHAUSTED, self.tick_of(candidate))
        if self.options.overflow == "wait":
            raise full
        raise FlakeIdError(full.code, retry_after_ms=full.retry_after_ms)

    def run_ahead(self, candidate: int, now: int) -> int:
        """Issue at most max_ahead ticks ahead of the clock."""
        tick = self.tick_of(candidate)
        if tick <= now + self.max_ahead:
            return candidate
        raise self.obstacle(SEQUENCE_EXHAUSTED, tick - self.max_ahead)

    def roll_back(self, candidate: int, now: int, issued: int, reference: int) -> tuple[int, bool]:
        """Apply the policy; `reference` is the tick that was reached before.

        The rest of the reached tick does not count as permitted running ahead, because
        the clock is still behind. With a window, continuing to the next tick does.
        """
        if reference != self.counted_rollback:
            self.counted_rollback = reference
            self.stats.rollbacks += 1
        by_ms = self.layout.unix_ms(reference) - self.clock
        until_reference = self.obstacle(CLOCK_ROLLBACK, reference, by_ms)
        policy = self.options.rollback
        if policy == "error":
            raise FlakeIdError(CLOCK_ROLLBACK, by_ms=by_ms, retry_after_ms=by_ms)
        if policy == "wait":
            raise until_reference
        if policy == "clock-sequence":
            return self.switch_clock_sequence(now, until_reference), False
        tick = self.tick_of(candidate)
        if tick == issued:
            return candidate, False
        if self.windowed and tick <= now + self.max_ahead:
            return candidate, True
        raise self.obstacle(CLOCK_ROLLBACK, tick, by_ms)

    def switch_clock_sequence(self, now: int, otherwise: ObstacleError) -> int:
        """Continue with the next clock sequence that was not used at or after `now`."""
        self.marks[self.clock_sequence] = self.next
        values = len(self.marks)
        for step in range(1, values):
            value = (self.clock_sequence + step) % values
            if self.marks[value] <= self.position_of(now):
                self.clock_sequence = value
                return self.position_of(now)
        raise otherwise

    # Arithmetic

    def obstacle(self, code: str, tick: int, by_ms: int | None = None) -> ObstacleError:
        """Return an obstacle that ends when `tick` begins."""
        return ObstacleError(code, self.clock, self.layout.unix_ms(tick), by_ms)

    def position_of(self, tick: int) -> int:
        """Return the first position of a tick."""
        return tick << self.sequence_bits

    def tick_of(self, position: int) -> int:
        """Return the tick of a position."""
        return position >> self.sequence_bits

    def sequence_of(self, position: int) -> int:
        """Return the sequence number of a position."""
        return position & self.layout.max_sequence

    def id_at(self, position: int) -> int:
        """Return the ID of a position, with the current clock sequence."""
        tick, sequence = self.tick_of(position), self.sequence_of(position)
        return self.layout.pack(Parts(tick, self.node, self.clock_sequence, sequence))


def check_build(
    layout: Layout, node: int, clock: int, options: Options, window: Window | None
) -> None:
    """Raise the error that building this generator must return, if any."""
    if not layout.generates:
        raise FlakeIdError(INVALID_LAYOUT)
    if node > layout.max_node:
        raise FlakeIdError(FIELD_OUT_OF_RANGE, field="node")
    mask = layout.max_sequence if options.sequence_mask is None else options.sequence_mask
    needs_window = options.overflow == "borrow"
    needs_clock_sequence = options.rollback == "clock-sequence"
    unsound = (
        mask & (mask + 1) != 0
        or mask > layout.max_sequence
        or (needs_window and window is None)
        or (needs_clock_sequence and (window is not None or layout.bits("c") == 0))
        or (window is not None and window.fence < window.start + 2)
    )
    if unsound:
        raise FlakeIdError(INVALID_OPTION)
    if clock >= layout.horizon:
        raise FlakeIdError(HORIZON_REACHED, horizon=layout.horizon)
