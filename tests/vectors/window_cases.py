"""Schedules with a window: starting ahead, continuing, borrowing, fences."""

from __future__ import annotations

from generator import Options, Window
from layout import parse
from schedule import (
    C2,
    FOUR,
    NOW,
    TWO,
    Schedule,
    extend,
    fill,
    next_id,
    retire,
    try_fill,
    try_next_id,
)

LENGTH = 20_000  # ticks of a window


def schedules() -> tuple[Schedule, ...]:
    """Return all schedules."""
    return (*starts(), *leads(), *fences(), *units())


def starts() -> tuple[Schedule, ...]:
    """Return schedules about the first ID of a window."""
    tick = parse("twitter").tick(NOW)
    four = Options(sequence_mask=FOUR)
    return (
        Schedule(
            "window: starts at the clock's tick, a full tick is waited for",
            "twitter",
            NOW,
            (try_fill(8), try_next_id(), next_id(), fill(8), retire()),
            options=four,
            window=Window(tick, tick + LENGTH),
        ),
        Schedule(
            "window: starts at the clock's tick, a full tick is an error",
            "twitter",
            NOW,
            (try_fill(8), try_next_id(), next_id(), next_id(at=NOW + 1)),
            options=Options(overflow="error", sequence_mask=FOUR),
            window=Window(tick, tick + LENGTH),
        ),
        Schedule(
            "window: starts behind the clock",
            "twitter",
            NOW,
            (next_id(), fill(4), retire()),
            options=four,
            window=Window(tick - 5_000, tick + LENGTH),
        ),
        Schedule(
            "window: starts one tick ahead",
            "twitter",
            NOW,
            (
                try_next_id(),
                fill(5),
                try_next_id(at=NOW + 1),
                next_id(at=NOW + 2),
                fill(4),
            ),
            options=four,
            window=Window(tick + 1, tick + 1 + LENGTH),
        ),
        Schedule(
            "window: starts 5 s ahead, carries full ticks on till the clock is there",
            "twitter",
            NOW,
            (
                *(try_next_id(), try_fill(10), next_id(at=NOW + 4_000)),
                *(
                    fill(4, at=NOW + 5_001),
                    try_fill(6, at=NOW + 5_010),
                    try_next_id(),
                    next_id(),
                ),
            ),
            options=four,
            window=Window(tick + 5_000, tick + 5_000 + LENGTH),
        ),
        Schedule(
            "window: starts more than max_ahead ahead",
            "twitter",
            NOW,
            (
                *(
                    try_next_id(),
                    next_id(),
                    try_fill(3),
                    fill(3),
                    try_next_id(at=NOW + 4_999),
                ),
                *(try_next_id(at=NOW + 5_000), next_id()),
            ),
            options=four,
            window=Window(tick + 25_000, tick + 25_000 + LENGTH),
        ),
        Schedule(
            "window: starts more than max_ahead ahead, max_wait is long enough",
            "twitter",
            NOW,
            (next_id(), fill(8)),
            options=Options(sequence_mask=FOUR, max_wait_ms=6_000),
            window=Window(tick + 25_000, tick + 25_000 + LENGTH),
        ),
        Schedule(
            "window: max_ahead 0, so a start one tick ahead is waited for",
            "twitter",
            NOW,
            (try_next_id(), next_id(), fill(5)),
            options=Options(sequence_mask=FOUR, max_ahead_ms=0),
            window=Window(tick + 1, tick + 1 + LENGTH),
        ),
        Schedule(
            "window: starts beyond max_ahead, a step back before the first ID",
            "twitter",
            NOW,
            (try_next_id(), try_next_id(at=NOW - 1_000), next_id(at=NOW + 10_000)),
            options=four,
            window=Window(tick + 25_000, tick + 25_000 + LENGTH),
        ),
        Schedule(
            "window: starts ahead and the clock steps back between two IDs",
            "twitter",
            NOW,
            (next_id(), next_id(at=NOW - 1_000), fill(6), try_next_id(at=NOW + 6_000)),
            options=four,
            window=Window(tick + 5_000, tick + 5_000 + LENGTH),
        ),
        Schedule(
            "window: starts ahead, a step back is refused",
            "twitter",
            NOW,
            (
                next_id(),
                next_id(at=NOW - 1_000),
                next_id(at=NOW),
                next_id(at=NOW + 6_000),
            ),
            options=Options(rollback="error", sequence_mask=FOUR),
            window=Window(tick + 5_000, tick + 5_000 + LENGTH),
        ),
        Schedule(
            "window: before the epoch, then recovering",
            "js-safe",
            parse("js-safe").epoch - 10,
            (try_next_id(), next_id(), next_id(at=parse("js-safe").epoch), fill(65)),
            window=Window(0, 2),
        ),
        Schedule(
            "window: clock-sequence bits stay 0",
            C2,
            NOW,
            (fill(2), fill(20, at=NOW - 10), next_id(at=NOW + 10)),
            window=Window(parse(C2).tick(NOW), parse(C2).tick(NOW) + LENGTH),
        ),
    )


def leads() -> tuple[Schedule, ...]:
    """Return schedules that run ahead of the clock, up to the limit."""
    tick = parse("twitter").tick(NOW)
    window = Window(tick, tick + LENGTH)
    return (
        Schedule(
            "window: a fill carries on ahead up to max_ahead, then with the clock",
            "twitter",
            NOW,
            (try_fill(30), try_next_id(), fill(9), next_id(at=NOW + 20), try_fill(30)),
            options=Options(sequence_mask=FOUR, max_ahead_ms=3),
            window=Window(tick + 1, tick + 1 + LENGTH),
        ),
        Schedule(
            "borrow: up to max_ahead, then waiting",
            "twitter",
            NOW,
            (fill(16), fill(6), next_id(), retire()),
            options=Options(overflow="borrow", sequence_mask=FOUR, max_ahead_ms=3),
            window=window,
        ),
        Schedule(
            "borrow: up to max_ahead without waiting",
            "twitter",
            NOW,
            (
                *(try_fill(50), try_next_id(), try_fill(2), try_fill(9, at=NOW + 1)),
                *(try_fill(3, at=NOW + 4), try_fill(50, at=NOW + 9)),
            ),
            options=Options(overflow="borrow", sequence_mask=FOUR, max_ahead_ms=3),
            window=window,
        ),
        Schedule(
            "borrow: up to the fence",
            "twitter",
            NOW,
            (fill(50), next_id(), extend(tick + 4), fill(50), next_id(at=NOW + 3)),
            options=Options(overflow="borrow", sequence_mask=FOUR),
            window=Window(tick, tick + 2),
        ),
        Schedule(
            "borrow: a step back from a borrowed tick, on continue",
            "twitter",
            NOW,
            (
                fill(10),
                next_id(at=NOW - 2),
                fill(10),
                try_fill(50),
                fill(3, at=NOW + 30),
            ),
            options=Options(overflow="borrow", sequence_mask=FOUR, max_ahead_ms=8),
            window=window,
        ),
        Schedule(
            "borrow: a step back from a borrowed tick, on wait",
            "twitter",
            NOW,
            (fill(10), try_next_id(at=NOW - 2), next_id(), try_fill(50)),
            options=Options(overflow="borrow", rollback="wait", sequence_mask=FOUR, max_ahead_ms=8),
            window=window,
        ),
        Schedule(
            "borrow: a step back from a borrowed tick, on error",
            "twitter",
            NOW,
            (
                fill(10),
                try_next_id(at=NOW - 2),
                next_id(),
                next_id(at=NOW),
                try_fill(50),
            ),
            options=Options(
                overflow="borrow", rollback="error", sequence_mask=FOUR, max_ahead_ms=8
            ),
            window=window,
        ),
        Schedule(
            "window: a rollback within max_ahead carries full ticks on",
            "twitter",
            NOW,
            (fill(4), try_fill(10, at=NOW - 10_000), next_id(), fill(4, at=NOW + 1)),
            options=Options(sequence_mask=FOUR),
            window=window,
        ),
        Schedule(
            "window: a rollback beyond max_ahead stalls once the held tick is full",
            "twitter",
            NOW,
            (
                *(
                    fill(4),
                    try_next_id(at=NOW - 30_000),
                    next_id(),
                    try_next_id(at=NOW - 20_000),
                ),
                *(try_next_id(at=NOW - 19_999), next_id()),
            ),
            options=Options(sequence_mask=FOUR),
            window=window,
        ),
        Schedule(
            "window: once the clock has caught up a full tick is an overflow again",
            "twitter",
            NOW,
            (
                *(fill(6), try_fill(9, at=NOW + 2), try_next_id()),
                *(next_id(), try_fill(9, at=NOW + 9), try_next_id()),
            ),
            options=Options(sequence_mask=FOUR),
            window=Window(tick + 1, tick + 1 + LENGTH),
        ),
    )


def fences() -> tuple[Schedule, ...]:
    """Return schedules about the end of a window, extensions, and closing."""
    tick = parse("twitter").tick(NOW)
    four = Options(sequence_mask=FOUR)
    safe = parse("js-safe")
    return (
        Schedule(
            "window: a fill hits the fence, the lease is extended",
            "twitter",
            NOW,
            (
                *(
                    fill(20),
                    next_id(),
                    try_next_id(),
                    fill(3),
                    extend(tick + 4),
                    fill(20),
                ),
                *(try_next_id(), extend(tick + 100), fill(3)),
            ),
            options=four,
            window=Window(tick, tick + 2),
        ),
        Schedule(
            "window: the clock is past the fence",
            "twitter",
            NOW,
            (
                *(next_id(), try_next_id(at=NOW + 10), next_id(at=NOW + 11)),
                *(
                    next_id(at=NOW + 9),
                    extend(tick + 50),
                    next_id(at=NOW + 12),
                    retire(),
                ),
            ),
            options=four,
            window=Window(tick, tick + 10),
        ),
        Schedule(
            "window: over before it is used",
            "twitter",
            NOW,
            (try_next_id(), next_id(), extend(tick + 5), next_id(), retire()),
            options=four,
            window=Window(tick - 10, tick),
        ),
        Schedule(
            "window: a lower or an equal fence changes nothing",
            "twitter",
            NOW,
            (
                *(extend(tick + 1), extend(tick + 10), extend(0), next_id(at=NOW + 9)),
                *(try_next_id(at=NOW + 10), extend(tick + 5), try_next_id()),
            ),
            options=four,
            window=Window(tick, tick + 10),
        ),
        Schedule(
            "window: retire, and every call after it",
            "twitter",
            NOW,
            (
                *(fill(3), retire(), try_next_id(), next_id(), try_fill(2), fill(2)),
                *(extend(tick + 30_000), retire(), next_id(at=NOW + 1)),
            ),
            options=four,
            window=Window(tick, tick + LENGTH),
        ),
        Schedule(
            "window: retired without an ID",
            "twitter",
            NOW,
            (retire(), next_id(), extend(tick + 30_000)),
            options=four,
            window=Window(tick, tick + LENGTH),
        ),
        Schedule(
            "window: retired after running ahead, the last tick is the one ahead",
            "twitter",
            NOW,
            (fill(6), retire()),
            options=four,
            window=Window(tick + 100, tick + LENGTH),
        ),
        Schedule(
            "window: retired after a full tick, the last tick is the full one",
            "twitter",
            NOW,
            (fill(4096), retire()),
            window=Window(tick, tick + LENGTH),
        ),
        Schedule(
            "window: two ticks, the shortest there is",
            "twitter",
            NOW,
            (fill(8192), next_id(), next_id(at=NOW)),
            window=Window(tick, tick + 2),
        ),
        Schedule(
            "window: the fence lies past the horizon, the horizon comes first",
            "js-safe",
            safe.horizon - 2,
            (
                *(fill(100), fill(100), try_next_id(), extend(2**62), next_id()),
                *(next_id(at=safe.horizon), retire()),
            ),
            window=Window(safe.max_tick - 1, safe.max_tick + 10_000),
        ),
        Schedule(
            "window: an extension past the horizon ends at the horizon",
            "js-safe",
            safe.horizon - 3,
            (
                *(fill(200), next_id(), extend(2**64 - 1), fill(100), next_id()),
                next_id(at=safe.horizon + 5),
            ),
            window=Window(safe.max_tick - 2, safe.max_tick),
        ),
    )


def units() -> tuple[Schedule, ...]:
    """Return schedules in which max_ahead is rounded up to whole ticks."""
    baidu, sonyflake = parse("baidu-29"), parse("sonyflake")
    seconds, hundredths = 3 * 10**8, 10**11
    return (
        Schedule(
            "window: 1 s ticks, max_ahead of 1500 ms is 2 ticks",
            "baidu-29",
            baidu.unix_ms(seconds) + 400,
            (try_fill(20), try_next_id(), next_id(), fill(3)),
            options=Options(overflow="borrow", sequence_mask=TWO, max_ahead_ms=1_500),
            window=Window(seconds, seconds + 10),
        ),
        Schedule(
            "window: 1 s ticks, max_ahead of 1 ms is 1 tick",
            "baidu-29",
            baidu.unix_ms(seconds) + 999,
            (try_fill(20), try_next_id(), next_id()),
            options=Options(sequence_mask=TWO, max_ahead_ms=1),
            window=Window(seconds + 1, seconds + 10),
        ),
        Schedule(
            "window: 10 ms ticks, max_ahead of 15 ms is 2 ticks",
            "sonyflake",
            sonyflake.unix_ms(hundredths) + 9,
            (try_fill(1_000), try_next_id(), fill(300)),
            options=Options(overflow="borrow", max_ahead_ms=15),
            window=Window(hundredths, hundredths + 1_000),
        ),
        Schedule(
            "window: the fence of a lease that expires says to retry after a unit",
            "baidu-29",
            baidu.unix_ms(seconds) + 400,
            (fill(20), next_id(), extend(seconds + 3), next_id()),
            options=Options(sequence_mask=TWO),
            window=Window(seconds, seconds + 2),
        ),
    )
