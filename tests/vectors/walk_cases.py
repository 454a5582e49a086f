"""Schedules of pseudo-random steps, which reach cases that are not listed explicitly."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from generator import Options, Window
from layout import parse
from pseudo_random import splitmix64
from schedule import (
    C1,
    NOW,
    Schedule,
    Step,
    extend,
    fill,
    next_id,
    retire,
    try_fill,
    try_next_id,
)

Choice = TypeVar("Choice")

WALKS = 48
STEPS = 16
LAYOUTS = (
    "twitter",
    "sonyflake",
    "t41.n10.s2@1262304000000/1ms",
    C1,
    "t41.c2.n8.s4@1262304000000/5ms",
    "t38.s1.n10.r2@1262304000000/7ms",
)
LEAPS = (
    0,
    0,
    1,
    1,
    2,
    3,
    5,
    8,
    20,
    60,
    1_500,
    -1,
    -1,
    -2,
    -3,
    -7,
    -15,
    -80,
    -1_200,
    -30_000,
)


class PseudoRandom:
    """Random choices from a seeded stream of words."""

    def __init__(self, seed: int) -> None:
        self.words = splitmix64(seed)

    def pick(self, choices: Sequence[Choice]) -> Choice:
        """Return one of the choices; the bias of the remainder does not matter here."""
        return choices[next(self.words) % len(choices)]


def schedules() -> Iterator[Schedule]:
    """Yield all walks, which start around the same instant."""
    for number in range(1, WALKS + 1):
        yield walk(number)


def walk(number: int) -> Schedule:
    """Return a walk. Odd numbers have a window; most others have clock-sequence bits."""
    random = PseudoRandom(number)
    name = random.pick(LAYOUTS if number % 2 else LAYOUTS[2:5])
    layout = parse(name)
    tick = layout.tick(NOW)
    rollbacks = ["continue", "continue", "error", "wait"]
    window = None
    if number % 2:
        start = tick + random.pick((-3, 0, 0, 1, 4, 30))
        window = Window(start, start + random.pick((2, 5, 40, 4_000)))
    elif layout.bits("c"):
        rollbacks += ["clock-sequence"] * 4
    options = Options(
        overflow=random.pick(("wait", "wait", "error", "borrow") if window else ("wait", "error")),
        rollback=random.pick(rollbacks),
        sequence_mask=random.pick((0, 1, layout.max_sequence & 3)),
        max_ahead_ms=random.pick((None, 0, 2, 9, 40)),
        max_wait_ms=random.pick((None, 0, 2, 12)),
    )
    steps = []
    for _ in range(STEPS):
        clock = random.pick((None, NOW + random.pick(LEAPS)))
        steps.append(call(random, clock, window))
    if random.pick((True, False)):
        steps += [retire(), next_id()]
    return Schedule(
        f"pseudo-random walk {number}",
        name,
        NOW,
        tuple(steps),
        options=options,
        window=window,
    )


def call(random: PseudoRandom, clock: int | None, window: Window | None) -> Step:
    """Return a random call; extend is only called with a window."""
    n = random.pick((1, 2, 3, 5, 9))
    calls = [
        next_id(at=clock),
        try_next_id(at=clock),
        fill(n, at=clock),
        try_fill(n, at=clock),
    ]
    if window:
        calls.append(extend(window.fence + random.pick((-1, 0, 1, 6, 50)), at=clock))
    return random.pick(calls)
