"""Schedules in which the clock goes backwards."""

from __future__ import annotations

from collections.abc import Iterator

from generator import Options, Window
from layout import parse
from schedule import (
    C1,
    C2,
    FOUR,
    NOW,
    Schedule,
    fill,
    next_id,
    retire,
    try_fill,
    try_next_id,
)

STEPS_BACK = ((1, "1 ms"), (10_000, "10 s"), (3_600_000, "1 h"))
POLICIES = ("continue", "error", "wait", "clock-sequence")


def schedules() -> tuple[Schedule, ...]:
    """Return all schedules."""
    return (*matrix(), *window_matrix(), *full_ticks(), *clock_sequences())


def matrix() -> Iterator[Schedule]:
    """Return every overflow policy with every rollback policy, with small and large steps back."""
    for overflow in ("wait", "error"):
        for rollback in POLICIES:
            layout = C2 if rollback == "clock-sequence" else "twitter"
            yield from steps_back("", layout, overflow, rollback, None)


def window_matrix() -> Iterator[Schedule]:
    """Return the same with a window, which allows borrowing and forbids clock-sequence."""
    tick = parse("twitter").tick(NOW)
    window = Window(tick, tick + 20_000)
    for overflow in ("wait", "error", "borrow"):
        for rollback in POLICIES[:3]:
            yield from steps_back("window: ", "twitter", overflow, rollback, window)


def steps_back(
    prefix: str, layout: str, overflow: str, rollback: str, window: Window | None
) -> Iterator[Schedule]:
    """Return schedules with a step back, a used-up tick, a wait, and the right time again."""
    for step, span in STEPS_BACK:
        yield Schedule(
            f"{prefix}{rollback} on rollback, {overflow} on overflow: back {span}",
            layout,
            NOW,
            (
                *(
                    next_id(),
                    try_next_id(at=NOW - step),
                    try_fill(8),
                    next_id(),
                    fill(6),
                ),
                *(try_next_id(at=NOW + 5), fill(6), retire()),
            ),
            options=Options(overflow=overflow, rollback=rollback, sequence_mask=FOUR),
            window=window,
        )


def full_ticks() -> tuple[Schedule, ...]:
    """Return steps back at a full tick, detected as full or not, and other special cases."""
    unseen = tuple(
        Schedule(
            f"{policy} on rollback: a step back of 10 s just as the tick is full",
            C2 if policy == "clock-sequence" else "twitter",
            NOW,
            (
                fill(4),
                try_next_id(at=NOW - 10_000),
                next_id(),
                try_next_id(at=NOW),
                next_id(),
            ),
            options=Options(rollback=policy, sequence_mask=FOUR),
        )
        for policy in POLICIES
    )
    seen = tuple(
        Schedule(
            f"{policy} on rollback: a step back of 1 ms after the tick was found full",
            C2 if policy == "clock-sequence" else "twitter",
            NOW,
            (try_fill(5), try_next_id(), try_next_id(at=NOW - 1), next_id(), next_id()),
            options=Options(rollback=policy, sequence_mask=FOUR),
        )
        for policy in POLICIES
    )
    return (
        *unseen,
        *seen,
        Schedule(
            "rollbacks from two instants count twice, from one instant once",
            "twitter",
            NOW,
            (
                *(
                    fill(4),
                    try_next_id(at=NOW - 5),
                    try_next_id(at=NOW - 3),
                    try_next_id(at=NOW),
                ),
                *(
                    try_next_id(at=NOW - 2),
                    fill(4, at=NOW + 10),
                    try_next_id(at=NOW + 5),
                ),
                *(try_next_id(at=NOW + 4), next_id(at=NOW + 11)),
            ),
            options=Options(sequence_mask=FOUR),
        ),
        Schedule(
            "the held tick is used up before anything is waited for",
            "twitter",
            NOW,
            (next_id(), fill(3, at=NOW - 500), next_id(), fill(4)),
            options=Options(sequence_mask=FOUR),
        ),
        Schedule(
            "waiting out a rollback to a full tick, then the overflow as well",
            "twitter",
            NOW,
            (fill(4), next_id(at=NOW - 7), fill(5)),
            options=Options(rollback="wait", sequence_mask=FOUR),
        ),
        Schedule(
            "waiting out a rollback to a full tick, overflow being an error",
            "twitter",
            NOW,
            (fill(4), next_id(at=NOW - 7), next_id(at=NOW + 1)),
            options=Options(overflow="error", rollback="wait", sequence_mask=FOUR),
        ),
    )


def clock_sequences() -> tuple[Schedule, ...]:
    """Return schedules that switch the clock sequence instead of waiting."""
    options = Options(rollback="clock-sequence", sequence_mask=FOUR)
    return (
        Schedule(
            "c1: switch, and come back once the clock is past the first mark",
            C1,
            NOW,
            (
                *(
                    fill(2),
                    fill(2, at=NOW - 10),
                    next_id(at=NOW - 5),
                    fill(3, at=NOW + 20),
                ),
                *(fill(2, at=NOW + 10), next_id(at=NOW + 30), retire()),
            ),
            options=options,
        ),
        Schedule(
            "c1: every mark above the clock, so wait",
            C1,
            NOW,
            (
                *(next_id(), next_id(at=NOW - 10), try_next_id(at=NOW - 20), next_id()),
                *(try_next_id(), next_id(at=NOW)),
            ),
            options=options,
        ),
        Schedule(
            "c1: every mark above the clock by more than max_wait",
            C1,
            NOW,
            (
                *(next_id(), next_id(at=NOW - 10), next_id(at=NOW - 5_000)),
                *(try_next_id(), next_id(at=NOW - 10)),
            ),
            options=options,
        ),
        Schedule(
            "c1: a mark inside the clock's tick is above the clock",
            C1,
            NOW,
            (
                *(
                    fill(4),
                    next_id(at=NOW - 1),
                    try_next_id(at=NOW - 2),
                    fill(4, at=NOW + 1),
                ),
                *(try_next_id(at=NOW), next_id(at=NOW + 3)),
            ),
            options=Options(rollback="clock-sequence"),
        ),
        Schedule(
            "c1: a full tick of 16 leaves its mark at the next tick",
            C1,
            NOW,
            (
                *(fill(16), fill(16, at=NOW - 1), try_next_id(at=NOW - 2)),
                *(try_next_id(at=NOW), try_next_id(at=NOW + 1)),
            ),
            options=Options(rollback="clock-sequence"),
        ),
        Schedule(
            "c1: a mark at the very start of the clock's tick may be used",
            C1,
            NOW,
            (
                *(fill(16), fill(2, at=NOW - 1), next_id(at=NOW + 5)),
                *(fill(2, at=NOW + 1), next_id(at=NOW + 5)),
            ),
            options=Options(rollback="clock-sequence"),
        ),
        Schedule(
            "c2: four values in turn, then none is left",
            C2,
            NOW,
            (
                *(
                    next_id(),
                    next_id(at=NOW - 10),
                    next_id(at=NOW - 20),
                    next_id(at=NOW - 30),
                ),
                *(try_next_id(at=NOW - 40), next_id(at=NOW - 15), next_id(at=NOW + 1)),
            ),
            options=options,
        ),
        Schedule(
            "c2: a tick that is full below the highest reading counts as a rollback",
            C2,
            NOW,
            (
                *(
                    try_fill(5),
                    fill(4, at=NOW - 10),
                    try_next_id(),
                    try_fill(4),
                    try_next_id(),
                ),
                *(try_fill(4), try_next_id(), fill(2, at=NOW - 9), next_id(at=NOW + 1)),
            ),
            options=options,
        ),
        Schedule(
            "clock-sequence bits without that policy: the value stays 0",
            C2,
            NOW,
            (fill(2), try_fill(5, at=NOW - 1), next_id()),
            options=Options(sequence_mask=FOUR),
        ),
        Schedule(
            "clock-sequence bits at the limit: t + s + c = 62",
            "t48.n1.s12.c2@0/1ms",
            NOW,
            (fill(2), fill(2, at=NOW - 1), fill(2, at=NOW - 2), retire()),
            options=Options(rollback="clock-sequence"),
        ),
    )
