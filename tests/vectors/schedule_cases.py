"""The content of schedules.json: counting, the edges of time, units, and waits."""

from __future__ import annotations

from typing import Any

import build_cases
import rollback_cases
import walk_cases
import window_cases
from generator import Options
from known import FLAKE_IDGEN, TWITTER_SPEC, MismatchError
from layout import parse
from schedule import (
    FOUR,
    NOW,
    TODAY,
    TWO,
    Schedule,
    extend,
    fill,
    next_id,
    play,
    retire,
    try_fill,
    try_next_id,
)

HALF_CENTURY_MS = 18_262 * 86_400_000


def document() -> dict[str, Any]:
    """Return the content of schedules.json; no name occurs twice."""
    schedules = (
        *sequences(),
        *rollback_cases.schedules(),
        *edges_of_time(),
        *units(),
        *waits(),
        *build_cases.schedules(),
        *window_cases.schedules(),
        *walk_cases.schedules(),
    )
    names = [schedule.name for schedule in schedules]
    if len(set(names)) < len(names):
        raise MismatchError("two schedules have one name")
    return {"schedules": [play(schedule) for schedule in schedules]}


def sequences() -> tuple[Schedule, ...]:
    """Return schedules that count inside a tick and into the next."""
    full = parse("twitter").unix_ms(2)
    return (
        Schedule(
            "readings t, t, t+1, t+2 give sequences 0, 1, 0, 0",
            "twitter",
            NOW,
            (
                try_next_id(),
                try_next_id(at=NOW),
                try_next_id(at=NOW + 1),
                try_next_id(at=NOW + 2),
            ),
            node=569,
        ),
        Schedule(
            "readings 2, 2, 3 with a full sequence: one wait, then tick 3 sequence 0",
            "twitter",
            full,
            (fill(4096), next_id()),
            origin=TWITTER_SPEC,
        ),
        Schedule(
            "FlakeId seqMask 0x0F: 16 IDs in a millisecond, then overflow",
            "flakeid",
            NOW,
            (
                try_fill(20),
                try_next_id(),
                try_next_id(at=NOW + 1),
                try_fill(20),
                try_next_id(),
            ),
            node=295,
            options=Options(overflow="error", sequence_mask=0x0F),
            origin=FLAKE_IDGEN,
        ),
        Schedule(
            "FlakeId seqMask 0x0F: waiting for the next millisecond",
            "flakeid",
            NOW,
            (fill(16), next_id(), fill(40), retire()),
            node=295,
            options=Options(sequence_mask=0x0F),
            origin=FLAKE_IDGEN,
        ),
        Schedule(
            "STRICT: refuse a rollback at once, wait for a full tick",
            "flakeid",
            NOW,
            (
                fill(4096),
                next_id(),
                next_id(at=NOW - 10_000),
                fill(3),
                try_next_id(at=NOW),
                try_next_id(at=NOW + 1),
                next_id(),
            ),
            node=0x155,
            options=Options(rollback="error"),
        ),
        Schedule(
            "a full sequence field runs into the next tick, not into the node",
            "twitter",
            NOW,
            (fill(4095), next_id(), next_id(), fill(8193), try_next_id()),
            node=1023,
        ),
        Schedule(
            "a fill over several ticks counts one wait for each stall",
            "twitter",
            NOW,
            (fill(10), fill(1), fill(2)),
            options=Options(sequence_mask=TWO),
        ),
        Schedule(
            "a fill that cannot wait writes what the tick holds",
            "twitter",
            NOW,
            (try_fill(3), try_fill(3), try_fill(3), try_fill(0), fill(0)),
            options=Options(sequence_mask=FOUR),
        ),
        Schedule(
            "sequence mask 0: one ID a tick",
            "twitter",
            NOW,
            (next_id(), try_next_id(), next_id(), try_fill(5), fill(5)),
            options=Options(sequence_mask=0),
        ),
        Schedule(
            "a layout without a sequence: one ID a tick",
            "t41.n10@0/1ms",
            NOW,
            (next_id(), try_next_id(), next_id(), fill(3), next_id(at=NOW)),
            node=1023,
        ),
        Schedule(
            "a layout without a node has node 0",
            "t41.s12@0/1ms",
            NOW,
            (next_id(), fill(4096), next_id(at=NOW - 1)),
            node=0,
        ),
        Schedule(
            "a layout with nothing but time",
            "t41@1262304000000/1ms",
            NOW,
            (next_id(), next_id(), next_id(at=NOW)),
            node=0,
        ),
        Schedule(
            "53 bits: 64 IDs a tick, every one an exact JavaScript number",
            "js-safe",
            TODAY,
            (next_id(), fill(63), try_next_id(), next_id(), fill(200)),
            node=63,
        ),
        Schedule(
            "64 bits: IDs with the top bit set",
            "flakeid",
            2_300_000_000_000,
            (next_id(), fill(5000)),
            node=1023,
        ),
        Schedule(
            "reserved bits stay zero",
            "t40.n8.s2.r4@1262304000000/1ms",
            NOW,
            (fill(9), try_next_id()),
            node=255,
        ),
        Schedule(
            "retired without an ID",
            "twitter",
            NOW,
            (retire(), next_id(), retire()),
        ),
        Schedule(
            "retired: every later call fails",
            "twitter",
            NOW,
            (
                *(fill(3), retire(), try_next_id(), next_id(), try_fill(2), fill(2)),
                *(retire(), next_id(at=NOW + 5)),
            ),
        ),
        Schedule(
            "there is no fence to extend without a window",
            "twitter",
            NOW,
            (next_id(), extend(10**12), next_id()),
        ),
    )


def edges_of_time() -> tuple[Schedule, ...]:
    """Return schedules before the epoch, with far leaps, and at the end of the layout."""
    safe_epoch = parse("js-safe").epoch
    twitter, baidu, wide = (
        parse(name).horizon for name in ("twitter", "baidu", "t50.n1.s13@0/1ms")
    )
    return (
        Schedule(
            "a step forward of 50 years, and back",
            "twitter",
            NOW,
            (
                *(next_id(), next_id(at=NOW + HALF_CENTURY_MS), try_next_id()),
                *(try_next_id(at=NOW), next_id(), next_id(at=NOW + HALF_CENTURY_MS)),
            ),
        ),
        Schedule(
            "the last representable tick, and one past it",
            "twitter",
            twitter - 2,
            (
                *(
                    next_id(),
                    try_fill(5000, at=twitter - 1),
                    try_next_id(),
                    next_id(),
                    fill(3),
                ),
                *(
                    try_next_id(at=twitter),
                    next_id(),
                    next_id(at=twitter - 1),
                    retire(),
                ),
            ),
        ),
        Schedule(
            "a fill that waits its way to the horizon",
            "twitter",
            twitter - 3,
            (fill(20), fill(20)),
            options=Options(sequence_mask=FOUR),
        ),
        Schedule(
            "time and sequence of 63 bits: the last position of all",
            "t50.n1.s13@0/1ms",
            wide - 1,
            (try_next_id(), fill(8191), try_next_id(), next_id(at=wide)),
        ),
        Schedule(
            "the longest time field there can be: its last position",
            "t62.n1.s1@0/1ms",
            2**62 - 1,
            (try_next_id(), try_fill(2), try_next_id(), next_id(at=2**62)),
        ),
        Schedule(
            "before the epoch, then recovering",
            "js-safe",
            safe_epoch - 5_000,
            (
                *(
                    try_next_id(),
                    next_id(),
                    fill(3, at=safe_epoch - 1),
                    next_id(at=safe_epoch),
                ),
                *(
                    next_id(),
                    try_next_id(at=safe_epoch - 1),
                    next_id(at=safe_epoch + 1),
                ),
            ),
        ),
        Schedule(
            "a step back to before the epoch",
            "js-safe",
            NOW + 200_000_000_000,
            (
                *(next_id(), next_id(at=1_000), try_fill(2), retire()),
                next_id(at=NOW + 200_000_000_001),
            ),
        ),
        Schedule(
            "Unix epoch: tick 0 holds IDs, the first of node 0 is 0",
            "plain",
            0,
            (next_id(), fill(2), next_id(at=1)),
            node=0,
        ),
        Schedule(
            "baidu before its horizon",
            "baidu",
            baidu - 1_500,
            (
                *(
                    next_id(),
                    next_id(at=baidu - 500),
                    fill(3),
                    try_next_id(at=baidu),
                    next_id(),
                ),
                next_id(at=TODAY),
            ),
            node=4,
        ),
    )


def units() -> tuple[Schedule, ...]:
    """Return schedules with ticks longer than a millisecond, and the clock inside a tick."""
    sonyflake = parse("sonyflake").unix_ms(10**11)
    baidu = parse("baidu-29").unix_ms(3 * 10**8)
    odd, minute = (
        parse("t42.n10.s11@1262304000000/7ms"),
        parse("t24.n10.s16@1262304000000/60s"),
    )
    odd_start, minute_start = odd.unix_ms(10**9), minute.unix_ms(10**6)
    return (
        Schedule(
            "sonyflake: 256 IDs in 10 ms, waiting from the middle of a tick",
            "sonyflake",
            sonyflake + 3,
            (
                *(next_id(), try_fill(300), try_next_id(), next_id(), fill(600)),
                *(try_next_id(at=sonyflake + 57), retire()),
            ),
            node=65535,
        ),
        Schedule(
            "sonyflake: a step back within a tick is no rollback, one across ticks is",
            "sonyflake",
            sonyflake + 8,
            (
                *(
                    next_id(),
                    next_id(at=sonyflake + 1),
                    try_next_id(at=sonyflake - 1),
                    next_id(),
                ),
                next_id(at=sonyflake + 9),
            ),
            options=Options(rollback="error"),
        ),
        Schedule(
            "baidu-29: ticks of a second, max_wait defaults to 2 s",
            "baidu-29",
            baidu + 250,
            (fill(2), try_next_id(), next_id(), fill(3), try_next_id()),
            node=4,
            options=Options(sequence_mask=TWO),
        ),
        Schedule(
            "baidu-29: a rollback of 3.5 s is more than the default max_wait",
            "baidu-29",
            baidu + 250,
            (next_id(), try_next_id(at=baidu - 3_250), next_id(), next_id()),
            node=4,
            options=Options(rollback="wait"),
        ),
        Schedule(
            "7 ms ticks: obstacles end where a tick begins",
            "t42.n10.s11@1262304000000/7ms",
            odd_start + 6,
            (
                *(
                    fill(2),
                    try_next_id(),
                    next_id(),
                    try_next_id(at=odd_start + 1),
                    next_id(),
                ),
                next_id(at=odd_start - 20),
            ),
            options=Options(rollback="wait", sequence_mask=TWO),
        ),
        Schedule(
            "60 s ticks: max_wait defaults to 120 s",
            "t24.n10.s16@1262304000000/60s",
            minute_start + 59_999,
            (fill(2), next_id(), fill(4), try_next_id(at=minute_start), next_id()),
            options=Options(rollback="wait", sequence_mask=TWO),
        ),
    )


def waits() -> tuple[Schedule, ...]:
    """Return schedules with a max_wait that is too short, exactly enough, or zero."""
    return (
        Schedule(
            "max_wait shorter than the rollback: the error is judged afterwards",
            "twitter",
            NOW,
            (next_id(), next_id(at=NOW - 12), next_id(), next_id(), next_id()),
            options=Options(rollback="wait", max_wait_ms=5),
        ),
        Schedule(
            "max_wait exactly as long as the rollback",
            "twitter",
            NOW,
            (next_id(), next_id(at=NOW - 5), next_id()),
            options=Options(rollback="wait", max_wait_ms=5),
        ),
        Schedule(
            "max_wait ends on the reference tick, which is full",
            "twitter",
            NOW,
            (fill(4), next_id(at=NOW - 5), next_id()),
            options=Options(rollback="wait", sequence_mask=FOUR, max_wait_ms=5),
        ),
        Schedule(
            "max_wait 0: next_id does not wait",
            "twitter",
            NOW,
            (fill(4), next_id(), fill(3), next_id(at=NOW - 1), next_id(at=NOW + 1)),
            options=Options(sequence_mask=FOUR, max_wait_ms=0),
        ),
        Schedule(
            "max_wait shorter than a tick",
            "baidu-29",
            parse("baidu-29").unix_ms(3 * 10**8) + 100,
            (fill(2), next_id(), next_id(), next_id()),
            options=Options(sequence_mask=TWO, max_wait_ms=400),
        ),
        Schedule(
            "each run of a fill has the whole of max_wait",
            "twitter",
            NOW,
            (fill(20), try_next_id()),
            options=Options(sequence_mask=FOUR, max_wait_ms=1),
        ),
        Schedule(
            "a fill whose first stall cannot be waited out returns what it has",
            "twitter",
            NOW,
            (next_id(), fill(10, at=NOW - 50), fill(10), fill(10, at=NOW)),
            options=Options(sequence_mask=FOUR, max_wait_ms=10),
        ),
    )
