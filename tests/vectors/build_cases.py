"""Schedules whose generators cannot be built."""

from __future__ import annotations

from generator import Options, Window
from layout import parse
from schedule import C2, NOW, TODAY, Schedule


def schedules() -> tuple[Schedule, ...]:
    """Return schedules with one fault each."""
    tick = parse("twitter").tick(NOW)
    return (
        refused("node 1024 of 10 bits", "twitter", node=1024),
        refused("node 64 of 6 bits", "js-safe", node=64),
        refused("node 1 in a layout without a node", "t41.s12@0/1ms", node=1),
        refused("node 2^64 - 1", "sonyflake", node=2**64 - 1),
        refused("borrow without a window", "twitter", options=Options(overflow="borrow")),
        refused(
            "clock-sequence without c bits",
            "twitter",
            options=Options(rollback="clock-sequence"),
        ),
        refused(
            "clock-sequence with a window",
            C2,
            options=Options(rollback="clock-sequence"),
            window=Window(10**11, 10**11 + 20_000),
        ),
        refused("mask 2 is no 2^k - 1", "twitter", options=Options(sequence_mask=2)),
        refused("mask 4094 is no 2^k - 1", "twitter", options=Options(sequence_mask=4094)),
        refused("mask above the sequence", "twitter", options=Options(sequence_mask=8191)),
        refused("mask 2^64 - 1", "twitter", options=Options(sequence_mask=2**64 - 1)),
        refused(
            "mask 1 without a sequence",
            "t41.n10@0/1ms",
            options=Options(sequence_mask=1),
        ),
        refused("a window of one tick", "twitter", window=Window(tick, tick + 1)),
        refused("an empty window", "twitter", window=Window(tick, tick)),
        refused("a fence below the start", "twitter", window=Window(tick, tick - 1)),
        refused(
            "a window at the end of all ticks",
            "twitter",
            window=Window(2**64 - 1, 2**64 - 1),
        ),
        refused(
            "baidu today, with a window",
            "baidu",
            clock=TODAY,
            window=Window(2**28 - 2, 2**28),
        ),
        refused("baidu today", "baidu", clock=TODAY, node=4),
        refused("baidu at its horizon", "baidu", clock=parse("baidu").horizon, node=4),
        refused("twitter at its horizon", "twitter", clock=parse("twitter").horizon),
        refused("time and sequence of 64 bits", "t48.s16@0/1ms", node=0),
        refused("t + s + c = 63", "t49.n1.s12.c2@0/1ms"),
    )


def refused(
    name: str,
    layout: str,
    clock: int = NOW,
    node: int = 1,
    options: Options | None = None,
    window: Window | None = None,
) -> Schedule:
    """Return a schedule without steps."""
    return Schedule(
        f"not built: {name}",
        layout,
        clock,
        node=node,
        options=options or Options(),
        window=window,
    )
