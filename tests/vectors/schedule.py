"""Schedules: a generator, a scripted clock, the calls, and the results."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from errors import FlakeIdError
from generator import Generator, Options, Stats, Window
from known import MismatchError
from layout import parse

NOW = 1505914988849  # the instant in the tutorial, 2017-09-20T13:43:08.849Z
TODAY = 1763690400000  # 2025-11-21T02:00:00Z
FOUR = 3  # a sequence mask: four IDs a tick
TWO = 1  # a sequence mask: two IDs a tick
C1 = "t41.c1.n8.s4@1262304000000/1ms"
C2 = "t41.c2.n8.s4@1262304000000/1ms"


class Step(NamedTuple):
    """A call; `clock` is set before it."""

    call: str
    clock: int | None = None
    n: int | None = None
    fence: int | None = None


def try_next_id(*, at: int | None = None) -> Step:
    """Request one ID without waiting."""
    return Step("try_next_id", at)


def next_id(*, at: int | None = None) -> Step:
    """Request one ID, waiting at most max_wait."""
    return Step("next_id", at)


def try_fill(n: int, *, at: int | None = None) -> Step:
    """Request at most n IDs without waiting."""
    return Step("try_fill", at, n=n)


def fill(n: int, *, at: int | None = None) -> Step:
    """Request n IDs, waiting at most max_wait for each range."""
    return Step("fill", at, n=n)


def extend(fence: int, *, at: int | None = None) -> Step:
    """Raise the fence."""
    return Step("extend", at, fence=fence)


def retire(*, at: int | None = None) -> Step:
    """Close the generator."""
    return Step("retire", at)


@dataclass(frozen=True)
class Schedule:
    """A generator, the first Unix ms of its clock, and the steps."""

    name: str
    layout: str
    clock: int
    steps: tuple[Step, ...] = ()
    node: int = 1
    options: Options = field(default_factory=Options)
    window: Window | None = None
    origin: str | None = None


def play(schedule: Schedule) -> dict[str, Any]:
    """Run a schedule; return its entry in schedules.json."""
    options = schedule.options
    limits = {
        "sequence_mask": options.sequence_mask,
        "max_ahead_ms": options.max_ahead_ms,
        "max_wait_ms": options.max_wait_ms,
    }
    window = schedule.window
    entry: dict[str, Any] = {
        "name": schedule.name,
        **({} if schedule.origin is None else {"origin": schedule.origin}),
        "layout": schedule.layout,
        "node": str(schedule.node),
        "options": {
            "overflow": options.overflow,
            "rollback": options.rollback,
            **strings(limits),
        },
        "window": None if window is None else strings(window._asdict()),
        "clock": str(schedule.clock),
    }
    try:
        generator = Generator(
            parse(schedule.layout), schedule.node, schedule.clock, options, window
        )
    except FlakeIdError as error:
        build_error = {"code": error.code, **strings({"field": error.field})}
        return {
            **entry,
            "build_error": build_error,
            "steps": [],
            "stats": counts(Stats()),
        }
    witness = Witness(schedule.name, generator, fence=window.fence if window else None)
    steps = []
    for step in schedule.steps:
        if step.clock is not None:
            generator.clock = step.clock
        expect = answer(generator, step, witness)
        steps.append(
            {
                **strings({"clock": step.clock}),
                "call": step.call,
                **({} if step.n is None else {"n": step.n}),
                **strings({"fence": step.fence}),
                "expect": expect,
                "clock_after": str(generator.clock),
            }
        )
    return {**entry, "steps": steps, "stats": counts(generator.stats)}


def answer(generator: Generator, step: Step, witness: Witness) -> dict[str, Any]:
    """Make a call; return the step's `expect`."""
    try:
        match step.call:
            case "try_next_id" | "next_id":
                (id_,) = generator.try_fill(1) if step.call == "try_next_id" else generator.fill(1)
                witness.see([id_])
                return {"id": str(id_)}
            case "try_fill" | "fill":
                n = step.n or 0
                ids = generator.try_fill(n) if step.call == "try_fill" else generator.fill(n)
                witness.see(ids)
                first, last = (str(ids[0]), str(ids[-1])) if ids else (None, None)
                return {"count": len(ids), "first": first, "last": last}
            case "extend":
                fence = step.fence or 0
                generator.extend(fence)
                witness.raise_fence(fence)
                return {}
            case "retire":
                last_tick = generator.retire()
                return {"last_tick": None if last_tick is None else str(last_tick)}
            case _:
                raise MismatchError(f"{witness.name}: no such call: {step.call}")
    except FlakeIdError as error:
        details = {
            "retry_after_ms": error.retry_after_ms,
            "by_ms": error.by_ms,
            "horizon": error.horizon,
        }
        return {"error": error.code, **strings(details)}


class Witness:
    """Checks the IDs of one generator against the promises, independently of the algorithm.

    No ID is issued twice. IDs increase, except when the clock sequence changes. IDs have
    the generator's node, and sequence numbers within the mask. Every tick is inside the
    window, and at most max_ahead (0 without a window) past the highest clock reading.
    """

    def __init__(self, name: str, generator: Generator, fence: int | None) -> None:
        self.name = name
        self.generator = generator
        self.start = generator.tick_of(generator.start)
        self.fence = fence
        self.ids: set[int] = set()
        self.last = -1
        self.highest_tick = 0

    def see(self, ids: list[int]) -> None:
        """Check the IDs of a call."""
        generator = self.generator
        layout = generator.layout
        self.highest_tick = max(self.highest_tick, layout.tick(generator.clock))
        sanctioned = generator.max_ahead if generator.windowed else 0
        for id_ in ids:
            parts = layout.unpack(id_)
            self.require(id_ not in self.ids, id_, "issued twice")
            if generator.options.rollback != "clock-sequence":
                self.require(id_ > self.last, id_, "not above the one before")
            self.require(parts.node == generator.node, id_, "another node's")
            self.require(parts.sequence <= generator.mask, id_, "sequence above the mask")
            self.require(parts.tick >= self.start, id_, "before the window")
            self.require(self.fence is None or parts.tick < self.fence, id_, "past the fence")
            self.require(parts.tick <= self.highest_tick + sanctioned, id_, "too far ahead")
            self.ids.add(id_)
            self.last = id_

    def raise_fence(self, fence: int) -> None:
        """Record a granted extension."""
        self.fence = max(self.fence or 0, fence)

    def require(self, holds: bool, id_: int, fault: str) -> None:
        """Raise MismatchError unless the condition holds."""
        if not holds:
            raise MismatchError(f"schedule {self.name!r}: {id_} is {fault}")


def counts(stats: Stats) -> dict[str, Any]:
    """Return the statistics; the largest lead is in ticks."""
    return {
        "waits": stats.waits,
        "rollbacks": stats.rollbacks,
        "largest_ahead": str(stats.largest_ahead),
    }


def strings(values: dict[str, Any]) -> dict[str, str]:
    """Return the entries with a value, as strings."""
    return {key: str(value) for key, value in values.items() if value is not None}
